"""Gradients of singular values, eigenvalues and the matrix exponential.

Vectors are unique up to signs (up to e^(i phi) in the complex case): a function that depends on
these has no gradient, and there is an error where the gradient shows it. Vectors of equal values
are not unique either: their gradients are infinite.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

TURNED = (
    "{}: the vectors in the complex case are unique up to e^(i phi) only, and the function "
    "differentiated depends on phi: it has no gradient"
)


def _differences(values: Tensor) -> Any:
    """values[j] - values[i], and 1 on the diagonal."""
    found = values.unsqueeze(-2) - values.unsqueeze(-1)
    return found + ops.eye(values._sizes[-1], dtype=values.dtype, device=values.device)


def svd_backward(
    grad_U: Tensor | None,
    grad_S: Tensor | None,
    grad_Vh: Tensor | None,
    U: Tensor,
    S: Tensor,
    Vh: Tensor,
    computed: bool,
) -> Any:
    """U (M_U S + S M_V + diag(grad_S)) V^H, and what moves the spaces of narrow U and V.

    M_U = skew(U^H grad_U) / E, M_V = skew(V^H grad_V) / E, with E the differences of the squares.
    Of full matrices the columns beyond min(m, n) take no part: they are not unique.
    """
    if not computed and (grad_S is not None):
        raise RuntimeError("linalg.svdvals: without singular vectors there is no gradient")
    if grad_U is None and grad_S is None and grad_Vh is None:
        return None
    k = S._sizes[-1]
    U, Vh = U[..., :, :k], Vh[..., :k, :]
    if grad_U is None and grad_Vh is None:
        assert grad_S is not None
        return (U * grad_S.unsqueeze(-2).to(U.dtype)) @ Vh
    inner: Any = None if grad_S is None else grad_S.to(U.dtype).diag_embed()
    row, column = S.unsqueeze(-2), S.unsqueeze(-1)
    squares = _differences(S.square())
    of_U = of_V = rest_U = rest_V = None
    if grad_U is not None:
        grad_U = grad_U[..., :, :k]
        of_U = U.mH @ grad_U
        inner = _sum(inner, _skew(of_U) / squares * row)
        rest_U = _outside(grad_U, U, of_U) / row if U._sizes[-2] > k else None
    if grad_Vh is not None:
        grad_V, V = grad_Vh[..., :k, :].mH, Vh.mH
        of_V = V.mH @ grad_V
        inner = _sum(inner, column * (_skew(of_V) / squares))
        rest_V = (_outside(grad_V, V, of_V) / row).mH if V._sizes[-2] > k else None
    if U.dtype.is_complex:
        inner = inner + _turns(of_U, of_V, S).diag_embed()
    result = (U @ inner if rest_U is None else U @ inner + rest_U) @ Vh
    return result if rest_V is None else result + U @ rest_V


def _sum(first: Any, second: Any) -> Any:
    return second if first is None else first + second


def _skew(matrix: Any) -> Any:
    return matrix - matrix.mH


def _outside(grad: Any, vectors: Any, inside: Any) -> Any:
    """What of a gradient leaves the space of the vectors."""
    return grad - vectors @ inside


def _imaginary_diagonal(matrix: Tensor | None) -> Tensor | None:
    return None if matrix is None else matrix.diagonal(0, -2, -1).imag


def _turns(of_U: Any, of_V: Any, S: Any) -> Any:
    """The imaginary diagonal: where u_i and v_i turn against each other."""
    left, right = _imaginary_diagonal(of_U), _imaginary_diagonal(of_V)
    _check_turn("linalg.svd", left if right is None else _sum(left, right))
    if left is None:
        assert right is not None
        left = -right
    elif right is None:
        right = -left
    return 1j * (left - right) / (2 * S)


def _check_turn(operator: str, turn: Any) -> None:
    """A gauge-invariant function does not change as the vectors turn."""
    if turn.numel() and float(turn.detach().abs().max()) > 1e-2:
        raise RuntimeError(TURNED.format(operator))


def eigh_backward(
    grad_L: Tensor | None, grad_V: Tensor | None, L: Tensor, V: Tensor, computed: bool
) -> Any:
    """V (diag(grad_L) + skew(V^H grad_V) / E) V^H, with E the differences of the eigenvalues.

    Only turns keep V unitary: without the Hermitian part of V^H grad_V the result is Hermitian.
    """
    if not computed and grad_L is not None:
        raise RuntimeError("linalg.eigvalsh: without eigenvectors there is no gradient")
    if grad_V is None:
        return None if grad_L is None else (V * grad_L.unsqueeze(-2).to(V.dtype)) @ V.mH
    inner = V.mH @ grad_V
    if V.dtype.is_complex:
        _check_turn("linalg.eigh", inner.diagonal(0, -2, -1).imag)
    inner = (inner - inner.mH) / (2 * _differences(L))
    if grad_L is not None:
        inner = inner + grad_L.to(V.dtype).diag_embed()
    return V @ inner @ V.mH


def eig_backward(grad_L: Tensor | None, grad_V: Tensor | None, L: Tensor, V: Tensor) -> Any:
    """V^-H (diag(grad_L) + (V^H grad_V - V^H V diag(Re V^H grad_V)) / conj(E)) V^H."""
    if grad_V is None:
        if grad_L is None:
            return None
        return ops.linalg_solve(V.mH, grad_L.unsqueeze(-1) * V.mH)
    inner = V.mH @ grad_V
    diagonal = inner.diagonal(0, -2, -1)
    _check_turn("linalg.eig", diagonal.imag)
    inner = inner - (V.mH @ V) * diagonal.real.unsqueeze(-2)
    inner = inner / _differences(L).conj()
    inner = inner - inner.diagonal(0, -2, -1).diag_embed()
    if grad_L is not None:
        inner = inner + grad_L.diag_embed()
    return ops.linalg_solve(V.mH, inner @ V.mH)


def matrix_exp_backward(grad: Tensor, self: Tensor) -> Any:
    """The upper right block of exp([[A^H, grad], [0, A^H]])."""
    n, adjoint = self._sizes[-1], self.mH
    above = ops.cat([adjoint, grad], -1)
    below = ops.cat([ops.zeros_like(grad), adjoint], -1)
    return ops.linalg_matrix_exp(ops.cat([above, below], -2))[..., :n, n:]
