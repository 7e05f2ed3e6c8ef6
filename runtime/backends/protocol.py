"""What a backend is: the calls it makes, the memory it gives, and what other floors ask it.

A tensor's backend is reached through its key. What has a body here is the answer of a backend whose
memory the host reads at once, and which has no streams. `docs/backends.md` builds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, Protocol, runtime_checkable

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.generator import Generator, default_generator
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import backends
from torchgen_out._runtime.dispatch.operator import Call, Dispatch, Pointwise, Reduction, View


@runtime_checkable
class Backend(Protocol):
    """Serves the tensors of one device type.

    name: what native_functions.yaml calls it under `dispatch`. dtypes: what its tensors may have.
    makes_ranges: whether `fill_spaced` spares a copy. dlpack_type: DLPack's number, if it has one.
    """

    name: str
    dtypes: frozenset[dtype] = frozenset(dtypes.ALL)
    makes_ranges: bool = False
    dlpack_type: int | None = None

    # -- calls: below autograd, for tensors of one signature, of one variant of the operator -------

    def pointwise(self, operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
        """A scalar formula over broadcast operands."""
        ...

    def reduction(self, operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
        """A fold over dims."""
        ...

    def dispatch(self, operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
        """A hand-written kernel.

        Raises: NotImplementedError if there is none.
        """
        ...

    def view_copy(self, operator: View, key: int, keeps_order: bool, apart: Call) -> Call:
        """What a view shows of a tensor, in memory of its own, for a backend that does it at once.

        keeps_order: whether dims keep their order in memory; else it is contiguous. apart: the
        call that views and clones.
        """
        return apart

    # -- memory ------------------------------------------------------------------------------------

    def empty(self, sizes: tuple[int, ...], dtype: dtype, on: devices.device) -> Tensor:
        """A contiguous tensor of undefined values."""
        ...

    def grow(self, storage: Storage, count: int, dtype: dtype) -> None:
        """Have memory for at least so many elements, which keeps what it holds."""
        ...

    def transfer(self, tensor: Tensor, target: devices.device, non_blocking: bool) -> Tensor:
        """A copy on another device: one of the two is the host, or both are the backend's own."""
        ...

    def pin(self, tensor: Tensor) -> Tensor:
        """A copy of a host tensor in memory that the backend's devices read by themselves."""
        raise errors.no_accelerator()

    # -- what else is asked ------------------------------------------------------------------------

    def default_generator(self, on: devices.device) -> Generator:
        """Where random numbers for a device come from that are asked of none."""
        return default_generator

    def fill_spaced(self, made: Tensor, start: Any, end: Any, step: Any, middle: int) -> None:
        """Write numbers at equal distances, those from place `middle` on counted from the end."""
        raise errors.makes_ranges_on_host(self.name)

    def refuse_any(self, broken: Tensor, operator: str, error: Exception) -> None:
        """Raise, now or to whoever waits for the device, if an element is true."""
        if batched.any_true(broken):
            raise error

    # -- streams -----------------------------------------------------------------------------------

    def synchronize(self, index: int | None = None) -> None:
        """Wait for all work that a device was given; the current one without an index."""
        return None

    def joined(self, tensors: Iterable[Any]) -> AbstractContextManager[Any]:
        """A block that uses tensors which other streams than the current may still be making."""
        return nullcontext()

    def carried(self) -> Callable[[], None]:
        """What gives another thread, which calls it, this thread's device and streams."""
        return _carry_nothing

    def record_stream(self, tensor: Tensor, stream: Any) -> None:
        """Keep a tensor's memory from other use until what a stream was given so far is done."""
        raise errors.no_accelerator()

    # -- other libraries ---------------------------------------------------------------------------

    def stream_number(self, index: int) -> int:
        """The current stream of a device, as other libraries number it."""
        raise errors.no_accelerator()

    def hand_over(self, tensor: Tensor, stream: int | None) -> None:
        """Let another library's stream wait for a tensor."""
        raise errors.no_accelerator()

    def adopt(self, address: int, *described: Any, on: int | None, stream: int | None) -> Tensor:
        """A tensor over another library's memory, for which the current stream waits.

        described: dtype, sizes, strides, and what to call when nobody sees the memory. on: the
        index of its device, None if that is to be found out.
        """
        raise errors.no_accelerator()


def _carry_nothing() -> None:
    pass


def of(tensor: Tensor) -> Backend:
    """The backend of a tensor."""
    found: Backend = backends.backend_of(tensor._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK)
    return found


def on(device: devices.device) -> Backend:
    """The backend of a device.

    Raises: NotImplementedError if there is none; RuntimeError if it cannot run here.
    """
    found: Backend = backends.backend_of(device.type_index)
    return found


def pinning() -> Backend:
    """The backend that reads page-locked memory.

    Raises: RuntimeError if it cannot run here.
    """
    found: Backend = backends.backend_of(devices.CUDA)
    return found


_NOTHING_TO_JOIN = nullcontext()


def joined(tensors: Iterable[Any]) -> AbstractContextManager[Any]:
    """A block that uses tensors of any devices, whichever streams are making them.

    What is no tensor among them is passed over.
    """
    found = {getattr(each, "_key", 0) >> keys.DEVICE_SHIFT & keys.DEVICE_MASK for each in tensors}
    found.discard(devices.CPU)
    if not found:
        return _NOTHING_TO_JOIN
    joining = ExitStack()
    for index in found:
        joining.enter_context(backends.backend_of(index).joined(tensors))
    return joining


def carried() -> Callable[[], None]:
    """What makes this thread's devices and streams the current ones of a thread that calls it."""
    carriers = [each.carried() for each in backends.opened()]

    def carry() -> None:
        for carrier in carriers:
            carrier()

    return carry
