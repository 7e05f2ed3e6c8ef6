"""Vector and matrix norms by the cases of their arguments."""

from __future__ import annotations

from math import inf
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import ops


def norm(
    self: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """The p-norm of the elements, whatever the number of dims; 'fro' is the 2-norm."""
    if p == "fro" or p is None:
        p = 2
    if isinstance(p, str):
        dims = (-2, -1) if dim is None else dim
        return matrix_norm(self, p, dims, keepdim, dtype)
    return ops.linalg_vector_norm(self, p, dim, keepdim, dtype=dtype)


def linalg_norm(
    self: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """A vector norm over one dim or a matrix norm over two."""
    dims = dim if dim is None or not isinstance(dim, int) else [dim]
    if dims is not None and ord is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    whole = dims is None and ord is not None
    if whole and (self.ndim > 2 or (self.ndim == 0 and not isinstance(ord, str))):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {self.ndim}D."
        )
    is_matrix = (len(dims) if dims is not None else self.ndim) == 2
    if ord is not None and (is_matrix or isinstance(ord, str)):
        return matrix_norm(self, ord, (0, 1) if dims is None else dims, keepdim, dtype)
    return ops.linalg_vector_norm(self, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


def nuclear_norm(self: Any, keepdim: bool = False) -> Any:
    """The sum of the singular values."""
    return matrix_norm(self, "nuc", (-2, -1), keepdim)


def nuclear_norm_over(self: Any, dim: Any, keepdim: bool = False) -> Any:
    """The sums of the singular values of matrices in two dims."""
    return matrix_norm(self, "nuc", dim, keepdim)


def matrix_norm(
    self: Any,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    dtype: Any = None,
) -> Any:
    """A norm of the matrices in the two dims of `dim`."""
    row, column = _matrix_dims(self, dim)
    if ord == "fro":
        return ops.linalg_vector_norm(self, 2, (row, column), keepdim, dtype=dtype)
    if ord in (1, -1, inf, -inf):
        summed, compared = (row, column) if abs(ord) == 1 else (column, row)
        sums = ops.linalg_vector_norm(self, 1, summed, True, dtype=dtype)
        dims = (summed, compared)
        return sums.amax(dims, keepdim) if ord > 0 else sums.amin(dims, keepdim)
    if ord not in (2, -2, "nuc"):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return _singular_value_norm(self, ord, row, column, keepdim, dtype)


def _matrix_dims(self: Any, dim: Any) -> tuple[int, int]:
    ndim = len(self._sizes)
    if ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if self.dtype.kind not in "fc":
        raise errors.norm_needs_floating("linalg.matrix_norm", self.dtype)
    if isinstance(dim, int) or len(dim) != 2:
        shown = dim if isinstance(dim, int) else ", ".join(str(d) for d in dim)
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {shown}")
    row, column = normalize_dim(dim[0], ndim), normalize_dim(dim[1], ndim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return row, column


def _singular_value_norm(
    self: Any, ord: Any, row: int, column: int, keepdim: bool, dtype: Any
) -> Any:
    """The largest, the smallest or the sum of the singular values."""
    matrices = self if dtype is None else self.to(dtype)
    if (row, column) != (matrices.ndim - 2, matrices.ndim - 1):
        matrices = matrices.movedim((row, column), (-2, -1))
    values = ops.linalg_svdvals(matrices)
    fold = {"nuc": ops.sum, 2: ops.amax, -2: ops.amin}[ord]
    result = fold(values, -1)
    if keepdim:
        for dim in sorted((row, column)):
            result = result.unsqueeze(dim)
    return result


def renorm(self: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Slices along `dim` scaled down to p-norm `maxnorm`, as 1e-7 above it allows division."""
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = normalize_dim(dim, self.ndim)
    others = [each for each in range(self.ndim) if each != dim]
    norms = ops.linalg_vector_norm(self, p, others, True)
    return self * ops._renorm_scale(norms, maxnorm)


def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms of slices along `dim`, in dims of size 1 but for that one; of all if dim is -1."""
    if dim == -1:
        return ops.linalg_vector_norm(v, pow)
    others = [each for each in range(v.ndim) if each != normalize_dim(dim, v.ndim)]
    return ops.linalg_vector_norm(v, pow, others, True) if others else v.abs()
