"""The shared memory of a group whose ranks are all on one machine: counters, and room for data.

Every rank counts its *phases*. In phase p it writes into its own slot of half p % 2 (a scatter's
root: into everybody's), then sets its counter to p; the others wait for the counter and read. Two
rules make it safe: **a counter that shows p says that its rank has written phase p and has read
all phases before p**; so half p % 2, last used in phase p - 2, may be written again as soon as all
counters show p - 1. All ranks go through the same phases, whatever they have to do in them.

With its counter a rank publishes a *stamp*, what it is about to do in one number. Whoever waits
compares stamps, so calls that do not match are an error instead of a wrong result.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy as np

from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.core.shared_memory import SharedMemory
from torchgen_out._runtime.library.distributed.gloo import waking
from torchgen_out._runtime.library.multiprocessing.processors import processors

SLOT = 1 << 22
"""Bytes that a rank can publish in one phase."""
_LINE = 16  # words of a rank's header: two cache lines
_COUNTER, _STAMP, _SLEEPS = 0, 4, 8
"""Words of a header. The last four stamps stand side by side: a rank that only receives may be in
phase p while another has yet to look at the stamps of phase p - 2."""
_MOST_SPINS = 1024  # about 60 us: a few times what it takes to wake a sleeper
_LEAST_SPINS = 16


def size_of(world_size: int) -> int:
    """Bytes of the memory of so many ranks. The system gives pages when they are first written."""
    return _header_bytes(world_size) + 2 * world_size * SLOT


def _header_bytes(world_size: int) -> int:
    return -(-world_size * _LINE * 8 // 4096) * 4096


class Segment:
    """One rank's view of its group's shared memory."""

    def __init__(self, memory: SharedMemory, rank: int, world_size: int) -> None:
        self.memory, self.rank, self.world_size = memory, rank, world_size
        self.phase = 0
        everything: Any = np.asarray(memory)
        header = _header_bytes(world_size)
        self._words: Any = memoryview(everything[:header]).cast("q")
        self._others = [r for r in range(world_size) if r != rank]
        self._fence = threading.Lock()
        room = everything[header : header + 2 * world_size * SLOT]
        self.slots = room.reshape(2, world_size, SLOT)
        """Bytes by half and rank."""
        self._own = rank * _LINE
        self._most_spins = 0 if world_size > processors() else _MOST_SPINS
        self._spins = self._most_spins

    def publish(self, stamp: int) -> int:
        """Say that this rank has written its next phase; return the phase."""
        phase = self.phase = self.phase + 1
        words, own = self._words, self._own
        words[own + _STAMP + (phase & 3)] = stamp
        words[own + _COUNTER] = phase
        with self._fence:  # the counter is out before the sleepers are looked for
            pass
        for rank in self._others:
            if words[rank * _LINE + _SLEEPS]:
                waking.wake_all(self.memory.address + self._own * 8)
                break
        return phase

    def has(self, phase: int, ranks: Any) -> bool:
        """Whether the counters of some ranks show a phase."""
        words = self._words
        return all(words[rank * _LINE] >= phase for rank in ranks)

    def behind(self, phase: int, ranks: Any) -> list[int]:
        """The ranks whose counters do not."""
        return [rank for rank in ranks if self._words[rank * _LINE] < phase]

    def stamp(self, rank: int, phase: int) -> int:
        """What a rank has published with a phase, one of the last four."""
        found: int = self._words[rank * _LINE + _STAMP + (phase & 3)]
        return found

    def spin(self, phase: int, ranks: Any) -> bool:
        """Look at the counters for a short time; return whether they show the phase.

        Shorter where it was in vain: on a busy machine it only keeps others from the processor.
        """
        words = self._words
        for rank in ranks:
            at = rank * _LINE
            if words[at] >= phase:
                continue
            for _ in range(self._spins):
                if words[at] >= phase:
                    break
            else:
                self._spins = max(self._spins >> 1, min(_LEAST_SPINS, self._most_spins))
                return False
            self._spins = min(self._spins << 1, self._most_spins)
        return True

    def sleep(self, phase: int, ranks: Any, seconds: float) -> None:
        """Sleep until a counter that is behind moves, at most some seconds."""
        words = self._words
        words[self._own + _SLEEPS] = 1
        with self._fence:
            pass
        for rank in ranks:
            at = rank * _LINE
            seen = words[at]
            if seen < phase:
                waking.sleep_while(self.memory.address + at * 8, seen, seconds)
                break
        words[self._own + _SLEEPS] = 0

    def close(self) -> None:
        """Let go of the memory as soon as no array looks into it."""
        with contextlib.suppress(BufferError):
            self._words.release()


def create(world_size: int) -> SharedMemory:
    """Memory for a group. **Raises** OSError if there is none."""
    return shared_memory.create(size_of(world_size))
