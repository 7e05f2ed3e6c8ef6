"""Mixed precision: the context in which operators choose between float32 and a lower precision."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import autocast as rules

__all__ = [
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]

_INDICES = {"cpu": devices.CPU, "cuda": devices.CUDA}
_LOWER = {"cpu": (dtypes.bfloat16, dtypes.float16), "cuda": (dtypes.float16, dtypes.bfloat16)}
"""What operators may run in, the default first."""
_defaults = {name: choices[0] for name, choices in _LOWER.items()}


def is_autocast_available(device_type: str) -> bool:
    """Return whether there is autocast for a device type."""
    return device_type in _INDICES


def _index(device_type: str) -> int:
    if device_type not in _INDICES:
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
    return _INDICES[device_type]


def get_autocast_dtype(device_type: str) -> Any:
    """Return the precision that autocast runs in, or takes if it is off and none is named."""
    return rules.state.lower[_index(device_type)] or _defaults[device_type]


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the precision that autocast takes if none is named."""
    _index(device_type)
    _defaults[device_type] = dtype


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return whether this thread is inside autocast, of CUDA if no device type is named."""
    if device_type in devices.ABSENT:
        return False
    return rules.state.lower[_index(device_type or "cuda")] is not None


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn autocast of a device type, or of CUDA if none is named, on or off in this thread."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    place, lower = _index(device_type), list(rules.state.lower)
    rules.enter()
    lower[place] = get_autocast_dtype(device_type) if enabled else None
    rules.state.lower = tuple(lower)


class autocast:
    """Run products in a lower precision, what needs the digits in float32, the rest as it comes.

    A context manager and a decorator. dtype: bfloat16 on the CPU and float16 on CUDA by default.
    Parameters are cast once inside the outermost context, unless `cache_enabled` is False.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(
                f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`"
            )
        self.device, self._place = device_type, _index(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and self.fast_dtype not in _LOWER[device_type]:
            names = ", ".join(str(each) for each in _LOWER[device_type])
            warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. "
                f"Disabling autocast. It supports {names} only.",
            )
            enabled = False
        self._enabled, self._keeps_casts = enabled, cache_enabled is not False
        self._before: list[tuple[Any, Any]] = []

    def __enter__(self) -> autocast:
        rules.enter()
        state = rules.state
        self._before.append((state.lower, state.casts))
        lower = list(state.lower)
        lower[self._place] = self.fast_dtype if self._enabled else None
        state.lower = tuple(lower)
        if not self._keeps_casts:
            state.casts = None
        elif state.casts is None:
            state.casts = {}
        return self

    def __exit__(self, *args: object) -> None:
        rules.state.lower, rules.state.casts = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **keywords: Any) -> Any:
            with self:
                return function(*args, **keywords)

        return decorated


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Floating tensors of a device type in another dtype, in lists and dictionaries too."""
    if isinstance(value, Tensor):
        tensor: Any = value
        is_cast = tensor.device.type == device_type and tensor.dtype in rules.ELIGIBLE
        return tensor.to(dtype) if is_cast else value
    if isinstance(value, dict):
        return {key: _cast(each, device_type, dtype) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(each, device_type, dtype) for each in value])
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Callable[..., Any]:
    """Decorate `forward` of a `Function`; with `cast_inputs` it runs in that dtype alone."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    forward = fwd

    @functools.wraps(forward)
    def decorated(ctx: Any, *args: Any, **keywords: Any) -> Any:
        ctx._dtype = rules.state.lower[_index(device_type)]
        if cast_inputs is None or ctx._dtype is None:
            return forward(ctx, *args, **keywords)
        ctx._dtype = None
        with autocast(device_type, enabled=False):
            args, keywords = _cast((args, keywords), device_type, cast_inputs)
            return forward(ctx, *args, **keywords)

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorate `backward` of a `Function`: it runs under autocast as its `forward` did."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    backward = bwd

    @functools.wraps(backward)
    def decorated(ctx: Any, *grads: Any) -> Any:
        with autocast(device_type, ctx._dtype, enabled=ctx._dtype is not None):
            return backward(ctx, *grads)

    return decorated


public.place("amp", autocast)
