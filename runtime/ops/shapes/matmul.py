"""Shapes and checks of products of matrices and vectors."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes

Sizes = tuple[int, ...]


def mm(self: Any, mat2: Any) -> tuple[Sizes, Any]:
    """Shape: (n, m), (m, p) -> (n, p)."""
    if self.ndim != 2:
        raise errors.expected_matrix("self")
    if mat2.ndim != 2:
        raise errors.expected_matrix("mat2")
    if self.dtype is not mat2.dtype:
        raise errors.matrices_differ_in_dtype(self.dtype, mat2.dtype)
    n, m = self.shape
    if m != mat2.shape[0]:
        raise errors.matrices_do_not_fit(self.shape, mat2.shape)
    return (n, mat2.shape[1]), self.dtype


def bmm(self: Any, mat2: Any) -> tuple[Sizes, Any]:
    """Shape: (b, n, m), (b, m, p) -> (b, n, p)."""
    sizes = _batched_product(self, mat2)
    if self.dtype is not mat2.dtype:
        raise errors.scalar_type_mismatch(self.dtype, mat2.dtype)
    return sizes, self.dtype


def _batched_product(batch1: Any, batch2: Any) -> Sizes:
    if batch1.ndim != 3:
        raise errors.expected_batch("batch1")
    if batch2.ndim != 3:
        raise errors.expected_batch("batch2")
    b, n, m = batch1.shape
    if batch2.shape[0] != b or batch2.shape[1] != m:
        raise errors.batches_do_not_fit((b, m), batch2.shape[:2])
    return (b, n, batch2.shape[2])


def mv(self: Any, vec: Any) -> tuple[Sizes, Any]:
    """Shape: (n, m), (m) -> (n)."""
    if self.ndim != 2 or vec.ndim != 1:
        raise errors.expected_matrix_and_vector(1, self.ndim, vec.ndim)
    n, m = self.shape
    if m != vec.shape[0]:
        raise errors.matrix_vector_do_not_fit(n, self.shape, vec.shape[0])
    if self.dtype is not vec.dtype:
        raise errors.addmv_dtypes_differ(vec.dtype, self.dtype, vec.dtype)
    return (n,), self.dtype


def product(
    self: Any, a: Any, b: Any, beta: Any = 0, alpha: Any = 1, conjugated: bool = False
) -> tuple[Sizes, Any]:
    """Shape: as one of those above, or with self of those below."""
    if a.ndim == 1:
        return dot(a, b)
    if self is None:
        return {1: mv, 2: mm}.get(b.ndim, bmm)(a, b)
    return {1: addmv, 2: addmm}.get(b.ndim, baddbmm)(self, a, b, beta, alpha)


def dot(self: Any, tensor: Any) -> tuple[Sizes, Any]:
    """Shape: (n), (n) -> ()."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise errors.expected_vectors(self.ndim, tensor.ndim)
    if self.dtype is not tensor.dtype:
        raise errors.vectors_differ_in_dtype(self.dtype, tensor.dtype)
    if self.shape != tensor.shape:
        raise errors.vectors_differ_in_size(self.shape[0], tensor.shape[0])
    return (), self.dtype


def addmm(self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> tuple[Sizes, Any]:
    """Shape: (n, m), (m, p) -> (n, p); self broadcasts to it."""
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise errors.expected_matrix_got(name, matrix.ndim)
    _check_common_dtype(self, mat1, mat2)
    if mat1.shape[1] != mat2.shape[0]:
        raise errors.matrices_do_not_fit(mat1.shape, mat2.shape)
    sizes = (mat1.shape[0], mat2.shape[1])
    check_expands(self, sizes)
    return sizes, mat1.dtype


def _check_common_dtype(self: Any, mat1: Any, mat2: Any) -> None:
    if mat1.dtype is not mat2.dtype:
        raise errors.operands_differ_in_dtype("mat1", mat1.dtype, "mat2", mat2.dtype)
    if self.dtype is not mat2.dtype:
        raise errors.operands_differ_in_dtype("self", self.dtype, "mat2", mat2.dtype)


def check_expands(tensor: Any, sizes: Sizes) -> None:
    """Refuse a tensor that does not broadcast to exactly `sizes`."""
    own = tensor.shape
    if own == sizes:
        return
    if len(own) > len(sizes):
        raise errors.expand_to_fewer_dims(own, sizes)
    offset = len(sizes) - len(own)
    for dim, size in enumerate(own, offset):
        if size not in (1, sizes[dim]):
            raise errors.expand_mismatch(sizes[dim], size, dim, sizes, own)


def addmv(self: Any, mat: Any, vec: Any, beta: Any = 1, alpha: Any = 1) -> tuple[Sizes, Any]:
    """Shape: (n, m), (m) -> (n); self is (n), (1) or ()."""
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise errors.expected_matrix_and_vector(self.ndim, mat.ndim, vec.ndim)
    n, m = mat.shape
    given = self.shape[0] if self.ndim else 1
    if m != vec.shape[0] or given not in (1, n):
        raise errors.matrix_vector_do_not_fit(given, mat.shape, vec.shape[0])
    if not self.dtype is mat.dtype is vec.dtype:
        raise errors.addmv_dtypes_differ(self.dtype, mat.dtype, vec.dtype)
    return (n,), mat.dtype


def addbmm(self: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> tuple[Sizes, Any]:
    """Shape: (b, n, m), (b, m, p) -> (n, p); self broadcasts to it."""
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if batch.ndim != 3:
            raise errors.expected_batch(name)
    if batch1.shape[0] != batch2.shape[0]:
        raise errors.batch_counts_differ(batch1.shape[0], batch2.shape[0])
    if batch1.shape[2] != batch2.shape[1]:
        raise errors.batch_matrices_do_not_fit(batch1.shape[1:], batch2.shape[1:])
    _check_common_dtype(self, batch1, batch2)
    sizes = (batch1.shape[1], batch2.shape[2])
    check_expands(self, sizes)
    return sizes, batch1.dtype


def baddbmm(
    self: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1
) -> tuple[Sizes, Any]:
    """Shape: (b, n, m), (b, m, p) -> (b, n, p); self broadcasts to it."""
    sizes = _batched_product(batch1, batch2)
    check_expands(self, sizes)
    if not self.dtype is batch1.dtype is batch2.dtype:
        raise errors.baddbmm_dtypes_differ(self.dtype, batch1.dtype, batch2.dtype)
    return sizes, batch1.dtype


def addr(self: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> tuple[Sizes, Any]:
    """Shape: (n), (m) -> (n, m); self broadcasts to it. The dtype is the common one."""
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise errors.expected_vector_argument("addr", name, vector.ndim)
    kinds = {each.dtype.kind for each in (self, vec1, vec2)}
    for name, scale in (("beta", beta), ("alpha", alpha)):
        if "i" in kinds <= {"b", "i"} and not isinstance(scale, int):
            raise errors.integral_scale_expected(name)
    sizes = (vec1.shape[0], vec2.shape[0])
    check_expands(self, sizes)
    return sizes, None


def linear(input: Any, weight: Any, bias: Any = None) -> tuple[Sizes, Any]:
    """Shape: (*B, m), (n, m) -> (*B, n), or (*B, m), (m) -> (*B)."""
    if weight.ndim not in (1, 2):
        raise errors.transpose_ndim(weight.ndim)
    batch, m = input.shape[:-1], input.shape[-1] if input.ndim else 1
    if weight.dtype is not input.dtype:
        raise errors.operands_differ_in_dtype("mat1", input.dtype, "mat2", weight.dtype)
    rows = shapes.numel(batch)
    if weight.shape[-1] != m:
        if weight.ndim == 1:
            raise errors.matrix_vector_do_not_fit(rows, (rows, m), weight.shape[0])
        raise errors.matrices_do_not_fit((rows, m), weight.shape[::-1])
    if weight.ndim == 1:
        if bias is not None:
            raise errors.expected_matrix_got("mat2", 1)
        return tuple(batch), input.dtype
    sizes = (*batch, weight.shape[0])
    if bias is not None:
        if bias.dtype is not weight.dtype:
            raise errors.operands_differ_in_dtype("self", bias.dtype, "mat2", weight.dtype)
        check_expands(bias, (rows, weight.shape[0]) if bias.ndim < 2 else sizes)
    return sizes, input.dtype
