"""Folds over rows: panels of columns that stay in registers, what is left of them, narrow rows."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch

WIDTHS = (2, 3, 7, 16, 31, 32, 33, 48, 62, 63, 64, 65, 100, 127, 128, 129, 192, 249, 256, 257, 300)
HEIGHTS = (1, 2, 5, 129, 300, 1100)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("type_name", ["float32", "float64", "int32", "bool"])
def test_columns_of_any_number(width: int, type_name: str) -> None:
    """Whole numbers, whose sums are exact in any order."""
    generator = np.random.default_rng(width)
    for height in HEIGHTS:
        array = generator.integers(-9, 10, (3, height, width)).astype(type_name)
        x = torch.from_numpy(array)
        assert np.array_equal(x.sum(1).numpy(), array.sum(1))
        assert np.array_equal(x.amax(1).numpy(), array.max(1))
        assert np.array_equal(x[1].sum(0).numpy(), array[1].sum(0))
        assert np.array_equal((x == 0).any(1).numpy(), (array == 0).any(1))
        assert np.array_equal(x[:, :, 1:].sum(1).numpy(), array[:, :, 1:].sum(1))


@pytest.mark.parametrize("width", WIDTHS)
def test_nan_stays_in_its_column(width: int) -> None:
    array = np.zeros((2, 130, width), np.float32)
    array[0, 129, width - 1], array[1, 3, 0] = np.nan, np.inf
    x = torch.from_numpy(array)
    for found in (x.sum(1).numpy(), x.amax(1).numpy()):
        assert np.isnan(found).nonzero() == (0, width - 1)
        assert np.isinf(found).nonzero() == (1, 0)
