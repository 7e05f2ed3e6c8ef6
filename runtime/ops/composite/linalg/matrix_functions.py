"""Functions of matrices made of factorisations: ranks, conditions, powers, pseudo-inverses."""

from __future__ import annotations

from functools import lru_cache
from math import inf, prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.bindings.arguments import store_out
from torchgen_out._runtime.core import deprecation
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.finfo import finfo
from torchgen_out._runtime.core.shape import broadcast_shapes, normalize_dims
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.linalg.factorisations import check
from torchgen_out._runtime.ops.composite.linalg.linalg import matmul
from torchgen_out._runtime.ops.shapes.linalg import check_matrices, check_square

_at = tuple.__getitem__


def _tolerances(operator: str, self: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Both tolerances, numbers or tensors: without any, rtol is eps times the larger size."""
    for name, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, Tensor) and value.dtype.is_complex:
            raise errors.tolerance_is_complex(operator, name, value.dtype)
    if rtol is not None:
        return 0.0 if atol is None else atol, rtol
    default = _default_tolerance(self.dtype, *self._sizes[-2:])
    if atol is None:
        return 0.0, default
    if not isinstance(atol, Tensor):
        return atol, 0.0 if atol > 0 else default
    return atol, ops.full_like(atol, default).masked_fill(atol > 0, 0)


@lru_cache(maxsize=256)
def _default_tolerance(dtype: Any, rows: int, columns: int) -> float:
    return finfo(dtype).eps * max(rows, columns)


def _as_tensor(value: Any, like: Any) -> Any:
    """A tolerance as a tensor of the real dtype of a matrix."""
    if isinstance(value, Tensor):
        return value
    return ops.scalar_tensor(value, dtype=like.dtype.to_real(), device=like.device)


def pinv(self: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudo-inverse; small singular values, by either tolerance, count as 0."""
    check_matrices("linalg.pinv", self)
    absolute, relative = _tolerances("linalg.pinv", self, atol, rtol)
    tolerances = _as_tensor(absolute, self), _as_tensor(relative, self)
    if tolerances[0].ndim or tolerances[1].ndim:
        batch = broadcast_shapes(self._sizes[:-2], *[each._sizes for each in tolerances])
        self = self.expand(*batch, *self._sizes[-2:])
    return ops._linalg_pinv(self, *tolerances, hermitian)


def pinv_rcond(self: Any, rcond: Any, hermitian: bool = False) -> Any:
    """The pseudo-inverse by a relative tolerance."""
    return pinv(self, 0.0, rcond, hermitian)


def pinverse(self: Any, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse by a relative tolerance of 1e-15."""
    return pinv(self, 0.0, rcond)


def matrix_rank(self: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The number of singular values above both tolerances."""
    check_matrices("torch.linalg.matrix_rank", self, "input")
    absolute, relative = _tolerances("linalg.matrix_rank", self, atol, rtol)
    matrix = self.detach()
    values = ops.linalg_eigvalsh(matrix).abs() if hermitian else ops.linalg_svdvals(matrix)
    if not values.shape[-1]:
        return ops.zeros(values.shape[:-1], dtype=dtypes.int64, device=self.device)
    bound = relative * values.amax(-1)
    if isinstance(absolute, Tensor) or absolute != 0:
        bound = ops.maximum(_as_tensor(absolute, self), bound)
    return (values > bound.unsqueeze(-1)).sum(-1)


def matrix_rank_of(input: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """As matrix_rank, by tensors."""
    return matrix_rank(input, atol, rtol, hermitian)


def matrix_rank_tol(self: Any, tol: Any, hermitian: bool = False) -> Any:
    """The number of singular values above `tol`."""
    return matrix_rank(self, tol, 0.0, hermitian)


def matrix_power(self: Any, n: int, out: Any = None) -> Any:
    """The n-th power by squaring; a negative one of the inverse. Products are not cast to out=."""
    check_square("linalg.matrix_power", self)
    result = _matrix_power(self, n)
    if out is None:
        return result
    return store_out("linalg.matrix_power", out, result, "cast" if n in (0, 1) else "exact")


def _matrix_power(self: Any, n: int) -> Any:
    if n == 0:
        one = ops.eye(self.shape[-1], dtype=self.dtype, device=self.device)
        if self._flat is not None and self.ndim == 2 and not grad_mode.is_recorded(self):
            return one
        # The power 0 depends on self, though it does not change with it.
        return self.clone().copy_(one)
    base = ops.linalg_inv(self) if n < 0 else self
    return _power(base, abs(n)) if abs(n) > 1 else base.clone()


def _power(base: Any, n: int) -> Any:
    result = None
    while True:
        if n & 1:
            result = base if result is None else matmul(result, base)
        n >>= 1
        if not n:
            return result
        base = matmul(base, base)


def cond(self: Any, p: Any = None) -> Any:
    """The ratio of the largest to the smallest singular value, or norms of matrix and inverse."""
    check_matrices("linalg.cond", self)
    if p is None or p in (2, -2):
        values = ops.linalg_svdvals(self)
        if not values.shape[-1]:
            return values.new_zeros(values.shape[:-1])
        first, last = values.select(-1, 0), values.select(-1, -1)
        return last / first if p == -2 else first / last
    if p not in ("fro", "nuc", 1, -1, inf, -inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(f"linalg.cond(ord={p})", self)
    if not self.shape[-1]:
        return self.new_zeros(self.shape[:-2])
    inverse, info = ops.linalg_inv_ex(self)
    product = ops.linalg_matrix_norm(self, p) * ops.linalg_matrix_norm(inverse, p)
    return product.masked_fill(info != 0, inf)


# -- least squares -----------------------------------------------------------------------------


def lstsq(self: Any, b: Any, rcond: float | None = None, driver: str | None = None) -> Any:
    """Solutions of least squares, residuals where they are known to be minima, ranks, values."""
    check_matrices("torch.linalg.lstsq", self, "input")
    driver = "gelsy" if driver is None else driver
    is_vector = b.ndim == self.ndim - 1
    right = b.unsqueeze(-1) if is_vector else b
    if rcond is None:
        rcond = finfo(self.dtype).eps * max(self.shape[-2:])
    solution, rank, values = ops._linalg_lstsq(self, right, rcond, driver)
    residuals = self.new_empty((0,), dtype=self.dtype.to_real())
    rows, columns = self.shape[-2:]
    if driver != "gelsy" and rows > columns and (driver == "gels" or bool((rank == columns).all())):
        residuals = (self @ solution - right).abs().square().sum(-2)
    if is_vector:
        solution = solution.squeeze(-1)
    return solution, residuals, rank, values


# -- products and tensors of higher order ------------------------------------------------------


def linalg_cross(self: Any, other: Any, dim: int = -1) -> Any:
    """The vectors orthogonal to both, along a dim of size 3."""
    own, given = self._sizes, other._sizes
    if len(own) != len(given):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    is_dim = -len(own) <= dim < len(own)
    sizes = (_at(own, dim), _at(given, dim)) if is_dim else (self.size(dim), other.size(dim))
    if sizes != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {sizes[0]} and {sizes[1]}"
        )
    return ops._cross(self, other, dim)


def cross(self: Any, other: Any, dim: int | None = None) -> Any:
    """The vectors orthogonal to both, along `dim` or the first dim of size 3."""
    if dim is None:
        deprecation.cross_without_dim()
        dim = next((i for i, size in enumerate(self.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(self, other, dim)


def linalg_vander(x: Any, N: int | None = None) -> Any:
    """Powers from 0 to N - 1 of every element."""
    x = x if x._sizes else x.unsqueeze(-1)
    N = x.shape[-1] if N is None else N
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    spread = x.unsqueeze(-1).expand((*x._sizes, N - 1)).contiguous()
    return ops.constant_pad_nd(spread.cumprod(-1), (1, 0), 1)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of a vector's elements, the highest first unless `increasing`."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    N = x.shape[0] if N is None else N
    if N < 0:
        raise RuntimeError("N must be non-negative.")
    if N < 2:
        return ops.ones_like(x).unsqueeze(1).expand((x.shape[0], N)).clone()
    powers = linalg_vander(x, N)
    return powers if increasing else powers.flip(-1)


def tensorinv(self: Any, ind: int = 2) -> Any:
    """The inverse of a tensor seen as a matrix: the first `ind` dims to the others."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > self.ndim:
        raise RuntimeError(f"'ind' must not be above the {self.ndim} dims of self, but got {ind}")
    first, rest = self.shape[:ind], self.shape[ind:]
    if prod(first) != prod(rest):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(rest)} != {prod(first)}"
        )
    matrix = self.reshape((prod(first), prod(rest)))
    inverse, info = ops.linalg_inv_ex(matrix)
    check("linalg.tensorinv", info, errors.singular_matrix)
    return inverse.reshape((*rest, *first))


def tensorsolve(self: Any, other: Any, dims: Any = None) -> Any:
    """The tensor X with tensordot(self, X, X.ndim) equal to `other`."""
    if dims is not None:
        places = normalize_dims(dims, self.ndim)
        kept = [d for d in range(self.ndim) if d not in places]
        self = self.permute([*kept, *places])
    first, rest = self.shape[: other.ndim], self.shape[other.ndim :]
    if prod(first) != prod(rest):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(rest)} != {prod(first)}"
        )
    matrix = self.reshape((prod(first), prod(rest)))
    return ops.linalg_solve(matrix, other.reshape((-1,))).reshape(rest)
