"""The CUDA backend, as the dispatcher and the factories see it."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from torchgen_out._runtime.backends.common import kernel_calls
from torchgen_out._runtime.backends.common.dispatch import case_arguments, find_kernel
from torchgen_out._runtime.backends.cuda import (
    copying,
    current,
    direct,
    dispatch,
    driver,
    exchange,
    memory,
    pickled,
    pinned,
    pointwise,
    random,
    reduction,
    streams,
    transfer,
)
from torchgen_out._runtime.backends.cuda.buffer import CUDABuffer
from torchgen_out._runtime.backends.cuda.streams import Stream
from torchgen_out._runtime.backends.protocol import Backend
from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.operator import Call, Dispatch, Pointwise, Reduction
from torchgen_out._runtime.kernels.cuda import refusals
from torchgen_out._runtime.kernels.cuda.copy import ranges
from torchgen_out._runtime.kernels.cuda.copy.copy import Copy, CopyInto, Fill
from torchgen_out._runtime.kernels.cuda.direct import Direct, arranged


class CUDABackend(Backend):
    """Makes the calls of operators on CUDA tensors, one per signature."""

    name = "CUDA"
    makes_ranges = True
    dlpack_type = 2

    def pointwise(self, operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
        """A loop around a formula."""
        return pointwise.make_call(operator, signature, variant)

    def reduction(self, operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
        """A fold."""
        return reduction.make_call(operator, signature, variant)

    def dispatch(self, operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
        """A hand-written kernel.

        Raises: NotImplementedError if there is none for the operator.
        """
        explicit = kernel_calls.explicit_kernel(operator, self.name, devices.CUDA)
        if explicit is not None:
            return kernel_calls.make_explicit_call(explicit, operator, signature, variant)
        kernel = find_kernel(
            operator, self.name, devices.CUDA, "torchgen_out._runtime.kernels.cuda"
        )
        if isinstance(kernel, (Copy, CopyInto, Fill)):
            return copying.make_call(operator, kernel)
        if arrange := case_arguments(operator, devices.CUDA):
            is_direct = isinstance(kernel, Direct)
            kernel = kernel.case(arrange, operator.case) if is_direct else arranged(kernel, arrange)
        if isinstance(kernel, Direct):
            over_tensors = kernel_calls.named_over_tensors(operator)
            otherwise = over_tensors and kernel_calls.below_autograd(
                over_tensors, operator, signature
            )
            return direct.make_call(operator, kernel, signature, variant, otherwise)
        return dispatch.make_call(operator, kernel, signature, variant)

    def empty(self, sizes: tuple[int, ...], dtype: dtypes.dtype, on: devices.device) -> Tensor:
        """A contiguous tensor of undefined values."""
        return memory.empty(sizes, dtype, current.index_of(on))

    def transfer(self, tensor: Tensor, target: devices.device, non_blocking: bool) -> Tensor:
        """The tensor on another device: one of them is CUDA's."""
        return transfer.to_device(tensor, target, non_blocking)

    def fill_spaced(self, made: Tensor, start: Any, end: Any, step: Any, middle: int) -> None:
        """Write numbers at equal distances, from place `middle` on counted from the end."""
        queue = dispatch.DeviceQueue(copying.index_of(made), "arange")
        ranges.spaced(queue, dispatch.array_of(made), start, end, step, middle)

    def refuse_any(self, broken: Tensor, operator: str, error: Exception) -> None:
        """Have whoever waits next be told if an element is true."""
        whole = batched.whole(broken).contiguous()
        queue = dispatch.DeviceQueue(copying.index_of(whole), operator)
        refusals.note_any(queue, dispatch.array_of(whole), str(error))

    def grow(self, storage: Storage, count: int, dtype: dtypes.dtype) -> None:
        """Have memory for at least so many elements, which keeps what it holds."""
        memory.grow(storage, count, dtype)

    def pin(self, tensor: Tensor) -> Tensor:
        """A copy of a host tensor in page-locked memory."""
        return pinned.pin(tensor)

    def default_generator(self, on: devices.device) -> Generator:
        """The device's own."""
        return random.default_generator_of(on)

    def synchronize(self, index: int | None = None) -> None:
        """Wait for all work that a device was given; the current one without an index."""
        current.synchronize(index)

    def joined(self, tensors: Iterable[Any]) -> AbstractContextManager[Any]:
        """A block before which the current streams wait for those in which tensors were made."""
        return streams.joined(tensors)

    def carried(self) -> Callable[[], None]:
        """What gives another thread, which calls it, this thread's device and streams."""
        return streams.carried()

    def record_stream(self, tensor: Tensor, stream: Stream) -> None:
        """Keep a tensor's memory from other use until what a stream was given so far is done."""
        memory.record_stream(tensor, stream)

    def stream_number(self, index: int) -> int:
        """The current stream of a device, as other libraries number it."""
        return exchange.number_of_current(index)

    def hand_over(self, tensor: Tensor, stream: int | None) -> None:
        """Let another library's stream wait for a tensor."""
        exchange.hand_over(tensor, stream)

    def adopt(self, address: int, *described: Any, on: int | None, stream: int | None) -> Tensor:
        """A tensor over another library's memory, for which the current stream waits.

        described: dtype, sizes, strides, and what to call when nobody sees the memory. on: the
        index of its device, None if that is to be found out.
        """
        index = driver.current().device_of(address) if on is None else on
        exchange.take_over(index, stream)
        return exchange.adopt(index, address, *described)


def open_backend() -> CUDABackend:
    """Return the backend, and open the driver.

    Raises: RuntimeError saying what is missing where CUDA cannot be used.
    """
    driver.current()
    copyreg.pickle(CUDABuffer, pickled.reduce)
    return CUDABackend()
