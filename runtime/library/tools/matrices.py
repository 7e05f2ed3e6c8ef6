"""Operators that read one triangle of a matrix, and which matrices are meant then.

A factorisation of a symmetric matrix reads its lower triangle. Its gradient is symmetric, as is the
matrix, while a difference in one element alone would leave the symmetric matrices: it is taken
among these. Whether one triangle is read, and which matrices are meant, is seen from the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.tools.cases import values_of

Function = Callable[..., Any]


def among_those_meant(function: Function, leaves: Sequence[Tensor]) -> Function | None:
    """The function over symmetric or triangular matrices, where it reads one triangle of them.

    None if it reads whole matrices, or the samples are of no such kind.
    """
    kinds = [_kind_meant(function, leaves, position) for position in range(len(leaves))]
    if not any(kinds):
        return None

    def among(*inputs: Any) -> Any:
        fitted = [kind(x) if kind else x for kind, x in zip(kinds, inputs, strict=True)]
        return function(*fitted)

    return among


def _kind_meant(function: Function, leaves: Sequence[Tensor], position: int) -> Function | None:
    """What makes of any matrix one of the kind meant; None where the whole matrix is read."""
    matrix: Any = leaves[position]
    sizes = matrix.shape
    if len(sizes) < 2 or sizes[-1] != sizes[-2] or sizes[-1] < 2:
        return None
    for triangle in (_lower, _upper):
        if _equal(matrix, _hermitian(matrix)):
            kind = _hermitian
        elif _equal(matrix, triangle(matrix)):
            kind = triangle
        else:
            continue
        if _reads_only(triangle, function, leaves, position):
            return kind
    return None


def _reads_only(
    triangle: Function, function: Function, leaves: Sequence[Tensor], position: int
) -> bool:
    """Whether results stay the same, bit by bit, when the other triangle is another one."""
    matrix: Any = leaves[position].detach()
    inputs = list(leaves)
    inputs[position] = (triangle(matrix) + (matrix + 1 - triangle(matrix + 1))).requires_grad_()
    try:
        found = function(*inputs)
    except RuntimeError:  # no such matrix is factorised: all of it was read
        return False
    return all(map(_equal, found, function(*leaves)))


def _equal(one: Any, other: Any) -> bool:
    return bool((values_of(one) == values_of(other)).all())


def _hermitian(x: Any) -> Any:
    return (x + x.mH) / 2


def _lower(x: Any) -> Any:
    return x.tril()


def _upper(x: Any) -> Any:
    return x.triu()
