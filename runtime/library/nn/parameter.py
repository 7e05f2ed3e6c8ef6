"""`Parameter` and `Buffer`: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.tensor_api.pickling import as_class

__all__ = ["Buffer", "Parameter"]


def _as_subclass(cls: type, data: Any, requires_grad: bool) -> Any:
    """A tensor of class `cls` over the elements of `data`, a leaf of the graph."""
    self: Any = as_class(cls, data.detach())
    self._base = None
    return self.requires_grad_(requires_grad)


class Parameter(torch.Tensor):
    """A tensor that is a module's parameter: it requires grad and optimizers update it.

    Assigned to an attribute of a module it appears in `module.parameters()`. What is computed from
    it is a plain tensor.
    """

    __torch_function__ = overrides.disabled

    __module__ = "torchgen_out.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = torch.empty(0)
        return _as_subclass(cls, data, requires_grad)

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        copied = type(self)(
            self.data.clone(memory_format=torch.preserve_format), self.requires_grad
        )
        memo[id(self)] = copied
        return copied

    # mypy takes a special method's keywords for arguments without a name, which then differ.
    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + torch.Tensor.__repr__(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuild_parameter, (self.data, self.requires_grad, OrderedDict())


class Buffer(torch.Tensor):
    """A tensor that a module registers as a buffer: state that is saved but not trained."""

    __module__ = "torchgen_out.nn.parameter"

    persistent: bool
    __torch_function__ = overrides.disabled

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = torch.empty(0)
        self = _as_subclass(cls, data, data.requires_grad)
        self.persistent = persistent
        return self

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        pass


def rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """What unpickling a parameter calls; PyTorch's files name it too."""
    return Parameter(data, requires_grad)
