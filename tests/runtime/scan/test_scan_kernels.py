"""Cumulative kernels against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.index_programs import cpu_kernel as made

cumsum, cumprod = made("cumsum"), made("cumprod")
cummax, cummin, logcumsumexp = made("cummax"), made("cummin"), made("logcumsumexp")
X = np.random.default_rng(4).standard_normal((3, 4, 5))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("x", [X, X.T, X[:, ::-1]], ids=["contiguous", "transposed", "reversed"])
def test_sums_and_products(x: Any, dim: int) -> None:
    for kernel, reference in ((cumsum, np.cumsum), (cumprod, np.cumprod)):
        out = np.empty(x.shape)
        kernel(out, x, dim, None)
        np.testing.assert_allclose(out, reference(x, axis=dim))
        own = x.copy()
        kernel(own, own, dim, None)
        np.testing.assert_allclose(own, reference(x, axis=dim))


def test_single_precision_accumulates_in_double() -> None:
    x = np.full(100_000, 0.1, np.float32)
    out = np.empty_like(x)
    cumsum(out, x, 0, None)
    assert abs(out[-1] - 10_000) < 0.01


def test_the_output_decides_the_type() -> None:
    x = np.full((4,), 200, np.uint8)
    for dtype, last in ((np.int64, 800), (np.float32, 800), (np.uint8, 800 % 256)):
        out = np.empty(4, dtype)
        cumsum(out, x, 0, None)
        assert out[-1] == last


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_logcumsumexp(dim: int) -> None:
    x = X * 300
    out = np.empty(x.shape)
    logcumsumexp(out, x, dim)
    np.testing.assert_allclose(out, np.logaddexp.accumulate(x, axis=dim))


def test_logcumsumexp_of_special_values() -> None:
    x = np.array([-np.inf, -np.inf, 0, np.inf, np.inf, 1, np.nan, 1])
    out = np.empty(8)
    logcumsumexp(out, x, 0)
    nan = np.nan
    np.testing.assert_array_equal(out, [-np.inf, -np.inf, 0, np.inf, np.inf, np.inf, nan, nan])


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_extremes(dim: int) -> None:
    for kernel, reference in ((cummax, np.maximum), (cummin, np.minimum)):
        values, places = np.empty(X.shape), np.empty(X.shape, np.int64)
        kernel(values, places, X, dim)
        np.testing.assert_array_equal(values, reference.accumulate(X, axis=dim))
        np.testing.assert_array_equal(np.take_along_axis(X, places, dim), values)


def test_extremes_take_the_latest_place_and_keep_nan() -> None:
    x = np.array([1.0, 1.0, np.nan, 5.0, np.nan, 2.0])
    values, places = np.empty(6), np.empty(6, np.int64)
    cummax(values, places, x, 0)
    np.testing.assert_array_equal(places, [0, 1, 2, 2, 4, 4])
    assert np.isnan(values[2:]).all()


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_rows_side_by_side_are_those_one_by_one(rows: int) -> None:
    """Rows go together four at a time, and those of costly steps as columns, in any layout."""
    x = np.random.default_rng(rows).standard_normal((rows, 23)).astype(np.float32)
    wide = np.zeros((rows, 23, 2), np.float32)
    wide[..., 1] = x
    for kernel, more in ((cumsum, [None]), (logcumsumexp, [])):
        expected = np.empty_like(x)
        for own, row in zip(expected, x, strict=True):
            kernel(own, row, 0, *more)
        for given in (x, wide[..., 1], np.asfortranarray(x)):
            out = np.empty_like(x)
            kernel(out, given, 1, *more)
            np.testing.assert_array_equal(out, expected)


def test_places_of_extremes_are_whole_numbers_behind_2_24() -> None:
    """A place is no float32, nor of the dtype of what is picked."""
    for dtype, count in ((np.int8, 300), (np.float32, (1 << 24) + 2)):
        values, places = np.empty(count, dtype), np.empty(count, np.int64)
        cummax(values, places, np.zeros(count, dtype), 0)
        assert places[-1] == count - 1
