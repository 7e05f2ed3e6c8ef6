"""Poisson's equation on a square by conjugate gradients, checked by SciPy's factors.

python examples/sparse/poisson.py
"""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch


def laplacian(side: int) -> Any:
    """-u'' in two dims by the five-point star, with zero around: (side^2, side^2), CSR."""
    count = side * side
    diagonals = torch.full((5, count), -1.0, dtype=torch.float64)
    diagonals[0] = 4.0
    at = torch.arange(count)
    diagonals[1][at % side == side - 1] = 0.0  # to the left of a row's first point is nothing
    diagonals[2][at % side == 0] = 0.0
    offsets = torch.tensor([0, -1, 1, -side, side])
    return torch.sparse.spdiags(diagonals, offsets, (count, count)).to_sparse_csr()


def conjugate_gradients(matrix: Any, right: Any, tolerance: float = 1e-10) -> tuple[Any, int]:
    """x with matrix @ x = right for a positive definite matrix, and the number of steps."""
    x = torch.zeros_like(right)
    residual = right.clone()
    direction, squared = residual, float(residual @ residual)
    wanted = tolerance**2 * squared
    for step in range(1, len(right) + 1):
        image = matrix @ direction
        length = squared / float(direction @ image)
        x, residual = x + length * direction, residual - length * image
        before, squared = squared, float(residual @ residual)
        if squared < wanted:
            return x, step
        direction = residual + squared / before * direction
    return x, len(right)


def solve(side: int) -> tuple[float, float, int]:
    """The largest errors against the exact solution and against SuperLU, and the steps."""
    matrix = laplacian(side)
    points = torch.arange(1, side + 1, dtype=torch.float64) / (side + 1)
    wave = (math.pi * points).sin()
    exact = (wave[:, None] * wave).reshape(-1)
    right = 2 * math.pi**2 / (side + 1) ** 2 * exact
    found, steps = conjugate_gradients(matrix, right + 1e-3 * right.flip(0).roll(7))
    factored = torch.sparse.spsolve(matrix, right + 1e-3 * right.flip(0).roll(7))
    return (
        float((torch.sparse.spsolve(matrix, right) - exact).abs().max()),
        float((found - factored).abs().max()),
        steps,
    )


def main() -> None:
    """Three grids."""
    for side in (16, 32, 64):
        error, difference, steps = solve(side)
        print(f"{side} x {side}: off the wave {error:.1e}, off SuperLU {difference:.1e}, "
              f"{steps} steps")  # fmt: skip


if __name__ == "__main__":
    main()
