"""Gradients of what is solved: systems, inverses, determinants."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def lu_solve_backward(
    grad: Tensor,
    LU: Tensor,
    pivots: Tensor,
    result: Tensor,
    left: bool,
    adjoint: bool,
    mask: Any,
) -> Any:
    """The gradients of the factors and of the right-hand side."""
    grad_B = ops.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)
    if not mask[0]:
        return None, grad_B
    first, second = (grad_B, result) if left else (result.mH, grad_B.mH)
    of_matrix = -(first @ second.mH)
    if adjoint:
        of_matrix = of_matrix.mH
    L = LU.tril(-1) + ops.eye(LU._sizes[-1], dtype=LU.dtype, device=LU.device)
    permuted = ops._lu_permutation(pivots, LU._sizes[-1], LU.dtype).mT @ of_matrix
    return (permuted @ LU.triu().mH).tril(-1) + (L.mH @ permuted).triu(), grad_B


def inverse_backward(grad: Tensor, inverse: Tensor) -> Any:
    """-A^-H grad A^-H."""
    adjoint = inverse.mH
    return -(adjoint @ grad @ adjoint)


def solve_backward(
    grad: Tensor,
    A: Tensor,
    X: Tensor,
    LU: Tensor,
    pivots: Tensor,
    left: bool,
    mask: Any,
) -> Any:
    """A X = B: A^-H grad for B, and minus that times X^H for A."""
    is_vector = len(X._sizes) < len(A._sizes)
    if is_vector:
        grad, X = grad.unsqueeze(-1), X.unsqueeze(-1)
    grad_B = _solve_adjoint(grad, A, LU, pivots, left)
    grad_A = None
    if mask[0]:
        grad_A = (-grad_B) @ X.mH if left else X.mH @ (-grad_B)
    return grad_A, grad_B.squeeze(-1) if is_vector else grad_B


def _solve_adjoint(grad: Tensor, A: Tensor, LU: Tensor, pivots: Tensor, left: bool = True) -> Any:
    """A^-H grad, by the factors at hand unless somebody records."""
    if grad_mode.is_enabled():
        return ops.linalg_solve(A.mH, grad, left=left)
    return ops.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=True)


def solve_triangular_backward(
    grad: Tensor,
    A: Tensor,
    X: Tensor,
    upper: bool,
    left: bool,
    unitriangular: bool,
    mask: Any,
) -> Any:
    """As for a full matrix; of the gradient of A the triangle that is read."""
    grad_B = ops.linalg_solve_triangular(
        A.mH, grad, upper=not upper, left=left, unitriangular=unitriangular
    )
    if not mask[0]:
        return None, grad_B
    grad_A = -(grad_B @ X.mH) if left else -(X.mH @ grad_B)
    offset = int(unitriangular)
    return grad_A.triu(offset) if upper else grad_A.tril(-offset), grad_B


def det_backward(grad: Tensor, det: Tensor, A: Tensor, LU: Tensor, pivots: Tensor) -> Any:
    """grad conj(det) A^-H: the conjugate cofactors, also of singular matrices."""
    if bool((det == 0).any()):
        return grad[..., None, None] * _conjugate_cofactors(A)
    return _scaled_inverse(grad * det.conj(), A, LU, pivots)


def slogdet_backward(
    grad_sign: Tensor | None,
    grad_log: Tensor | None,
    A: Tensor,
    sign: Tensor,
    LU: Tensor,
    pivots: Tensor,
) -> Any:
    """z A^-H, where z is the gradient of the logarithm of the determinant."""
    z: Any = grad_log
    if A.dtype.is_complex and grad_sign is not None:
        turned = -1j * (grad_sign.conj() * sign).imag
        z = turned if z is None else z + turned
    return None if z is None else _scaled_inverse(z.to(A.dtype), A, LU, pivots)


def _scaled_inverse(scale: Tensor, A: Tensor, LU: Tensor, pivots: Tensor) -> Any:
    """scale A^-H."""
    one = ops.eye(A._sizes[-1], dtype=A.dtype, device=A.device)
    return _solve_adjoint(scale[..., None, None] * one, A, LU, pivots)


def _conjugate_cofactors(A: Tensor) -> Any:
    """conj(det) A^-H without a division: U diag(products of the other singular values) V^H."""
    U, S, Vh = ops._linalg_svd(A, False, True)
    n = A._sizes[-1]
    on_diagonal = ops.eye(n, device=A.device).bool()
    others = S.unsqueeze(-2).expand((*S._sizes, n)).masked_fill(on_diagonal, 1).prod(-1)
    turn = (ops.linalg_det(U) * ops.linalg_det(Vh)).conj()
    return turn[..., None, None] * ((U * others.unsqueeze(-2)) @ Vh)


def pinv_backward(grad: Tensor, P: Tensor, A: Tensor) -> Any:
    """-P^H grad P^H, and what moves the spaces of rows and columns."""
    adjoint, other = P.mH, grad.mH
    moved = -(adjoint @ grad @ adjoint)
    left = other @ P @ adjoint
    right = adjoint @ P @ other
    return moved + (left - A @ (P @ left)) + (right - (right @ P) @ A)


def lstsq_backward(grad: Tensor, A: Tensor, B: Tensor, mask: Any) -> Any:
    """Through the pseudo-inverse: X = A^+ B."""
    P = ops.linalg_pinv(A)
    grad_A = pinv_backward(grad @ B.mH, P, A) if mask[0] else None
    return grad_A, P.mH @ grad
