"""Folds of whole numbers and truth values, which LLVM takes in vectors, of any length."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.reduction import ReductionSpec
from torchgen_out._runtime.kernels.cpu.loops.reduction import IN_ORDER, rows_text
from torchgen_out.kernels import reduction as parts

WHOLE = ["uint8", "int8", "int16", "int32", "int64", "bool"]
LENGTHS = [1, 3, 63, 64, 65, 1000, 4097]


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("length", LENGTHS)
def test_extremes(length: int, dtype: str) -> None:
    x = np.random.default_rng(length).integers(-120, 120, (5, length)).astype(dtype)
    own = torch.from_numpy(x)
    for name in ("max", "min"):
        np.testing.assert_array_equal(getattr(own, name)().numpy(), getattr(x, name)())
        found = getattr(own, f"a{name}")
        np.testing.assert_array_equal(found(1).numpy(), getattr(x, name)(1))
        np.testing.assert_array_equal(found(0).numpy(), getattr(x, name)(0))


@pytest.mark.parametrize("dtype", [*WHOLE, "float32", "float64", "complex64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_truth(length: int, dtype: str) -> None:
    for name, common in (("any", 0), ("all", 1)):
        x = np.full((4, length), common).astype(dtype)
        x[1, -1], x[2, 0] = 1 - common, np.nan if dtype.startswith("float") else common
        own = torch.from_numpy(x)
        theirs = getattr(x, name)
        np.testing.assert_array_equal(getattr(own, name)(1).numpy(), theirs(1))
        np.testing.assert_array_equal(getattr(own, name)(0).numpy(), theirs(0))
        assert getattr(own, name)().item() == theirs()


def test_nothing_in_a_loop_waits() -> None:
    """Truth values are joined by operations on bits, whole numbers taken in any order."""
    own = dtypes.int16
    largest = ReductionSpec("amax", parts.amax, own, own, own, own)
    assert IN_ORDER.format(scalars="") in rows_text(largest)
    for each in (parts.any_dims, parts.all_dims):
        spec = ReductionSpec("truth", each, own, dtypes.bool, own, dtypes.bool)
        assert not any(word in rows_text(spec) for word in ("T(0) or", "T(0) and"))
