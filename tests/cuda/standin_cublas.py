"""cuBLASLt and cuBLAS as far as the library calls them: column-major products, by NumPy."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg

from tests.cuda.standin_memory import NUMPY_TYPES, WIDE, StandIn, read, write

COMPUTE_TYPES = {
    68: {"float32": {("float32", "float32"), ("float16", "float16"), ("float16", "float32"),
                     ("bfloat16", "bfloat16"), ("bfloat16", "float32")},
         "complex64": {("complex64", "complex64")}},
    77: {"float32": {("float32", "float32")}, "complex64": {("complex64", "complex64")}},
    70: {"float64": {("float64", "float64")}, "complex128": {("complex128", "complex128")}},
}  # fmt: skip
"""By cublasComputeType_t: what factors a computation may have, and then operands and results."""

HEURISTIC = [
    ("algo", [("data_", "<u8", (8,))]), ("workspace_size", "<u8"), ("state", "<i4"),
    ("waves_count", "<f4"), ("reserved", "<i4", (4,)),
]  # fmt: skip


MOST_TOGETHER = 65535
"""Matrices of a batch that all kernels take."""
NOT_SUPPORTED = 15
"""cublasStatus_t."""
EIGHT_BYTES = ("BIAS_POINTER", "STRIDED_BATCH_OFFSET", "MAX_WORKSPACE_BYTES")


def bytes_of(attribute: IntEnum) -> int:
    """The size of an attribute."""
    return 8 if attribute.name in EIGHT_BYTES else 4


class StandInCublasLt(StandIn):
    """`nvmath.bindings.cublasLt`."""

    MatmulDescAttribute = IntEnum(
        "MatmulDescAttribute", {"TRANSA": 3, "TRANSB": 4, "EPILOGUE": 7, "BIAS_POINTER": 8}
    )
    MatrixLayoutAttribute = IntEnum(
        "MatrixLayoutAttribute", {"BATCH_COUNT": 5, "STRIDED_BATCH_OFFSET": 6}
    )
    MatmulPreferenceAttribute = IntEnum(
        "MatmulPreferenceAttribute",
        {"MAX_WORKSPACE_BYTES": 1, "REDUCTION_SCHEME_MASK": 3, "MIN_ALIGNMENT_A_BYTES": 5,
         "MIN_ALIGNMENT_B_BYTES": 6, "MIN_ALIGNMENT_C_BYTES": 7, "MIN_ALIGNMENT_D_BYTES": 8},
    )  # fmt: skip
    Epilogue = IntEnum("Epilogue", {"BIAS": 4})
    ReductionScheme = IntEnum("ReductionScheme", {"COMPUTE_TYPE": 2})
    matmul_heuristic_result_dtype = np.dtype(HEURISTIC)

    def matmul_desc_create(self, compute_type: int, scale_type: int) -> int:
        assert NUMPY_TYPES[scale_type].name in COMPUTE_TYPES[compute_type]
        return self.made("matmul", compute=compute_type, scale=NUMPY_TYPES[scale_type])

    def matrix_layout_create(self, type: int, rows: int, cols: int, ld: int) -> int:
        assert rows > 0 and cols > 0 and ld >= rows
        return self.made("layout", type=type, rows=rows, cols=cols, ld=ld)

    def matmul_preference_create(self) -> int:
        return self.made("preference")

    def matmul_desc_destroy(self, matmul_desc: int) -> None:
        self.of_kind(matmul_desc, "matmul")
        del self.objects[matmul_desc]

    def matrix_layout_destroy(self, mat_layout: int) -> None:
        self.of_kind(mat_layout, "layout")
        del self.objects[mat_layout]

    def matmul_preference_destroy(self, pref: int) -> None:
        self.of_kind(pref, "preference")
        del self.objects[pref]

    def matmul_desc_set_attribute(
        self, matmul_desc: int, attr: int, buf: int, size_in_bytes: int
    ) -> None:
        self._set("matmul", matmul_desc, self.MatmulDescAttribute(attr), buf, size_in_bytes)

    def matrix_layout_set_attribute(
        self, mat_layout: int, attr: int, buf: int, size_in_bytes: int
    ) -> None:
        self._set("layout", mat_layout, self.MatrixLayoutAttribute(attr), buf, size_in_bytes)

    def matmul_preference_set_attribute(
        self, pref: int, attr: int, buf: int, size_in_bytes: int
    ) -> None:
        self._set("preference", pref, self.MatmulPreferenceAttribute(attr), buf, size_in_bytes)

    def _set(self, kind: str, handle: int, attr: IntEnum, buf: int, given: int) -> None:
        size = bytes_of(attr)
        assert given == size, f"{attr.name} has {size} bytes, not {given}"
        value = int.from_bytes(ctypes.string_at(buf, size), "little", signed=True)
        self.of_kind(handle, kind).attributes[attr] = value

    def matmul_algo_get_heuristic(
        self,
        light_handle: int,
        operation_desc: int,
        adesc: int,
        bdesc: int,
        cdesc: int,
        ddesc: int,
        preference: int,
        requested_algo_count: int,
        heuristic_results_array: int,
        return_algo_count: int,
    ) -> None:
        self.used(light_handle)
        asked = self.of_kind(preference, "preference").attributes
        names, flags = self.MatmulDescAttribute, self.of_kind(operation_desc, "matmul").attributes
        assert names.EPILOGUE not in flags or flags[names.BIAS_POINTER]
        self.calls.append(("heuristic", asked))
        layouts = [self.of_kind(each, "layout") for each in (adesc, bdesc, cdesc, ddesc)]
        if not self._is_supported(self.objects[operation_desc], layouts):
            raise self.Failure(NOT_SUPPORTED)
        chosen = np.zeros(requested_algo_count, self.matmul_heuristic_result_dtype)
        chosen["algo"]["data_"] = operation_desc
        preferred = self.MatmulPreferenceAttribute
        self.of_kind(operation_desc, "matmul").alignments = [
            asked[preferred[f"MIN_ALIGNMENT_{operand}_BYTES"]] for operand in "ABCD"
        ]
        write(heuristic_results_array, chosen)
        write(return_algo_count, np.array([requested_algo_count], np.int32))

    def matmul(
        self,
        light_handle: int,
        compute_desc: int,
        alpha: int,
        a: int,
        adesc: int,
        b: int,
        bdesc: int,
        beta: int,
        c: int,
        cdesc: int,
        d: int,
        ddesc: int,
        algo: int,
        workspace: int,
        workspace_size_in_bytes: int,
        stream: int,
    ) -> None:
        self.used(light_handle)
        described = self.of_kind(compute_desc, "matmul")
        assert read(algo, np.dtype(np.uint64)) == compute_desc, "chosen for another product"
        self.driver.bytes_of(self.driver.entered, workspace, workspace_size_in_bytes)
        assert workspace % 256 == 0
        names, flags = self.MatmulDescAttribute, described.attributes
        self._check_alignments(a, b, c, d, described.alignments)
        self._check_in_place((c, d), (cdesc, ddesc))
        left = self._matrices(a, adesc, flags.get(names.TRANSA, 0))
        right = self._matrices(b, bdesc, flags.get(names.TRANSB, 0))
        result, added = self._matrices(d, ddesc, 0), self._matrices(c, cdesc, 0)
        factors = [read(each, described.scale) for each in (alpha, beta)]
        bias = None
        if flags.get(names.EPILOGUE) == self.Epilogue.BIAS:
            rows = (result.shape[1],)
            assert flags[names.BIAS_POINTER] % 16 == 0, "misaligned address"
            bias = self.elements(flags[names.BIAS_POINTER], result.dtype, rows, (1,))
        (m, k), (n,) = left.shape[1:], right.shape[2:]
        assert right.shape[1] == k and result.shape[1:] == added.shape[1:] == (m, n)

        def work() -> None:
            value = factors[0] * (_wide(left) @ _wide(right))
            if factors[1] != 0:
                value = value + factors[1] * _wide(added)
            if bias is not None:
                value = value + _wide(bias)[:, None]
            result[...] = value.astype(result.dtype)

        self.driver.do(work)
        self.calls.append(("matmul", SimpleNamespace(**described.__dict__, stream=stream)))

    def _is_supported(self, operation: SimpleNamespace, layouts: list[SimpleNamespace]) -> bool:
        """Whether there is a kernel for these types and so many matrices."""
        a, b, c, d = (NUMPY_TYPES[each.type].name for each in layouts)
        names = self.MatrixLayoutAttribute
        (count,) = {each.attributes.get(names.BATCH_COUNT, 1) for each in layouts}
        has_bias = self.MatmulDescAttribute.EPILOGUE in operation.attributes
        known = COMPUTE_TYPES[operation.compute][operation.scale.name]
        is_known = a == b and c == d and (a, d) in known
        return is_known and count <= MOST_TOGETHER and not (has_bias and (count > 1 or "c" in d))

    def _check_in_place(self, places: tuple[int, int], layouts: tuple[int, int]) -> None:
        """What is added lies where the result does, or apart from it."""
        c, d = (self.of_kind(each, "layout") for each in layouts)
        if places[0] == places[1]:
            described = [(x.type, x.rows, x.cols, x.ld, x.attributes) for x in (c, d)]
            assert described[0] == described[1], "in place, with another layout"

    def _check_alignments(self, *given: Any) -> None:
        """Every operand lies at least as well as the heuristics were told."""
        *places, alignments = given
        for place, alignment in zip(places, alignments, strict=True):
            assert place % alignment == 0, "misaligned address"

    def _matrices(self, address: int, layout: int, transposed: int) -> np.ndarray:
        """(batch, rows, cols) of op(matrix)."""
        own = self.of_kind(layout, "layout")
        batch = own.attributes.get(self.MatrixLayoutAttribute.BATCH_COUNT, 1)
        step = own.attributes.get(self.MatrixLayoutAttribute.STRIDED_BATCH_OFFSET, 0)
        sizes, strides = (batch, own.rows, own.cols), (step, 1, own.ld)
        found = self.elements(address, NUMPY_TYPES[own.type], sizes, strides)
        return found.swapaxes(1, 2) if transposed else found


def _wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32) if values.dtype.itemsize == 2 else values


class StandInCublas(StandIn):
    """`nvmath.bindings.cublas`."""

    def set_pointer_mode(self, handle: int, mode: int) -> None:
        self.of_kind(handle, "library").mode = mode

    def set_stream(self, handle: int, stream_id: int) -> None:
        own = self.of_kind(handle, "library")
        own.stream, own.workspace = stream_id, None

    def set_workspace(self, handle: int, workspace: int, workspace_size_in_bytes: int) -> None:
        assert workspace % 256 == 0
        self.of_kind(handle, "library").workspace = workspace, workspace_size_in_bytes

    def used(self, handle: int) -> None:
        super().used(handle)
        given = self.of_kind(handle, "library").workspace
        assert given, "the library's own workspace is shared among streams"
        self.driver.bytes_of(self.driver.entered, *given)

    def dot_ex_64(
        self, handle: int, n: int, x: int, x_type: int, incx: int, y: int, y_type: int,
        incy: int, result: int, result_type: int, execution_type: int,
    ) -> None:  # fmt: skip
        left, right = self._vector(x, x_type, n, incx), self._vector(y, y_type, n, incy)
        assert NUMPY_TYPES[execution_type] == WIDE.get(x_type, NUMPY_TYPES[x_type])
        self.used(handle)
        assert self.objects[handle].mode == 1, "the result lies on the host"
        total = self._vector(result, result_type, 1, 1)

        def work() -> None:
            total[0] = (_wide(left) * _wide(right)).sum()

        self.driver.do(work)
        self.calls.append(("dot", self.objects[handle].stream))

    def dotc_ex_64(
        self, handle: int, n: int, x: int, x_type: int, incx: int, y: int, y_type: int,
        incy: int, result: int, result_type: int, execution_type: int,
    ) -> None:  # fmt: skip
        left, right = self._vector(x, x_type, n, incx), self._vector(y, y_type, n, incy)
        self.used(handle)
        self._vector(result, result_type, 1, 1)[0] = np.vdot(left, right)
        assert execution_type == x_type

    def _vector(self, address: int, kind: int, n: int, step: int) -> Any:
        assert step > 0
        return self.elements(address, NUMPY_TYPES[kind], (n,), (step,))


def _solve(
    self: Any, dtype: np.dtype, numbers: tuple[int, ...], m: int, n: int, a: int, lda: int, b: int,
    ldb: int,
) -> None:  # fmt: skip
    """Replace b by the solution of a triangular system. numbers: side, uplo, trans, diag."""
    side, uplo, trans, diag = numbers
    order = m if side == 0 else n
    assert min(m, n) > 0 and lda >= order and ldb >= m
    triangle = self.elements(a, dtype, (order, order), (1, lda))
    right = self.elements(b, dtype, (m, n), (1, ldb))
    options = {"lower": not uplo, "unit_diagonal": bool(diag), "trans": trans}
    if side == 0:
        right[...] = scipy.linalg.solve_triangular(triangle, right, **options)
    else:
        assert not trans
        options["lower"] = bool(uplo)
        right[...] = scipy.linalg.solve_triangular(triangle.T, right.T, **options).T


def _trsm(dtype: np.dtype) -> Any:
    def trsm(
        self: Any, handle: int, side: int, uplo: int, trans: int, diag: int, m: int, n: int,
        alpha: int, a: int, lda: int, b: int, ldb: int,
    ) -> None:  # fmt: skip
        self.used(handle)
        assert self.objects[handle].mode == 0 and read(alpha, dtype) == 1
        _solve(self, dtype, (side, uplo, trans, diag), m, n, a, lda, b, ldb)

    return trsm


def _trsm_batched(dtype: np.dtype) -> Any:
    def trsm_batched(
        self: Any, handle: int, side: int, uplo: int, trans: int, diag: int, m: int, n: int,
        alpha: int, a: int, lda: int, b: int, ldb: int, batch_count: int,
    ) -> None:  # fmt: skip
        self.used(handle)
        assert self.objects[handle].mode == 0 and read(alpha, dtype) == 1
        pairs = zip(self.addresses(a, batch_count), self.addresses(b, batch_count), strict=True)
        for own, right in pairs:
            _solve(self, dtype, (side, uplo, trans, diag), m, n, own, lda, right, ldb)
        self.calls.append(("trsm_batched", self.objects[handle].stream))

    return trsm_batched


def _getrf_batched(dtype: np.dtype) -> Any:
    def getrf_batched(
        self: Any, handle: int, n: int, a: int, lda: int, p: int, info: int, batch_size: int
    ) -> None:
        self.used(handle)
        assert lda >= n > 0
        pivots = self.elements(p, np.dtype(np.int32), (batch_size, n), (n, 1))
        infos = self.elements(info, np.dtype(np.int32), (batch_size,), (1,))
        for i, address in enumerate(self.addresses(a, batch_size)):
            own = self.elements(address, dtype, (n, n), (1, lda))
            own[...], rows, infos[i] = scipy.linalg.get_lapack_funcs("getrf", dtype=dtype)(own)
            pivots[i] = rows + 1
        self.calls.append(("getrf_batched", self.objects[handle].stream))

    return getrf_batched


def _getrs_batched(dtype: np.dtype) -> Any:
    def getrs_batched(
        self: Any, handle: int, trans: int, n: int, nrhs: int, aarray: int, lda: int,
        dev_ipiv: int, barray: int, ldb: int, info: int, batch_size: int,
    ) -> None:  # fmt: skip
        self.used(handle)
        assert min(lda, ldb) >= n > 0 and nrhs > 0
        pivots = self.elements(dev_ipiv, np.dtype(np.int32), (batch_size, n), (n, 1)) - 1
        places = (self.addresses(each, batch_size) for each in (aarray, barray))
        solve = scipy.linalg.get_lapack_funcs("getrs", dtype=dtype)
        for i, (left, right) in enumerate(zip(*places, strict=True)):
            own = self.elements(left, dtype, (n, n), (1, lda))
            b = self.elements(right, dtype, (n, nrhs), (1, ldb))
            b[...], _ = solve(own, pivots[i], b, trans=trans)
        write(info, np.zeros(1, np.int32))
        self.calls.append(("getrs_batched", self.objects[handle].stream))

    return getrs_batched


def _geqrf_batched(dtype: np.dtype) -> Any:
    def geqrf_batched(
        self: Any, handle: int, m: int, n: int, aarray: int, lda: int, tau_array: int, info: int,
        batch_size: int,
    ) -> None:  # fmt: skip
        self.used(handle)
        assert lda >= m > 0 and n > 0
        factor = scipy.linalg.get_lapack_funcs("geqrf", dtype=dtype)
        places = (self.addresses(each, batch_size) for each in (aarray, tau_array))
        for address, scales in zip(*places, strict=True):
            own = self.elements(address, dtype, (m, n), (1, lda))
            own[...], found, _, _ = factor(own)
            self.elements(scales, dtype, (min(m, n),), (1,))[...] = found
        write(info, np.zeros(1, np.int32))
        self.calls.append(("geqrf_batched", self.objects[handle].stream))

    return geqrf_batched


for _letter, _name in zip("sdcz", ("float32", "float64", "complex64", "complex128"), strict=True):
    _dtype = np.dtype(_name)
    setattr(StandInCublas, f"{_letter}trsm_64", _trsm(_dtype))
    setattr(StandInCublas, f"{_letter}trsm_batched_64", _trsm_batched(_dtype))
    setattr(StandInCublas, f"{_letter}getrf_batched", _getrf_batched(_dtype))
    setattr(StandInCublas, f"{_letter}getrs_batched", _getrs_batched(_dtype))
    setattr(StandInCublas, f"{_letter}geqrf_batched", _geqrf_batched(_dtype))
