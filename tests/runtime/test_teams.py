"""Teams of other libraries' threads: they make calls while workers sleep, where they may."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels import openmp, team_text, threads, worker_loops, workers
from torchgen_out._runtime.kernels.build import kernel

QUIET, BUSY = "0.1 0.1 0.1 1/99 1000\n", "0.1 0.1 0.1 4242/4343 1000\n"
SHORT, LONG = 64 * 3, 64 * threads.WAKING
"""Elements that are shared among three threads where 64 are worth one; LONG: also if one sleeps."""

pytestmark = pytest.mark.skipif(not worker_loops.HAS_LOAD, reason="only Linux tells of libraries")


class Library:
    """What is asked of libgomp, on one thread after the other, those but the first `late` seconds
    after it; joined: how often it was."""

    def __init__(self, members: int = 2, most: int = 3, late: float = 0) -> None:
        self.joined = self.paused = self.number = 0
        number = ctypes.CFUNCTYPE(ctypes.c_int32)
        region = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_uint32] * 2)
        self.members, self.late = members, late
        self.GOMP_parallel = region(self.make_calls)
        self.omp_get_max_threads = number(lambda: most)
        self.omp_get_thread_num = number(lambda: self.number)
        self.omp_get_num_threads = number(lambda: members)

    def make_calls(self, function: int, argument: int, count: int, flags: int) -> None:
        self.joined += 1
        assert count == flags == 0
        # The caller's own calls come last, unless others are to be late: who waits then is seen.
        for number in range(self.members) if self.late else reversed(range(self.members)):
            self.number = number
            time.sleep(self.late if number else 0)
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(argument)

    def omp_pause_resource_all(self, kind: int) -> int:
        self.paused += 1
        return 0


Make = Callable[..., openmp.Team]


@pytest.fixture
def load(tmp_path: Path) -> Path:
    """The file about the system's load."""
    path = tmp_path / "loadavg"
    path.write_text(QUIET)
    return path


@pytest.fixture
def join(monkeypatch: pytest.MonkeyPatch, load: Path) -> Iterator[Make]:
    """Three threads, work for them in small arrays, and a way to give them a team."""
    monkeypatch.setattr(threads, "GRAIN", 64)
    monkeypatch.setattr(threads, "_threads", 3)
    monkeypatch.setattr(workers._teams, "look", lambda: None)
    forget_calls()
    for numel in 2 * (SHORT, LONG):  # compiles, and learns from which size on work is split
        torch.from_numpy(np.arange(float(numel))) + 1
    name = ctypes.create_string_buffer(bytes(load))
    own = worker_of(workers._own[1])
    before = own.value
    made = []

    def make(library: Library) -> openmp.Team:
        team = openmp.Team(library, ctypes.addressof(name))
        team.put(team_text.OTHER, team.block)
        own.value = team.block
        made.append(team)
        return team

    yield make
    own.value = before
    forget_calls()


def worker_of(block: int, place: int = team_text.TEAM) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(block + place)


def now() -> int:
    return time.clock_gettime_ns(worker_loops.MONOTONIC)


def while_workers_sleep(call: Callable[[], object]) -> object:
    while any(worker_of(each.block).value != worker_loops.ASLEEP for each in workers._workers):
        time.sleep(0.001)
    return call()


def add(numel: int = LONG) -> None:
    x = np.arange(float(numel))
    assert (while_workers_sleep(lambda: torch.from_numpy(x) + 1).numpy() == x + 1).all()  # type: ignore[attr-defined]


@pytest.mark.parametrize("members", [1, 2, 3, 5])
def test_a_team_of_any_size_makes_every_call_once(join: Make, members: int) -> None:
    library = Library(members)
    join(library)
    for _ in range(5):
        add()
    assert library.joined == 5
    assert torch.ones(100_000).sum() == 100_000  # each part has memory of its own


def test_what_fails_in_a_team_fails_in_the_call(join: Make) -> None:
    table, rows = torch.arange(4000).reshape(2000, 2), torch.arange(1999, -1, -1)
    library = Library()
    join(library)
    for place in (0, 1000, 1999):
        bad = rows.clone()
        bad[place] = 2000
        with pytest.raises(IndexError, match="out of range"):
            while_workers_sleep(lambda bad=bad: table.index_select(0, bad))
        assert (while_workers_sleep(lambda: table.index_select(0, rows)) == table.flip(0)).all()
    x = np.zeros((6000, 2))
    with pytest.raises(ZeroDivisionError):
        while_workers_sleep(lambda: threads.run_rows(divide, (x.copy(), x)))
    assert library.joined > 3


@kernel
def divide(out, x):
    for i in range(x.shape[0]):
        if x[i, 0] == 0:
            raise ZeroDivisionError("a number is 0")
        out[i, 0] = 1 / x[i, 0]


def test_only_the_main_thread_joins(join: Make) -> None:
    library = Library()
    join(library)
    caller = threading.Thread(target=add)
    caller.start()
    caller.join()
    assert library.joined == 0


def test_a_team_that_is_too_small_is_not_joined(join: Make) -> None:
    library = Library(most=2)
    join(library)
    add()
    assert library.joined == 0


def test_short_calls_are_no_reason_to_wake_a_team(join: Make) -> None:
    library = Library()
    team = join(library)
    add(SHORT)
    assert library.joined == 0
    add(LONG)
    team.put(team_text.LAST, now() + 10**9)  # it is awake
    add(SHORT)
    assert library.joined == 2


def test_a_team_that_comes_late_is_let_alone_while_somebody_waits_for_a_processor(
    join: Make, load: Path
) -> None:
    late, prompt = Library(late=0.01), Library()
    team, other = join(late), join(prompt)
    team.put(team_text.OTHER, other.block)
    other.put(team_text.OTHER, team.block)
    worker_of(workers._own[1]).value = team.block
    load.write_text(BUSY)
    for _ in range(3):
        add()
    assert (late.joined, prompt.joined) == (1, 2)  # whoever is prompt is not asked about the load
    rest = 1e-9 * team_text.FIRST_REST
    for _ in range(3):
        worker_of(workers._own[1]).value = team.block
        time.sleep(rest)
        add()
    assert late.joined == 2  # the second time, too, without a question
    assert worker_of(team.block, team_text.REST).value >= 2 * team_text.FIRST_REST
    load.write_text(QUIET)
    worker_of(workers._own[1]).value = team.block
    while now() < worker_of(team.block, team_text.BACK).value:
        time.sleep(rest)
    late.late = 0
    for _ in range(3):
        add()
    assert late.joined == 5
    assert worker_of(team.block, team_text.DOUBT).value == 0


def test_workers_are_tried_again_after_a_while(join: Make) -> None:
    library = Library()
    team = join(library)
    add()
    add()
    assert library.joined == 2
    at = now()
    team.put(team_text.LAST, at + 10**9)  # it was not idle
    team.put(team_text.LEAVE, at)
    add()
    assert library.joined == 2
    back = worker_of(team.block, team_text.BACK).value
    assert at < back <= now() + team_text.TRIAL
    assert worker_of(team.block, team_text.STAY).value == 2 * team_text.FIRST_STAY
    while now() < back:
        time.sleep(0.001)
    add()
    assert library.joined == 3


def test_libraries_are_found_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = tmp_path / "maps"
    maps.write_text(
        "7f00-7f01 r-xp 00000000 08:01 77   /a b/lib/libgomp.so.1\n"
        "7f01-7f02 r--p 00000000 08:01 77   /a b/lib/libgomp.so.1\n"
        "7f02-7f03 rw-p 00000000 00:00 0 \n"
        "7f03-7f04 r-xp 00000000 08:01 78   /x/scikit_learn.libs/libgomp-a34b3233.so.1.0.0\n"
        "7f04-7f05 r-xp 00000000 08:01 79   /x/libgomp/libm.so.6\n"
        "7f05-7f06 r-xp 00000000 08:01 80   /gone/libgomp.so.1 (deleted)\n"
    )
    monkeypatch.setattr(openmp, "_MAPS", maps)
    found = list(openmp._libraries())
    known = "/a b/lib/libgomp.so.1", "/x/scikit_learn.libs/libgomp-a34b3233.so.1.0.0"
    assert found == [*known, "/gone/libgomp.so.1 (deleted)"]
    assert openmp._opened(found[2]) is None
    monkeypatch.setattr(openmp, "_MAPS", tmp_path / "nothing")
    assert not list(openmp._libraries())


def test_before_a_fork_the_threads_are_ended(join: Make) -> None:
    idle, used = Library(), Library()
    teams = openmp.Teams(workers._own[1], 0)
    before = worker_of(workers._own[1]).value
    for name, library in (("idle", idle), ("used", used)):
        teams._add(name, openmp.Team(library, 0))
    worker_of(workers._own[1]).value = before
    teams.teams["used"].put(team_text.LAST, 1)
    elsewhere = threading.Thread(target=teams.end_threads)
    elsewhere.start()
    elsewhere.join()
    assert used.paused == 0  # they are not the thread's that forks
    teams.end_threads()
    assert (idle.paused, used.paused) == (0, 1)


PROGRAM = """
import os, threading, time
import numpy as np
import torchgen_out as ours
import torch as theirs
from torchgen_out._runtime.kernels import workers

x = np.arange(1 << 20, dtype=np.float32)

def use_ours(count):
    for _ in range(count):
        assert ((ours.from_numpy(x) + 1).numpy() == x + 1).all()

def use_both(count):
    for _ in range(count):
        use_ours(2)
        assert ((theirs.from_numpy(x) + 1).numpy() == x + 1).all()

def is_joined():
    return any(team.last_call() for team in workers._teams.teams.values())

ours.set_num_threads(2)
theirs.set_num_threads(2)
until = time.monotonic() + SECONDS
while not is_joined() and time.monotonic() < until:
    use_both(10)
    time.sleep(.02)  # the worker sleeps
print(is_joined())
for _ in range(3):
    child = os.fork()
    if child:
        use_both(10)
        assert os.waitpid(child, 0)[1] == 0
    elif is_joined():
        use_both(10)
        os._exit(0)
    else:
        use_ours(10)  # in PyTorch itself the child would wait for the parent's threads
        os._exit(0)
others = [threading.Thread(target=use_both, args=(10,)) for _ in range(2)]
for each in others:
    each.start()
use_both(10)
for each in others:
    each.join()
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not there")
@pytest.mark.parametrize(("wanted", "seconds"), [("1", "30"), ("0", "0.2")])
def test_beside_pytorch_also_after_forks(wanted: str, seconds: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("SECONDS", seconds)],
        env={**os.environ, "TORCHGEN_JOIN_OPENMP": wanted},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.stdout.strip() == str(wanted == "1")
