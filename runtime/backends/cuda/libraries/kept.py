"""What a library made for many keys, the most recently used of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from torchgen_out._runtime.backends.cuda import driver

_NOTHING = object()


class Kept:
    """Plans by what they are for. What has not been used for long is given back, but for what a
    graph was captured with: the kernels of its replays, and the tables that these read, are the
    plan's.

    most: how many are kept. give_back: destroys one, which waits or frees memory: not while any
    thread's work is captured.
    """

    def __init__(self, most: int, give_back: Callable[[Any], None]) -> None:
        self._most, self._give_back = most, give_back
        self._recent: OrderedDict[Hashable, Any] = OrderedDict()
        self._captured: dict[Hashable, Any] = {}

    def find(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for a key, or is made now."""
        found = self._recent.get(key, _NOTHING)
        if found is _NOTHING:
            found = self._captured[key] if key in self._captured else make()
            self._add(key, found)
        else:
            self._recent.move_to_end(key)
        if driver.is_capturing():
            self._captured[key] = found
        return found

    def replace(self, key: Hashable, made: Any) -> Any:
        """Keep another for a key; return it."""
        unused = self._recent.pop(key)
        if key not in self._captured and not driver.has_captures():
            self._give_back(unused)
        self._add(key, made)
        return made

    def _add(self, key: Hashable, made: Any) -> None:
        self._recent[key] = made
        while len(self._recent) > self._most and not driver.has_captures():
            oldest, unused = self._recent.popitem(last=False)
            if oldest not in self._captured:
                self._give_back(unused)
