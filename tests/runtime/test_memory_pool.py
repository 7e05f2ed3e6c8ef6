"""Large buffers are reused when nothing looks at them any more, and never before."""

from __future__ import annotations

import ast
import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.aligned import CACHE_LINE

FLOAT = np.dtype(np.float32)
LARGE = 1 << 20


@pytest.fixture(autouse=True)
def empty_pool():
    gc.collect()
    pool.empty_cache()
    before = pool.memory_stats()["kept_bytes.limit"]
    yield
    pool.set_limit(before)
    pool.empty_cache()


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_freed_buffer_is_lent_again_aligned() -> None:
    first = pool.empty(LARGE, FLOAT)
    place = address(first)
    assert place % CACHE_LINE == 0
    second = pool.empty(LARGE, FLOAT)
    assert address(second) != place
    del first
    assert address(pool.empty(LARGE - 1, FLOAT)) == place


@pytest.mark.parametrize("name", ["bool", "uint8", "uint16", "float16", "int64", "complex128"])
@pytest.mark.parametrize("numel", [0, 1, 7, 4096, 65_000])
def test_small_buffers_are_not_kept_and_begin_at_a_cache_line(name: str, numel: int) -> None:
    dtype = np.dtype(name)
    before = pool.memory_allocated()
    arrays = [pool.empty(numel + i, dtype) for i in range(5)]
    for i, array in enumerate(arrays):
        assert address(array) % CACHE_LINE == 0
        assert array.shape == (numel + i,)
        assert array.dtype == dtype
        array[:] = i  # is there to be written to, all of it
    assert all((array == i).all() for i, array in enumerate(arrays) if name != "bool")
    assert pool.memory_allocated() == before


@pytest.mark.parametrize("nbytes", [pool.LEAST_BYTES, pool.LEAST_BYTES + 1, 3_000_001, 10**8 + 7])
def test_little_is_wasted(nbytes: int) -> None:
    assert nbytes <= pool.class_size(nbytes) <= nbytes * (1 + 1 / pool.STEPS) + 1


def views(x: torch.Tensor) -> list[object]:
    return [
        x[5:7], x.detach(), x.view(2, -1)[1], x.numpy()[3:4], memoryview(x.numpy()),
        np.from_dlpack(x)[1:], torch.from_dlpack(x), x.untyped_storage(), x.t(),
    ]  # fmt: skip


@pytest.mark.parametrize("which", range(9))
def test_whatever_looks_at_a_buffer_keeps_it(which: int) -> None:
    x = torch.ones(LARGE)
    view = views(x)[which]
    place = x.data_ptr()
    del x
    gc.collect()
    others = [torch.ones(LARGE) for _ in range(3)]
    assert place not in [other.data_ptr() for other in others]
    del view
    gc.collect()
    assert torch.ones(LARGE).data_ptr() == place


def test_saved_tensors_keep_their_buffers() -> None:
    x = torch.ones(LARGE, requires_grad=True)
    y = (x * 2).exp()
    for _ in range(3):
        torch.zeros(LARGE) + 5
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(2), rtol=1e-6)


def test_what_is_kept_is_bounded() -> None:
    size = pool.class_size(4 * LARGE)
    torch.cpu.set_limit(2 * size)
    arrays = [pool.empty(LARGE, FLOAT) for _ in range(5)]
    assert torch.cpu.memory_allocated() == 5 * size
    arrays.clear()
    assert torch.cpu.memory_allocated() == 0
    assert torch.cpu.memory_reserved() <= 2 * size
    torch.cpu.set_limit(0)
    assert torch.cpu.memory_reserved() == 0
    pool.empty(LARGE, FLOAT)
    assert torch.cpu.memory_reserved() == 0
    with pytest.raises(ValueError, match="from 0 on, got -1"):
        torch.cpu.set_limit(-1)


def test_statistics() -> None:
    size = pool.class_size(4 * LARGE)
    torch.cpu.reset_peak_memory_stats()
    x = torch.ones(LARGE) + 1
    before = torch.cpu.memory_stats()
    assert before["allocated_bytes.all.current"] == torch.cpu.memory_allocated() >= size
    y = x + 1
    del x, y
    stats = torch.cpu.memory_stats()
    assert stats["allocated_bytes.all.peak"] == torch.cpu.max_memory_allocated() >= 2 * size
    assert stats["reserved_bytes.all.current"] == torch.cpu.memory_reserved() >= 2 * size
    torch.ones(LARGE) + 1
    assert torch.cpu.memory_stats()["hits"] > before["hits"]
    torch.cpu.empty_cache()
    assert torch.cpu.memory_reserved() == torch.cpu.memory_allocated()


def test_threads_get_buffers_of_their_own() -> None:
    failures = []

    def work(seed: int) -> None:
        for i in range(200):
            array = pool.empty(LARGE // 4 + 64 * (i % 3), FLOAT)
            array[:] = seed
            other = pool.empty(LARGE // 4, FLOAT)
            other[:] = -seed
            if (array != seed).any():
                failures.append(seed)

    workers = [threading.Thread(target=work, args=(i + 1,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    assert pool.memory_allocated() == 0


@pytest.mark.parametrize("length", range(20, 31))
@pytest.mark.parametrize("sixteenth", [0, 1, 7, 15])
@pytest.mark.parametrize("step", [-1, 0, 1])
def test_what_is_set_aside_is_the_class(length: int, sixteenth: int, step: int) -> None:
    nbytes = (1 << length) + (sixteenth << length - 4) + step
    pool.set_limit(1 << 40)
    before, kept = pool.memory_allocated(), nbytes >= pool.LEAST_BYTES
    array = pool.empty(nbytes, np.dtype(np.uint8))
    assert array.nbytes == nbytes
    assert pool.memory_allocated() - before == (pool.class_size(nbytes) if kept else 0)
    array[-1] = 3
    place = address(array)
    del array
    assert pool.memory_allocated() == before
    if kept:
        again = pool.empty(pool.class_size(nbytes), np.dtype(np.uint8))
        assert address(again) == place
        again[-1] = 4


def test_the_last_one_freed_is_lent_first() -> None:
    arrays = [pool.empty(LARGE, FLOAT) for _ in range(4)]
    places = [address(array) for array in arrays]
    while arrays:
        del arrays[0]
    again = [pool.empty(LARGE, FLOAT) for _ in range(4)]
    assert [address(array) for array in again] == places[::-1]


@pytest.mark.parametrize("numel", [1 << 46, 1 << 60, 1 << 63, 1 << 70, "4"])
def test_what_cannot_be_is_refused_and_nothing_is_lost(numel: object) -> None:
    kept = pool.empty(LARGE, FLOAT)
    before = pool.memory_stats()
    with pytest.raises((MemoryError, OverflowError, RuntimeError, TypeError, ValueError)):
        pool.any_size(FLOAT)(numel)  # type: ignore[arg-type]
    after = pool.memory_stats()
    assert {**after, "misses": 0} == {**before, "misses": 0}
    assert kept.size == LARGE


WITHOUT_MEMORY = """
import resource
import numpy as np
from torchgen_out._runtime.kernels.cpu import pool

BYTE = np.dtype(np.uint8)
pool.set_limit(1 << 40)
make = pool.any_size(BYTE)
make(600 << 20)  # and kept
assert pool.memory_reserved() >= 600 << 20
status = dict(line.split(":") for line in open("/proc/self/status") if line.startswith("Vm"))
held = int(status["VmSize"].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_AS, (held + (100 << 20), resource.RLIM_INFINITY))
other = make(500 << 20)  # what is kept had to go
assert pool.memory_reserved() == pool.memory_allocated() == pool.class_size(500 << 20)
try:
    make(900 << 20)
except MemoryError as error:
    assert "900. MiB" in str(error) or "nable to allocate" in str(error), error
else:
    raise AssertionError("there was memory")
assert pool.memory_allocated() == pool.class_size(500 << 20)
other[:] = 1
del other
make(500 << 20)[:] = 2
assert pool.memory_stats()["hits"] == 1
print("fine")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux bounds a process's memory")
def test_without_memory_what_is_kept_goes_first() -> None:
    assert run(WITHOUT_MEMORY) == "fine"


LATE = """
import atexit, gc, sys, threading, time
import torchgen_out as torch

class Late:
    def __init__(self):
        self.own, self.array = self, (torch.ones(1 << 20) + 1).numpy()

    def __del__(self):
        assert self.array[5] == 2
        other = self.array * 2
        del self.array, other

kept = Late()
sys.late = Late()
atexit.register(lambda array: array.fill(3), (torch.ones(1 << 20) + 1).numpy())
gc.disable()

threading.excepthook = lambda given: None  # of that thread, which finds modules gone

def forever():
    while True:
        torch.ones(1 << 20) + 1

threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)
print("fine")
"""


def test_arrays_may_die_with_the_interpreter() -> None:
    assert run(LATE) == "fine"


@pytest.mark.parametrize(("given", "nbytes"), [("7", 7 << 20), ("0", 0), ("-1", 0)])
def test_the_environment_sets_the_limit(given: str, nbytes: int) -> None:
    text = "import torchgen_out as t; t.ones(1 << 20); print(t.cpu.memory_stats())"
    stats = ast.literal_eval(run(text, TORCHGEN_KEPT_MEGABYTES=given))
    assert stats["kept_bytes.limit"] == nbytes
    assert stats["reserved_bytes.all.current"] == (4 << 20 if nbytes else 0)


def run(text: str, **environment: str) -> str:
    """What a process of its own says."""
    ended = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.strip()


def test_what_one_thread_freed_another_is_lent() -> None:
    places = []

    def lend() -> None:
        places.append(address(pool.empty(LARGE, FLOAT)))

    for _ in range(3):
        thread = threading.Thread(target=lend)
        thread.start()
        thread.join()
    assert places == [places[0]] * 3


def test_copies_and_pickles_have_memory_of_their_own() -> None:
    array = pool.empty(LARGE, FLOAT)
    array[:] = np.arange(LARGE)
    made = [pickle.loads(pickle.dumps(array, protocol)) for protocol in (2, 5)]
    made += [copy.copy(array), copy.deepcopy(array), array.copy()]
    array[:] = 0
    for each in made:
        np.testing.assert_array_equal(each, np.arange(LARGE, dtype=np.float32))


def test_users_views_cannot_be_resized() -> None:
    x = torch.ones(LARGE) + 1
    with pytest.raises(ValueError, match="resize"):
        x.numpy().resize(2 * LARGE, refcheck=False)
    assert x.sum().item() == 2 * LARGE


def test_nothing_is_leaked() -> None:
    lend = pool.any_size(FLOAT)
    before, allocated = sys.getrefcount(FLOAT), pool.memory_allocated()
    for _ in range(1000):
        lend(LARGE)
    assert sys.getrefcount(FLOAT) - before < 10
    assert pool.memory_allocated() == allocated
    assert pool.memory_reserved() <= allocated + pool.class_size(4 * LARGE)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says which pages are asked for")
def test_fresh_memory_is_as_numpys() -> None:
    """Whether large pages are wanted, as NumPy does where the system lets it."""

    def flags_of(array: np.ndarray) -> set[str]:
        place, inside, own = address(array) + array.nbytes // 2, False, set()
        for line in Path("/proc/self/smaps").read_text().splitlines():
            name, _, rest = line.partition(" ")
            if "-" in name and not name.endswith(":"):
                first, last = (int(end, 16) for end in name.split("-"))
                inside = first <= place < last
            elif inside and name == "VmFlags:":
                own = set(rest.split())
        assert "rd" in own
        return own

    array = pool.empty(16 * LARGE, FLOAT)
    assert flags_of(array) == flags_of(np.empty(16 * LARGE, FLOAT))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_after_a_fork() -> None:
    array = pool.empty(LARGE, FLOAT)
    array[:] = 5
    pool.empty(LARGE, FLOAT)[:] = 6  # kept
    hits = pool.memory_stats()["hits"]
    child = os.fork()
    if not child:
        own = pool.empty(LARGE, FLOAT)
        fine = pool.memory_stats()["hits"] == hits + 1 and own[7] == 6
        own[:] = array
        array[:] = 8
        fine = fine and (own == 5).all()
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (array == 5).all()
    again = pool.empty(LARGE, FLOAT)
    assert pool.memory_stats()["hits"] == hits + 1
    assert (again == 6).all()
