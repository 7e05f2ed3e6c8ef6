"""Calls whose launches follow from geometries and numbers: written down once, queued from then on.

What decides on loops, grids and memory in between takes longer than a small kernel runs. It is
given a queue over memory that does not exist, which notes what would be done; a call of the same
geometries puts its addresses there.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.cuda.queue import Array

Kernel = Callable[..., None]
Step = Callable[[Any, list[int]], object]
"""step(queue, addresses): those of the record of faults, the call's arrays, and what is made."""

MOST = 1024
"""Calls of one kernel that are remembered."""
SLOT = 1 << 48
"""How far the beginnings of two arrays that do not exist lie apart: views stay between them."""
PLAIN = (int, float, bool, str, type(None), dtypes.dtype)

_all: weakref.WeakSet[Recorded] = weakref.WeakSet()


class NotRecorded(Exception):
    """A kernel asks its queue for what is not known before it runs, or for a library's work."""


class Recorded:
    """kernel(queue, *arguments) by what it did for such arguments before."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known: dict[Any, list[Step] | None] = {}
        _all.add(self)

    def __call__(self, queue: Any, *args: Any) -> None:
        key = _key(queue, args)
        if key not in self._known:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[key] = None if key is None else self._record(queue.processors, args)
        steps = self._known[key]
        if steps is None:
            self._kernel(queue, *args)
            return
        addresses = [each.address for each in args if each.__class__ is Array]
        addresses.insert(0, queue.faults.address)
        for step in steps:
            step(queue, addresses)

    def _record(self, processors: int, args: Sequence[Any]) -> list[Step] | None:
        recorder = _Recorder(processors)
        try:
            self._kernel(recorder, *map(recorder.stand_in, args))
        except NotRecorded:
            return None
        return recorder.steps

    def forget(self) -> None:
        """Forget all calls."""
        self._known.clear()


def forget() -> None:
    """Forget all calls of all kernels, for who looks at how these are decided."""
    for each in _all:
        each.forget()


def _key(queue: Any, args: Sequence[Any]) -> Any:
    """What a call is known by; None for one that is not remembered."""
    plain = [each for each in args if each.__class__ is not Array]
    for each in plain:
        parts = each if isinstance(each, list | tuple) else (each,)
        if not all(isinstance(part, PLAIN) for part in parts):
            return None
    arrays = tuple([each[1:] if each.__class__ is Array else None for each in args])
    return (
        queue.processors,
        arrays,
        repr(plain),
    )  # 1, 1.0 and True are equal, and so are 0.0 and -0.0


class _Recorder:
    """A queue that notes what is to be done, over addresses that name an array and an offset."""

    def __init__(self, processors: int) -> None:
        self.processors = processors
        self.steps: list[Step] = []
        self._count = 1
        self.faults = Array(_first(0), dtypes.int64, (1,), (1,))

    def __getattr__(self, name: str) -> Any:
        raise NotRecorded(name)

    def stand_in(self, given: Any) -> Any:
        """An array in the place of one of the call."""
        if given.__class__ is not Array:
            return given
        self._count += 1
        return given._replace(address=_first(self._count - 1))

    def empty(self, sizes: Sequence[int], dtype: dtypes.dtype) -> Array:
        own = tuple(sizes)
        self.steps.append(
            lambda queue, addresses: addresses.append(queue.empty(own, dtype).address)
        )
        strides = shapes.contiguous_strides(own)
        return self.stand_in(Array(0, dtype, own, strides))  # type: ignore[no-any-return]

    def copy(self, target: Array, source: Array) -> None:
        self.steps.append(
            lambda queue, addresses: queue.copy(_at(target, addresses), _at(source, addresses))
        )

    def fill(self, target: Array, value: Any) -> None:
        self.steps.append(lambda queue, addresses: queue.fill(_at(target, addresses), value))

    def launch(self, source: Any, grid: int, block: tuple[int, int], values: Sequence[Any]) -> None:
        pairs = enumerate(zip(source.arguments, values, strict=True))
        pointers = [(i, *_told(v)) for i, (name, v) in pairs if name.endswith("*") and v]

        def run(queue: Any, addresses: list[int]) -> None:
            given = list(values)
            for i, number, offset in pointers:
                given[i] = addresses[number] + offset
            queue.launch(source, grid, block, given)

        self.steps.append(run)


def _first(number: int) -> int:
    return (number + 1) * SLOT


def _told(address: int) -> tuple[int, int]:
    """Which array an address is of, and how far it lies behind its beginning."""
    number = (address + SLOT // 2) // SLOT - 1
    return number, address - _first(number)


def _at(array: Array, addresses: Sequence[int]) -> Array:
    number, offset = _told(array.address)
    return array._replace(address=addresses[number] + offset)
