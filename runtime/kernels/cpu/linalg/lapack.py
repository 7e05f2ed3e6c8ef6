"""LAPACK and BLAS by SciPy, matrix by matrix: which routine a dtype takes, and its workspace.

The routines read and write matrices stored column by column. A row-major matrix is to them its own
transpose, which saves most copies: the callers say which.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import openblas, threads
from torchgen_out._runtime.kernels.cpu.folding import broadcast

Array = Any

MOST_ON_ONE_THREAD = 1 << 18  # elements; a matrix of 512 x 512 gains nothing from two
LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
UNITARY = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd"}
"""What real routines are called in the complex case."""


@cache
def scipy_linalg() -> Any:
    """SciPy's linear algebra, imported when it is first needed; it uses as many threads as ours."""
    return openblas.import_scipy_linalg(threads.get_num_threads())


@cache
def routine(name: str, dtype: Any) -> Any:
    """LAPACK's `name` for one dtype; unlike most of SciPy, its functions check next to nothing.

    With matrices that are not large it takes one thread: more take longer, and go on spinning.
    """
    function = getattr(scipy_linalg().lapack, spelled(name, dtype))

    def call(*args: Any, **options: Any) -> Any:
        size = max(arg.size for arg in args if arg.__class__ is np.ndarray)
        if size > MOST_ON_ONE_THREAD or threads.get_num_threads() == 1:
            return function(*args, **options)
        with openblas.on_one_thread(openblas.scipy_library()):
            return function(*args, **options)

    return call


@cache
def blas(name: str, dtype: Any) -> Any:
    """BLAS's `name` for one dtype."""
    return getattr(scipy_linalg().blas, spelled(name, dtype))


def numpy_threads(matrix: Array) -> AbstractContextManager[None]:
    """In which NumPy's own linear algebra takes one thread, too, for what is not large."""
    if matrix.size > MOST_ON_ONE_THREAD or threads.get_num_threads() == 1:
        return nullcontext()
    return openblas.on_one_thread(openblas.numpy_library())


def spelled(name: str, dtype: Any) -> str:
    """A routine's name for one dtype."""
    name = UNITARY.get(name, name) if dtype.kind == "c" else name
    return LETTERS[dtype.char] + name


@cache
def workspace(name: str, dtype: Any, *args: Any) -> tuple[int, ...]:
    """The sizes of working memory with which a routine runs in blocks.

    LAPACK says them in the matrix's dtype: a 32-bit float may have been rounded down.
    """
    query = getattr(scipy_linalg().lapack, f"{spelled(name, dtype)}_lwork")
    *sizes, _ = query(*args)
    exact = dtype.char in "dD"
    return tuple(
        int(np.real(size) if exact else np.nextafter(np.float32(np.real(size)), np.float32(np.inf)))
        for size in sizes
    )


def stack(array: Array) -> Array:
    """All matrices of a batch as (count, rows, columns); a view where the memory allows."""
    if array.ndim == 2:
        return array[None]
    *batch, rows, columns = array.shape
    return array.reshape((prod(batch), rows, columns))


def rows_of(array: Array) -> Array:
    """All vectors of a batch as (count, size); a view where the memory allows."""
    if array.ndim == 1:
        return array[None]
    *batch, size = array.shape
    return array.reshape((prod(batch), size))


def broadcast_stack(array: Array, batch: tuple[int, ...]) -> Iterator[Array]:
    """The matrices of an array whose batch dims broadcast to `batch`, one by one."""
    if array.shape[:-2] == batch:
        return iter(stack(array))
    wide = broadcast(array, (*batch, *array.shape[-2:]))
    if len(batch) < 2:
        return iter(wide if batch else wide[None])
    return (wide[index] for index in np.ndindex(*batch))


def put(matrix: Array, found: Array) -> None:
    """Copy a result that should have been written in place, if it was not.

    SciPy copies what it is told to overwrite where the address is no multiple of 8 bytes: the
    second of two matrices of 3 x 3 float32 numbers.
    """
    if not np.may_share_memory(matrix, found):
        matrix[...] = found
