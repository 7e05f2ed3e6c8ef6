"""What `torch.cuda.amp` shows: mixed precision as it was before it named the device."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import autocast_mode
from torchgen_out._runtime.autograd.autocast_mode import custom_bwd as _custom_bwd
from torchgen_out._runtime.autograd.autocast_mode import custom_fwd as _custom_fwd
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.deprecation import renamed
from torchgen_out._runtime.core.dtype import float16
from torchgen_out._runtime.library.optim import grad_scaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """`torch.autocast` of CUDA."""

    def __init__(
        self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True
    ) -> None:
        renamed("torch.cuda.amp.autocast", "torch.amp.autocast('cuda')")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """`torch.amp.GradScaler` of CUDA."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        renamed("torch.cuda.amp.GradScaler", "torch.amp.GradScaler('cuda')")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """`torch.amp.custom_fwd` of CUDA."""
    return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """`torch.amp.custom_bwd` of CUDA."""
    return _custom_bwd(bwd, device_type="cuda")


public.place("cuda.amp", GradScaler, autocast)
