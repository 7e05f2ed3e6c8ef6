"""Dot products by cuBLAS. This module alone knows the library."""

from __future__ import annotations

import threading

from runtime.backends.cuda import driver, streams
from runtime.backends.cuda.libraries import loading
from runtime.kernels.cuda.queue import Array

POINTERS_TO_DEVICE = 1
"""cublasPointerMode_t: results stay on the device, so nothing waits."""


class Blas:
    """The vector operations of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.module("cublas")
        driver.current().enter(index)
        self._handle = self._library.create()
        self._library.set_pointer_mode(self._handle, POINTERS_TO_DEVICE)
        self._lock = threading.Lock()

    def dot(self, out: Array, a: Array, b: Array, conjugated: bool) -> None:
        """Write the sum of a * b, of conj(a) * b if `conjugated`, in the current stream."""
        kind = loading.data_type(out.dtype, "dot")
        compute = loading.data_type(out.dtype.opmath, "dot")
        function = self._library.dotc_ex_64 if conjugated else self._library.dot_ex_64
        driver.current().enter(self.index)
        with self._lock:  # a handle has one stream
            self._library.set_stream(self._handle, streams.current_handle(self.index))
            function(
                self._handle, a.numel, a.address, kind, a.strides[0], b.address, kind,
                b.strides[0], out.address, kind, compute,
            )  # fmt: skip
