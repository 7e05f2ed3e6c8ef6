"""What all pools of large buffers have in common: how much they set aside, and what they count."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from torchgen_out._runtime.kernels.machine.pool_text import LEAST_BYTES, STEPS

__all__ = ["LEAST_BYTES", "STEPS", "Counts", "Pool", "class_size"]


class Counts(NamedTuple):
    """Bytes in use, the most so far, bytes kept, and at most; how often these served."""

    allocated: int
    most_allocated: int
    kept: int
    limit: int
    hits: int
    misses: int


class Pool(Protocol):
    """What lends large buffers."""

    def make_lender(self, dtype: Any) -> Callable[[int], Any]:
        """lend(numel): vectors of a dtype and of any size, the large ones lent."""

    def empty_cache(self) -> None:
        """Give the memory that is kept, but not lent, back to the system."""

    def set_limit(self, nbytes: int) -> None:
        """Keep at most so many bytes."""

    def counts(self) -> Counts:
        """The numbers of now."""

    def reset_peak(self) -> None:
        """Let the most bytes in use begin at what is in use now."""


@lru_cache
def class_size(nbytes: int) -> int:
    """The bytes that are set aside for a buffer of some."""
    step = 1 << max(nbytes - 1, 1).bit_length() - STEPS.bit_length()
    return -(-nbytes // step) * step
