"""The greatest and smallest elements of rows: short ones go side by side, long ones in lanes."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch

LENGTHS = [1, 2, 4, 5, 9, 16, 63, 64, 65, 79, 80, 127, 128, 129, 150, 1000]


@pytest.mark.parametrize("rows", [1, 16, 19])
@pytest.mark.parametrize("count", LENGTHS)
def test_extremes_of_rows_are_numpys(rows: int, count: int) -> None:
    values = np.random.default_rng(count).standard_normal((rows, count)).astype(np.float32)
    x = torch.tensor(values)
    np.testing.assert_array_equal(x.amax(1).numpy(), values.max(1))
    np.testing.assert_array_equal(x.amin(1).numpy(), values.min(1))
    np.testing.assert_array_equal(x.argmax(1).numpy(), values.argmax(1))
    np.testing.assert_array_equal(x.argmin(1).numpy(), values.argmin(1))


@pytest.mark.parametrize("count", LENGTHS)
def test_nan_wins_wherever_it_stands(count: int) -> None:
    """Row i has it at place i."""
    values = np.ones((count, count), np.float32)
    np.fill_diagonal(values, np.nan)
    x = torch.tensor(values)
    assert x.amax(1).isnan().all() and x.amin(1).isnan().all()
    assert x.argmax(1).tolist() == x.argmin(1).tolist() == list(range(count))
    assert x.triu(1).amax(1).isnan().logical_not().all()
