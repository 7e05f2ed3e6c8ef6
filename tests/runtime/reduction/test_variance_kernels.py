"""Variances against NumPy: dims, corrections, accuracy far from 0."""

from __future__ import annotations

import numpy as np
import pytest

from torchgen_out._runtime.kernels.cpu.reduction import statistics


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1, (0, 1), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("correction", [0, 1, None, 2.5])
def test_moments(dim: object, correction: float | None, dtype: str) -> None:
    x = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(dtype)
    expected = x.astype(np.float64).var(axis=dim, ddof=1 if correction is None else correction)
    variance, mean = (np.empty(np.shape(expected), dtype) for _ in range(2))
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    statistics.var_mean(variance, mean, x, dim, correction, False)
    np.testing.assert_allclose(variance, expected, rtol=tolerance)
    np.testing.assert_allclose(mean, x.mean(axis=dim), rtol=1e-4, atol=1e-6)
    statistics.std_mean(variance, mean, x, dim, correction, False)
    np.testing.assert_allclose(variance, np.sqrt(expected), rtol=tolerance)


def test_far_from_zero() -> None:
    x = (np.random.default_rng(1).standard_normal(10000) + 1e4).astype(np.float32)
    out = np.empty((), np.float32)
    statistics.var(out, x, None, 1, False)
    np.testing.assert_allclose(out, x.astype(np.float64).var(ddof=1), rtol=1e-6)


def test_without_freedom() -> None:
    out = np.empty(2)
    statistics.var(out, np.ones((2, 1)), 1, 1, False)
    assert np.isnan(out).all()
    statistics.std(out, np.array([[1.0, 2], [3, 5]]), 1, 2, False)
    assert np.isinf(out).all()
    statistics.var(out, np.empty((2, 0)), 1, 1, False)
    assert np.isnan(out).all()


def test_complex() -> None:
    x = np.random.default_rng(2).standard_normal((2, 3, 4))
    z = x[0] + 1j * x[1]
    variance, mean = np.empty(3), np.empty(3, complex)
    statistics.var_mean(variance, mean, z, 1, 1, False)
    np.testing.assert_allclose(variance, z.var(axis=1, ddof=1))
    np.testing.assert_allclose(mean, z.mean(axis=1))
