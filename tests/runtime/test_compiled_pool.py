"""Compiled code lends large buffers where NumPy's arrays look as expected, and else Python."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.compiled_pool import CompiledPool
from torchgen_out._runtime.kernels.cpu.python_pool import PythonPool
from torchgen_out._runtime.kernels.machine import array_memory, callers, symbols
from torchgen_out._runtime.kernels.machine.pool_text import WORDS

FLOAT = np.dtype(np.float32)
LARGE = 1 << 20
ROOT = Path(__file__).resolve().parents[2]


def test_compiled_code_lends_here() -> None:
    assert array_memory.is_possible() == callers.work_here()
    assert isinstance(pool._pool(), CompiledPool) == callers.work_here()


@pytest.fixture
def own() -> Iterator[CompiledPool]:
    """A pool in which nothing else happens."""
    if not callers.work_here():
        pytest.skip("this interpreter's objects have other headers")
    made = CompiledPool(1 << 40)
    yield made
    gc.collect()
    assert made.counts()["allocated"] == 0
    made.empty_cache()


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def numpy_core() -> Any:
    return sys.modules.get("numpy._core._multiarray_umath") or np.core._multiarray_umath


def handler_of(array: Any) -> str | None:
    found: str | None = numpy_core().get_handler_name(array)
    return found


def test_only_what_is_lent_has_the_handler(own: CompiledPool) -> None:
    users = handler_of(np.empty(LARGE))
    lent = own.make_lender(FLOAT)(LARGE)
    lent[:] = 1
    assert handler_of(lent) == "torchgen"
    assert handler_of(lent * 2) == handler_of(np.empty(LARGE)) == users != "torchgen"
    assert lent.flags.owndata
    assert lent.flags.writeable
    assert lent.flags.aligned
    assert lent.flags.c_contiguous
    assert lent.flags.f_contiguous


@pytest.mark.parametrize("factor", [0, 1, 2, 3, 64])
def test_resize_keeps_what_fits(own: CompiledPool, factor: int) -> None:
    array = own.make_lender(FLOAT)(LARGE)
    array[:] = np.arange(LARGE)
    numel = factor * LARGE // 2
    place = address(array)
    array.resize(numel, refcheck=False)
    common = min(numel, LARGE)
    np.testing.assert_array_equal(array[:common], np.arange(common, dtype=np.float32))
    assert not array[common:].any()  # as NumPy has it
    assert (address(array) == place) == (factor <= 2)
    assert address(array) % 64 == 0
    assert own.counts()["allocated"] == pool.class_size(4 * max(numel, LARGE))


def test_resize_is_refused_while_others_look(own: CompiledPool) -> None:
    array = own.make_lender(FLOAT)(LARGE)
    view = array[3:]
    with pytest.raises(ValueError, match="resize"):
        array.resize(2 * LARGE)
    with pytest.raises(ValueError, match="resize"):
        view.resize(5, refcheck=False)
    assert array.size == LARGE


def test_memory_returns_from_an_array_given_other_memory(own: CompiledPool) -> None:
    array = own.make_lender(FLOAT)(LARGE)
    array.__setstate__(np.arange(5.0).__reduce__()[2])
    assert array.tolist() == [0, 1, 2, 3, 4]
    assert own.counts()["allocated"] == 0
    assert own.counts()["kept"] == pool.class_size(4 * LARGE)


def test_the_handlers_functions(own: CompiledPool) -> None:
    """NumPy calls but two of them for arrays that are made here; a handler has four."""
    context, kept = ctypes.addressof(own._words), own._words[WORDS.index("handler")]
    capsule = ctypes.cast(kept, ctypes.py_object).value
    said_context, *addresses = array_memory._allocator(capsule)
    assert said_context == context
    assert addresses == [
        symbols.address_of(f"torchgen_pool_{name}")
        for name in ("malloc", "calloc", "realloc", "free")
    ]
    word = ctypes.c_size_t
    malloc, calloc, realloc = (
        ctypes.PYFUNCTYPE(ctypes.c_void_p, word, *arguments)(each)
        for each, arguments in zip(addresses, [(word,), (word, word), (word, word)], strict=False)
    )
    free = ctypes.PYFUNCTYPE(None, word, word, word)(addresses[3])
    first = malloc(context, 100)
    ctypes.memset(first, 7, 100)
    free(context, first, 100)
    zeros = calloc(context, 10, 10)
    assert zeros == first
    assert ctypes.string_at(zeros, 100) == bytes(100)
    assert calloc(context, 1 << 40, 1 << 40) is None
    assert realloc(context, zeros, 1 << 60) is None
    fresh = realloc(context, 0, 100)
    assert fresh not in (None, zeros)
    free(context, 0, 0)
    free(context, zeros, 100)
    free(context, fresh, 100)


def test_tracemalloc_sees_what_is_lent(own: CompiledPool) -> None:
    lend = own.make_lender(FLOAT)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        array = lend(LARGE)
        assert tracemalloc.get_traced_memory()[0] - before >= 4 * LARGE
        del array
        assert tracemalloc.get_traced_memory()[0] - before < LARGE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("numel", [-1, -LARGE, -(1 << 70), 2e6, None])
def test_what_is_no_number_of_elements_is_refused(own: CompiledPool, numel: Any) -> None:
    with pytest.raises((OverflowError, TypeError, ValueError)):
        own.make_lender(FLOAT)(numel)
    assert tuple(own.counts().values()) == (0, 0, 0, 1 << 40, 0, 0)


@pytest.mark.parametrize("limit", [0, 1, 1 << 70])
def test_any_limit(own: CompiledPool, limit: int) -> None:
    own.set_limit(limit)
    own.make_lender(FLOAT)(LARGE)
    assert own.counts()["kept"] == (pool.class_size(4 * LARGE) if limit > 1 else 0)


def test_counts(own: CompiledPool) -> None:
    size = pool.class_size(4 * LARGE)
    lend = own.make_lender(FLOAT)
    first, second = lend(LARGE), lend(LARGE)
    assert tuple(own.counts().values()) == (2 * size, 2 * size, 0, 1 << 40, 0, 2)
    del first
    assert tuple(own.counts().values()) == (size, 2 * size, size, 1 << 40, 0, 2)
    own.reset_peak()
    third = lend(LARGE - 1)
    assert tuple(own.counts().values()) == (2 * size, 2 * size, 0, 1 << 40, 1, 2)
    del second, third
    own.set_limit(size)
    assert tuple(own.counts().values()) == (0, 2 * size, 0, size, 1, 2)
    fourth = lend(LARGE)
    assert tuple(own.counts().values()) == (size, 2 * size, 0, size, 1, 3)
    assert fourth.size == LARGE


def test_memory_returns_when_numpy_makes_no_array(
    own: CompiledPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    word, half = ctypes.c_void_p, ctypes.c_int
    form = ctypes.PYFUNCTYPE(word, word, word, half, word, word, word, half, word)
    fails = form(lambda *given: None)
    numbers = [4, ctypes.cast(fails, word).value, 0]
    monkeypatch.setattr(callers, "numbers_of_empty", lambda dtype: list(numbers))
    with pytest.raises(SystemError):  # NumPy would have set an error of its own
        own.make_lender(FLOAT)(LARGE)
    assert own.counts()["allocated"] == 0
    assert own.counts()["kept"] == pool.class_size(4 * LARGE)


# Where compiled code cannot.


def _other_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_memory, "_versions", lambda: (1, 14))


def _other_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "work_here", lambda: False)


def _other_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    header = array_memory._header
    monkeypatch.setattr(array_memory, "_header", lambda array: (*header(array)[:4], 0))


def _other_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_memory, "_default_handler", lambda: numpy_core()._ARRAY_API)


@pytest.mark.parametrize(
    "change", [_other_feature, _other_interpreter, _other_fields, _other_handler]
)
def test_what_is_not_as_expected_is_left_to_python(
    monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    asked = array_memory.is_possible.__wrapped__
    assert asked()
    change(monkeypatch)
    assert not asked()


FALLBACK = """
import sys
import pytest
import torchgen_out
from torchgen_out._runtime.kernels.cpu import pool, python_pool
from torchgen_out._runtime.kernels.machine import array_memory

assert not pool._pools, "a pool was chosen by the import alone"
array_memory.is_possible = lambda: False
options = ["-q", "-n", "0", "-p", "no:cacheprovider"]
failed = pytest.main([*options, "tests/runtime/test_memory_pool.py"])
assert isinstance(pool._pool(), python_pool.PythonPool)
sys.exit(failed)
"""


def test_pythons_pool_keeps_every_promise() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FALLBACK], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " passed" in ended.stdout


def test_pythons_lock_is_renewed_in_a_child() -> None:
    made = PythonPool(1 << 30)
    held = made._lock
    with held:
        made._renew_lock()
        taken = []
        thread = threading.Thread(target=lambda: taken.append(made.make_lender(FLOAT)(LARGE).size))
        thread.start()
        thread.join(10)
    assert taken == [LARGE]
