"""Many rows of a few bytes: copied as words, or column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch

ROWS = 70001
"""So many that threads share them."""

Function = Callable[[Any], Any]
COPIES: dict[str, tuple[Function, Function]] = {
    "flip": (lambda x: x.flip(0), lambda x: np.flip(x, 0)),
    "flip along rows": (lambda x: x.flip(1), lambda x: np.flip(x, 1)),
    "repeat": (lambda x: x.repeat(2, 3), lambda x: np.tile(x, (2, 3))),
    "repeat rows": (lambda x: x.repeat_interleave(3, 0), lambda x: np.repeat(x, 3, 0)),
    "cat": (lambda x: torch.cat([x, x[:, :1]], 1), lambda x: np.concatenate([x, x[:, :1]], 1)),
    "cat of views": (
        lambda x: torch.cat([x[:, 1:], x.flip(0)], 1),
        lambda x: np.concatenate([x[:, 1:], np.flip(x, 0)], 1),
    ),
    "stack": (lambda x: torch.stack([x, x + x], 1), lambda x: np.stack([x, x + x], 1)),
    "stack last": (lambda x: torch.stack([x, x], -1), lambda x: np.stack([x, x], -1)),
    "cut": (lambda x: x[1::2, 1:].clone(), lambda x: x[1::2, 1:]),
    "index_add": (
        lambda x: x.index_add(0, torch.tensor([3]), torch.ones_like(x[:1])),
        lambda x: x + (np.arange(ROWS) == 3).astype(x.dtype)[:, None],
    ),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("columns", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("count", [1, 2])
def test_narrow_rows(name: str, columns: int, dtype: str, count: int) -> None:
    ours, expected = COPIES[name]
    values = np.random.default_rng(0).integers(0, 100, (ROWS, columns)).astype(dtype)
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        found = ours(torch.from_numpy(values)).numpy()
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(found, expected(values), strict=True)


def test_payloads_of_nan_are_kept() -> None:
    bits = np.full((ROWS, 2), 0x7FC12345, np.uint32)
    moved = torch.from_numpy(bits.view(np.float32)).flip(0).numpy()
    assert (moved.view(np.uint32) == bits).all()
