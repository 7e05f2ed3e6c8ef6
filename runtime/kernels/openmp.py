"""Teams of OpenMP's threads that other libraries brought into the process, for `go` to join.

PyTorch, scikit-learn and others split their work among threads of libgomp, which wait awake after
it: see `team_text`. A library is found in the list of files that the process has mapped. Only the
main thread joins, since libgomp starts threads for each that asks.

Before a fork the threads are ended, and started again by the next who asks: the child has none of
them, and would wait for them for ever.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchgen_out._runtime import config
from torchgen_out._runtime.kernels import team_text, worker_loops
from torchgen_out._runtime.kernels.machine import worker_text

IS_WANTED = config.env_int("TORCHGEN_JOIN_OPENMP", 1) != 0
"""Whether the user lets us."""

_MAPS = Path("/proc/self/maps")
_LIBRARY = re.compile(r"^[^/\n]*(/.*/libgomp[-.][^/\n]*)$", re.MULTILINE)
_FUNCTIONS = {
    team_text.PARALLEL: "GOMP_parallel",
    team_text.MOST: "omp_get_max_threads",
    team_text.NUMBER: "omp_get_thread_num",
    team_text.COUNT: "omp_get_num_threads",
}
_PAUSE, _SOFTLY = "omp_pause_resource_all", 1


class Team:
    """A library's threads, and the block that tells compiled code of them."""

    def __init__(self, library: Any, load_file: int) -> None:
        self.library = library
        self.memory, self.block = worker_loops.new_block()
        for place, name in _FUNCTIONS.items():
            self.put(place, ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
        self.put(team_text.TAKE, worker_loops.take_address())
        self.put(team_text.FILE, load_file)
        self.put(team_text.PROCESSORS, os.cpu_count() or 1)
        self.put(team_text.OWNER, threading.main_thread().ident or 0)
        places = worker_text.RESULT, worker_text.ERROR, 0
        for i, place in enumerate(places):  # the words of a call of `take`
            self.put(worker_text.WORDS + 8 * i, self.block + place)

    def put(self, place: int, value: int) -> None:
        """Write a word of the block."""
        ctypes.c_int64.from_address(self.block + place).value = value

    def last_call(self) -> int:
        """When it was joined last, by the clock that never goes back; 0: not yet."""
        return ctypes.c_int64.from_address(self.block + team_text.LAST).value

    def end_threads(self) -> None:
        """End the calling thread's own, if we may have started them."""
        if self.last_call():
            getattr(self.library, _PAUSE)(_SOFTLY)


class Teams:
    """Those of all libraries; the words at `block` get the address of one."""

    def __init__(self, block: int, load_file: int) -> None:
        self.block, self.load_file = block, load_file
        self.teams: dict[str, Team] = {}
        self.modules_seen = 0

    def look(self) -> None:
        """See whether there are new ones, if modules were imported since the last time."""
        count = len(sys.modules)
        if count == self.modules_seen or not IS_WANTED:
            return
        self.modules_seen = count
        for path in _libraries():
            library = None if path in self.teams else _opened(path)
            if library is not None:
                self._add(path, Team(library, self.load_file))

    def _add(self, path: str, team: Team) -> None:
        """Have a further team: each names the next, the last one the first."""
        self.teams[path] = team
        teams = list(self.teams.values())
        for one, other in zip(teams, [*teams[1:], teams[0]], strict=True):
            one.put(team_text.OTHER, other.block)
        ctypes.c_int64.from_address(self.block + team_text.TEAM).value = team.block

    def end_threads(self) -> None:
        """Before a fork."""
        if threading.current_thread() is threading.main_thread():
            for team in self.teams.values():
                team.end_threads()

    def have_owner(self) -> None:
        """In a forked child, whose main thread is the one that forked."""
        for team in self.teams.values():
            team.put(team_text.OWNER, threading.get_ident())


def _libraries() -> Iterator[str]:
    """The paths of OpenMP libraries that the process has mapped; none where nothing tells."""
    try:
        text = _MAPS.read_text()
    except OSError:
        return
    yield from dict.fromkeys(_LIBRARY.findall(text))


def _opened(path: str) -> Any:
    """The library; None if it is not what it seems, or older than the end of threads (2019)."""
    try:
        library = ctypes.CDLL(path)
    except OSError:  # the file has been removed
        return None
    names = *_FUNCTIONS.values(), _PAUSE
    return library if all(hasattr(library, name) for name in names) else None
