"""Variances against NumPy: lists of dims, strides, corrections, accuracy far from 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch

pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1, (0, 1), (0, 2), (1, 3), (0, 1, 2, 3)])
def test_moments(dim: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 4, 5, 3)).astype(dtype)
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(x.shape)
    given = torch.tensor(x)
    swapped = torch.tensor(np.ascontiguousarray(x.transpose(2, 0, 3, 1))).permute(1, 3, 0, 2)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for correction in (0, 1, 2.5):
        expected = x.astype(np.result_type(x, np.float64)).var(axis=dim, ddof=correction)
        for each in (given, swapped):
            variance, mean = torch.var_mean(each, dim=dim, correction=correction)
            np.testing.assert_allclose(variance.numpy(), expected, rtol=tolerance)
            np.testing.assert_allclose(mean.numpy(), x.mean(axis=dim), rtol=1e-4, atol=1e-6)
            spread = torch.std(each, dim=dim, correction=correction, keepdim=True).numpy()
            np.testing.assert_allclose(spread.reshape(np.shape(expected)), expected**0.5, tolerance)


def test_far_from_zero() -> None:
    x = (np.random.default_rng(1).standard_normal(10000) + 1e4).astype(np.float32)
    out = torch.tensor(x).var().numpy()
    np.testing.assert_allclose(out, x.astype(np.float64).var(ddof=1), rtol=1e-6)


def test_without_freedom() -> None:
    assert torch.ones(2, 1).var(1).isnan().all()
    assert torch.tensor([[1.0, 2], [3, 5]]).std(1, correction=2).isinf().all()
    assert torch.tensor([[1.0 + 1j, 2]]).var(1, correction=2).isinf().all()
    assert torch.empty(2, 0).var(1).isnan().all()


def test_integers_have_no_variance() -> None:
    for each in (torch.arange(3), torch.tensor([True])):
        with pytest.raises(RuntimeError, match="only support floating point and complex dtypes"):
            torch.std(each)
