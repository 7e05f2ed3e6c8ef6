"""How worker processes of loaders fail and end, and what is left of them: nothing."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import torchgen_out as torch
from tests.runtime.worker_loading import Items, is_there, loader, nothing_is_left

__all__ = ["nothing_is_left"]

pytestmark = [
    pytest.mark.usefixtures("nothing_is_left"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # threads, and a fork
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),  # on a single processor
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
]


# -- failures -----------------------------------------------------------------------------------


class Odd(Exception):
    """Takes two arguments."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)


def _raise(error: BaseException) -> Any:
    raise error


def _raise_local(text: str) -> Any:
    class Local(Exception):
        """Its class is known to the worker alone."""

    raise Local(text)


@pytest.mark.parametrize(
    ("make", "error", "phrase"),
    [
        (lambda i: [0, 1][i], IndexError, r"list index out of range"),
        (lambda i: {0: 0, 1: 1}[i], KeyError, r"worker process 1\.\nOriginal Traceback[^\0]*\n"),
        (lambda i: i if i < 2 else _raise(Odd(1, "two")), RuntimeError, r"Caught Odd in DataLoad"),
        (lambda i: i if i < 2 else _raise(StopIteration()), StopIteration, "worker process 1"),
        (lambda i: i if i < 2 else _raise(ConnectionError("far")), ConnectionError, "far"),
        (lambda i: i if i < 2 else (lambda: i), Exception, "[Pp]ickle"),
        (lambda i: i if i < 2 else _raise_local("near"), RuntimeError, "Local: near"),
    ],
)
def test_an_exception_is_raised_where_its_batch_would_be(
    make: Any, error: type[Exception], phrase: str
) -> None:
    batches = iter(loader(Items(5, make), 2, collate_fn=list))
    assert next(batches) == [0, 1]
    with pytest.raises(error, match=phrase) as caught:
        next(batches)
    assert "in DataLoader worker process 1" in str(caught.value)
    del batches, caught


@pytest.mark.parametrize(
    ("end", "phrase"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"worker \(pid \d+\) is killed by signal"),
        (lambda: os._exit(5), r"worker \(pid \d+\) exited unexpectedly with exit code 5"),
    ],
)
def test_a_worker_that_dies_is_missed_at_once(end: Any, phrase: str) -> None:
    found = loader(Items(9, lambda i: end() if i == 3 else i), 2, persistent_workers=True)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=phrase):
        list(found)
    assert time.monotonic() - start < 4
    with pytest.raises(RuntimeError, match=phrase):
        list(found)  # others were started
    del found


def test_patience_has_an_end() -> None:
    batches = iter(loader(Items(4, lambda i: time.sleep(0.6 * (i == 2)) or i), None, timeout=0.3))
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.3 seconds"):
        next(batches)
    del batches


# -- the end ------------------------------------------------------------------------------------


def test_an_epoch_that_is_left_early() -> None:
    batches = iter(loader(Items(100, lambda i: torch.zeros(10_000)), 2))
    pids = batches._crew.pids()
    kept = next(batches)
    del batches
    gc.collect()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert kept.sum() == 0 and kept.is_shared()


HEAD = """
import os, signal, sys, time, warnings
warnings.filterwarnings("ignore", "This DataLoader will create")  # there may be one processor
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
import torchgen_out as torch
from torchgen_out.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.zeros(5000)

if __name__ == "__main__":
    method = sys.argv[1] if len(sys.argv) > 1 else None
    batches = iter(DataLoader(Slow(), 2, num_workers=2, multiprocessing_context=method))
    next(batches)
    print(*batches._crew.pids(), flush=True)
"""


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ("", 0),
        ("    del DataLoader, torch, sys\n    batches.cycle = batches", 0),
        ("    os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
        ("    os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_the_interpreter_ends_in_the_middle(tmp_path: Path, rest: str, code: int) -> None:
    done = _run_program(tmp_path, HEAD + rest)
    assert done.returncode == code, done.stderr
    assert code == -signal.SIGINT or not done.stderr
    _wait_for_end(done.stdout)


def test_a_fresh_worker(tmp_path: Path) -> None:
    done = _run_program(tmp_path, HEAD, "spawn")
    assert done.returncode == 0 and not done.stderr
    _wait_for_end(done.stdout)


def test_control_c_reaches_the_workers_too(tmp_path: Path) -> None:
    """They leave it to the loader's process to complain."""
    path = tmp_path / "program.py"
    path.write_text(HEAD + "    time.sleep(20)")
    with subprocess.Popen(
        [sys.executable, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        pids = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=20)
    assert told.count("Traceback") == 1 and "KeyboardInterrupt" in told
    _wait_for_end(pids)


def _run_program(folder: Path, text: str, *args: str) -> Any:
    path = folder / "program.py"
    path.write_text(text)
    command = [sys.executable, path, *args]
    return subprocess.run(command, timeout=60, capture_output=True, text=True)


def _wait_for_end(pids: str) -> None:
    """Wait until no such processes are left."""
    end = time.monotonic() + 10
    left = [int(pid) for pid in pids.split()]
    assert len(left) == 2
    while left and time.monotonic() < end:
        time.sleep(0.02)
        left = [pid for pid in left if is_there(pid)]
    assert not left
