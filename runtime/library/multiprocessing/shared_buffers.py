"""Shared memory that one end of a channel lends to the other, message by message.

The lender fills memory and names it by a number; the borrower has it mapped, looks at it as long as
any array does, and gives it back. Then it serves again: neither end asks the system for anything,
and no page is touched for the first time.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

import numpy as np

from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.core.shared_memory import Lease, SharedMemory
from torchgen_out._runtime.kernels.cpu import pool

MOST_WASTED = 2
"""How many times as large as what is asked for a piece of memory may be."""


class Lender:
    """The end that fills memory. opened, dropped: what the other end must be told of.

    It keeps no more bytes free than were ever lent at a time.
    """

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.dropped: list[int] = []
        self._own: dict[int, SharedMemory] = {}
        self._free: dict[int, SharedMemory] = {}  # the longest unused first
        self._count = self._lent = self._most_lent = 0

    def fill(self, content: Any) -> int:
        """Copy bytes into memory of their own; return its number."""
        view = np.frombuffer(content, np.uint8)
        number = self._fitting(view.size)
        if number is None:
            number = self._open(pool.class_size(view.size))
        else:
            del self._free[number]
        memory = self._own[number]
        np.asarray(memory)[: view.size] = view
        self._lent += memory.size
        self._most_lent = max(self._most_lent, self._lent)
        return number

    def _fitting(self, nbytes: int) -> int | None:
        """The smallest free memory that is large enough, unless that is a waste."""
        sizes = [(memory.size, number) for number, memory in self._free.items()]
        size, number = min((each for each in sizes if each[0] >= nbytes), default=(0, None))
        return number if size <= MOST_WASTED * nbytes else None

    def _open(self, size: int) -> int:
        while sum(memory.size for memory in self._free.values()) > self._most_lent:
            self._drop(next(iter(self._free)))
        self._count += 1
        self._own[self._count] = shared_memory.create(size)
        self.opened.append(self._count)
        return self._count

    def _drop(self, number: int) -> None:
        del self._own[number]
        self._free.pop(number, None)
        self.dropped.append(number)

    def take_back(self, number: int, has_left: bool) -> None:
        """Let memory serve again that the borrower has returned, unless others may have it, too."""
        self._lent -= self._own[number].size
        if has_left:
            self._drop(number)
        else:
            self._free[number] = self._own[number]

    def memory(self, number: int) -> SharedMemory:
        """Return the memory of a number."""
        return self._own[number]


class Borrower:
    """The end that looks into the memory.

    most_held: how many pieces may be looked at; what comes beyond is copied, for each that is held
    costs both ends a descriptor.
    """

    def __init__(self, most_held: int) -> None:
        self._most_held, self._held = most_held, 0
        self._memories: dict[int, SharedMemory] = {}
        self._returned: deque[int] = deque()  # filled by whichever thread drops the last array

    def open(self, number: int, descriptor: int, size: int) -> None:
        """Map memory that the lender has made."""
        self._memories[number] = SharedMemory(descriptor, size)

    def drop(self, numbers: list[int]) -> None:
        """Forget memory that the lender has given up."""
        for number in numbers:
            self._memories.pop(number, None)

    def borrow(self, number: int, nbytes: int) -> np.ndarray:
        """Return the first bytes of some memory, as an array that gives it back in the end."""
        lease = Lease(self._memories[number], partial(self._returned.append, number))
        self._held += 1
        seen = np.asarray(lease)[:nbytes]
        return seen.copy() if self._held > self._most_held else seen

    def returned(self) -> list[tuple[int, bool]]:
        """Return what nobody here looks at any more, and whether others may have it."""
        numbers = []
        while self._returned:
            number = self._returned.popleft()
            numbers.append((number, self._memories[number].has_left))
        self._held -= len(numbers)
        return numbers
