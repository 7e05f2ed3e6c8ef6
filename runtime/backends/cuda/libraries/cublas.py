"""Dot products, triangular systems, and factorisations of many small matrices, by cuBLAS.

This module alone knows the library.
"""

from __future__ import annotations

import threading

import numpy as np

from torchgen_out._runtime.backends.cuda import driver
from torchgen_out._runtime.backends.cuda.libraries import loading, workspace
from torchgen_out._runtime.backends.cuda.libraries.numbers import number
from torchgen_out._runtime.kernels.cuda.linalg.columns import Columns
from torchgen_out._runtime.kernels.cuda.linalg.small_matrices import Batch
from torchgen_out._runtime.kernels.cuda.queue import Array

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
"""How functions of one type begin."""
POINTERS_TO_HOST, POINTERS_TO_DEVICE = 0, 1
"""cublasPointerMode_t: results stay on the device, so nothing waits; factors come from the host."""
LEFT, RIGHT = 0, 1
"""cublasSideMode_t."""
NOT_TRANSPOSED, TRANSPOSED, ADJOINT = 0, 1, 2
"""cublasOperation_t."""


class Blas:
    """The vector operations of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.module("cublas")
        with loading.making(index):
            self._handle = self._library.create()
        self._bound = 0, 0
        self._lock = threading.Lock()

    def dot(self, out: Array, a: Array, b: Array, conjugated: bool) -> None:
        """Write the sum of a * b, of conj(a) * b if `conjugated`, in the current stream."""
        kind = loading.data_type(out.dtype, "dot")
        compute = loading.data_type(out.dtype.opmath, "dot")
        function = self._library.dotc_ex_64 if conjugated else self._library.dot_ex_64
        with self._lock:  # a handle has one stream
            self._bind(POINTERS_TO_DEVICE)
            function(
                self._handle, a.numel, a.address, kind, a.strides[0], b.address, kind,
                b.strides[0], out.address, kind, compute,
            )  # fmt: skip

    def solve_triangular(
        self,
        a: Columns,
        b: Columns,
        upper: bool,
        left: bool,
        unitriangular: bool,
        operation: int = NOT_TRANSPOSED,
    ) -> None:
        """Replace b by the solution of op(A) X = B, or X op(A) = B, for a triangle of A."""
        kept, one = number(1, a.dtype)
        numbers = (LEFT if left else RIGHT, int(upper), operation, int(unitriangular))
        sizes = (b.rows, b.columns)
        self._run(a, "trsm_64", *numbers, *sizes, one, a.address, a.leading, b.address, b.leading)
        del kept

    def _run(self, matrix: Columns, name: str, *arguments: int) -> None:
        """Call a function of the matrix's type in the current stream; numbers are the host's."""
        function = getattr(self._library, LETTERS[matrix.dtype.name] + name)
        with self._lock:
            self._bind(POINTERS_TO_HOST)
            function(self._handle, *arguments)

    def _bind(self, mode: int) -> None:
        """Let the handle work in the current stream, and in that stream's workspace.

        In memory of its own it would share that among streams, and a graph would allocate it anew.
        """
        driver.current().enter(self.index)
        scratch, stream = bound = workspace.current(self.index)
        if bound != self._bound:
            self._library.set_stream(self._handle, stream)  # takes the workspace away
            self._library.set_workspace(self._handle, scratch, workspace.BYTES)
            self._bound = bound
        self._library.set_pointer_mode(self._handle, mode)

    # -- batches: addresses of matrices lie on the device -----------------------------------------

    def solve_triangular_batch(
        self,
        a: Batch,
        b: Batch,
        upper: bool,
        left: bool,
        unitriangular: bool,
        operation: int = NOT_TRANSPOSED,
    ) -> None:
        """The same for each pair of a batch."""
        kept, one = number(1, a.first.dtype)
        numbers = (LEFT if left else RIGHT, int(upper), operation, int(unitriangular))
        sizes = (b.first.rows, b.first.columns)
        places = (a.addresses, a.first.leading, b.addresses, b.first.leading)
        self._run(a.first, "trsm_batched_64", *numbers, *sizes, one, *places, a.count)
        del kept

    def lu_batch(self, a: Batch, pivots: int, infos: int) -> None:
        """Replace square matrices by their factors. pivots: the address of int32 numbers, counted
        from 1. infos: the address of one number for each matrix."""
        places = (a.addresses, a.first.leading, pivots, infos)
        self._run(a.first, "getrf_batched", a.first.rows, *places, a.count)

    def lu_solve_batch(self, a: Batch, pivots: int, b: Batch, operation: int) -> None:
        """Replace b by the solutions of op(A) X = B, given the factors of A."""
        sizes = (a.first.rows, b.first.columns)
        places = (a.addresses, a.first.leading, pivots, b.addresses, b.first.leading)
        info = np.zeros(1, np.int32)
        self._run(a.first, "getrs_batched", operation, *sizes, *places, info.ctypes.data, a.count)

    def qr_batch(self, a: Batch, scales: int) -> None:
        """Replace matrices by R and the reflectors below it. scales: the address of the addresses
        of theirs."""
        sizes = (a.first.rows, a.first.columns)
        info = np.zeros(1, np.int32)
        places = (a.addresses, a.first.leading, scales, info.ctypes.data)
        self._run(a.first, "geqrf_batched", *sizes, *places, a.count)
