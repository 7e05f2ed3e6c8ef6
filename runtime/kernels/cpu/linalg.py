"""Matrix products on the CPU: one BLAS call each, through NumPy, into the given output.

Transposes arrive as strided arrays and reach BLAS as flags. Integer products are right but slow:
BLAS has none. Shapes and dtypes were checked by `runtime.ops.shapes.linalg`.
"""

from __future__ import annotations

import math
from math import inf, prod
from typing import Any

import numpy as np

from runtime.kernels.typed import typed_sum

Array = Any
quiet = np.errstate(all="ignore")  # inf and NaN are values here, not worth a warning


def mm(out: Array, self: Array, mat2: Array) -> None:
    """Write self @ mat2."""
    product(out, self, mat2)


def product(out: Array, self: Array, mat2: Array) -> None:
    """out = self @ mat2. `np.dot` costs half of `np.matmul` on a small matrix."""
    np.dot(self, mat2, out)


mv = mm


@quiet
def dot(out: Array, self: Array, tensor: Array) -> None:
    """Write the sum of self * tensor."""
    out[...] = np.dot(self, tensor)


@quiet
def vdot(out: Array, self: Array, other: Array) -> None:
    """Write the sum of conj(self) * other."""
    out[...] = np.vdot(self, other)


@quiet
def bmm(out: Array, self: Array, mat2: Array) -> None:
    """Write self[b] @ mat2[b] for each b."""
    np.matmul(self, mat2, out=out)


@quiet
def addmm(out: Array, self: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> None:
    """Write beta * self + alpha * (mat1 @ mat2)."""
    product(out, mat1, mat2)
    _add_scaled(out, self, beta, alpha)


@quiet
def addmv(out: Array, self: Array, mat: Array, vec: Array, beta: Any, alpha: Any) -> None:
    """Write beta * self + alpha * (mat @ vec)."""
    product(out, mat, vec)
    _add_scaled(out, self, beta, alpha)


@quiet
def baddbmm(out: Array, self: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> None:
    """Write beta * self + alpha * (batch1[b] @ batch2[b]) for each b."""
    np.matmul(batch1, batch2, out=out)
    _add_scaled(out, self, beta, alpha)


@quiet
def addbmm(out: Array, self: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> None:
    """Write beta * self + alpha * sum over b of batch1[b] @ batch2[b].

    The sum over b is the inner dim of one product of (n, b * m) and (b * m, p).
    """
    b, n, m = batch1.shape
    product(out, batch1.transpose(1, 0, 2).reshape(n, b * m), batch2.reshape(b * m, -1))
    _add_scaled(out, self, beta, alpha)


@quiet
def addr(out: Array, self: Array, vec1: Array, vec2: Array, beta: Any, alpha: Any) -> None:
    """Write beta * self + alpha * outer(vec1, vec2)."""
    np.multiply(vec1[:, None], vec2, out=out)
    if out.dtype == np.bool_:
        if not alpha:
            out[...] = False
        if beta:
            np.logical_or(out, self, out=out)
        return
    _add_scaled(out, self, beta, alpha)


def _add_scaled(out: Array, self: Array, beta: Any, alpha: Any) -> None:
    """out = beta * self + alpha * out; with beta 0, self is not read: it may hold NaN."""
    if out.dtype.kind in "iu":
        alpha, beta = int(alpha), int(beta)
    if alpha != 1:
        np.multiply(out, out.dtype.type(alpha), out=out)
    if beta == 1:
        np.add(out, self, out=out)
    elif beta != 0:
        np.add(out, self * out.dtype.type(beta), out=out)


@quiet
def linear(out: Array, input: Array, weight: Array, bias: Array | None) -> None:
    """Write input @ weight.T + bias, all rows of input in one product."""
    if weight.ndim == 1:
        np.matmul(input, weight, out=out)
        return
    if input.ndim == 2:
        rows, rows_out = input, out
    else:
        rows, rows_out = input.reshape(-1, input.shape[-1]), out.reshape(-1, out.shape[-1])
    product(rows_out, rows, weight.T)
    if bias is not None:
        np.add(rows_out, bias, out=rows_out)


# Vector norms.


@quiet
def linalg_vector_norm(
    out: Array, self: Array, ord: Any, dim: Any, keepdim: bool, dtype: Any
) -> None:
    """Write the `ord`-norm over `dim`; accumulates in float64."""
    magnitudes = np.abs(self) if self.dtype.kind == "c" else self
    rows = _rows_last(magnitudes, dim)
    flat = out.reshape(-1)
    if rows.shape[1] == 0:
        flat.fill(inf if ord < 0 else 0)
    elif ord == 2:
        _norm_2(rows, flat)
    elif ord == 1:
        _norm_1(rows, flat)
    elif ord == 0:
        _norm_0(rows, flat)
    elif ord == inf:
        np.max(np.abs(rows), axis=1, out=flat)
    elif ord == -inf:
        np.min(np.abs(rows), axis=1, out=flat)
    else:
        powers = np.abs(rows).astype(np.float64) ** ord
        flat[...] = powers.sum(axis=1) ** (1.0 / ord)


def _rows_last(array: Array, dim: Any) -> Array:
    """The array as contiguous rows (kept, reduced)."""
    ndim = array.ndim
    if dim is None or dim == () or dim == []:
        reduced = tuple(range(ndim))
    else:
        dims = (dim,) if isinstance(dim, int) else dim
        reduced = tuple(sorted(d % max(ndim, 1) for d in dims)) if ndim else ()
    kept = tuple(d for d in range(ndim) if d not in reduced)
    shape = (prod(array.shape[d] for d in kept), prod(array.shape[d] for d in reduced))
    return np.ascontiguousarray(array.transpose(kept + reduced)).reshape(shape)


@typed_sum
def _norm_2(rows, out):
    """Square root of the sum of squares, in float64."""
    for r in range(rows.shape[0]):
        row = rows[r]
        total = 0.0
        for i in range(row.size):
            value = np.float64(row[i])
            total += value * value
        out[r] = math.sqrt(total)


@typed_sum
def _norm_1(rows, out):
    """Sum of magnitudes, in float64."""
    for r in range(rows.shape[0]):
        row = rows[r]
        total = 0.0
        for i in range(row.size):
            total += np.float64(abs(row[i]))
        out[r] = total


@typed_sum
def _norm_0(rows, out):
    """Number of non-zero elements; NaN counts."""
    for r in range(rows.shape[0]):
        row = rows[r]
        count = 0
        for i in range(rows.shape[1]):
            if row[i] != 0:
                count += 1
        out[r] = count
