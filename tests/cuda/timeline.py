"""Work of streams that is put off as long as it may be: until somebody waits for it.

So whatever reads a value, reuses memory or gives it back without having waited meets memory from
before. Between streams nothing is ordered that no event orders.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable

Mark = tuple[Hashable, int]
"""A point in a stream: (the stream, how many pieces of work come before it)."""


class Timeline:
    """The queues of all streams."""

    def __init__(self) -> None:
        self._queued: defaultdict[Hashable, deque[Callable[[], object]]] = defaultdict(deque)
        self._done: defaultdict[Hashable, int] = defaultdict(int)
        self._depth = 0
        """How many pieces of work are being done: one may wait for another stream's."""

    def put(self, stream: Hashable, work: Callable[[], object]) -> None:
        """Queue a piece of work."""
        self._queued[stream].append(work)

    def mark(self, stream: Hashable) -> Mark:
        """The point behind the work so far."""
        return stream, self._done[stream] + len(self._queued[stream])

    def wait(self, stream: Hashable, mark: Mark) -> None:
        """Let the work queued from now on come after a point of another stream."""
        self.put(stream, lambda: self.reach(mark))

    def is_reached(self, mark: Mark) -> bool:
        """Whether all work before a point is done."""
        stream, count = mark
        return self._done[stream] >= count

    def reach(self, mark: Mark) -> None:
        """Do the work before a point, and no other than that which it waits for."""
        stream, count = mark
        while self._done[stream] < count:
            self._done[stream] += 1
            self._depth += 1
            self._queued[stream].popleft()()
            self._depth -= 1

    def finish(self) -> None:
        """Do all work of all streams; nothing if that is under way."""
        for stream in () if self._depth else list(self._queued):
            self.reach(self.mark(stream))
