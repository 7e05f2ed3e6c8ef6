"""Matrix products by cuBLASLt. This module alone knows the library.

What a product needs apart from addresses (descriptors, layouts, the algorithm that the library's
heuristics choose) is made once per `Product` and kept.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver
from torchgen_out._runtime.backends.cuda.libraries import loading, workspace
from torchgen_out._runtime.backends.cuda.libraries.numbers import number
from torchgen_out._runtime.backends.flags import cuda as flags
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import Matrix, Places, Product

COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_64F = 68, 77, 70
"""cublasComputeType_t."""
TRANSPOSED = 1
"""cublasOperation_t."""
SUCCESS, NOT_SUPPORTED = 0, 15
"""cublasStatus_t."""
PRODUCTS_KEPT = 4096
"""The products of so many geometries are kept prepared."""
_REDUCED = {
    "float16": "allow_fp16_reduced_precision_reduction",
    "bfloat16": "allow_bf16_reduced_precision_reduction",
}
"""The switches that let sums of partial results be kept in 16 bits."""
_DOUBLE = ("float64", "complex128")


class Products:
    """The matrix products of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.module("cublasLt")
        with loading.making(index):
            self._handle = self._library.create()
        self._prepared: dict[Any, Prepared] = {}
        self._lock = threading.Lock()

    def run(self, product: Product, places: Places, alpha: Any, beta: Any) -> bool:
        """Compute a product in the current stream; return False where no algorithm does.

        Raises: NotImplementedError for elements that the library does not multiply.
        """
        name = product.dtype.name
        is_exact = not getattr(flags.matmul, _REDUCED.get(name, "allow_tf32"))
        scratch, stream = workspace.current(self.index)
        kept_alpha, alpha = number(alpha, product.dtype)
        kept_beta, beta = number(beta, product.dtype)
        driver.current().enter(self.index)
        with self._lock:  # a descriptor holds the address of the bias
            prepared = self._prepared.get((product, is_exact))
            if prepared is None:
                prepared = self._prepare(product, is_exact, places.bias)
            if not prepared.algorithm_address:
                return False
            if product.has_bias:
                prepared.point_to_bias(places.bias)
            self._library.matmul(
                self._handle, prepared.descriptor, alpha, places.a, prepared.a, places.b,
                prepared.b, beta, places.c, prepared.c, places.d, prepared.d,
                prepared.algorithm_address, scratch, workspace.BYTES, stream,
            )  # fmt: skip
        del kept_alpha, kept_beta
        return True

    def _prepare(self, product: Product, is_exact: bool, bias: int) -> Prepared:
        """A product that was not seen for long; the one that was prepared first makes room."""
        if len(self._prepared) >= PRODUCTS_KEPT:
            self._prepared.pop(next(iter(self._prepared))).give_back()
        with loading.making(self.index):
            made = Prepared(self._library, self._handle, product, is_exact, bias)
        self._prepared[product, is_exact] = made
        return made


class Prepared:
    """A product's descriptor, layouts and algorithm.

    bias: an address that the heuristics may see; each call has its own. algorithm_address: in the
    host's memory; 0 where the library knows no algorithm.
    """

    def __init__(
        self, library: Any, handle: int, product: Product, is_exact: bool, bias: int
    ) -> None:
        self._library = library
        self._bias = np.zeros(1, np.uint64)
        self._place_of_bias = int(self._bias.ctypes.data)
        self._bias_pointer = int(library.MatmulDescAttribute.BIAS_POINTER)
        self.descriptor = self._describe(product, is_exact)
        given, made = (loading.data_type(d, "matmul") for d in (product.dtype, product.result))
        self.a, self.b = (self._lay_out(x, given, product.batch) for x in (product.a, product.b))
        self.c, self.d = (self._lay_out(x, made, product.batch) for x in (product.c, product.d))
        if product.has_bias:
            self.point_to_bias(bias)
        self._algorithm = self._choose(handle, product, is_exact)
        self.algorithm_address = 0 if self._algorithm is None else int(self._algorithm.ctypes.data)

    def give_back(self) -> None:
        """Destroy the descriptor and the layouts."""
        self._library.matmul_desc_destroy(self.descriptor)
        for layout in (self.a, self.b, self.c, self.d):
            self._library.matrix_layout_destroy(layout)

    def _describe(self, product: Product, is_exact: bool) -> int:
        """The computation: in float32 or float64; which operands are transposed."""
        library, names = self._library, self._library.MatmulDescAttribute
        if product.dtype.name in _DOUBLE:
            compute = COMPUTE_64F
        else:
            has_tf32 = product.dtype.itemsize > 2 and not is_exact
            compute = COMPUTE_32F_FAST_TF32 if has_tf32 else COMPUTE_32F
        scale = loading.data_type(product.dtype.opmath, "matmul")
        made = int(library.matmul_desc_create(compute, scale))
        set_attribute = library.matmul_desc_set_attribute
        for name, transposed in (
            (names.TRANSA, product.transpose_a),
            (names.TRANSB, product.transpose_b),
        ):
            if transposed:
                _set(set_attribute, made, name, np.int32(TRANSPOSED))
        if product.has_bias:
            _set(set_attribute, made, names.EPILOGUE, np.int32(library.Epilogue.BIAS))
        return made

    def _lay_out(self, matrix: Matrix, kind: int, batch: int) -> int:
        library, names = self._library, self._library.MatrixLayoutAttribute
        made = library.matrix_layout_create(kind, matrix.rows, matrix.cols, matrix.leading)
        if batch > 1:
            set_attribute = library.matrix_layout_set_attribute
            _set(set_attribute, made, names.BATCH_COUNT, np.int32(batch))
            _set(set_attribute, made, names.STRIDED_BATCH_OFFSET, np.int64(matrix.step))
        return int(made)

    def _choose(self, handle: int, product: Product, is_exact: bool) -> np.ndarray | None:
        """The algorithm that the library thinks best; None if it knows none."""
        library = self._library
        preference = self._prefer(product, is_exact)
        results = np.zeros(1, library.matmul_heuristic_result_dtype)
        found = np.zeros(1, np.int32)
        try:
            library.matmul_algo_get_heuristic(
                handle, self.descriptor, self.a, self.b, self.c, self.d, preference, 1,
                results.ctypes.data, found.ctypes.data,
            )  # fmt: skip
        except errors.LibraryError as failure:
            if failure.status != NOT_SUPPORTED:
                raise
        finally:
            library.matmul_preference_destroy(preference)
        is_found = found[0] and results["state"][0] == SUCCESS
        return np.ascontiguousarray(results["algo"]) if is_found else None

    def _prefer(self, product: Product, is_exact: bool) -> int:
        """How much workspace there is, how operands are aligned, how partial sums are kept."""
        library, names = self._library, self._library.MatmulPreferenceAttribute
        made = int(library.matmul_preference_create())
        set_attribute = library.matmul_preference_set_attribute
        _set(set_attribute, made, names.MAX_WORKSPACE_BYTES, np.uint64(workspace.BYTES))
        for operand, alignment in zip("ABCD", product.alignments, strict=True):
            name = getattr(names, f"MIN_ALIGNMENT_{operand}_BYTES")
            _set(set_attribute, made, name, np.uint32(alignment))
        if product.dtype.name in _REDUCED and is_exact:
            allowed = library.ReductionScheme.COMPUTE_TYPE
            _set(set_attribute, made, names.REDUCTION_SCHEME_MASK, np.uint32(allowed))
        return made

    def point_to_bias(self, address: int) -> None:
        """Say where the vector lies that is added to every column."""
        if self._bias[0] != address:
            self._bias[0] = address
            self._library.matmul_desc_set_attribute(
                self.descriptor, self._bias_pointer, self._place_of_bias, self._bias.nbytes
            )


def _set(set_attribute: Any, handle: int, name: Any, value: np.generic) -> None:
    """Hand an attribute over, by address."""
    held = np.array([value])
    set_attribute(handle, int(name), held.ctypes.data, held.nbytes)


products_of = lru_cache(maxsize=None)(Products)
"""The products of a device."""
