"""Tensors of 16 bits around kernels that compute in float32: two compiled loops."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.cpu.conversions import Operand
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cpu import narrow_arrays
from torchgen_out._runtime.kernels.vecmath import half

HALVES = [dtypes.float16, dtypes.bfloat16]


@pytest.mark.parametrize("own", HALVES, ids=str)
@pytest.mark.filterwarnings("ignore:overflow")
def test_all_patterns_through_either_loop(own: dtypes.dtype) -> None:
    """Of one element and of many the bits are the same, NaN's included."""
    patterns = np.arange(1 << 16, dtype=np.uint16)
    wide = narrow_arrays.widen(patterns, own)
    back = narrow_arrays.narrow(wide, own)
    numbers = ~np.isnan(wide)
    np.testing.assert_array_equal(back[numbers], patterns[numbers])
    assert np.isnan(narrow_arrays.widen(back[~numbers], own)).all()
    round_one = getattr(half, f"float32_to_{own.name}")
    for place in range(0, 1 << 16, 997):
        one = narrow_arrays.narrow(wide[place : place + 1] * np.float32(1.001), own)
        assert one[0] == round_one(wide[place] * np.float32(1.001))


@pytest.mark.parametrize("own", HALVES, ids=str)
def test_memory_that_is_not_dense(own: dtypes.dtype) -> None:
    x = torch.arange(60.0).to(own).reshape(4, 15)
    for view in (x, x.t(), x[:, 1:4], x[1:], x[:0]):
        operand = Operand(own, dtypes.float32, tuple(view.shape), view.stride())
        memory = x.view(torch.int16).numpy().view(np.uint16).reshape(-1)
        loaded = operand.loader()(memory, view.storage_offset())
        np.testing.assert_array_equal(loaded, view.float().contiguous().numpy().reshape(-1))
        target = np.zeros(120, np.uint16)
        operand.storer()(target, loaded)
        shown = torch.from_numpy(target.view(np.int16)).view(own)
        assert shown.as_strided(view.shape, view.stride()).equal(view)
