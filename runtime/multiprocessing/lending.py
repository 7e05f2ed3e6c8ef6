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

from runtime.backends.cpu import pool
from runtime.core import shared_memory
from runtime.core.shared_memory import Lease, SharedMemory

MOST_FREE = 16
"""Pieces of memory that a lender keeps for no size that is asked for."""


class Lender:
    """The end that fills memory. opened, dropped: what the other end must be told of."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.dropped: list[int] = []
        self._own: dict[int, SharedMemory] = {}
        self._free: dict[int, list[int]] = {}
        self._count = 0

    def fill(self, content: Any) -> int:
        """Copy bytes into memory of their own; return its number."""
        view = np.frombuffer(content, np.uint8)
        size = pool.class_size(view.size)
        free = self._free.get(size)
        number = free.pop() if free else self._open(size)
        np.asarray(self._own[number])[: view.size] = view
        return number

    def _open(self, size: int) -> int:
        if sum(map(len, self._free.values())) >= MOST_FREE:
            for numbers in self._free.values():
                while numbers:
                    self._drop(numbers.pop())
        self._count += 1
        self._own[self._count] = shared_memory.create(size)
        self.opened.append(self._count)
        return self._count

    def _drop(self, number: int) -> None:
        del self._own[number]
        self.dropped.append(number)

    def take_back(self, number: int, has_left: bool) -> None:
        """Let memory serve again that the borrower has returned, unless others may have it, too."""
        if has_left:
            self._drop(number)
        else:
            self._free.setdefault(self._own[number].size, []).append(number)

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
