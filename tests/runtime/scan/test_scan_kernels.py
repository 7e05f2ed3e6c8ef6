"""Cumulative kernels against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from torchgen_out._runtime.kernels.cpu.scan import scan

X = np.random.default_rng(4).standard_normal((3, 4, 5))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("x", [X, X.T, X[:, ::-1]], ids=["contiguous", "transposed", "reversed"])
def test_sums_and_products(x: Any, dim: int) -> None:
    for kernel, reference in ((scan.cumsum, np.cumsum), (scan.cumprod, np.cumprod)):
        out = np.empty(x.shape)
        kernel(out, x, dim)
        np.testing.assert_allclose(out, reference(x, axis=dim))
        own = x.copy()
        kernel(own, own, dim)
        np.testing.assert_allclose(own, reference(x, axis=dim))


def test_single_precision_accumulates_in_double() -> None:
    x = np.full(100_000, 0.1, np.float32)
    out = np.empty_like(x)
    scan.cumsum(out, x, 0)
    assert abs(out[-1] - 10_000) < 0.01


def test_the_output_decides_the_type() -> None:
    x = np.full((4,), 200, np.uint8)
    for dtype, last in ((np.int64, 800), (np.float32, 800), (np.uint8, 800 % 256)):
        out = np.empty(4, dtype)
        scan.cumsum(out, x, 0)
        assert out[-1] == last


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_logcumsumexp(dim: int) -> None:
    x = X * 300
    out = np.empty(x.shape)
    scan.logcumsumexp(out, x, dim)
    np.testing.assert_allclose(out, np.logaddexp.accumulate(x, axis=dim))


def test_logcumsumexp_of_special_values() -> None:
    x = np.array([-np.inf, -np.inf, 0, np.inf, np.inf, 1, np.nan, 1])
    out = np.empty(8)
    scan.logcumsumexp(out, x, 0)
    nan = np.nan
    np.testing.assert_array_equal(out, [-np.inf, -np.inf, 0, np.inf, np.inf, np.inf, nan, nan])


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_extremes(dim: int) -> None:
    for kernel, reference in ((scan.cummax, np.maximum), (scan.cummin, np.minimum)):
        values, places = np.empty(X.shape), np.empty(X.shape, np.int64)
        kernel(values, places, X, dim)
        np.testing.assert_array_equal(values, reference.accumulate(X, axis=dim))
        np.testing.assert_array_equal(np.take_along_axis(X, places, dim), values)


def test_extremes_take_the_latest_place_and_keep_nan() -> None:
    x = np.array([1.0, 1.0, np.nan, 5.0, np.nan, 2.0])
    values, places = np.empty(6), np.empty(6, np.int64)
    scan.cummax(values, places, x, 0)
    np.testing.assert_array_equal(places, [0, 1, 2, 2, 4, 4])
    assert np.isnan(values[2:]).all()
