"""Memory that was given back and that streams may still use: an event in each tells when not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from torchgen_out._runtime.backends.cuda.driver import Driver

StreamOf = tuple[int, int]
"""A device, and the driver's handle of one of its streams."""


class Awaited:
    """Pieces of memory and the events that must have happened before they are used again.

    Those that the same streams use are over in their order, so only the oldest is asked for.
    queues: of such pieces, by the streams; empty if nothing is awaited.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.queues: dict[frozenset[StreamOf], deque[tuple[list[StreamOf], Any]]] = {}

    def add(self, piece: Any, users: Iterable[StreamOf]) -> None:
        """Keep a piece until the work so far of some streams is done."""
        events = []
        for device, stream in sorted(users):
            event = self._driver.create_event(device, timing=False, blocking=False)
            self._driver.record_event(device, event, stream)
            events.append((device, event))
        self.queues.setdefault(frozenset(users), deque()).append((events, piece))

    def over(self) -> Iterator[Any]:
        """Take out the pieces that no stream uses any more."""
        for users, queue in list(self.queues.items()):
            while queue and all(self._driver.is_event_done(*event) for event in queue[0][0]):
                yield self._take(queue)
            if not queue:
                del self.queues[users]

    def wait(self) -> Iterator[Any]:
        """Take out all pieces, each when it is over."""
        for queue in self.queues.values():
            while queue:
                for event in queue[0][0]:
                    self._driver.synchronize_event(*event)
                yield self._take(queue)
        self.queues.clear()

    def _take(self, queue: deque[tuple[list[StreamOf], Any]]) -> Any:
        events, piece = queue.popleft()
        for event in events:
            self._driver.destroy_event(*event)
        return piece
