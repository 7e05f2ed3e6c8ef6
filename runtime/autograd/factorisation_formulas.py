"""Backward formulas of Cholesky, LU and QR factorisations, of solvers and determinants.

`formulas.py` shows them to derivatives.yaml. X^H is the conjugate transpose; `tril` and `triu` keep
a triangle. The formulas follow from the differential of A = L L^H, A = P L U, A = Q R, A X = B.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.rerun_formulas import through
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def _half(matrix: Tensor) -> Any:
    """The lower triangle, with half the diagonal."""
    return matrix.tril() - 0.5 * _diagonal_matrix(matrix)


def _diagonal_matrix(matrix: Tensor) -> Any:
    return matrix.diagonal(0, -2, -1).diag_embed()


# -- Cholesky ----------------------------------------------------------------------------------


def cholesky_backward(grad: Tensor, factor: Tensor, upper: bool) -> Any:
    """A = L L^H: L^-H half(L^H grad) L^-1, made Hermitian."""
    L, grad = (factor.mH, grad.mH) if upper else (factor, grad)
    inner = _half(L.mH @ grad)
    inner = (inner + inner.mH) * 0.5
    left = ops.linalg_solve_triangular(L.mH, inner, upper=True)
    return ops.linalg_solve_triangular(L, left, upper=False, left=False)


def _factor_gradient(of_matrix: Tensor, factor: Tensor, upper: bool) -> Any:
    """The gradient of the Cholesky factor from that of the matrix."""
    both = of_matrix + of_matrix.mH
    return factor @ both if upper else both @ factor


def cholesky_inverse_backward(grad: Tensor, factor: Tensor, upper: bool, inverse: Tensor) -> Any:
    """The gradient of A^-1, which is Hermitian, taken on to the factor."""
    return _factor_gradient(-(inverse @ grad @ inverse), factor, upper)


def cholesky_solve_backward(
    grad: Tensor, self: Tensor, factor: Tensor, result: Tensor, upper: bool, mask: Any
) -> Any:
    """A X = B: A^-1 grad for B, and for A minus that times X^H, taken on to the factor."""
    grad_self = ops.cholesky_solve(grad, factor, upper)
    if not mask[1]:
        return grad_self, None
    return grad_self, _factor_gradient(-(grad_self @ result.mH), factor, upper)


# -- LU ----------------------------------------------------------------------------------------


def lu_factor_backward(grad: Tensor, LU: Tensor, pivots: Tensor) -> Any:
    """P L^-H (tril(L^H grad_L) + triu(grad_U U^H)) U^-H, with the parts beyond the square one."""
    rows, columns = LU._sizes[-2:]
    k = min(rows, columns)
    square, g = LU[..., :k, :k], grad[..., :k, :k]
    one = ops.eye(k, dtype=LU.dtype, device=LU.device)
    L, U = square.tril(-1) + one, square.triu()
    below, above = L.mH @ g.tril(-1), g.triu() @ U.mH
    if rows > k:
        below_rest = ops.linalg_solve_triangular(U.mH, grad[..., k:, :], upper=False, left=False)
        above = above - LU[..., k:, :].mH @ grad[..., k:, :]
    if columns > k:
        right_rest = ops.linalg_solve_triangular(L.mH, grad[..., :, k:], upper=True)
        below = below - grad[..., :, k:] @ LU[..., :, k:].mH
    inner = below.tril(-1) + above.triu()
    inner = ops.linalg_solve_triangular(U.mH, inner, upper=False, left=False)
    result = ops.linalg_solve_triangular(L.mH, inner, upper=True, unitriangular=True)
    if rows > k:
        result = ops.cat([result, below_rest], -2)
    if columns > k:
        result = ops.cat([result, right_rest], -1)
    return ops._lu_permutation(pivots, rows, LU.dtype) @ result


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


# -- QR ----------------------------------------------------------------------------------------


def qr_backward(
    grad_Q: Tensor | None, grad_R: Tensor | None, A: Tensor, Q: Tensor, R: Tensor, mode: str
) -> Any:
    """(grad_Q + Q M) R^-H, M being the Hermitian matrix with the upper triangle of N.

    N = grad_R R^H - Q^H grad_Q. Of a wide A the square part is factorised, the rest is Q^H A.
    """
    rows, columns = A._sizes[-2:]
    if mode == "r":
        raise RuntimeError(
            "linalg.qr: the derivative depends on Q, which mode='r' does not compute; "
            "use mode='reduced'"
        )
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "linalg.qr: the matrix Q of mode='complete' is not unique for more rows than columns, "
            "so that it has no derivative; use mode='reduced'"
        )
    if grad_Q is None and grad_R is None:
        return None
    rest = None
    if rows < columns:
        if grad_R is not None:
            right = grad_R[..., :, rows:]
            rest = Q @ right
            more = A[..., :, rows:] @ right.mH
            grad_Q = more if grad_Q is None else grad_Q + more
            grad_R = grad_R[..., :, :rows]
        R = R[..., :, :rows]
    square = _square_qr_backward(grad_Q, grad_R, Q, R)
    if rows >= columns:
        return square
    if rest is None:
        rest = square.new_zeros((*A._sizes[:-1], columns - rows))
    return ops.cat([square, rest], -1)


def _square_qr_backward(grad_Q: Any, grad_R: Any, Q: Tensor, R: Tensor) -> Any:
    terms = []
    if grad_R is not None:
        terms.append(grad_R @ R.mH)
    if grad_Q is not None:
        terms.append(-(Q.mH @ grad_Q))
    upper = sum(terms[1:], terms[0]).triu()
    diagonal = upper.diagonal(0, -2, -1)
    if upper.dtype.is_complex:
        diagonal = diagonal.real.to(upper.dtype)
    whole = Q @ (upper + upper.mH - diagonal.diag_embed())
    if grad_Q is not None:
        whole = grad_Q + whole
    return ops.linalg_solve_triangular(R.mH, whole, upper=False, left=False)


def householder_backward(grad: Tensor, input: Tensor, tau: Tensor) -> Any:
    """The gradients of reflectors and scales, through the product written out."""
    return through(_product_of_reflections, [input, tau], [grad])


def _reflectors(input: Tensor, tau: Tensor) -> list[tuple[Any, Any]]:
    """(v, scale) per reflection: v has zeros above place i, and 1 there."""
    rows = input._sizes[-2]
    one = ops.eye(rows, dtype=input.dtype, device=input.device)
    lower = input.tril(-1)
    return [
        (lower[..., i : i + 1] + one[:, i : i + 1], tau[..., i : i + 1].unsqueeze(-1))
        for i in range(tau._sizes[-1])
    ]


def _product_of_reflections(input: Tensor, tau: Tensor) -> Any:
    rows, columns = input._sizes[-2:]
    product: Any = ops.eye(rows, columns, dtype=input.dtype, device=input.device)
    for v, scale in reversed(_reflectors(input, tau)):
        product = product - (v * scale) @ (v.mH @ product)
    return product


def ormqr_backward(
    grad: Tensor, self: Tensor, tau: Tensor, other: Tensor, left: bool, transpose: bool
) -> Any:
    """The gradients of reflectors, scales and the matrix, through the product written out."""

    def product(self: Tensor, tau: Tensor, other: Tensor) -> Any:
        result: Any = other if left else other.mH
        steps = _reflectors(self, tau)
        adjoint = transpose == left
        for v, scale in steps if adjoint else reversed(steps):
            result = result - (v * (scale.conj() if adjoint else scale)) @ (v.mH @ result)
        return result if left else result.mH

    return through(product, [self, tau, other], [grad])


# -- linear systems and determinants ------------------------------------------------------------


def inverse_backward(grad: Tensor, inverse: Tensor) -> Any:
    """-A^-H grad A^-H."""
    adjoint = inverse.mH
    return -(adjoint @ grad @ adjoint)


def solve_backward(
    grad: Tensor,
    A: Tensor,
    B: Tensor,
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
    options = {"upper": not upper, "left": left, "unitriangular": unitriangular}
    grad_B = ops.linalg_solve_triangular(A.mH, grad, **options)
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


# -- least squares ------------------------------------------------------------------------------


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
