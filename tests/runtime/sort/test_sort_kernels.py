"""Ordering kernels against NumPy: stability, the place of NaN, packed and wide keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels import native
from torchgen_out._runtime.kernels.cpu.sort import searchsorted, unique
from torchgen_out._runtime.kernels.cpu.sort import sort as sorting


def draw(dtype: str, shape: tuple[int, ...] = (4, 200)) -> Any:
    """Values with many ties, and NaN among floats."""
    rng = np.random.default_rng(5)
    x = np.round(rng.standard_normal(shape) * 4).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random(shape) < 0.1] = np.nan
        x[rng.random(shape) < 0.1] = -0.0
    return x


def sort(x: Any, descending: bool, dim: int = -1) -> tuple[Any, Any]:
    values, places = np.empty_like(x), np.empty(x.shape, np.int64)
    sorting.ordered(values, places, x, None, dim, descending)
    return values, places


DTYPES = ["float32", "float64", "int64", "int32", "int8", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ascending_is_numpys_stable_sort(dtype: str) -> None:
    x = draw(dtype)
    values, places = sort(x, False)
    np.testing.assert_array_equal(places, np.argsort(x, axis=-1, kind="stable"))
    np.testing.assert_array_equal(values, np.sort(x, axis=-1, kind="stable"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_descending_keeps_ties_in_order(dtype: str) -> None:
    x = draw(dtype)
    _, places = sort(x, True)
    mirrored = np.argsort(x[:, ::-1], axis=-1, kind="stable")[:, ::-1]
    np.testing.assert_array_equal(places, x.shape[1] - 1 - mirrored)


@pytest.mark.parametrize("spread", [2**20, 2**50, 2**62])
def test_wide_integers(spread: int) -> None:
    """Key and place share 64 bits, or do not fit and are put right afterwards."""
    x = np.random.default_rng(0).integers(-spread, spread, 300)
    x = np.concatenate([x, x])
    for descending in (False, True):
        values, places = sort(x, descending)
        order = np.argsort(-x if descending else x, kind="stable")
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(values, x[order])


@pytest.mark.parametrize("dim", [0, 1, -3])
def test_other_dims(dim: int) -> None:
    x = draw("float64", (5, 6, 7))
    values, _ = sort(x, False, dim)
    np.testing.assert_array_equal(values, np.sort(x, axis=dim))


@pytest.mark.parametrize("k", [1, 3, 60, 200])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_topk_is_the_head_of_sort(dtype: str, largest: bool, k: int) -> None:
    """By heap or by sorting, ties by place."""
    x = draw(dtype)
    values, places = np.empty((4, k), dtype), np.empty((4, k), np.int64)
    sorting.ordered(values, places, x, k, 1, largest)
    expected_values, expected_places = sort(x, largest)
    np.testing.assert_array_equal(values, expected_values[:, :k])
    np.testing.assert_array_equal(places, expected_places[:, :k])


def test_topk_of_an_ascending_row() -> None:
    """Every element passes the threshold."""
    x = np.arange(1000.0).reshape(1, -1)
    values, places = np.empty((1, 5)), np.empty((1, 5), np.int64)
    sorting.ordered(values, places, x, 5, -1, True)
    np.testing.assert_array_equal(values[0], [999, 998, 997, 996, 995])


def test_medians() -> None:
    x = np.array([[3.0, 1, 2, 4], [np.nan, 1, 2, 9]])
    values, places = np.empty(2), np.empty(2, np.int64)
    sorting.order_statistic(values, places, x, None, 1, False, False)
    np.testing.assert_array_equal(values, [2, np.nan])
    np.testing.assert_array_equal(places, [2, 0])
    sorting.order_statistic(values, places, x, None, 1, False, True)
    np.testing.assert_array_equal(values, [2, 2])
    out = np.empty(())
    sorting.order_statistic(out, None, np.empty((0, 3)), None, None, False, False)
    assert np.isnan(out)


def test_kthvalue_and_mode() -> None:
    x = np.array([[5, 1, 5, 2, 1], [4, 4, 4, 0, 9]])
    values, places = np.empty(2, np.int64), np.empty(2, np.int64)
    sorting.order_statistic(values, places, x, 2, 1, False, False)
    np.testing.assert_array_equal(values, [1, 4])
    sorting.mode(values, places, x, 1)
    np.testing.assert_array_equal(values, [1, 4])
    np.testing.assert_array_equal(places, [4, 2])


def test_distinct() -> None:
    x = np.array([[3, 1], [3, 2], [3, 1]])
    for dim in (0, -2):
        values, inverse, counts = unique.distinct(x, dim, True, False, True, True)
        np.testing.assert_array_equal(values, [[3, 1], [3, 2]])
        np.testing.assert_array_equal(inverse, [0, 1, 0])
        np.testing.assert_array_equal(counts, [2, 1])
    runs = np.array([1, 1, 2, 1])
    values, inverse, counts = unique.distinct(runs, None, False, True, True, True)
    np.testing.assert_array_equal(values, [1, 2, 1])
    np.testing.assert_array_equal(inverse, [0, 0, 1, 2])
    np.testing.assert_array_equal(counts, [2, 1, 1])
    numbers = np.array([np.nan, np.nan, 1.0])
    assert unique.distinct(numbers, None, True, False, False, False)[0].size == 3
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        unique.distinct(np.empty((0, 3)), 1, True, False, False, False)


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right: bool) -> None:
    sequence = np.sort(draw("int64", (3, 20)), axis=1)
    values = np.append(np.arange(-9, 9), 0)
    out = np.empty((3, values.size), np.int32)
    rows = np.tile(values, (3, 1))
    searchsorted.search(out, sequence, rows, True, right, None, None, False)
    for row, found in zip(sequence, out, strict=True):
        np.testing.assert_array_equal(found, row.searchsorted(values, "right" if right else "left"))


def test_bad_sorter() -> None:
    with pytest.raises(RuntimeError, match="sorter index out of range"):
        arguments = np.arange(3.0), np.ones(1), False, False, None, np.array([0, 1, 3]), False
        searchsorted.search(np.empty(1, np.int64), *arguments)


@pytest.mark.parametrize("size", [2, 3, 40, 3000])
def test_ties_of_wide_numbers(size: int) -> None:
    """Runs of equal values, of NaN, and rows without any; there is nothing but ties at the end."""
    random = np.random.default_rng(size)
    rows = np.stack([random.integers(0, 4, size), np.arange(size), np.zeros(size)])
    rows = np.concatenate([rows, rows]).astype(np.float64)
    rows[3, ::2] = np.nan
    for descending in (False, True):
        _, places = sort(rows, descending)
        expected = np.argsort(rows[:, ::-1] if descending else rows, axis=-1, kind="stable")
        if descending:
            expected = size - 1 - expected[:, ::-1]
        np.testing.assert_array_equal(places, expected)


def test_kernels_can_be_kept() -> None:
    """A kernel that takes memory of its own would be compiled in every process, for seconds."""
    for dtype in DTYPES:
        sort(draw(dtype), False)
    met = [each for each in native._overloads.values() if each.name in vars(sorting)]
    assert "settle_ties" in [each.name for each in met]
    assert all(None not in each.natives.values() for each in met)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("columns", [1, 2, 3, 30])
def test_rows_are_ordered_as_by_all_their_elements(columns: int, dtype: str) -> None:
    rng = np.random.default_rng(columns)
    for values in (1, 2, 1000):
        rows = rng.integers(0, values, (200, columns)).astype(dtype)
        if dtype == "float32":
            rows[rng.random(rows.shape) < 0.3] = np.nan
            rows[rng.random(rows.shape) < 0.2] = -0.0
        wanted = np.lexsort(rows.T[::-1])
        np.testing.assert_array_equal(unique.rows_in_order(rows), wanted)


@pytest.mark.parametrize("count", [3, 20000])
def test_a_number_is_looked_for_in_the_dtype_of_the_elements(count: int) -> None:
    x = torch.tensor([0.1, 0.5, float("nan")]).repeat(count)
    assert torch.isin(x, 0.1).tolist() == [True, False, False] * count
    assert torch.isin(x, 0.1, invert=True).tolist() == [False, True, True] * count
    assert torch.isin(0.1, x).item() and not torch.isin(0.2, x).item()
    whole = torch.tensor([1, 2, 2**24 + 1]).repeat(count)
    assert torch.isin(whole, 2).tolist() == [False, True, False] * count
    assert torch.isin(whole, 2.0**24).tolist() == [False, False, True] * count
    assert not torch.isin(whole.to(torch.int8), 300).any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("size", [2, 3, sorting.MOST_COMPARED])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_lines_of_few_elements(dim: int, size: int, dtype: str) -> None:
    sizes = [70, 60, 9]
    sizes[dim] = size
    x = draw(dtype, tuple(sizes)) if dtype != "uint8" else abs(draw("int64", tuple(sizes)))
    x = torch.from_numpy(x.astype(dtype))
    found = torch.sort(x, dim)
    for descending in (False, True):
        places = sort(x.numpy(), descending, dim)[1]
        sign = -1 if descending else 1
        keys = np.nan_to_num(x.numpy().astype(float), nan=1e9) * sign
        np.testing.assert_array_equal(places, np.argsort(keys, dim, kind="stable"))
        top = torch.topk(x, 2, dim, largest=descending)
        np.testing.assert_array_equal(top.indices.numpy(), places.take(range(2), dim))
    kth = torch.kthvalue(x, 2, dim)
    np.testing.assert_array_equal(kth.values.numpy(), found.values.select(dim, 1).numpy())
    at = x.gather(dim, kth.indices.unsqueeze(dim)).squeeze(dim)
    np.testing.assert_array_equal(at.numpy(), kth.values.numpy())
    if size % 2:
        median = np.median(x.numpy(), dim)
        np.testing.assert_array_equal(torch.median(x, dim).values.numpy(), median)


@pytest.mark.parametrize("name", ["int64", "int32", "int16", "int8", "uint8", "float64"])
@pytest.mark.parametrize("shape", [(1,), (40,), (7, 33), (3, 90, 2)])
@pytest.mark.parametrize("far", [False, True])
def test_few_of_every_dtype(name: str, shape: tuple[int, ...], far: bool) -> None:
    """Small lines become keys of 64 bits, whose upper half may be too little for what lies far
    apart; equal elements stay in order."""
    data = np.random.default_rng(2).integers(0, 20, shape).astype(name)
    if far and name.startswith("int"):
        data.flat[0], data.flat[-1] = np.iinfo(name).max, np.iinfo(name).min
    elif far and name == "float64":
        data.flat[0], data.flat[-1] = np.nan, -0.0
    for dim in range(data.ndim):
        for x in (data, data.swapaxes(0, -1)):
            rising = np.argsort(x, dim, kind="stable")
            values, places = torch.from_numpy(x).sort(dim=dim, stable=True)
            np.testing.assert_array_equal(places.numpy(), rising)
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, rising, dim))
            turned = np.flip(x, dim)  # the last of equals first: backwards they are in order
            falling = x.shape[dim] - 1 - np.flip(np.argsort(turned, dim, kind="stable"), dim)
            places = torch.from_numpy(x).argsort(dim=dim, descending=True, stable=True)
            np.testing.assert_array_equal(places.numpy(), falling)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("shape", [(2, 300), (3, 1000), (1, 6000)])
@pytest.mark.parametrize("is_wide", [False, True])
def test_a_part_of_a_row_is_the_head_of_its_order(
    is_wide: bool, shape: tuple[int, int], dtype: str
) -> None:
    """Ties in order, whether what is first is put apart, looked for, or sorted with the rest; of
    values that fit into 32 bits, and of others."""
    rng = np.random.default_rng(5)
    most = 2**60 if is_wide and dtype == "int64" else 100
    plain = rng.choice(rng.integers(-most, most, 50), shape).astype(dtype)
    x = torch.from_numpy(plain)
    for largest in (False, True):
        keys = ~plain if largest and dtype.startswith("i") else -plain if largest else plain
        order = np.argsort(keys, axis=1, kind="stable")
        np.testing.assert_array_equal(torch.sort(x, descending=largest)[1].numpy(), order)
        for k in (1, 7, shape[1] // 12, shape[1] // 3, shape[1]):
            found = torch.topk(x, k, largest=largest)
            np.testing.assert_array_equal(found.indices.numpy(), order[:, :k])
            head = np.take_along_axis(plain, order[:, :k], 1)
            np.testing.assert_array_equal(found.values.numpy(), head)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("size", [1, 2, 5, 9, 10])
@pytest.mark.parametrize("rows", [15, 16, 37])
def test_rows_of_few_elements(rows: int, size: int, dtype: str) -> None:
    """Sorted side by side, along either dim: ties in order, NaN last, medians among them."""
    plain = np.random.default_rng(size).integers(0, 4, (rows, size)).astype(dtype)
    if dtype == "float32":
        plain[::5, 0] = np.nan
    order = np.argsort(plain, axis=1, kind="stable")
    for x, dim in ((torch.from_numpy(plain), 1), (torch.from_numpy(plain.T.copy()), 0)):
        found = x.sort(dim=dim, stable=True).indices.numpy()
        np.testing.assert_array_equal(found if dim else found.T, order)
        middle = np.take_along_axis(plain, order, 1)[:, (size - 1) // 2]
        if dtype == "float32":
            middle = np.where(np.isnan(plain).any(1), np.nan, middle)
        np.testing.assert_array_equal(x.median(dim).values.numpy(), middle)
