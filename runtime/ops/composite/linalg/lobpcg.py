"""`lobpcg`: some eigenvalues of a large symmetric matrix by conjugate gradients.

**Source** A. Knyazev, "Toward the optimal preconditioned eigensolver: locally optimal block
preconditioned conjugate gradient method" (2001); the basis is kept orthonormal as by
A. Stathopoulos and K. Wu, "A block orthogonalization procedure with constant synchronization
requirements" (2002).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.function import Function, once_differentiable
from torchgen_out._runtime.core.finfo import finfo
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

STEPS = 1000
"""How many there are at most, if nobody says."""


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[..., Any] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Any, Any]:
    """Find the k largest (or smallest) eigenvalues of symmetric matrices, and their vectors.

    A: (*, m, m); B: the same, positive definite, for `A x = e B x`; X: (*, m, n) vectors to begin
    with, by default n = k random ones; iK: (*, m, m), a preconditioner; niter: steps at most, -1
    until the residuals are below `tol` of the matrix' norm. Both methods of PyTorch, "basic" and
    "ortho", are this one, which needs no parameters.
    Shape: (*, k) and (*, m, k). The first gradient of A is that of `linalg.eigh`; B has none.
    **Raises** ValueError for a matrix of fewer than 3 k rows, NotImplementedError for a tracker.
    """
    if not isinstance(A, Tensor):
        raise errors.wrong_argument_type("lobpcg", "A", 0, "tensor", A)
    if tracker is not None:
        raise NotImplementedError("lobpcg: a tracker is not provided; use niter and tol")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: method must be 'basic' or 'ortho', got {method!r}")
    count, width = _counts(A, k, X, n)
    if grad_mode.is_enabled() and B is not None and B.requires_grad:
        raise ValueError("lobpcg: there is no gradient for B")
    arguments = (count, width, B, X, iK, niter, tol, largest is None or largest)
    values, vectors = _Eigenpairs.apply(A, *arguments)
    return values, vectors


def _counts(A: Any, k: int | None, X: Any, n: int | None) -> tuple[int, int]:
    """How many pairs are wanted, and how many vectors are worked on."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or not A.dtype.is_floating_point:
        raise RuntimeError(
            f"lobpcg: A must be square real matrices, got {tuple(A.shape)} of {A.dtype}"
        )
    rows = A.shape[-1]
    count = (1 if X is None else X.shape[-1]) if k is None else k
    width = (count if n is None else n) if X is None else X.shape[-1]
    if count < 1 or width < count:
        raise ValueError(f"lobpcg: k={count} pairs need as many vectors, got n={width}")
    if rows < 3 * width:
        raise ValueError(
            f"lobpcg: a matrix of {rows} rows is too small for {width} vectors: it needs three "
            "times as many; use linalg.eigh"
        )
    return count, width


class _Eigenpairs(Function):
    """The search itself, and the gradient of what it finds."""

    @staticmethod
    def forward(ctx: Any, A: Any, count: int, width: int, *options: Any) -> Any:
        B, X, iK, niter, tol, largest = options
        m = A.shape[-1]
        flat = [A] if A.ndim == 2 else list(A.reshape((-1, m, m)))
        of_each = (_each_matrix(x, len(flat)) for x in (B, X, iK))
        found = [
            _search(matrix, count, width, b, x, k, niter, tol, largest)
            for matrix, b, x, k in zip(flat, *of_each, strict=True)
        ]
        values = ops.stack([e for e, _ in found]).reshape((*A.shape[:-2], count))
        vectors = ops.stack([v for _, v in found]).reshape((*A.shape[:-1], count))
        ctx.save_for_backward(A, values, vectors, *([] if B is None else [B]))
        return values, vectors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_values: Any, grad_vectors: Any) -> Any:
        """Vectors turn towards all others: what of A lies outside is solved for, pair by pair.

        With (A - e B) w = (1 - B v v^T) g in the complement of v, dA is v (diag e') v^T - w v^T.
        """
        A, values, vectors, *rest = ctx.saved_tensors
        identity = ops.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        metric = rest[0] if rest else identity
        total = ops.matmul(vectors * grad_values.unsqueeze(-2), vectors.mT)
        for i in range(values.shape[-1]):
            v, g = vectors[..., i : i + 1], grad_vectors[..., i : i + 1]
            turned = ops.matmul(metric, v)
            outside = g - ops.matmul(turned, ops.matmul(v.mT, g))
            border = A - values[..., i, None, None] * metric
            w = ops.matmul(ops.linalg_pinv(border, hermitian=True), outside)
            w = w - ops.matmul(v, ops.matmul(turned.mT, w))
            total = total - ops.matmul(w, v.mT)
        return (total + total.mT) / 2, *(None,) * 8


def _each_matrix(batch: Tensor | None, count: int) -> list[Tensor | None]:
    if batch is None:
        return [None] * count
    return list(batch.reshape((-1, *batch.shape[-2:])))


def _search(
    A: Any,
    count: int,
    width: int,
    B: Any,
    X: Any,
    iK: Any,
    niter: int | None,
    tol: float | None,
    largest: bool,
) -> tuple[Any, Any]:
    """The pairs of one matrix: in every step the best vectors of what X, the residuals and the
    last step's directions span."""
    m = A.shape[-1]
    bound = finfo(A.dtype).eps ** 0.5 if tol is None else tol
    steps = STEPS if niter is None else niter
    size = float(ops.linalg_norm(A))
    start = ops.randn((m, width), dtype=A.dtype, device=A.device) if X is None else X
    values, X = _best(A, B, [start], width, largest)
    directions: list[Any] = []
    done = 0
    while steps < 0 or done < steps:
        residuals = ops.matmul(A, X) - _times(B, X) * values
        errors_now = ops.linalg_vector_norm(residuals, 2, 0)[:count]
        if float(errors_now.max()) <= bound * size:
            break
        searched = residuals if iK is None else ops.matmul(iK, residuals)
        before = X
        values, X = _best(A, B, [X, searched, *directions], width, largest)
        directions = [X - ops.matmul(before, ops.matmul(_times(B, before).mT, X))]
        done += 1
    return values[:count], X[:, :count]


def _times(B: Any, X: Any) -> Any:
    return X if B is None else ops.matmul(B, X)


def _best(A: Any, B: Any, spanning: list[Any], width: int, largest: bool) -> tuple[Any, Any]:
    """The extreme eigenpairs of A among the combinations of some vectors (Rayleigh and Ritz)."""
    basis = _orthonormal(ops.cat(spanning, 1), B)
    basis = _orthonormal(basis, B)  # once is not enough where vectors are nearly parallel
    values, turn = ops.linalg_eigh(ops.matmul(basis.mT, ops.matmul(A, basis)))
    if largest:
        values, turn = values.flip(0), turn.flip(1)
    return values[:width], ops.matmul(basis, turn[:, :width])


def _orthonormal(vectors: Any, B: Any) -> Any:
    """A basis of what the vectors span; directions that are rounding errors are left out."""
    lengths = (vectors * _times(B, vectors)).sum(0).clamp_min(finfo(vectors.dtype).tiny).rsqrt()
    vectors = vectors * lengths
    weights, turn = ops.linalg_eigh(ops.matmul(vectors.mT, _times(B, vectors)))
    kept = weights > finfo(vectors.dtype).eps * len(weights) * weights[-1]
    return ops.matmul(vectors, turn[:, kept]) * weights[kept].rsqrt()
