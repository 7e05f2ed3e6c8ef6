"""`nn.parallel`: modules on several devices, as far as one device goes.

On the CPU, or on one device, every function is that of the single part. Several devices in one
process are not provided; several processes are `distributed_parallel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.module import Module


def _only(devices: Sequence[Any], what: str) -> Any:
    """The one device of a list, None of an empty one."""
    if len(devices) > 1:
        raise RuntimeError(
            f"{what} over {len(devices)} devices is not provided: it works on one device only. "
            f"Pass a single one, such as device_ids=[{devices[0]!r}]."
        )
    if not devices:
        return None
    return torch.device("cuda", devices[0]) if isinstance(devices[0], int) else devices[0]


def _moved(value: Any, device: Any) -> Any:
    """Tensors within lists, tuples and dicts, on a device."""
    if isinstance(value, torch.Tensor):
        return value if device is None else value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(item, device) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_moved(item, device) for item in value)
    if isinstance(value, dict):
        return type(value)((key, _moved(item, device)) for key, item in value.items())
    return value


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> list[Any]:
    """Split tensors among devices; with one device they go there whole."""
    return [_moved(inputs, _only(target_gpus, "scatter"))]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Split positional and keyword arguments among devices."""
    return tuple(scatter(inputs, target_gpus, dim)), tuple(scatter(kwargs or {}, target_gpus, dim))


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """Join the results of several devices on one; dicts and sequences item by item."""
    first = outputs[0]
    if isinstance(first, torch.Tensor):
        if len(outputs) == 1:
            return first
        parts = [part.unsqueeze(0) if part.dim() == 0 else part for part in outputs]
        return torch.cat(parts, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(first) != len(part) for part in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)(
            (key, gather([part[key] for part in outputs], target_device, dim)) for key in first
        )
    joined = [gather(parts, target_device, dim) for parts in zip(*outputs, strict=True)]
    return type(first)(*joined) if hasattr(first, "_fields") else type(first)(joined)


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """Copies of a module, one per device; the one device has the module itself."""
    _only(devices, "replicate")
    return [network]


def parallel_apply(
    modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Any = None
) -> list[Any]:
    """Call each module with its own inputs."""
    if len(modules) != len(inputs):
        raise AssertionError(f"{len(modules)} modules for {len(inputs)} inputs")
    keywords = kwargs_tup if kwargs_tup is not None else [{}] * len(modules)
    return [
        module(*(given if isinstance(given, tuple) else (given,)), **options)
        for module, given, options in zip(modules, inputs, keywords, strict=True)
    ]


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module with a batch that is split among devices: here, with the whole batch."""
    device = _only(_devices(device_ids), "data_parallel")
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*_moved(given, device), **_moved(module_kwargs or {}, device))


def _devices(device_ids: Sequence[Any] | None) -> list[Any]:
    return list(range(torch.cuda.device_count())) if device_ids is None else list(device_ids)


class DataParallel(Module):
    """A module whose batches are split among devices; on one device, the module itself.

    **Raises** RuntimeError for several devices.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids = _devices(device_ids)
        device = _only(self.device_ids, "DataParallel")
        self.output_device = output_device
        if device is not None:
            self.module.to(device)
            self.output_device = self.device_ids[0] if output_device is None else output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        device = _only(self.device_ids, "DataParallel")
        return self.module(*_moved(inputs, device), **_moved(kwargs, device))
