"""Factorisations by cuSOLVER, one by one or small ones together, known to this module alone.

Matrices are stored column by column. Failures are numbers on the device, as LAPACK reports them;
nothing here waits for them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from torchgen_out._runtime.backends.cuda import driver, streams
from torchgen_out._runtime.backends.cuda.libraries import loading, workspace
from torchgen_out._runtime.backends.cuda.libraries.cublas import (
    ADJOINT,
    LEFT,
    LETTERS,
    NOT_TRANSPOSED,
    RIGHT,
    TRANSPOSED,
)
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.linalg.columns import Columns
from torchgen_out._runtime.kernels.cuda.linalg.small_matrices import Batch

MOST_TOGETHER = 1 << 14
"""Matrices of one call that iterates: `xsyev_batched` refuses batches from some size above 32,000
on, and `gesvdj_batched` counts the elements of its workspace in 32 bits."""


class Solver:
    """The factorisations of one device. An info is the address of an int32 of the device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.module("cusolverDn")
        with loading.making(index):
            self._handle = self._library.create()
            self._params = self._library.create_params()
            self._jacobi = self._library.create_gesvdj_info()
        self._lock = threading.Lock()

    @contextmanager
    def _in_stream(self) -> Iterator[Any]:
        """The library, its handle bound to the current stream."""
        driver.current().enter(self.index)
        with self._lock:
            self._library.set_stream(self._handle, streams.current_handle(self.index))
            yield self._library

    def _run(
        self,
        name: str,
        asked: tuple[Any, ...],
        given: tuple[Any, ...],
        info: int,
        *count: int,
    ) -> None:
        """Ask how much memory a function works in, and call it.

        asked: the arguments of the question. given: those of the call, which may be more. count:
        how many matrices, of functions that are given several.
        """
        with self._in_stream() as library:
            ask, function = getattr(library, f"{name}_buffer_size"), getattr(library, name)
            on_device, on_host = ask(self._handle, self._params, *asked)
            device = workspace.of(self.index, on_device)
            host = np.empty(max(on_host, 1), np.uint8)
            workspaces = device.address, on_device, host.ctypes.data, on_host
            function(self._handle, self._params, *given, *workspaces, info, *count)

    def cholesky(self, a: Columns, upper: bool, info: int) -> None:
        """Replace one triangle by the factor; the other is not read."""
        kind = loading.data_type(a.dtype, "cholesky")
        arguments = (int(upper), a.rows, kind, a.address, a.leading, kind)
        self._run("xpotrf", arguments, arguments, info)

    def cholesky_solve(self, a: Columns, b: Columns, upper: bool, info: int) -> None:
        """Replace b by the solution, given the factor."""
        kind = loading.data_type(a.dtype, "cholesky_solve")
        with self._in_stream() as library:
            library.xpotrs(
                self._handle, self._params, int(upper), a.rows, b.columns, kind, a.address,
                a.leading, kind, b.address, b.leading, info,
            )  # fmt: skip

    def lu(self, a: Columns, pivots: int, info: int) -> None:
        """Replace a matrix by its factors. pivots: the address of int64 numbers, counted from 1."""
        kind = loading.data_type(a.dtype, "lu")
        matrix = (a.rows, a.columns, kind, a.address, a.leading)
        self._run("xgetrf", (*matrix, kind), (*matrix, pivots, kind), info)

    def lu_solve(self, a: Columns, pivots: int, b: Columns, operation: int, info: int) -> None:
        """Replace b by the solution of op(A) X = B, given the factors of A."""
        kind = loading.data_type(a.dtype, "lu_solve")
        with self._in_stream() as library:
            library.xgetrs(
                self._handle, self._params, operation, a.rows, b.columns, kind, a.address,
                a.leading, pivots, kind, b.address, b.leading, info,
            )  # fmt: skip

    def qr(self, a: Columns, tau: int, info: int) -> None:
        """Replace a matrix by R and the reflectors below it; their scales go to `tau`."""
        kind = loading.data_type(a.dtype, "qr")
        arguments = (a.rows, a.columns, kind, a.address, a.leading, kind, tau, kind)
        self._run("xgeqrf", arguments, arguments, info)

    def multiply_reflectors(self, a: Columns, tau: int, count: int, info: int) -> None:
        """Replace `count` reflectors by the first columns of their product."""
        arguments = (a.rows, a.columns, count, a.address, a.leading, tau)
        self._run_typed("orgqr", a.dtype, arguments, info)

    def apply_reflectors(
        self, a: Columns, tau: int, c: Columns, left: bool, adjoint: bool, info: int
    ) -> None:
        """Replace c by the product of the reflections of `a`, or their adjoint, and c."""
        turned = ADJOINT if a.dtype.is_complex else TRANSPOSED
        operation = turned if adjoint else NOT_TRANSPOSED
        side = LEFT if left else RIGHT
        arguments = (
            side, operation, c.rows, c.columns, a.columns, a.address, a.leading, tau, c.address,
            c.leading,
        )  # fmt: skip
        self._run_typed("ormqr", a.dtype, arguments, info)

    def _run_typed(
        self, name: str, dtype: dtypes.dtype, arguments: tuple[Any, ...], info: int
    ) -> None:
        """A function of one type, which in the complex case has another name."""
        spelled = name.replace("or", "un", 1) if dtype.is_complex else name
        full = LETTERS[dtype.name] + spelled
        with self._in_stream() as library:
            count = getattr(library, f"{full}_buffer_size")(self._handle, *arguments)
            work = workspace.of(self.index, count * dtype.itemsize)
            getattr(library, full)(self._handle, *arguments, work.address, count, info)

    def eigh(self, a: Columns, values: int, upper: bool, vectors: bool, info: int) -> None:
        """Write ascending eigenvalues; replace a Hermitian matrix by its eigenvectors if wanted."""
        kind, real = (loading.data_type(d, "eigh") for d in (a.dtype, a.dtype.to_real()))
        arguments = (
            int(vectors), int(upper), a.rows, kind, a.address, a.leading, real, values, kind,
        )  # fmt: skip
        self._run("xsyevd", arguments, arguments, info)

    def svd(self, a: Columns, values: int, u: Columns, vh: Columns, job: str, info: int) -> None:
        """Write singular values and vectors of a matrix with no more columns than rows.

        job: "A" for square u and vh, "S" for the first columns and rows, "N" for neither.
        """
        kind, real = (loading.data_type(d, "svd") for d in (a.dtype, a.dtype.to_real()))
        arguments = (
            ord(job), ord(job), a.rows, a.columns, kind, a.address, a.leading, real, values, kind,
            u.address, u.leading, kind, vh.address, vh.leading, kind,
        )  # fmt: skip
        self._run("xgesvd", arguments, arguments, info)

    def eig(self, a: Columns, values: int, vectors: Columns | None, info: int) -> None:
        """Write the eigenvalues of a complex matrix, and its right eigenvectors if wanted."""
        kind = loading.data_type(a.dtype, "eig")
        right = (vectors.address, vectors.leading) if vectors else (0, 1)
        arguments = (
            0, int(vectors is not None), a.rows, kind, a.address, a.leading, kind, values,
            kind, 0, 1, kind, *right, kind,
        )  # fmt: skip
        self._run("xgeev", arguments, arguments, info)

    # -- batches of small matrices ----------------------------------------------------------------

    def cholesky_batch(self, a: Batch, upper: bool, infos: int) -> None:
        """Replace one triangle of each matrix by the factor."""
        first = a.first
        with self._in_stream() as library:
            getattr(library, f"{LETTERS[first.dtype.name]}potrf_batched")(
                self._handle, int(upper), first.rows, a.addresses, first.leading, infos, a.count
            )

    def eigh_batch(
        self,
        a: Columns,
        count: int,
        values: int,
        upper: bool,
        vectors: bool,
        infos: int,
    ) -> None:
        """`eigh` of matrices, and to vectors of values, one behind the other from the first."""
        real = a.dtype.to_real()
        kind, kind_of_values = (loading.data_type(d, "eigh") for d in (a.dtype, real))
        for first, size in _parts(count):
            own = _later(a, first)
            arguments = (
                int(vectors), int(upper), a.rows, kind, own.address, a.leading, kind_of_values,
                values + first * a.rows * real.itemsize, kind,
            )  # fmt: skip
            numbers = infos + first * dtypes.int32.itemsize
            self._run("xsyev_batched", (*arguments, size), arguments, numbers, size)

    def svd_batch(
        self,
        a: Columns,
        count: int,
        values: int,
        u: Columns,
        v: Columns,
        vectors: bool,
        infos: int,
    ) -> None:
        """Write singular values of matrices, and square u and v if vectors are wanted: A v = u s.

        All lie one behind the other from the first.
        """
        name, real = f"{LETTERS[a.dtype.name]}gesvdj_batched", a.dtype.to_real()
        step = min(a.rows, a.columns) * real.itemsize
        for first, number in _parts(count):
            own, left, right = (_later(each, first) for each in (a, u, v))
            arguments = (
                int(vectors), a.rows, a.columns, own.address, a.leading, values + first * step,
                left.address, u.leading, right.address, v.leading,
            )  # fmt: skip
            places = infos + first * dtypes.int32.itemsize
            with self._in_stream() as library:
                asked = (self._handle, *arguments, self._jacobi, number)
                size = getattr(library, f"{name}_buffer_size")(*asked)
                work = workspace.of(self.index, size * a.dtype.itemsize)
                given = (*arguments, work.address, size, places, self._jacobi, number)
                getattr(library, name)(self._handle, *given)


def _parts(count: int) -> Iterator[tuple[int, int]]:
    """(the first, how many) of matrices that go together."""
    for first in range(0, count, MOST_TOGETHER):
        yield first, min(MOST_TOGETHER, count - first)


def _later(a: Columns, count: int) -> Columns:
    """The matrix that lies so many behind another."""
    size = a.leading * a.columns * a.dtype.itemsize
    return a._replace(address=a.address + count * size)
