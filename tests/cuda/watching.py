"""Races: two threads that could meet at one element of memory, one of them writing.

Threads run one after the other here, so nothing is ever seen of a race but its possibility: two
accesses that no barrier keeps apart. One of the block does so within the block, one of the warp
within the warp; shuffles and votes order no memory, and nothing but the end of a launch orders
blocks. An atomic access meets others of its kind without harm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

WARP = 32


class Race(Exception):
    """Two threads could meet at one element."""


class Moment(NamedTuple):
    """A thread between two barriers: the number of its block in the grid and its own in the block,
    how many barriers its block and its warp have passed."""

    block: int
    thread: int
    barriers: int
    warp_barriers: int


def in_order(before: Moment, now: Moment) -> bool:
    """Whether what a thread did at one moment is done at another."""
    if before[0] != now[0]:
        return False
    if before[1] == now[1] or before[2] < now[2]:
        return True
    return before[1] // WARP == now[1] // WARP and before[3] < now[3]


class Watch:
    """The accesses to some memory, place by place.

    A write that is in order after all accesses before it stands for them, and a read for earlier
    ones of its block from which a barrier of the block keeps it apart. any_wins: whether several
    threads may write to a place that none of them reads.
    """

    def __init__(self, what: str, any_wins: bool = False) -> None:
        self.what, self.any_wins = what, any_wins
        self._writes: dict[Any, Moment] = {}
        self._reads: dict[Any, list[Moment]] = {}
        self._atomics: dict[Any, list[Moment]] = {}

    def read(self, place: Any, now: Moment) -> None:
        """A thread reads."""
        self._after_write(place, now)
        self._after(self._atomics, place, now)
        _note(self._reads, place, now)

    def write(self, place: Any, now: Moment) -> None:
        """A thread writes."""
        if not self.any_wins:
            self._after_write(place, now)
        for others in (self._reads, self._atomics):
            self._after(others, place, now)
            others.pop(place, None)
        self._writes[place] = now

    def update(self, place: Any, now: Moment) -> None:
        """A thread reads and writes at once."""
        self._after_write(place, now)
        self._after(self._reads, place, now)
        _note(self._atomics, place, now)

    def _after_write(self, place: Any, now: Moment) -> None:
        before = self._writes.get(place)
        if before is not None and not in_order(before, now):
            raise self._race(place, before, now)

    def _after(self, accesses: dict[Any, list[Moment]], place: Any, now: Moment) -> None:
        for before in accesses.get(place, ()):
            if not in_order(before, now):
                raise self._race(place, before, now)

    def _race(self, place: Any, before: Moment, now: Moment) -> Race:
        first, second = (f"{each.thread} of block {each.block}" for each in (before, now))
        return Race(f"threads {first} and {second} at {place} of {self.what}")


def _note(accesses: dict[Any, list[Moment]], place: Any, now: Moment) -> None:
    """Keep an access, unless one that is kept stands for it or it for those that are kept."""
    kept = accesses.get(place)
    if kept is None or (kept[0][0] == now[0] == kept[-1][0] and kept[-1][2] < now[2]):
        accesses[place] = [now]
    elif kept[-1] is not now and kept[0][0] == kept[-1][0]:
        kept.append(now)  # of a third block nothing need be kept: any write meets one of two
