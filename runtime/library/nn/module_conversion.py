"""The part of `Module` that changes all its tensors: dtype, device, shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.core.dtype import meant_by

T = TypeVar("T", bound="Conversion")


class Conversion:
    """Casts and moves of every parameter and buffer, in place: `self` is returned."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    children: Callable[[], Any]

    def _apply(self: T, fn: Callable[[Any], Any], recurse: bool = True) -> T:
        """Replace the data of every parameter, gradient and buffer by `fn` of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with torch.no_grad():
                parameter.data = fn(parameter.data)
                if parameter.grad is not None:
                    gradient = fn(parameter.grad.data)
                    needed = parameter.grad.requires_grad
                    parameter.grad = gradient.requires_grad_(needed)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Move to a device, cast to a floating-point dtype, or both; integers keep their dtype.

        Called as `to(device, dtype, non_blocking)`, `to(dtype)`, `to(tensor)` or with keywords.
        **Raises** TypeError for a dtype that is neither floating-point nor complex.
        """
        device, dtype, non_blocking, memory_format = parse_to(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )

        def convert(tensor: Any) -> Any:
            target = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            options: dict[str, Any] = {"non_blocking": non_blocking}
            if device is not None:
                options["device"] = device
            if target is not None:
                options["dtype"] = target
            if memory_format is not None and tensor.dim() in (4, 5):
                options["memory_format"] = memory_format
            try:
                return tensor.to(**options)
            except NotImplementedError as error:
                if not tensor.is_meta:
                    raise
                raise NotImplementedError(
                    f"{error} Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device."
                ) from None

        return self._apply(convert)

    def _cast(self: T, dtype: Any) -> T:
        return self._apply(lambda x: x.to(dtype) if x.is_floating_point() else x)

    def float(self: T) -> T:
        """Cast floating-point parameters and buffers to float32."""
        return self._cast(torch.float32)

    def double(self: T) -> T:
        """Cast floating-point parameters and buffers to float64."""
        return self._cast(torch.float64)

    def half(self: T) -> T:
        """Cast floating-point parameters and buffers to float16."""
        return self._cast(torch.float16)

    def bfloat16(self: T) -> T:
        """Cast floating-point parameters and buffers to bfloat16."""
        return self._cast(torch.bfloat16)

    def type(self: T, dst_type: Any) -> T:
        """Cast all parameters and buffers to a dtype."""
        return self._apply(lambda x: x.type(dst_type))

    def cuda(self: T, device: Any = None) -> T:
        """Move all parameters and buffers to a CUDA device."""
        target = "cuda" if device is None else device
        if isinstance(target, int):
            target = f"cuda:{target}"
        return self._apply(lambda x: x.to(target))

    def cpu(self: T) -> T:
        """Move all parameters and buffers to host memory."""
        return self._apply(lambda x: x.to("cpu"))

    def to_empty(self: T, *, device: Any, recurse: bool = True) -> T:
        """Move to a device without copying: the new memory is not initialised."""
        return self._apply(lambda x: torch.empty_like(x, device=device), recurse)

    def share_memory(self: T) -> T:
        """Put all parameters and buffers where other processes can see them."""
        return self._apply(lambda x: x.share_memory_())


def parse_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """Return (device, dtype, non_blocking, memory_format) of a call of `to`."""
    names = {"device", "dtype", "tensor", "non_blocking", "copy", "memory_format"}
    unknown = set(kwargs) - names
    if unknown:
        raise TypeError(f"to() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    non_blocking, tensor = kwargs.get("non_blocking", False), kwargs.get("tensor")
    for arg in args:
        if isinstance(arg, torch.Tensor):
            tensor = arg
        elif meant_by(arg) is not None:
            dtype = arg
        elif isinstance(arg, bool):
            non_blocking = arg
        elif arg is not None:
            device = arg
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if isinstance(device, int):
        device = f"cuda:{device}"
    wanted = meant_by(dtype)
    if wanted is None and dtype is not None:
        raise errors.dtype_expected(dtype)
    return (
        None if device is None else torch.device(device),
        wanted,
        non_blocking,
        kwargs.get("memory_format"),
    )
