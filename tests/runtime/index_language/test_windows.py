"""Folds over windows: rows that are written out are the rows that are asked element by element."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.research_package import generated
from tests.ruff import accept

WEIGHED = [
    ((2, 40, 37), (3, 3, 1, 1, 1)),
    ((90, 33), (2, 3, 2, 2, 3)),
    ((90, 4, 3), (5, 3, 1, 1, 1)),
]
"""Sizes, and rows and columns of a window, and how it goes along the rows."""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("windows")
    with generated(folder, "windows_ops", Path(__file__).parent, "windows") as package:
        yield package


def weighed(x: Any, deep: int, wide: int, step: int, apart: int, pad: int) -> tuple[Any, Any]:
    """The operator, over an array that is padded on all sides."""
    rows, columns = x.shape[-2:]
    border = [(0, 0)] * (x.ndim - 2) + [(deep, deep), (pad, pad)]
    count = (columns + 2 * pad - apart * (wide - 1) - 1) // step + 1
    total, high = 0.0, -np.inf
    for i in range(deep):
        for j in range(wide):
            rows_of = slice(deep + 1 - i, deep + 1 - i + rows)
            columns_of = slice(j * apart, j * apart + step * (count - 1) + 1, step)
            zeros, holes = (np.pad(x, border, constant_values=v) for v in (0.0, -np.inf))
            total = total + (i + 2 * j + 1) * zeros[..., rows_of, columns_of]
            high = np.maximum(high, holes[..., rows_of, columns_of])
    return total / (deep * wide), high


@pytest.mark.parametrize("sizes,numbers", WEIGHED)
def test_a_window_is_the_same_inside_and_at_the_edges(ops: Any, sizes: Any, numbers: Any) -> None:
    plain = np.random.default_rng(0).standard_normal(sizes)
    x = torch.from_numpy(plain)
    if len(sizes) == 2:
        x = torch.stack([x, -x], -1)[..., 0]
    middle, high = ops.weighed(x, *numbers)
    wanted = weighed(plain, *numbers)
    np.testing.assert_allclose(middle.numpy(), wanted[0], rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(high.numpy(), wanted[1])


@pytest.mark.parametrize("shift", [0, 2, -3])
def test_rows_are_cut_where_a_condition_says(ops: Any, shift: int) -> None:
    x = np.random.default_rng(0).standard_normal((60, 50))
    y, t = np.mgrid[:60, :50]
    wanted = np.zeros_like(x)
    for k in range(3):
        at = t - k + shift
        is_there = (k <= t + y - shift) & (at >= 0) & (at < 50)
        wanted += np.where(is_there, x * x[y, at.clip(0, 49)], 0)
    found = ops.before(torch.from_numpy(x), 3, shift)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("sizes", [(2, 60, 50), (3, 4)])
def test_the_largest_of_a_window_is_told_as_the_text_says(ops: Any, sizes: Any) -> None:
    x = np.random.default_rng(0).standard_normal(sizes)
    x[..., 1:3, 2:4] = -np.inf
    x[..., 0, 0] = np.nan
    high, place, column, first = ops.chosen(torch.from_numpy(x), 1)
    holes = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 1)], constant_values=-np.inf)
    seen = np.lib.stride_tricks.sliding_window_view(holes, (2, 3), (-2, -1))
    np.testing.assert_array_equal(high.numpy(), seen.max((-2, -1)))
    told = np.take_along_axis(
        x.reshape(*sizes[:-2], -1), place.numpy().reshape(*sizes[:-2], -1), -1
    )
    np.testing.assert_array_equal(told.reshape(high.shape), seen.max((-2, -1)))
    np.testing.assert_array_equal(column.numpy(), x.argmax(-2))
    below = x[..., 1:, :].reshape(*sizes[:-2], -1).argmax(-1) + sizes[-1]
    np.testing.assert_array_equal(first.numpy(), below)


def test_formatters_leave_the_package_as_it_is(ops: Any) -> None:
    accept(ops)
