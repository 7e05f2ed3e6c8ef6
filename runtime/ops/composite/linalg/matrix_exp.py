"""Exponentials of matrices: Taylor's polynomial of a matrix scaled down, squared as often.

All of a batch take the same products; a polynomial needs no solution of a system, of which each
matrix would have its own. Each matrix has its own number of squarings: more than are needed would
cost digits.
"""

from __future__ import annotations

from math import factorial
from typing import Any

from torchgen_out._runtime.dispatch import ops

POWERS = 4
"""Powers of the matrix that are made; the polynomial of degree POWERS**2 is one of the last."""
LARGEST_NORM = {4: 2.0, 8: 0.75}
"""Up to here the term of degree 17 is below the precision of reals of so many bytes:
norm**16 / 17! < 2**-24, or 2**-53."""


def matrix_exp(out: Any, self: Any) -> None:
    """Write the exponentials of matrices. Waits for their norms."""
    if not out.numel():
        return
    x = self.to(self.dtype.opmath)
    halvings = _halvings(x).unsqueeze(-1).unsqueeze(-1)
    found = _polynomial(x * ops.exp2(-halvings))
    for done in range(int(halvings.max())):
        found = ops.where(halvings > done, found @ found, found)
    out.copy_(found)


def _halvings(x: Any) -> Any:
    """How often each matrix is halved until the greatest sum of a column, a norm, is small; not at
    all if it is not finite."""
    norm = x.abs().sum(-2).amax(-1)
    wanted = (norm / LARGEST_NORM[norm.dtype.itemsize]).log2().ceil().clamp(min=0)
    return ops.where(norm.isfinite(), wanted, 0)


def _polynomial(x: Any) -> Any:
    """The sum of x^k / k! up to degree 16, by Horner's rule in x^4."""
    square = x @ x
    cube = square @ x
    last = square @ square
    degree = POWERS * POWERS
    total = None
    for first in range(degree - POWERS, -1, -POWERS):
        c0, *factors = [1 / factorial(first + k) for k in range(POWERS)]
        part = ops._weighted_sum(x, square, cube, *factors)
        part.diagonal(0, -2, -1).add_(c0)
        if total is None:
            total = part.add_(last, alpha=1 / factorial(degree))
        else:
            total = part + total @ last
    return total
