"""What `torch.cpu.amp` shows: mixed precision as it was before it named the device."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import autocast_mode
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.deprecation import renamed
from torchgen_out._runtime.core.dtype import bfloat16
from torchgen_out._runtime.library.optim import grad_scaler

__all__ = ["GradScaler", "autocast"]


class autocast(autocast_mode.autocast):
    """`torch.autocast` of the CPU."""

    def __init__(
        self, enabled: bool = True, dtype: Any = bfloat16, cache_enabled: bool = True
    ) -> None:
        renamed("torch.cpu.amp.autocast(args...)", "torch.amp.autocast('cpu', args...)")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """`torch.amp.GradScaler` of the CPU."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        renamed("torch.cpu.amp.GradScaler(args...)", "torch.amp.GradScaler('cpu', args...)")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


public.place("cpu.amp", GradScaler, autocast)
