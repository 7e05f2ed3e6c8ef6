"""Large buffers are reused when nothing looks at them any more, and never before."""

from __future__ import annotations

import gc
import os
import threading

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
    before = pool._limit
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_after_a_fork() -> None:
    array = pool.empty(LARGE, FLOAT)
    with pool._lock:
        child = os.fork()
        if not child:
            fine = pool.empty(LARGE, FLOAT) is not None
            os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert array.size == LARGE
