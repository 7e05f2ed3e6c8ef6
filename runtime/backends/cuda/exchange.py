"""Memory of devices that is shared with other libraries: whose it is, and which stream waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import current, streams
from torchgen_out._runtime.backends.cuda.buffer import CUDABuffer
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.device import CUDA
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build

LEGACY_DEFAULT_STREAM, PER_THREAD_STREAM = 1, 2
"""The numbers of the default streams where 0 is not allowed."""
NO_WAITING = -1


class ForeignBlock:
    """Memory that another library gave, and takes back with the last buffer that sees it."""

    __slots__ = ("others", "release", "stream")

    def __init__(self, release: Callable[[], None], stream: int) -> None:
        self.release = release
        self.stream = stream
        self.others: set[int] = set()

    def __del__(self) -> None:
        self.release()


def adopt(
    index: int,
    address: int,
    dtype: dtypes.dtype,
    sizes: Sequence[int],
    strides: Sequence[int],
    release: Callable[[], None],
) -> Tensor:
    """Return a tensor over another library's memory. release: called when nobody sees it."""
    extent = 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    block = ForeignBlock(release, streams.current_handle(index))
    count = 0 if 0 in sizes else extent
    buffer = CUDABuffer(block, index, address if count else 0, count, dtype.numpy)
    key = keys.pack(dtype.index, CUDA, 0, not len(sizes))
    return build(key, Size(sizes), tuple(strides), 0, Storage(buffer))


def number_of_current(index: int) -> int:
    """Return the current stream of a device, as other libraries number it."""
    return streams.current_handle(index) or LEGACY_DEFAULT_STREAM


def hand_over(tensor: Tensor, stream: int | None) -> None:
    """Let a stream of another library wait for what the tensor's current stream was given.

    stream: its number; None means the default stream, -1 that nothing need wait.

    Raises: BufferError for a per-thread default stream, or a tensor of another than the current
    device, whose streams are not meant.
    """
    index = tensor.device.index or 0
    if index != current.current_device():
        raise errors.export_from_other_device(index, current.current_device())
    if stream == NO_WAITING:
        return
    if stream == PER_THREAD_STREAM:
        raise BufferError("per-thread default stream is not supported.")
    theirs = _stream(index, LEGACY_DEFAULT_STREAM if stream is None else stream)
    ours = streams.current_stream(index)
    if theirs != ours:
        theirs.wait_stream(ours)


def take_over(index: int, stream: int | None) -> None:
    """Let a device's current stream wait for a stream of another library; None: nothing to do."""
    if stream is not None and stream != NO_WAITING:
        theirs, ours = _stream(index, stream), streams.current_stream(index)
        if theirs != ours:
            ours.wait_stream(theirs)


def _stream(index: int, number: int) -> streams.Stream:
    """A stream by the number that other libraries give it."""
    if number == 0:
        raise AssertionError(f"unsupported stream on CUDA: {number}.")
    handle = streams.DEFAULT if number == LEGACY_DEFAULT_STREAM else number
    return streams.ExternalStream(handle, index)
