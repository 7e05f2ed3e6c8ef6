"""A driver whose devices are memory of the host, and whose kernels run as text."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.cuda import emulator
from tests.cuda.emulated_memory import Pointer
from tests.cuda.recording_driver import RecordingDriver, Refused
from tests.cuda.timeline import Mark, Timeline
from torchgen_out._runtime.backends.cuda.driver import Grid, Values

ALIGNMENT = 512
UNDEFINED = 0xC3


class EmulatedDriver(RecordingDriver):
    """Does what it records, as late as it may.

    Work is done when somebody waits for it, or asks a second time whether it is done. While a
    graph is captured, its streams' work is written down, and calls that have no place there end
    the capture.
    """

    def __init__(self, devices: int = 2) -> None:
        super().__init__(devices)
        self._rooms: dict[int, np.ndarray] = {}
        self._device_of: dict[int, int] = {}
        self._timeline = Timeline()
        self._marks: dict[int, Mark] = {}
        self._host_uses: dict[int, list[Mark]] = {}
        self._captured: set[tuple[int, int]] = set()
        """The streams whose work is written down."""
        self._captured_events: set[int] = set()
        self._broken = ""
        self._written: list[Callable[[], object]] = []
        self._graphs: dict[int, list[Callable[[], object]]] = {}

    # -- order ----------------------------------------------------------------------------------

    def do(self, work: Callable[[], object]) -> None:
        """Do the work of a library that keeps no stream: behind all other, or in a graph."""
        if self._captured:
            self._written.append(work)
        else:
            self._timeline.finish()
            work()

    def _put(self, device: int, stream: int, work: Callable[[], object]) -> None:
        if (device, stream) in self._captured:
            self._written.append(work)
        else:
            self._timeline.put((device, stream), work)

    def _break_capture(self, name: str) -> None:
        """Refuse a call that has no place while a graph is captured."""
        if self._captured:
            self._broken = name
            raise Refused(f"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: {name}")

    def synchronize(self, device: int) -> None:
        self._break_capture("synchronize")
        super().synchronize(device)
        for stream in (*self.streams, 0, 1, 2):
            self._timeline.reach(self._timeline.mark((device, stream)))

    def is_stream_done(self, device: int, stream: int) -> bool:
        if (device, stream) in self._captured:
            self._break_capture("is_stream_done")
        return self._ask(self._timeline.mark((device, stream))) and super().is_stream_done(
            device, stream
        )

    def _ask(self, mark: Mark) -> bool:
        """Whether work is done; it goes on meanwhile."""
        done = self._timeline.is_reached(mark)
        self._timeline.reach(mark)
        return done

    def synchronize_stream(self, device: int, stream: int) -> None:
        if (device, stream) in self._captured:
            self._break_capture("synchronize_stream")
        super().synchronize_stream(device, stream)
        self._timeline.reach(self._timeline.mark((device, stream)))

    def record_event(self, device: int, event: int, stream: int) -> None:
        super().record_event(device, event, stream)
        self._captured_events.discard(event)
        if (device, stream) in self._captured:
            self._captured_events.add(event)
        else:
            self._marks[event] = self._timeline.mark((device, stream))

    def wait_event(self, device: int, stream: int, event: int) -> None:
        super().wait_event(device, stream, event)
        if event in self._captured_events:
            self._captured.add((device, stream))
        elif (device, stream) in self._captured:
            self._broken = "wait_event"
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_ISOLATION: an event from outside")
        else:
            self._timeline.wait((device, stream), self._marks[event])

    def is_event_done(self, device: int, event: int) -> bool:
        self._break_capture("is_event_done")
        return self._ask(self._mark_of(event)) and super().is_event_done(device, event)

    def synchronize_event(self, device: int, event: int) -> None:
        self._break_capture("synchronize_event")
        super().synchronize_event(device, event)
        self._timeline.reach(self._mark_of(event))

    def elapsed_time(self, device: int, start: int, end: int) -> float:
        for each in (start, end):
            if not self._timeline.is_reached(self._mark_of(each)):
                raise Refused("CUDA_ERROR_NOT_READY")
        return super().elapsed_time(device, start, end)

    def _mark_of(self, event: int) -> Mark:
        if event in self._captured_events:
            raise Refused("CUDA_ERROR_CAPTURED_EVENT")
        return self._marks[event]

    # -- graphs ---------------------------------------------------------------------------------

    @property
    def forbids(self) -> bool:
        """Whether a capture forbids to take memory or to load code now."""
        return bool(self._captured) and not self.is_relaxed

    def begin_capture(self, device: int, stream: int, mode: str) -> None:
        super().begin_capture(device, stream, mode)
        assert not self._captured
        self._captured, self._written, self._broken = {(device, stream)}, [], ""

    def end_capture(self, device: int, stream: int) -> int:
        graph = super().end_capture(device, stream)
        assert (device, stream) in self._captured
        self._captured = set()
        if self._broken:
            raise Refused(f"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: {self._broken}")
        self._graphs[graph] = self._written
        return graph

    def instantiate(self, device: int, graph: int) -> int:
        executable = super().instantiate(device, graph)
        self._graphs[executable] = self._graphs[graph]
        return executable

    def launch_graph(self, device: int, executable: int, stream: int) -> None:
        super().launch_graph(device, executable, stream)
        for work in self._graphs[executable]:
            self._put(device, stream, work)

    def destroy_graph(self, device: int, graph: int, executable: int) -> None:
        super().destroy_graph(device, graph, executable)
        del self._graphs[graph], self._graphs[executable]

    # -- memory ---------------------------------------------------------------------------------

    def allocate(self, device: int, size: int, stream: int) -> int:
        assert (device, stream) not in self._captured, "memory that is the graph's alone"
        return self._make_room(device, size, stream)

    def allocate_fixed(self, device: int, size: int) -> int:
        return self._make_room(device, size, 0)

    def _make_room(self, device: int, size: int, stream: int) -> int:
        super().allocate(device, size, stream)
        room = np.full(size + ALIGNMENT, UNDEFINED, np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        memory = room[start : start + size]
        address = int(memory.ctypes.data)
        self._rooms[address], self._device_of[address] = memory, device
        self.sizes[address] = size
        return address

    def free(self, device: int, address: int, stream: int) -> None:
        super().free(device, address, stream)
        assert self._device_of.pop(address) == device
        self._put(device, stream, partial(self._rooms.pop(address).fill, UNDEFINED))

    def free_fixed(self, device: int, address: int) -> None:
        self._break_capture("free_fixed")
        self._timeline.finish()
        super().free_fixed(device, address)

    def free_host(self, device: int, address: int) -> None:
        for mark in self._host_uses.pop(address, ()):
            assert self._timeline.is_reached(mark), "page-locked memory that a stream still uses"
        super().free_host(device, address)

    def _memory(self, device: int, address: int, size: int = 1) -> np.ndarray:
        """The bytes from an address to the end of its allocation."""
        start = self._start_of(address)
        assert start is not None, f"no memory at {address:#x}"
        memory = self._rooms[start][address - start :]
        assert len(memory) >= size, f"no {size} bytes at {address:#x}"
        assert self._device_of[start] == device, f"{address:#x} is not of cuda:{device}"
        return memory

    def _start_of(self, address: int) -> int | None:
        """The beginning of the allocation that holds an address."""
        starts = sorted(self._rooms)
        start = starts[bisect_right(starts, address) - 1] if starts else address + 1
        return start if start <= address < start + len(self._rooms.get(start, ())) else None

    def device_of(self, address: int) -> int:
        start = self._start_of(address)
        assert start is not None
        return self._device_of[start]

    def bytes_of(self, device: int, address: int, size: int) -> np.ndarray:
        """Memory of a device, for whoever takes part in the emulation."""
        if not self._captured:
            self._timeline.finish()
        return self._memory(device, address, size)[:size]

    def _pinned(self, address: int) -> int | None:
        """The beginning of the page-locked memory that holds an address."""
        for start, room in self.host.items():
            if start <= address < start + len(room):
                return start
        return None

    # -- copies ---------------------------------------------------------------------------------

    def copy(self, device: int, target: int, source: int, size: int, stream: int) -> None:
        """Pageable memory is read at once, and written when all before is done."""
        super().copy(device, target, source, size, stream)
        kinds = [self._kind_of(device, each, size) for each in (target, source)]
        if kinds[1] == "pageable":
            data = ctypes.string_at(source, size)
            self._put(device, stream, partial(ctypes.memmove, target, data, size))
            return
        self._put(device, stream, partial(ctypes.memmove, target, source, size))
        if kinds[0] == "pageable":
            self._timeline.reach(self._timeline.mark((device, stream)))
        for each in (target, source):
            start = self._pinned(each)
            if start is not None:
                mark = self._timeline.mark((device, stream))
                self._host_uses.setdefault(start, []).append(mark)

    def _kind_of(self, device: int, address: int, size: int) -> str:
        if self._start_of(address) is not None:
            self._memory(device, address, size)
            return "device"
        return "pageable" if self._pinned(address) is None else "pinned"

    def copy_peer(
        self, target_device: int, target: int, device: int, source: int, size: int, stream: int
    ) -> None:
        super().copy_peer(target_device, target, device, source, size, stream)
        there = self._memory(target_device, target, size)[:size]
        here = self._memory(device, source, size)[:size]
        self._put(device, stream, partial(np.copyto, there, here))

    def fill(self, device: int, address: int, byte: int, size: int, stream: int) -> None:
        super().fill(device, address, byte, size, stream)
        self._put(device, stream, partial(self._memory(device, address, size)[:size].fill, byte))

    def write(self, device: int, address: int, data: bytes, stream: int) -> None:
        super().write(device, address, data, stream)
        self._memory(device, address, len(data))
        self._put(device, stream, partial(ctypes.memmove, address, data, len(data)))

    # -- kernels --------------------------------------------------------------------------------

    def launch(
        self, device: int, kernel: int, grid: Grid, block: Grid, stream: int, values: Values
    ) -> None:
        super().launch(device, kernel, grid, block, stream, values)
        source = self.sources[kernel]
        given: list[Any] = []
        for name, value in zip(source.arguments, values, strict=True):
            given.append(self._pointer(device, value, name) if name.endswith("*") else value)
        self._put(device, stream, partial(emulator.run, source, grid, block, given))

    def _seen_by_kernels(self, device: int, address: int) -> np.ndarray:
        """Memory of a device, or page-locked memory of the host, to the end of its allocation."""
        start = self._pinned(address)
        if start is None:
            return self._memory(device, address)
        return np.frombuffer(self.host[start], np.uint8)[address - start :]

    def _pointer(self, device: int, address: int, name: str) -> Pointer:
        dtype = np.dtype({"bool*": "bool_"}.get(name, name.rstrip("*")))
        is_open = self._pinned(address) is not None  # records of faults: whoever sees one may write
        memory = self._seen_by_kernels(device, address) if address else np.empty(0, np.uint8)
        whole = len(memory) // dtype.itemsize * dtype.itemsize
        return Pointer(memory[:whole].view(dtype), is_open)
