"""Large buffers lent and taken back by compiled code, under the GIL: `machine/pool_text.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_out._runtime.core import shape
from torchgen_out._runtime.kernels.machine import array_memory, library
from torchgen_out._runtime.kernels.machine.pool_text import COUNTS, WORDS

_ALLOCATED, _MOST, _LIMIT = (WORDS.index(each) for each in ("allocated", "most_allocated", "limit"))
_MOST_WORD = (1 << 63) - 1


class CompiledPool:
    """A pool whose numbers are words that compiled code writes, and its lists, too."""

    def __init__(self, limit: int) -> None:
        library.prepare()
        self._words = array_memory.new_pool()
        self.empty_cache = array_memory.dropper(self._words)
        self.set_limit(limit)

    def make_lender(self, dtype: Any) -> Callable[[int], Any]:
        """lend(numel): vectors of a dtype and of any size, the large ones lent."""

        def refuse(numel: int) -> Any:
            shape.check_storable((numel,))
            return np.empty(numel, dtype)  # which says what there is no memory for

        return array_memory.lender(self._words, dtype, refuse)

    def set_limit(self, nbytes: int) -> None:
        """Keep at most so many bytes."""
        self._words[_LIMIT] = min(nbytes, _MOST_WORD)
        if self.counts()["kept"] > nbytes:
            self.empty_cache()

    def counts(self) -> dict[str, int]:
        """The numbers of now: COUNTS."""
        return dict(zip(COUNTS, self._words, strict=False))

    def reset_peak(self) -> None:
        """Let the most bytes in use begin at what is in use now."""
        self._words[_MOST] = self._words[_ALLOCATED]
