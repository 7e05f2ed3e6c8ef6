"""Inputs made fit, and results that are not unique seen through functions that are.

Singular vectors and eigenvectors are unique up to a sign (a phase), eigenvalues up to their order.
Their tests, of values and of gradients, look at projections, magnitudes and sorted values instead.
A Hermitian matrix is made of the test's data inside the differentiated function, so that finite
differences stay among Hermitian matrices. The functions use only what both libraries have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.harness import Case

Function = Callable[[Any, bool], Any]
"""Of a tensor, and whether the operator reads the upper triangle."""
Observe = Callable[[Sequence[Any]], tuple[Any, ...]]


def hermitian(x: Any, upper: bool = False) -> Any:
    """The Hermitian part."""
    return (x + x.mH) / 2


def definite(x: Any, upper: bool = False) -> Any:
    """A Hermitian positive-definite matrix."""
    one = (x * 0 + 1).tril().triu()
    return x @ x.mH / x.shape[-1] + one


def triangle(x: Any, upper: bool = False) -> Any:
    """The triangle that the operator reads, with a real diagonal, as Cholesky factors have it."""
    diagonal = x.abs().to(x.dtype).tril().triu()
    return (x.triu(1) if upper else x.tril(-1)) + diagonal


PREPARED: Mapping[str, Mapping[str, Function]] = {
    "linalg_cholesky_ex": {"self": definite},
    "linalg_cholesky": {"self": definite},
    "cholesky": {"self": definite},
    "cholesky_solve": {"input2": triangle},
    "cholesky_inverse": {"self": triangle},
    "_linalg_eigh": {"A": hermitian},
    "linalg_eigh": {"self": hermitian},
    "linalg_eigvalsh": {"self": hermitian},
}
"""Operator -> argument -> what its tensor is turned into before the call."""


def singular_vectors(results: Sequence[Any]) -> tuple[Any, ...]:
    """Magnitudes of U, S, magnitudes of V, and the products u_i v_i^H, which no sign changes."""
    U, S, V = results
    if U.dim() < 2 or U.numel() == 0 or not S.numel():
        return (S,)
    k = S.shape[-1]
    U, V = U[..., :, :k], V[..., :k, :]
    return S, _square(U), _square(V), U[..., :, :1] @ V[..., :1, :]


def singular_columns(results: Sequence[Any]) -> tuple[Any, ...]:
    """The same where V is returned, and not its conjugate transpose."""
    U, S, V = results
    return singular_vectors((U, S, V.mH))


def _square(x: Any) -> Any:
    return (x * x.conj()).real if x.is_complex() else x * x


def hermitian_vectors(results: Sequence[Any]) -> tuple[Any, ...]:
    """Eigenvalues, and the projections on eigenvectors."""
    values, vectors = results
    if not vectors.numel():
        return (values,)
    first = vectors[..., :, :1]
    return values, _square(vectors), first @ first.mH


def eigenvalues(results: Sequence[Any]) -> tuple[Any, ...]:
    """Functions of all eigenvalues, whatever their order."""
    (values,) = results
    return values.sum(-1), (values * values).sum(-1), _square(values).sum(-1)


def eigenvectors(results: Sequence[Any]) -> tuple[Any, ...]:
    """Functions of all eigenvalues and their vectors' magnitudes, whatever their order."""
    values, vectors = results
    return (*eigenvalues([values]), (_square(vectors) * values.unsqueeze(-2)).sum(-1))


OBSERVED: Mapping[str, Observe] = {
    **dict.fromkeys(("_linalg_svd", "linalg_svd"), singular_vectors),
    "svd": singular_columns,
    **dict.fromkeys(("_linalg_eigh", "linalg_eigh"), hermitian_vectors),
    **dict.fromkeys(("_linalg_eigvals", "linalg_eigvals"), eigenvalues),
    "linalg_eig": eigenvectors,
}
"""Operator -> what of its results is compared and differentiated."""


def prepare(case: Case, argument: str, tensor: Any) -> Any:
    """The tensor that a call takes in place of the test's data."""
    function = PREPARED.get(case.operator.name, {}).get(argument)
    return tensor if function is None else function(tensor, case.arguments.get("upper", False))


def observe(operator: str, result: Any) -> Any:
    """What is compared of a call's result."""
    function = OBSERVED.get(operator)
    if function is None:
        return result
    return function(result if isinstance(result, (tuple, list)) else [result])
