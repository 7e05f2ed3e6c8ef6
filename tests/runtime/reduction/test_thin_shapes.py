"""Reductions and scans along dims of one element, and of a few columns side by side."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch

VALUES = np.random.default_rng(5).standard_normal((37, 41)).astype(np.float32)
VALUES[3, 5], VALUES[4, 6] = np.nan, -0.0


def thin_views() -> list[tuple[torch.Tensor, int]]:
    """Tensors with a dim of one element, and which it is: dense, expanded, with gaps."""
    x = torch.from_numpy(VALUES)
    ends = [(x.unsqueeze(dim), dim) for dim in range(3)]
    turned = [(x.t().unsqueeze(dim), dim) for dim in range(3)]
    gaps = [(x[::2, ::3].unsqueeze(dim), dim) for dim in range(3)]
    return [*ends, *turned, *gaps, (x[:1], 0), (x[:, 2:3], 1), (x[:1].expand(1, 41), 0)]


@pytest.mark.parametrize("case", range(12))
def test_along_one_element(case: int) -> None:
    x, dim = thin_views()[case]
    values = x.numpy()
    flat = values.squeeze(dim)
    for name in ("sum", "mean", "prod", "amax", "amin", "logsumexp", "nansum"):
        expected = np.nan_to_num(flat) if name == "nansum" else flat
        found = getattr(x, name)(dim).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_array_equal(x.any(dim).numpy(), flat != 0)
    np.testing.assert_array_equal(x.count_nonzero(dim).numpy(), flat != 0)
    assert not x.argmax(dim).any()
    assert x.argmin(dim, keepdim=True).shape == x.shape
    for found, indices in (x.max(dim), x.min(dim), x.cummax(dim), x.cummin(dim)):
        np.testing.assert_array_equal(found.numpy().reshape(flat.shape), flat)
        assert not indices.any()
    np.testing.assert_array_equal(x.cumsum(dim).numpy(), values)
    np.testing.assert_array_equal(x.cumprod(dim).numpy(), values)
    np.testing.assert_array_equal(x.softmax(dim).numpy(), np.where(np.isnan(values), np.nan, 1))


@pytest.mark.parametrize("count", [7, 40, 300])
@pytest.mark.parametrize("width", [2, 3, 5, 6])
def test_few_columns(width: int, count: int) -> None:
    values = np.random.default_rng(width).integers(-9, 9, (4, count, width)).astype(np.float32)
    values[1, count // 2, 1] = np.nan
    for own, x in (
        (values, torch.from_numpy(values)),
        (values[2], torch.from_numpy(values)[2]),
        (values[:, ::2], torch.from_numpy(values)[:, ::2]),
    ):
        dim = own.ndim - 2
        for keepdim in (False, True):
            places, lowest = (f(own, dim, keepdims=keepdim) for f in (np.argmax, np.argmin))
            np.testing.assert_array_equal(x.argmax(dim, keepdim).numpy(), places)
            np.testing.assert_array_equal(x.argmin(dim, keepdim).numpy(), lowest)
            found = x.max(dim, keepdim)
            np.testing.assert_array_equal(found.indices.numpy(), places)
            np.testing.assert_array_equal(found.values.numpy(), own.max(dim, keepdims=keepdim))


@pytest.mark.parametrize("rows", range(1, 8))
@pytest.mark.parametrize("count", [9, 50])
def test_scans_of_few(rows: int, count: int) -> None:
    """Of rows and of columns, some of which are scanned at once."""
    values = np.random.default_rng(rows).uniform(0.5, 1.5, (3, rows, count)).astype(np.float32)
    for own in (values, values[1]):
        for dim, each in ((own.ndim - 1, own), (own.ndim - 2, own.swapaxes(-1, -2).copy())):
            x = torch.from_numpy(each)
            wide = each.astype(np.float64)
            np.testing.assert_allclose(x.cumsum(dim).numpy(), wide.cumsum(dim), rtol=1e-6)
            np.testing.assert_allclose(x.cumprod(dim).numpy(), wide.cumprod(dim), rtol=1e-5)
            expected = np.log(np.exp(wide).cumsum(dim))
            np.testing.assert_allclose(x.logcumsumexp(dim).numpy(), expected, rtol=1e-5)
            largest, places = x.cummax(dim)
            np.testing.assert_array_equal(largest.numpy(), np.maximum.accumulate(each, dim))
            found = np.take_along_axis(each, places.numpy(), dim)
            np.testing.assert_array_equal(largest.numpy(), found)
            other = x.clone()
            np.testing.assert_array_equal(other.cumsum_(dim).numpy(), x.cumsum(dim).numpy())


@pytest.mark.parametrize("case", range(12))
def test_order_of_one_element(case: int) -> None:
    x, dim = thin_views()[case]
    values = x.numpy()
    rows = (x.sort(dim), x.topk(1, dim), x.kthvalue(1, dim, True), x.median(dim, True))
    for found, places in (*rows, x.nanmedian(dim, True), x.mode(dim, True)):
        np.testing.assert_array_equal(found.numpy(), values)
        assert not places.any()
    assert x.sort(dim).values.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 63, 64, 80, 81, 130, 511, 513, 700])
@pytest.mark.parametrize("rows", [1, 15, 16, 17, 40])
def test_largest_of_rows(rows: int, count: int) -> None:
    """Of rows that are folded side by side, or each by itself; nan wins wherever it is."""
    values = np.random.default_rng(count).standard_normal((rows, count + 3)).astype(np.float32)
    values[rows // 2, count // 2] = np.nan
    values[rows - 1, count - 1] = np.nan
    for own in (values[:, :count].copy(), values[:, :count], values[:, :count].astype(np.float64)):
        x = torch.from_numpy(own)
        np.testing.assert_array_equal(x.amax(1).numpy(), own.max(1))
        np.testing.assert_array_equal(x.amin(1).numpy(), own.min(1))
    whole = (np.nan_to_num(values[:, :count]) * 100).astype(np.int32)
    np.testing.assert_array_equal(torch.from_numpy(whole).amax(1).numpy(), whole.max(1))
