"""The one name of `torch._C._nn` that programs ask: how the arguments of `to` are read."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.library.nn.module_conversion import parse_to

__all__ = ["_parse_to"]


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Return what `to` would change: device, dtype, non_blocking and memory format."""
    where, dtype, non_blocking, memory_format = parse_to(args, kwargs)
    return None if where is None else device(where), dtype, non_blocking, memory_format
