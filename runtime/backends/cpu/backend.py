"""The CPU backend, as the dispatcher sees it."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.backends.cpu import dispatch, memory, pointwise, reduction
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.dispatch.backends import register_backend
from torchgen_out._runtime.dispatch.operator import Call, Dispatch, Pointwise, Reduction


class CPUBackend:
    """Makes the calls of operators on CPU tensors, one per signature."""

    name = "CPU"

    def pointwise(self, operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
        """A loop around a formula."""
        return pointwise.make_call(operator, signature, variant)

    def reduction(self, operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
        """A fold."""
        return reduction.make_call(operator, signature, variant)

    def dispatch(self, operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
        """A hand-written kernel."""
        return dispatch.make_call(operator, signature, variant)

    def grow(self, storage: Storage, count: int, dtype: dtypes.dtype) -> None:
        """Have memory for at least so many elements, which keeps what it holds.

        Raises: RuntimeError if it is too small and somebody else's.
        """
        memory.grow(storage, count, dtype)


register_backend(devices.CPU, CPUBackend())
