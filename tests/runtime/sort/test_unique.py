"""Distinct integers that are counted and distinct integers that are sorted: NumPy's, both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels.cpu.sort import unique

RANGES: dict[str, tuple[Any, int, int]] = {
    "few": (np.int64, -5, 90),
    "all of int8": (np.int8, -128, 128),
    "all of uint8": (np.uint8, 0, 256),
    "int16": (np.int16, -300, 301),
    "int32, far apart": (np.int32, -(2**31), 2**31),
    "the greatest": (np.int64, 2**63 - 9, 2**63 - 1),
    "the least": (np.int64, -(2**63), 9 - 2**63),
    "far apart": (np.int64, -(2**62), 2**62),
    "beyond int64": (np.uint64, 2**63, 2**63 + 9),
    "bool": (np.bool_, 0, 2),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (7,), (30, 20), (100, 70)])
def test_as_numpy(name: str, shape: tuple[int, ...]) -> None:
    dtype, low, high = RANGES[name]
    wide = np.uint64 if dtype == np.uint64 else np.int64
    x = np.random.default_rng(len(name)).integers(low, high, shape, wide).astype(dtype)
    for array in (x, x.T, np.repeat(x, 2, 0)[::2]):
        expected = np.unique(array, return_inverse=True, return_counts=True)
        found = torch.from_numpy(array).unique(return_inverse=True, return_counts=True)
        alone = torch.from_numpy(array).unique()
        for own, other in zip((*found, alone), (*expected, expected[0]), strict=True):
            assert own.numpy().dtype == other.dtype
            np.testing.assert_array_equal(own.numpy(), other.reshape(own.shape))
        assert found[1].shape == array.shape


@pytest.mark.parametrize(("high", "counted"), [(1 << 13, True), (1 << 15, False)])
def test_a_range_of_more_values_than_elements_is_sorted(
    high: int, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    count = unique._by_counting

    def note(*args: Any) -> Any:
        found = count(*args)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(unique, "_by_counting", note)
    torch.from_numpy(np.random.default_rng(0).integers(0, high, 10_000, np.int32)).unique()
    assert seen == [counted]
