"""A driver whose devices are memory of the host, and whose kernels run as text."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.backends.cuda.driver import Grid, Values
from tests.cuda import emulator
from tests.cuda.recording_driver import RecordingDriver

ALIGNMENT = 512
UNDEFINED = 0xC3


class EmulatedDriver(RecordingDriver):
    """Does what it records. All work is done at once, in the order of the calls."""

    def __init__(self, devices: int = 2) -> None:
        super().__init__(devices)
        self._rooms: dict[int, np.ndarray] = {}
        self._device_of: dict[int, int] = {}
        self._written: list[Callable[[], None]] | None = None
        self._graphs: dict[int, list[Callable[[], None]]] = {}

    def allocate(self, device: int, size: int, stream: int) -> int:
        super().allocate(device, size, stream)
        room = np.full(size + ALIGNMENT, UNDEFINED, np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        memory = room[start : start + size]
        address = int(memory.ctypes.data)
        self._rooms[address], self._device_of[address] = memory, device
        self.sizes[address] = size
        return address

    def do(self, work: Callable[[], object]) -> None:
        """Do a piece of work, or write it down while a graph is captured."""
        if self._written is None:
            work()
        else:
            self._written.append(work)

    def begin_capture(self, device: int, stream: int, mode: str) -> None:
        super().begin_capture(device, stream, mode)
        assert stream and self._written is None
        self._written = []

    def end_capture(self, device: int, stream: int) -> int:
        graph = super().end_capture(device, stream)
        assert self._written is not None
        self._graphs[graph], self._written = self._written, None
        return graph

    def instantiate(self, device: int, graph: int) -> int:
        executable = super().instantiate(device, graph)
        self._graphs[executable] = self._graphs[graph]
        return executable

    def launch_graph(self, device: int, executable: int, stream: int) -> None:
        super().launch_graph(device, executable, stream)
        for work in self._graphs[executable]:
            work()

    def destroy_graph(self, device: int, graph: int, executable: int) -> None:
        super().destroy_graph(device, graph, executable)
        del self._graphs[graph], self._graphs[executable]

    def free(self, device: int, address: int, stream: int) -> None:
        super().free(device, address, stream)
        self._rooms.pop(address)[...] = UNDEFINED
        assert self._device_of.pop(address) == device

    def _memory(self, device: int, address: int, size: int = 1) -> np.ndarray:
        """The bytes from an address to the end of its allocation."""
        starts = sorted(self._rooms)
        start = starts[bisect_right(starts, address) - 1]
        memory = self._rooms[start][address - start :]
        assert start <= address and len(memory) >= size, f"no memory at {address:#x}"
        assert self._device_of[start] == device, f"{address:#x} is not of cuda:{device}"
        return memory

    def device_of(self, address: int) -> int:
        starts = sorted(self._rooms)
        return self._device_of[starts[bisect_right(starts, address) - 1]]

    def bytes_of(self, device: int, address: int, size: int) -> np.ndarray:
        """Memory of a device, for whoever takes part in the emulation."""
        return self._memory(device, address, size)[:size]

    def copy(self, device: int, target: int, source: int, size: int, stream: int) -> None:
        super().copy(device, target, source, size, stream)
        for address in (target, source):
            if self._is_ours(address):
                self._memory(device, address, size)
        self.do(lambda: ctypes.memmove(target, source, size))

    def _is_ours(self, address: int) -> bool:
        return any(start <= address < start + len(m) for start, m in self._rooms.items())

    def copy_peer(
        self, target_device: int, target: int, device: int, source: int, size: int, stream: int
    ) -> None:
        super().copy_peer(target_device, target, device, source, size, stream)
        self._memory(target_device, target, size)[:size] = self._memory(device, source, size)[:size]

    def fill(self, device: int, address: int, byte: int, size: int, stream: int) -> None:
        super().fill(device, address, byte, size, stream)
        memory = self._memory(device, address, size)[:size]
        self.do(lambda: memory.fill(byte))

    def launch(
        self, device: int, kernel: int, grid: Grid, block: Grid, stream: int, values: Values
    ) -> None:
        super().launch(device, kernel, grid, block, stream, values)
        source = self.sources[kernel]
        given: list[Any] = []
        for name, value in zip(source.arguments, values, strict=True):
            given.append(self._pointer(device, value, name) if name.endswith("*") else value)
        self.do(lambda: emulator.run(source, grid, block, given))

    def _seen_by_kernels(self, device: int, address: int) -> np.ndarray:
        """Memory of a device, or page-locked memory of the host, to the end of its allocation."""
        for start, room in self.host.items():
            if start <= address < start + len(room):
                return np.frombuffer(room, np.uint8)[address - start :]
        return self._memory(device, address)

    def _pointer(self, device: int, address: int, name: str) -> emulator.Pointer:
        dtype = np.dtype({"bool*": "bool_"}.get(name, name.rstrip("*")))
        memory = self._seen_by_kernels(device, address) if address else np.empty(0, np.uint8)
        whole = len(memory) // dtype.itemsize * dtype.itemsize
        return emulator.Pointer(memory[:whole].view(dtype))
