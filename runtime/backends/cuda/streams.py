"""Streams, in which a device works in order, and events, by which streams wait for each other.

Work is asynchronous: a call returns when its work is queued in the current stream of its device.
Each thread has a current stream per device, at first the default one. Streams come from a pool of
32 per device and priority and are never given back, so that memory may remember its stream.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from types import TracebackType
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import current, driver, faults
from torchgen_out._runtime.core import device as devices

DEFAULT = 0
"""The driver's handle of the default stream."""
POOL_SIZE = 32


class Stream:
    """A queue of work of one device.

    device: the current one unless another is named. priority: negative ones go first.
    """

    __slots__ = ("cuda_stream", "device", "device_index", "priority")
    __module__ = "torchgen_out.cuda"

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        index = current.index_of(device)
        self._set(index, _pools.take(index, priority), priority)

    def _set(self, index: int, handle: int, priority: int) -> None:
        self.cuda_stream = handle
        self.device_index = index
        self.device = devices.device("cuda", index)
        self.priority = priority

    def wait_event(self, event: Event) -> None:
        """Let the work given from now on wait for an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let the work given from now on wait for what another stream was given so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event, a new one if none is given, that happens after the work so far."""
        event = event or Event()
        event.record(self)
        return event

    def query(self) -> bool:
        """Return whether all work is done."""
        return faults.is_stream_done(self.device_index, self.cuda_stream)

    def synchronize(self) -> None:
        """Wait until all work is done."""
        faults.wait_for_stream(self.device_index, self.cuda_stream)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device_index, self.cuda_stream) == (other.device_index, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that another library made, and keeps.

    stream_ptr: the driver's handle. device: its device, the current one unless another is named.
    """

    __slots__ = ()
    __module__ = "torchgen_out.cuda"

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        self._set(current.index_of(device), stream_ptr, 0)


def _known_stream(index: int, handle: int) -> Stream:
    made: Stream = object.__new__(Stream)
    made._set(index, handle, 0)
    return made


class _Pools:
    """The streams made so far, handed out in turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: dict[tuple[int, int], list[int]] = {}
        self._turns = count()

    def take(self, index: int, priority: int) -> int:
        with self._lock:
            pool = self._streams.setdefault((index, priority), [])
            if len(pool) == POOL_SIZE:
                return pool[next(self._turns) % POOL_SIZE]
            pool.append(driver.current().create_stream(index, priority))
            return pool[-1]

    def clear(self) -> None:
        self._streams.clear()


_pools = _Pools()


class _CurrentStreams(threading.local):
    def __init__(self) -> None:
        self.by_device: dict[int, Stream] = {}


_current = _CurrentStreams()


def current_handle(index: int) -> int:
    """Return the driver's handle of a device's current stream."""
    found = _current.by_device.get(index)
    return DEFAULT if found is None else found.cuda_stream


def current_stream(device: Any = None) -> Stream:
    """Return the stream into which a device's work goes."""
    index = current.index_of(device)
    return _current.by_device.get(index) or _known_stream(index, DEFAULT)


def default_stream(device: Any = None) -> Stream:
    """Return the stream that is current until another is made so."""
    return _known_stream(current.index_of(device), DEFAULT)


def set_stream(stream: Stream | None) -> None:
    """Make a stream its device's current one in this thread; None changes nothing."""
    if stream is not None:
        _current.by_device[stream.device_index] = stream


class StreamContext:
    """A block of code with another current stream, and its device as the current one."""

    __module__ = "torchgen_out.cuda"

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        index = self.stream.device_index
        self._device = current.device(index)
        self._device.__enter__()
        self._before = current_stream(index)
        set_stream(self.stream)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stream is not None:
            set_stream(self._before)
            self._device.__exit__(kind, error, trace)


@contextmanager
def joined(tensors: Iterable[Any]) -> Iterator[None]:
    """A block that uses what other streams have made, which have waited for it when they go on.

    Of tensors the streams in which they were made; what else is among them has none. While a graph
    is captured that is left to its author: streams outside cannot be waited for.
    """
    others = [] if driver.is_capturing() else [each for each in map(_made_in, tensors) if each]
    for each in others:
        current_stream(each.device_index).wait_stream(each)
    try:
        yield
    finally:
        for each in others:
            each.wait_stream(current_stream(each.device_index))


def _made_in(tensor: Any) -> Stream | None:
    """The stream in which a tensor of a device was made, if it is not the current one."""
    if not getattr(tensor, "is_cuda", False):
        return None
    buffer = tensor._storage.buffer
    if buffer.block is None or buffer.block.stream == current_handle(buffer.device_index):
        return None
    return _known_stream(buffer.device_index, buffer.block.stream)


def carried() -> Callable[[], None]:
    """Return what makes the device and the streams of this thread another one's current ones.

    For a thread that goes on with the work of this one, which waits for it.
    """
    index, by_device = current.index_of_thread(), dict(_current.by_device)
    captures = driver.captures_of_thread()

    def carry() -> None:
        current.set_index_of_thread(index)
        _current.by_device.update(by_device)
        driver.continue_captures(captures)

    return carry


def forget() -> None:
    """Forget all streams, when another driver takes the place of the one that made them."""
    _pools.clear()
    _current.by_device.clear()


def stream(stream: Stream | None) -> StreamContext:
    """Return a block of code with `stream` as the current one; None changes nothing."""
    return StreamContext(stream)


class Event:
    """A point in a stream: made when first recorded, on the device of the stream.

    enable_timing: whether `elapsed_time` may be asked. blocking: whether a thread that waits sleeps
    instead of spinning.
    """

    __slots__ = ("_blocking", "_device_index", "_handle", "_recorded", "_timing")
    __module__ = "torchgen_out.cuda"

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise errors.no_shared_event()
        self._timing, self._blocking = enable_timing, blocking
        self._handle, self._device_index, self._recorded = 0, -1, False

    @property
    def cuda_event(self) -> int:
        """The driver's handle; 0 before the event is first recorded."""
        return self._handle

    @property
    def device(self) -> devices.device | None:
        """The device of the event; None before it is first recorded."""
        return devices.device("cuda", self._device_index) if self._handle else None

    def record(self, stream: Stream | None = None) -> None:
        """Let the event happen when the work so far of a stream, else the current, is done.

        **Raises** RuntimeError if the event was recorded on another device before.
        """
        stream = current_stream() if stream is None else stream
        if not self._handle:
            self._device_index = stream.device_index
            self._handle = driver.current().create_event(
                self._device_index, self._timing, self._blocking
            )
        if stream.device_index != self._device_index:
            raise errors.event_of_other_device(self._device_index, stream.device_index)
        driver.current().record_event(self._device_index, self._handle, stream.cuda_stream)
        self._recorded = True

    def wait(self, stream: Stream | None = None) -> None:
        """Let the work given to a stream, else the current, wait for the event."""
        stream = current_stream() if stream is None else stream
        if self._recorded:
            driver.current().wait_event(stream.device_index, stream.cuda_stream, self._handle)

    def query(self) -> bool:
        """Return whether the event has happened; one never recorded has."""
        if not self._recorded:
            return True
        return faults.is_event_done(self._device_index, self._handle)

    def synchronize(self) -> None:
        """Wait for the event."""
        if self._recorded:
            faults.wait_for_event(self._device_index, self._handle)

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to a later one.

        **Raises** ValueError unless both take the time and are recorded; RuntimeError while one has
        not happened yet, or if they are of two devices.
        """
        if not (self._timing and end_event._timing):
            raise errors.event_without_timing()
        if not (self._recorded and end_event._recorded):
            raise errors.event_not_recorded()
        if self._device_index != end_event._device_index:
            raise errors.event_of_other_device(self._device_index, end_event._device_index)
        return driver.current().elapsed_time(self._device_index, self._handle, end_event._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", 0) and driver.is_open():
            driver.current().destroy_event(self._device_index, self._handle)

    def __repr__(self) -> str:
        return (
            f"<torch.cuda.Event {self._handle:#x}>"
            if self._handle
            else ("<torch.cuda.Event uninitialized>")
        )
