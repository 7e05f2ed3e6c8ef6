"""Kernels that join, mirror, repeat and cut, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.index_programs import cpu_kernel as made
from torchgen_out._runtime.kernels.cpu import folding
from torchgen_out._runtime.kernels.cpu.copy import diagonal, shaping

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_cat_and_stack(dim: int) -> None:
    parts = [X, X[:, ::-1], np.empty((0,)), X * 2]
    expected = np.concatenate([part for part in parts if part.ndim == 3], dim)
    for order in "CF":
        out = np.empty(expected.shape, order=order)
        shaping.cat(out, parts, dim)
        np.testing.assert_array_equal(out, expected)
    stacked = np.empty(np.stack([X, X], dim).shape)
    shaping.cat(stacked, [X, -X], dim)
    np.testing.assert_array_equal(stacked, np.stack([X, -X], dim))


@pytest.mark.parametrize("repeats", [(2, 1, 3), (4, 1, 2, 1), (0, 1, 1)])
def test_repeat(repeats: tuple[int, ...]) -> None:
    expected = np.tile(X, repeats)
    out = np.empty(expected.shape)
    made("repeat")(out, X, repeats)
    np.testing.assert_array_equal(out, expected)


def test_diag_embed() -> None:
    out = np.empty((2, 3, 6, 6))
    diagonal.diag_embed(out, X, -2, -2, -1)
    np.testing.assert_array_equal(out[1, 2], np.diag(X[1, 2], -2))
    out = np.empty((5, 2, 3, 5))
    diagonal.diag_embed(out, X, 1, 0, -1)
    np.testing.assert_array_equal(out[:, 1, 2], np.diag(X[1, 2], 1))


@pytest.mark.parametrize("dim, shape", [(0, (1, 2, 12)), (1, (2, 3, 4)), (-1, (6, 4, 1))])
def test_fold(dim: int, shape: tuple[int, int, int]) -> None:
    assert folding.fold(X, dim).shape == shape
    assert folding.fold(X, dim).base is not None  # contiguous: no copy
    np.testing.assert_array_equal(folding.fold(X.T, dim).reshape(X.T.shape), X.T)
    assert folding.fold(np.array(3.0), 0).shape == (1, 1, 1)
