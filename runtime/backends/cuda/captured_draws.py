"""Random numbers in graphs: a kernel that is replayed finds in memory where its stream begins.

A call takes its part of the device's stream when it is queued, and its kernel is given numbers:
seed and first block. A replay takes the part of all draws of its graph and writes seed and first
block to the device; a captured kernel is given the distance from there. So a replay draws what the
calls would have drawn in its place.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver, launching, memory
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import generator as generators
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.kernels.cuda.queue import Array
from torchgen_out._runtime.kernels.cuda.random.philox import WARP, Drawn, write_origin


def default_generator(index: int) -> Generator:
    """Return a device's own generator of random numbers."""
    return generators.default_for(devices.device("cuda", index))


class CapturedDraws:
    """What the kernels of one graph draw, in order."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._count = 0
        self._origin: Tensor | None = None
        """Seed and first block of a replay, in memory of the graph."""

    def reserve(self, blocks: int, generator: Any) -> Drawn:
        """Take blocks behind those of the graph so far.

        Raises: RuntimeError for another generator than the device's own.
        """
        if generator is not default_generator(self.index):
            raise errors.random_during_capture()
        if self._origin is None:
            self._origin = memory.empty((2,), dtypes.int64, self.index)
        start = self._count
        self._count += blocks
        origin = Array(launching.address_of(self._origin), dtypes.int64, (2,), (1,))
        return Drawn(blocks, start, 0, origin)

    def begin_replay(self) -> None:
        """Take the part of the stream that a replay draws, and tell its kernels, in their order."""
        if self._origin is None:
            return
        seed, start = default_generator(self.index).advance(self._count)
        values = [launching.address_of(self._origin), seed, start]
        source = write_origin.source({}, False, {}, WARP)
        launching.launch(self.index, source, (1, 1), (WARP, 1), values)


_capturing: dict[int, CapturedDraws] = {}
"""By device, while a graph is captured."""


def begin_capture(index: int) -> CapturedDraws:
    """Let the draws of a device be those of a graph."""
    made = _capturing[index] = CapturedDraws(index)
    return made


def end_capture(index: int) -> None:
    """End what `begin_capture` began."""
    del _capturing[index]


def reserve(index: int, blocks: int, generator: Any) -> Drawn:
    """Take blocks of a generator's stream, for a kernel that is queued now."""
    found = _capturing.get(index)
    if found is not None and driver.is_capturing():
        return found.reserve(blocks, generator)
    seed, start = generator.advance(blocks)
    return Drawn(blocks, start, seed, None)
