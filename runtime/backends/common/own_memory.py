"""Backends from outside: three functions for memory, kernels for some operators, the host for more.

`docs/backends.md` shows one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import host_calls
from torchgen_out._runtime.backends.common.buffer import DeviceBuffer
from torchgen_out._runtime.backends.common.kernel_calls import (
    Kernel,
    explicit_kernel,
    make_kernel_call,
)
from torchgen_out._runtime.backends.protocol import Backend
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import operator as registered
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.dispatch.operator import Call, Dispatch, Operator, Pointwise, Reduction


class OwnMemory(Backend):
    """A backend whose memory it alone reads. Its author says how bytes get there and back.

    host_operators: the names of operators that run on the CPU, on copies; {"*"} for all that have
    no kernel. device_count: how many devices there are. type_index: the type's number, set when the
    backend is registered.
    """

    host_operators: frozenset[str] = frozenset({"*"})
    device_count = 1
    type_index = -1

    # -- what an author says -----------------------------------------------------------------------

    def allocate(self, nbytes: int, index: int) -> Any:
        """Memory of a device, which is given back when nobody refers to it."""
        raise NotImplementedError

    def read(self, memory: Any) -> np.ndarray:
        """The bytes in memory."""
        raise NotImplementedError

    def write(self, memory: Any, data: np.ndarray) -> None:
        """Fill memory with bytes."""
        raise NotImplementedError

    def kernel_of(self, operator: Operator, signature: tuple[Any, ...]) -> Kernel | None:
        """What computes an operator on the device, None for one that is left to the host.

        kernel(*results, *arguments) is given tensors. Which memory they see says `memory_of`. Where
        an entry names a kernel for the CPU, the host takes that, not calls of other operators.
        """
        own = operator.kernels.get(self.type_index)
        return own or explicit_kernel(operator, "CPU", self.type_index)

    # -- calls -------------------------------------------------------------------------------------

    def pointwise(self, operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
        """A scalar formula over broadcast operands."""
        return self._make_call(operator, signature, variant)

    def reduction(self, operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
        """A fold over dims."""
        return self._make_call(operator, signature, variant)

    def dispatch(self, operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
        """A hand-written kernel; operators that write to `self` by their schema run on the host."""
        return self._make_call(operator, signature, variant)

    def _make_call(self, operator: Operator, signature: tuple[Any, ...], variant: str) -> Call:
        call = self._computing_call(operator, signature, variant)
        if self.device_count == 1 or operator.across_devices:
            return call

        def call_on_one_device(*args: Any) -> Any:
            _check_one_device(args)
            return call(*args)

        return call_on_one_device

    def _computing_call(self, operator: Operator, signature: tuple[Any, ...], variant: str) -> Call:
        kernel = self.kernel_of(operator, signature)
        if kernel is not None and not getattr(operator, "mutates", False):
            own = self._on_arrived(kernel)
            return make_kernel_call(own, self._allocate_as, operator, signature, variant)
        named = {"*", operator.name, operator.base_name}
        if named.isdisjoint(self.host_operators) and operator.base_name not in NEEDED:
            raise errors.no_kernel_of_device(operator.base_name, devices.type_name(self.type_index))
        return host_calls.make_host_call(self, operator, signature, variant)

    def _on_arrived(self, kernel: Kernel) -> Kernel:
        """The kernel, which may rely on all tensors being on the device: numbers may have come."""

        def run(*args: Any) -> None:
            kernel(*[self._arrived(arg) for arg in args])

        return run

    def _arrived(self, value: Any) -> Any:
        if isinstance(value, Tensor) and value.is_cpu:
            return self.transfer(value, self._device(0), False)
        return value

    def _allocate_as(self, described: Tensor, args: Sequence[Any]) -> Tensor:
        own = [each for each in args if isinstance(each, Tensor) and not each.is_cpu]
        on = own[0].device if own else self._device(0)
        made = self.empty(described._sizes, described.dtype, on)
        return build(made._key, made._sizes, described._strides, 0, made._storage)

    # -- memory ------------------------------------------------------------------------------------

    def memory_of(self, tensor: Tensor) -> Any:
        """What `allocate` made for a tensor, which sees it by its strides and offset."""
        return tensor._storage.buffer.block

    def empty(self, sizes: tuple[int, ...], dtype: dtypes.dtype, on: devices.device) -> Tensor:
        """A contiguous tensor of undefined values.

        Raises: TypeError for a dtype that the device has not; RuntimeError for one device too many.
        """
        index = on.index or 0
        if dtype not in self.dtypes:
            raise errors.dtype_not_on_device(dtype, on.type, [d.name for d in self.dtypes])
        if index >= self.device_count:
            raise errors.no_such_device(on, self.device_count)
        layout = dense_layout(tuple(sizes))
        key = dtype.index | self.type_index << keys.DEVICE_SHIFT | layout.zero_dim
        storage = Storage(self._buffer(layout.numel, dtype.numpy, index))
        return build(key, layout.sizes, layout.strides, 0, storage)

    def _buffer(self, size: int, dtype: np.dtype, index: int) -> OwnBuffer:
        memory = self.allocate(size * dtype.itemsize, index)
        made = OwnBuffer(memory, index, id(memory), size, dtype)
        made.type_index = self.type_index
        return made

    def _device(self, index: int) -> devices.device:
        return devices.device(devices.type_name(self.type_index), index)

    def transfer(self, tensor: Tensor, target: devices.device, non_blocking: bool) -> Tensor:
        """A copy on the host, or of a tensor of the host, or on another device of the type."""
        if not tensor.is_cpu:
            tensor = host_calls.on_host(tensor, self.elements)
        if not shapes.is_dense(tensor._sizes, tensor._strides) or tensor._offset:
            tensor = registered.operators["clone"].calls[tensor._key & ~keys.GRAD](tensor, None)
        return tensor if target.type == "cpu" else self.from_host(tensor, target.index or 0)

    def from_host(self, tensor: Tensor, index: int) -> Tensor:
        """A tensor like one of the host, which is dense, on a device of some number."""
        made = self.empty(tensor._sizes, tensor.dtype, self._device(index))
        offset = tensor._offset
        elements = tensor._storage.buffer.view(tensor.dtype.numpy)
        self.store(made._storage, elements[offset : offset + tensor.numel()])
        return build(made._key, made._sizes, tensor._strides, 0, made._storage)

    def elements(self, storage: Storage) -> np.ndarray:
        """A copy of a storage's elements on the host."""
        buffer = storage.buffer
        return np.array(self.read(buffer.block)).view(np.uint8)[: buffer.nbytes].view(buffer.dtype)

    def store(self, storage: Storage, elements: np.ndarray) -> None:
        """Write elements to a storage, which grows if it must."""
        if elements.nbytes > storage.nbytes():
            own = storage.buffer
            storage.buffer = self._buffer(elements.size, elements.dtype, own.device_index)
        self.write(storage.buffer.block, np.ascontiguousarray(elements).view(np.uint8))

    def grow(self, storage: Storage, count: int, dtype: dtypes.dtype) -> None:
        """Have memory for at least so many elements, which keeps what it holds."""
        if count * dtype.itemsize > storage.nbytes():
            grown = np.zeros(count, dtype.numpy)
            grown.view(np.uint8)[: storage.nbytes()] = self.elements(storage).view(np.uint8)
            self.store(storage, grown)


NEEDED = frozenset({"copy_", "clone", "fill_", "zero_", "_to_copy"})
"""What every tensor needs: without a kernel of the backend's own, the host does it."""


def _check_one_device(args: Sequence[Any], found: Tensor | None = None) -> Tensor | None:
    """The first tensor on a device, which is the device of all others.

    Raises: RuntimeError if it is not.
    """
    for arg in args:
        if isinstance(arg, (tuple, list)):
            found = _check_one_device(arg, found)
        elif isinstance(arg, Tensor) and not arg.is_cpu:
            if found is not None and found.device is not arg.device:
                raise errors.same_device_expected(found.device, arg.device)
            found = arg
    return found


class OwnBuffer(DeviceBuffer[Any]):
    """Memory of a backend from outside; the address tells one from another, and leads nowhere."""

    __slots__ = ("type_index",)
    type_index: int

    def _part(self, address: int, size: int, dtype: np.dtype) -> OwnBuffer:
        part = super()._part(address, size, dtype)
        part.type_index = self.type_index
        return part

    def __reduce__(self) -> tuple[Any, ...]:
        backend = backend_of(self.type_index)
        name = devices.type_name(self.type_index)
        return _restored, (name, self.device_index, backend.elements(Storage(self)))


def _restored(type_name: str, index: int, elements: np.ndarray) -> OwnBuffer:
    """New memory on the device of the same number, which holds these elements."""
    backend = backend_of(devices.TYPE_INDEX[type_name])
    storage = Storage(backend._buffer(elements.size, elements.dtype, index))
    backend.store(storage, elements)
    buffer: OwnBuffer = storage.buffer
    return buffer
