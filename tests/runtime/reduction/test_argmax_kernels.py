"""Picking and counting kernels against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.index_programs import cpu_kernel as made
from torchgen_out._runtime.kernels.cpu.reduction import histogram, selection

argmax, argmin, max_dim, min_dim = map(made, ("argmax", "argmin", "max_dim", "min_dim"))
RNG = np.random.default_rng(6)
X = np.round(RNG.standard_normal((4, 5, 6)) * 2)
WITH_NAN = np.where(RNG.random(X.shape) < 0.1, np.nan, X)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("x", [X, X.T, WITH_NAN, X.astype(np.int32)], ids="abcd")
def test_first_of_the_best(x: Any, dim: int) -> None:
    pairs = (
        (max_dim, argmax, np.argmax),
        (min_dim, argmin, np.argmin),
    )
    for both, place_only, reference in pairs:
        expected = reference(x, axis=dim)
        values = np.empty(expected.shape, x.dtype, order="F")
        places = np.empty(expected.shape, np.int64)
        both(values, places, x, dim, False)
        np.testing.assert_array_equal(places, expected)
        found = np.take_along_axis(x, np.expand_dims(expected, dim), dim).squeeze(dim)
        np.testing.assert_array_equal(values, found)
        kept = np.empty(np.expand_dims(expected, dim).shape, np.int64)
        place_only(kept, x, dim, True)
        np.testing.assert_array_equal(kept.squeeze(dim), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8, np.bool_])
def test_long_rows_are_searched_in_blocks(dtype: Any) -> None:
    """The first of equal ones, zeros alike, NaN above all, infinities and the ends of types."""
    x = RNG.integers(0, 100, (3, 1000)).astype(dtype)
    least = np.iinfo(dtype).min if dtype == np.int8 else 0
    rows = [x, np.zeros_like(x), np.full_like(x, least)]
    if x.dtype.kind == "f":
        rows[1][:, ::2] = -0.0
        rows += [np.full_like(x, -np.inf), np.where(x > 97, np.nan, x).astype(dtype)]
    for row in rows:
        for kernel, reference in ((argmax, np.argmax), (argmin, np.argmin)):
            out = np.empty(3, np.int64)
            kernel(out, row, 1, False)
            np.testing.assert_array_equal(out, reference(row, axis=1))


def test_flattened() -> None:
    out = np.empty((), np.int64)
    argmax(out, X.T, None, False)
    assert out == np.argmax(X.T)
    argmin(out, np.array(3.0), 0, False)
    assert out == 0


def test_nothing_to_reduce_is_no_error() -> None:
    values, places = np.empty((0,)), np.empty((0,), np.int64)
    max_dim(values, places, np.empty((0, 3)), 1, False)


def test_bincount() -> None:
    x = np.array([1, 0, 3, 1])
    np.testing.assert_array_equal(selection.bincount(x, None, 6), [1, 2, 0, 1, 0, 0])
    weights = np.array([0.5, 1, 2, 3], np.float32)
    sums = selection.bincount(x, weights)
    np.testing.assert_array_equal(sums, np.array([1, 3.5, 0, 2], np.float32))
    assert sums.dtype == np.float32
    assert selection.bincount(x[:0], None, 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "x, weights, minlength, says",
    [
        (np.array([-1]), None, 0, "non-negative integral"),
        (np.array([[1]]), None, 0, "only supports 1-d"),
        (np.array([1]), np.ones(2), 0, "same length as input"),
        (np.array([1]), None, -1, "minlength"),
    ],
)
def test_bincount_refuses(x: Any, weights: Any, minlength: int, says: str) -> None:
    with pytest.raises(RuntimeError, match=says):
        selection.bincount(x, weights, minlength)


@pytest.mark.parametrize("bounds", [(0, 0), (-1, 1), (2.5, 3.5)])
def test_histc(bounds: tuple[float, float]) -> None:
    x = RNG.standard_normal((30, 40))
    out = np.empty(7)
    histogram.histc(out, x, 7, *bounds)
    span = bounds if bounds != (0, 0) else (x.min(), x.max())
    np.testing.assert_array_equal(out, np.histogram(x, 7, span)[0])
    with pytest.raises(RuntimeError, match="is not finite"):
        histogram.histc(out, np.array([1, np.nan]), 7)


@pytest.mark.parametrize(
    "edges", [np.linspace(-2, 2, 9), [-2, -1, -1, 0.5, 3, 3], [-3, 1e-9, 2], [0, 1, np.inf]]
)
def test_bins_between_any_edges(edges: Sequence[float]) -> None:
    """Of one width, where a bin is guessed, or not; equal edges; points that are edges."""
    points = np.concatenate([np.random.default_rng(0).normal(0, 2, 500), edges, [np.nan]])
    found, _ = torch.histogram(torch.from_numpy(points), torch.tensor(edges, dtype=torch.float64))
    inside = points[(points >= edges[0]) & (points <= edges[-1])]
    bins = np.minimum(np.searchsorted(edges, inside, "right") - 1, len(edges) - 2)
    np.testing.assert_array_equal(found.numpy(), np.bincount(bins, minlength=len(edges) - 1))
