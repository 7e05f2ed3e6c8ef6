"""Worker threads: every part is done once, whoever calls, asleep or awake, also after a fork."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels import build, openblas, threads, worker_loops, workers
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.worker_loops import ASLEEP


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(threads, "GRAIN", 64)
    monkeypatch.setattr(threads, "_threads", 3)
    forget_calls()  # kernels know from which size on they are split
    yield
    forget_calls()


def check(seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal(1000)
    tensor = torch.from_numpy(x)
    np.testing.assert_allclose((tensor * 2 + tensor).numpy(), 3 * x)
    np.testing.assert_allclose(torch.sigmoid(tensor).numpy(), 1 / (1 + np.exp(-x)))


def test_workers_that_sleep_and_workers_that_wait() -> None:
    for seed in range(50):
        check(seed)
        time.sleep(0.001 * (seed % 3))
    assert len(workers._workers) == 2


def test_what_no_worker_begins_is_done_by_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    workers.stop()
    with monkeypatch.context() as patch:
        patch.setattr(workers.Worker, "_live", lambda worker: None)
        patch.setattr(workers.Worker, "move_away", lambda worker: None)
        for seed in range(3):
            check(seed)
        assert len(workers._workers) == 2
        workers.stop()
    check(4)


def test_who_sleeps_is_woken_for_long_work_and_for_short_calls_that_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long, short = torch.ones(64 * threads.WAKING), torch.ones(64 * 3)
    see_to, heard = workers._see_to, []

    def listen(said: int, *args: Any) -> None:
        heard.append(said & (worker_loops.SLEEPING | worker_loops.WOKEN))
        see_to(said, *args)

    def add_while_workers_sleep(x: Any) -> None:
        while any(worker.memory[_first_word(worker)] != ASLEEP for worker in workers._workers):
            time.sleep(0.001)
        y = x + x
        assert (y.numpy() == 2).all()

    for x in (long, short):
        x + x  # starts the workers and compiles
    monkeypatch.setattr(workers, "_see_to", listen)
    add_while_workers_sleep(long)
    for _ in range(workers.PATIENCE + 1):
        add_while_workers_sleep(short)
    woken = worker_loops.WOKEN if worker_loops.FUTEX else worker_loops.SLEEPING
    assert heard == [woken, *[worker_loops.SLEEPING] * workers.PATIENCE, woken]


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("0.55 0.77 12.73 3/151 4242\n", True),
        ("0.55 0.77 12.73 2/151 4242\n", False),
        ("1000.00 777.77 500.50 1234/56789 4194304\n", True),
        ("nothing of the kind", False),
        ("", False),
        (None, False),
    ],
)
def test_the_system_says_whether_a_thread_waits(
    text: str | None, waits: bool, tmp_path: Path
) -> None:
    path = tmp_path / "load"
    if text is not None:
        path.write_text(text)
    program = """
@entry
def look(block, load_file, processors):
    return somebody_waits(block, load_file, processors)
"""
    source = worker_loops._text(worker_loops.LOOKING, program)
    look = build.entry_point("looking", source, (int, int, int), "look")
    block, name = np.zeros(worker_loops.BLOCK, np.int64), ctypes.create_string_buffer(bytes(path))
    assert look(block.ctypes.data, ctypes.addressof(name), 2) == waits


@pytest.mark.skipif(not worker_loops.FUTEX, reason="workers cannot sleep by themselves here")
def test_who_is_woken_for_nothing_asks_again_whether_its_processor_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "load"
    busy, quiet = b"0.5 0.5 0.5 4242/4343 77\n", b"0.5 0.5 0.5 1/4343 77\n"
    path.write_bytes(busy)
    monkeypatch.setattr(workers, "_LOAD_FILE", ctypes.create_string_buffer(bytes(path)))
    monkeypatch.setattr(worker_loops, "LONG", -1)  # whoever yields has been away for long
    loops = worker_loops.Loops()
    monkeypatch.setattr(worker_loops, "waiting", lambda: loops)
    worker = workers.Worker(0)

    def seen_until_it_sleeps() -> bytes:
        until = time.monotonic() + 10
        while worker.memory[_first_word(worker)] != ASLEEP and time.monotonic() < until:
            time.sleep(0.001)
        return ctypes.string_at(worker.block + worker_loops.LOAD, len(busy))

    try:
        assert seen_until_it_sleeps() == busy
        path.write_bytes(quiet)
        time.sleep(2e-9 * worker_loops.FIRST_LOOK)
        worker.rouse()
        system = ctypes.CDLL(None).syscall
        system(worker_loops.FUTEX, ctypes.c_void_p(worker.block), worker_loops.WAKE, 1, 0, 0, 0)
        time.sleep(0.01)
        assert seen_until_it_sleeps().startswith(quiet)
    finally:
        worker.stop()


def test_no_part_is_lost_or_done_twice_while_others_want_the_processors() -> None:
    """A worker sleeps, is woken, or holds its processor from call to call."""
    hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        x = torch.zeros(64 * threads.WAKING)
        until = time.monotonic() + 0.5
        count = 0
        while time.monotonic() < until:
            x.add_(1)
            count += 1
        assert (x == count).all()
    finally:
        hog.kill()
        hog.wait()


def _first_word(worker: workers.Worker) -> int:
    """Where the worker's block begins in its memory."""
    return int(worker.block - worker.memory.ctypes.data) // 8


def test_no_part_is_done_twice() -> None:
    x = torch.zeros(1000)
    for i in range(1, 2001):
        x.add_(1)
        assert x.min() == x.max() == i


def test_several_callers_at_once() -> None:
    failures = []

    def call(seed: int) -> None:
        try:
            for i in range(50):
                check(seed + i)
        except AssertionError as error:
            failures.append(error)

    callers = [threading.Thread(target=call, args=(100 * i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures


def test_a_thread_may_change_its_mind_about_the_count() -> None:
    for count in (1, 2, 3, 2):
        torch.set_num_threads(count)
        check(count)


def test_stopped_workers_are_replaced() -> None:
    check(0)
    workers.stop()
    assert not workers._workers
    check(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_after_a_fork() -> None:
    program = """
import os, torchgen_out as torch
x = torch.ones(1 << 18)
torch.set_num_threads(2)
assert (x + x).sum() == 2 << 18
child = os.fork()
assert (x + x).sum() == 2 << 18
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_blas_library_uses_as_many_threads() -> None:
    before = threads.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            assert torch.get_num_threads() == count
            assert set(openblas.get_num_threads()) <= {count}
        openblas.import_scipy_linalg(2)
        assert set(openblas.get_num_threads()) <= {2}
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["TORCHGEN_NUM_THREADS", "OMP_NUM_THREADS"])
def test_the_environment_says_how_many_threads(name: str) -> None:
    program = """
import torchgen_out as torch
from torchgen_out._runtime.kernels import openblas
assert torch.get_num_threads() == 1
assert set(openblas.get_num_threads()) <= {1}
"""
    subprocess.run([sys.executable, "-c", program], env={**os.environ, name: "1"}, check=True)


def test_a_part_that_answers_no() -> None:
    table = torch.arange(1000).reshape(500, 2)
    rows = torch.arange(499, -1, -1)
    assert (table[rows] == table.flip(0)).all()
    for place in (0, 250, 499):
        bad = rows.clone()
        bad[place] = 500
        with pytest.raises(IndexError):
            table.index_select(0, bad)


def test_rows_of_strided_arrays_one_of_which_is_alone() -> None:
    """One row is contiguous, two are not: the parts' arrays have different types."""
    x = torch.arange(6000.0).reshape(3, 2000)[:, ::2]
    expected = np.exp(x.numpy() - x.numpy().max(1, keepdims=True))
    np.testing.assert_allclose(
        torch.softmax(x, 1).numpy(), expected / expected.sum(1, keepdims=True), rtol=1e-6
    )


@pytest.mark.parametrize("sizes", [(1, 999), (500, 500), (999, 1), (334, 333), (100, 28)])
def test_two_tensors_are_joined_in_parts_that_begin_in_either(sizes: tuple[int, int]) -> None:
    x = np.arange(float(sum(sizes)))
    tensors = torch.from_numpy(x).split(list(sizes))
    np.testing.assert_array_equal(torch.cat(tensors).numpy(), x)
    half = [each.to(torch.float16) for each in tensors]
    np.testing.assert_array_equal(torch.cat(half).numpy(), x.astype(np.float16))


def test_rows_of_a_column_major_array() -> None:
    x = np.asfortranarray(np.arange(6000.0).reshape(60, 100))
    out = np.zeros((60, 100))
    threads.run_rows(copy_rows, (out, x))
    np.testing.assert_array_equal(out, x)


def test_parts_are_numbered_in_pythons_threads_too() -> None:
    """Where no worker can make the calls: this kernel is not compiled."""
    parts: set[tuple[int, int, int]] = set()
    threads.run_ranges(lambda *part: parts.add(part), 10, 1000, parts=3)
    assert parts == {(0, 0, 3), (1, 3, 6), (2, 6, 10)}
    plain: set[tuple[int, int]] = set()
    threads.run_ranges(lambda *part: plain.add(part), 10, 1000)
    assert plain == {(0, 3), (3, 6), (6, 10)}


def test_an_array_without_rows() -> None:
    x, out = np.arange(6000.0).reshape(60, 100), np.zeros((60, 100))
    threads.run_rows(copy_rows_unless_given, (out, x, np.zeros((0, 100))))
    np.testing.assert_array_equal(out, x)


@kernel
def copy_rows_unless_given(out, x, other):
    if other.size == 0:
        copy_rows(out, x)


@kernel
def copy_rows(out, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be moved here")
def test_workers_leave_the_processor_of_their_caller() -> None:
    check(0)
    allowed = os.sched_getaffinity(0)
    for worker in workers._workers:
        worker.move_away()
        assert len(os.sched_getaffinity(worker.thread.native_id)) == max(len(allowed) - 1, 1)


def test_the_count_may_change_between_two_looks_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for each part is made for as many parts as there will be."""
    found = threads.part_count

    def count_and_change(count: int, work: int) -> int:
        parts = found(count, work)
        monkeypatch.setattr(threads, "_threads", 5 - threads.get_num_threads())  # 3, 2, 3...
        return parts

    monkeypatch.setattr(threads, "part_count", count_and_change)
    x = torch.ones(1000, 20)
    weight = torch.ones(4, 3, 3, 3)
    images = torch.ones(6, 3, 20, 20)
    for _ in range(4):
        assert x.sum() == 20000
        assert (x.sum(0) == 1000).all()
        layer = torch.nn.LayerNorm(20)
        layer(x).sum().backward()
        assert (layer.bias.grad == 1000).all()
        weight.grad = None
        torch.nn.functional.conv2d(images, weight.requires_grad_()).sum().backward()
        assert (weight.grad == 6 * 18 * 18).all()


def test_without_workers_every_part_has_its_number() -> None:
    """Another thread has the workers: the parts go to Python's threads."""
    with workers._lock:
        x = torch.ones(1000, 20)
        assert x.sum() == 20000
        assert (x.sum(0) == 1000).all()
        assert torch.full((1000,), 1.0).prod() == 1
