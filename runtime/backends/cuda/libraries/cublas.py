"""Dot products and triangular systems by cuBLAS. This module alone knows the library."""

from __future__ import annotations

import threading

from runtime.backends.cuda import driver, streams
from runtime.backends.cuda.libraries import loading
from runtime.backends.cuda.libraries.numbers import number
from runtime.kernels.cuda.columns import Columns
from runtime.kernels.cuda.queue import Array

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
        driver.current().enter(index)
        self._handle = self._library.create()
        self._lock = threading.Lock()

    def dot(self, out: Array, a: Array, b: Array, conjugated: bool) -> None:
        """Write the sum of a * b, of conj(a) * b if `conjugated`, in the current stream."""
        kind = loading.data_type(out.dtype, "dot")
        compute = loading.data_type(out.dtype.opmath, "dot")
        function = self._library.dotc_ex_64 if conjugated else self._library.dot_ex_64
        driver.current().enter(self.index)
        with self._lock:  # a handle has one stream
            self._library.set_stream(self._handle, streams.current_handle(self.index))
            self._library.set_pointer_mode(self._handle, POINTERS_TO_DEVICE)
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
        function = getattr(self._library, f"{LETTERS[a.dtype.name]}trsm_64")
        kept, one = number(1, a.dtype)
        driver.current().enter(self.index)
        with self._lock:
            self._library.set_stream(self._handle, streams.current_handle(self.index))
            self._library.set_pointer_mode(self._handle, POINTERS_TO_HOST)
            function(
                self._handle, LEFT if left else RIGHT, int(upper), operation, int(unitriangular),
                b.rows, b.columns, one, a.address, a.leading, b.address, b.leading,
            )  # fmt: skip
        del kept
