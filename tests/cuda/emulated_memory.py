"""Memory as the emulator's kernels see it: every access is checked, and watched for races."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tests.cuda.watching import Moment, Watch
from torchgen_out._runtime.kernels.cuda.compiling import vectors


class OutOfBounds(Exception):
    """A kernel touched memory outside its allocation."""


class Clock(Protocol):
    """Who runs now."""

    now: Moment


class Pointer:
    """Memory from an address to the end of its allocation, watched during a launch.

    is_open: whether threads may meet there, as they do in a record that the host reads any time.
    """

    def __init__(self, elements: np.ndarray, is_open: bool = False) -> None:
        self.elements = elements
        self.is_open = is_open
        self.watch: Watch | None = None

    def begin(self, clock: Clock, watch: Watch, cell: int) -> None:
        """Be watched from now on. cell: bytes that are watched as one, a part of an element."""
        self.clock, self.watch = clock, None if self.is_open else watch
        self.first = self.elements.ctypes.data // cell
        self.cells = self.elements.itemsize // cell

    def _places(self, i: Any) -> tuple[int, range]:
        """The index of an element, and its cells."""
        at = int(i)
        if not 0 <= at < len(self.elements):
            raise OutOfBounds(f"element {at} of {len(self.elements)}")
        first = self.first + at * self.cells
        return at, range(first, first + self.cells)

    def __getitem__(self, i: Any) -> Any:
        at, cells = self._places(i)
        if self.watch is not None:
            for cell in cells:
                self.watch.read(cell, self.clock.now)
        return self.elements[at]

    def __setitem__(self, i: Any, value: Any) -> None:
        at, cells = self._places(i)
        if isinstance(value, np.generic):
            assert value.dtype == self.elements.dtype, (value.dtype, self.elements.dtype)
        if self.watch is not None:
            for cell in cells:
                self.watch.write(cell, self.clock.now)
        self.elements[at] = value

    def update(self, i: Any, combine: Callable[[Any, Any], Any], value: Any) -> Any:
        """Combine an element with a value, whoever else does it there; what it was."""
        at, cells = self._places(i)
        if self.watch is not None:
            for cell in cells:
                self.watch.update(cell, self.clock.now)
        before = self.elements[at]
        self.elements[at] = combine(before, value)
        return before


ANY_WINS = {"_put_slices_device_0", "index_copy_device_0", "scatter_value_device_0"}
"""Kernels whose values replace each other where a place comes twice, whichever is the last."""


def watch_pointers(name: str, pointers: Sequence[Pointer], clock: Clock) -> None:
    """Watch the memory of a launch; what is seen with elements of two sizes, in the smaller."""
    watch = Watch("memory", name in ANY_WINS)
    for own in pointers:
        near = [each for each in pointers if np.may_share_memory(own.elements, each.elements)]
        own.begin(clock, watch, min(each.elements.itemsize for each in (own, *near)))


def load(width: int) -> Callable[..., Any]:
    """`load4` and its kin."""

    def run(pointer: Pointer, i: Any) -> tuple[Any, ...]:
        _check_aligned(pointer, width)
        return tuple([pointer[width * int(i) + lane] for lane in range(width)])

    return run


def store(width: int) -> Callable[..., Any]:
    """`store4` and its kin."""

    def run(pointer: Pointer, i: Any, values: Sequence[Any]) -> None:
        _check_aligned(pointer, width)
        assert len(values) == width
        for lane, value in enumerate(values):
            pointer[width * int(i) + lane] = value

    return run


def atomic(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """`atomic_add` and its kin, of integers only: sums of floats would depend on the order."""

    def run(pointer: Pointer, i: Any, value: Any) -> Any:
        assert pointer.elements.dtype.kind == "i"
        return pointer.update(i, combine, value)

    return run


ATOMIC = {
    "atomic_add": atomic(np.add),
    "atomic_max": atomic(np.maximum),
    "atomic_min": atomic(np.minimum),
}


def _check_aligned(pointer: Pointer, width: int) -> None:
    align = min(vectors.BYTES, width * pointer.elements.itemsize)
    assert pointer.elements.ctypes.data % align == 0, "a vector that is not aligned"


class Shared:
    """Shared memory of a block."""

    def __init__(self, clock: Clock, shape: Any, dtype: Any) -> None:
        self.clock = clock
        self.elements = np.empty(shape, dtype)
        self.elements.reshape(-1).view(np.uint8)[...] = 0xA5
        self.dtype = self.elements.dtype
        self.watch = Watch("shared memory")

    def _checked(self, at: Any) -> Any:
        place = tuple([int(part) for part in at]) if isinstance(at, tuple) else (int(at),)
        for part, size in zip(place, self.elements.shape, strict=True):
            if not 0 <= part < size:
                raise OutOfBounds(f"element {at} of shared {self.elements.shape}")
        return place

    def __getitem__(self, at: Any) -> Any:
        place = self._checked(at)
        self.watch.read(place, self.clock.now)
        return self.elements[place]

    def __setitem__(self, at: Any, value: Any) -> None:
        place = self._checked(at)
        self.watch.write(place, self.clock.now)
        if isinstance(value, np.generic):
            assert value.dtype == self.dtype, (value.dtype, self.dtype)
        self.elements[place] = value
