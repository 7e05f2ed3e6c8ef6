"""Modules made without initial values, and weights in another memory format."""

from __future__ import annotations

import inspect
from typing import Any

from torchgen_out._runtime.library.nn.convolution import (
    Conv2d,
    Conv3d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from torchgen_out._runtime.library.nn.module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a module whose parameters have memory, and no initial values.

    **Raises** RuntimeError for what is no module class, or takes no `device`.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay the weights of all two-dimensional convolutions of a module out in a memory format."""
    return _converted(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay the weights of all three-dimensional convolutions of a module out in a memory format."""
    return _converted(module, memory_format, (Conv3d, ConvTranspose3d))


def _converted(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    for part in module.modules():
        if isinstance(part, kinds):
            layer: Any = part
            weight = layer.weight
            weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    return module
