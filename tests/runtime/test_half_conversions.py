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


@pytest.mark.parametrize("name", ["fmod", "remainder", "copysign", "maximum", "sub"])
def test_16_bits_beside_other_dtypes(name: str) -> None:
    """LLVM computes in float16 what it may, and asks for a conversion of its own library then."""
    function, in_place = getattr(torch, name), getattr(torch.Tensor, f"{name}_", None)
    x, y = torch.tensor([0.3, -2.5, 7.0, 1.0, 3.25]), torch.tensor([1.5, 2.0, -3.0, 4.0, 2.0])
    one, other, short = x.half(), y.half(), y.to(torch.int16)
    for given in ((one, other), (one[0], other), (one[:1].expand(5), other), (one, other[1]),
                  (short, one), (one, short)):  # fmt: skip
        assert torch.equal(function(*given), function(*[each.float() for each in given]).half())
    for target in (torch.float16, torch.bfloat16):
        found = function(x.double(), y.double(), out=torch.empty(5, dtype=target))
        assert torch.equal(found, function(x.double(), y.double()).to(target))
        if in_place is not None:
            expected = function(x.to(target).double(), y.double()).to(target)
            assert torch.equal(in_place(x.to(target), y.double()), expected)


def test_signs_of_float64_beside_float16() -> None:
    """Of these LLVM asks `__truncdfhf2`: of the smallest, of zeros, infinities and nan."""
    sizes = np.array([0.0, 5e-324, 1e-300, 6e-8, 1.0, 65520.0, 1e300, np.inf, np.nan])
    signs = np.concatenate([sizes, -sizes])
    found = torch.ones(signs.size, dtype=torch.float16).copysign_(torch.from_numpy(signs))
    np.testing.assert_array_equal(found.numpy(), np.copysign(1.0, signs))
