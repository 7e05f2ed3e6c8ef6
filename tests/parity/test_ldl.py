"""Factors L D L^T and solutions by them against PyTorch's, with blocks of one row and of two."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_factors_and_solutions(n: int, batch: tuple[int, ...], hermitian: bool, dtype: str) -> None:
    random = np.random.default_rng(n)
    A = random.standard_normal((*batch, n, n)).astype(dtype)
    if dtype == "complex128":
        A += 1j * random.standard_normal(A.shape)
    A += np.swapaxes(A.conj() if hermitian else A.copy(), -1, -2)
    if n > 1:
        A[..., 0, 0] = 0  # a block of two rows
    B = random.standard_normal((n, 2)).astype(dtype)
    theirs = torch.linalg.ldl_factor(torch.tensor(A), hermitian=hermitian)
    ours = torchgen_out.linalg.ldl_factor(torchgen_out.tensor(A), hermitian=hermitian)
    np.testing.assert_allclose(ours.LD.numpy(), theirs.LD.numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.pivots.numpy(), theirs.pivots.numpy())
    solve = torchgen_out.linalg.ldl_solve
    found = solve(*ours, torchgen_out.tensor(B), hermitian=hermitian).numpy()
    np.testing.assert_allclose(A @ found, np.broadcast_to(B, found.shape), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("pivots", [[0, 1], [3, 2], [-1, 2], [1, -1], [-3, -3]])
def test_pivots_of_no_factorisation(pivots: list[int]) -> None:
    """They would name rows outside of the matrix, or half of a block."""
    LD, B = torchgen_out.eye(2), torchgen_out.ones(2, 1)
    with pytest.raises(RuntimeError, match="pivots are not those"):
        torchgen_out.linalg.ldl_solve(LD, torchgen_out.tensor(pivots), B)
