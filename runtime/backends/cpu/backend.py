"""The CPU backend, as the dispatcher sees it."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.backends.common import kernel_calls, pointwise_calls
from torchgen_out._runtime.backends.cpu import dispatch, memory, pointwise, reduction, view_copies
from torchgen_out._runtime.backends.protocol import Backend
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.operator import Call, Dispatch, Pointwise, Reduction, View


class CPUBackend(Backend):
    """Makes the calls of operators on CPU tensors, one per signature."""

    name = "CPU"
    dlpack_type = 1

    def pointwise(self, operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
        """A loop around a formula."""
        return pointwise_calls.make_call(pointwise.LOOPS, operator, signature, variant)

    def reduction(self, operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
        """A fold."""
        return reduction.make_call(operator, signature, variant)

    def dispatch(self, operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
        """A hand-written kernel."""
        explicit = kernel_calls.explicit_kernel(operator, self.name, devices.CPU)
        if explicit is not None:
            return kernel_calls.make_explicit_call(explicit, operator, signature, variant)
        return dispatch.make_call(operator, signature, variant)

    def view_copy(self, operator: View, key: int, keeps_order: bool, apart: Call) -> Call:
        """What a view shows, in memory of its own."""
        return view_copies.make_call(operator, key, keeps_order, apart)

    def empty(self, sizes: tuple[int, ...], dtype: dtypes.dtype, on: devices.device) -> Tensor:
        """A contiguous tensor of undefined values."""
        return memory.empty(sizes, dtype)

    def transfer(self, tensor: Tensor, target: devices.device, non_blocking: bool) -> Tensor:
        """A copy where the tensor is: there is one host."""
        return ops.clone(tensor)

    def grow(self, storage: Storage, count: int, dtype: dtypes.dtype) -> None:
        """Have memory for at least so many elements, which keeps what it holds.

        Raises: RuntimeError if it is too small and somebody else's.
        """
        memory.grow(storage, count, dtype)
