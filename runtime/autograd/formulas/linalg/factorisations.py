"""Gradients of factorisations of matrices."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd.rerun import through
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def _half(matrix: Tensor) -> Any:
    """The lower triangle, with half the diagonal."""
    return matrix.tril() - 0.5 * _diagonal_matrix(matrix)


def _diagonal_matrix(matrix: Tensor) -> Any:
    return matrix.diagonal(0, -2, -1).diag_embed()


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
    """The gradients of reflectors and scales, through the product written out.

    None without a reflection: what is not used has no gradient.
    """
    if not tau.numel():
        return None, None
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
