"""`Variable`: the old name of a tensor that takes part in autograd."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import engine
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn


class _Engine:
    """What old code reaches through `Variable._execution_engine`."""

    queue_callback = staticmethod(engine.queue_callback)


class _VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor, requires_grad=False)` is a tensor that shares its data with `tensor`.

    `volatile` has no effect any more: use `no_grad`.
    """

    _execution_engine = _Engine

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        if volatile:
            warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
            )
        return data.detach().requires_grad_(requires_grad)


public.place("autograd", Variable)
