"""Kernels that write at index tensors and under masks, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.index_programs import cpu_kernel as made
from tests.index_programs import program
from torchgen_out._runtime.kernels.cpu.scatter import masking, scatter


@pytest.fixture
def x() -> Any:
    return np.random.default_rng(1).standard_normal((3, 4, 5))


def layouts(x: Any) -> list[Any]:
    """Outputs to run into: fresh ones in both orders, and self."""
    return [np.empty(x.shape), np.empty(x.shape, order="F"), x.copy()]


def run(kernel: Any, x: Any, *args: Any) -> list[Any]:
    """The results in fresh outputs and in place."""
    fresh_c, fresh_f, own = layouts(x)
    kernel(fresh_c, x, *args)
    kernel(fresh_f, x, *args)
    kernel(own, own, *args)
    return [fresh_c, fresh_f, own]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scatter(x: Any, dim: int) -> None:
    index = np.argsort(np.random.default_rng(2).random(x.shape), axis=dim)
    src = -x
    expected = x.copy()
    np.put_along_axis(expected, index, src, dim)
    for result in run(made("scatter_src"), x, dim, index, src):
        np.testing.assert_array_equal(result, expected)


def test_scatter_of_a_smaller_index(x: Any) -> None:
    """Only the part that the index reaches is written."""
    for result in run(made("scatter_value"), x, 1, np.zeros((2, 1, 3), np.int64), 9.0):
        assert (result[:2, 0, :3] == 9).all()
        result[:2, 0, :3] = x[:2, 0, :3]
        np.testing.assert_array_equal(result, x)


def test_scatter_add_counts_repeated_places(x: Any) -> None:
    index = np.random.default_rng(2).integers(0, 4, x.shape)
    expected = x.copy()
    o, _, i = np.indices(x.shape)
    np.add.at(expected, (o, index, i), x)
    for result in run(made("scatter_add"), x, 1, index, x):
        np.testing.assert_allclose(result, expected)


@pytest.mark.parametrize("name", ["scatter_src", "scatter_add", "index_add", "index_copy"])
def test_the_dense_index_is_innermost(name: str) -> None:
    """Threads may share it where there are few rows; one by one its elements took ten times."""
    (launch,) = program(name).launches
    assert launch.looks == ("j", "i")


def test_scatter_add_of_booleans() -> None:
    out = np.zeros(3, np.bool_)
    places = np.array([1, 1])
    made("scatter_add")(out, np.zeros(3, np.bool_), 0, places, np.ones(2, np.bool_))
    np.testing.assert_array_equal(out, [False, True, False])


@pytest.mark.parametrize("kernel", ["scatter_src", "scatter_add"])
def test_scatter_out_of_bounds(x: Any, kernel: str) -> None:
    with pytest.raises(RuntimeError, match="index 4 is out of bounds for dimension 1 with size 4"):
        made(kernel)(np.empty(x.shape), x, 1, np.full((1, 1, 1), 4), x)


REDUCE = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("reduce", REDUCE)
def test_combine(reduce: str, include_self: bool) -> None:
    old = np.array([2.0, 3.0, 5.0, 7.0])
    index, values = np.array([1, 3, 1, 1]), np.array([4.0, -1.0, 0.5, 6.0])
    expected = old.copy()
    if not include_self:
        expected[[1, 3]] = {"sum": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}[reduce]
    REDUCE[reduce].at(expected, index, values)
    scatter.scatter_reduce(old, old, 0, index, values, reduce, include_self)
    np.testing.assert_allclose(old, expected)


@pytest.mark.parametrize("include_self, expected", [(True, [2, 3, 5]), (False, [2, 3, 5])])
def test_mean_of_integers_rounds_down(include_self: bool, expected: list[int]) -> None:
    out = np.array([2, 3, 5])
    index, src = np.array([1, 1]), np.array([3, 4])
    scatter.scatter_reduce(out, out, 0, index, src, "mean", include_self)
    np.testing.assert_array_equal(out, expected)


def test_nan_wins() -> None:
    for reduce in ("amax", "amin"):
        out = np.array([1.0, np.nan, 3.0])
        src = np.array([np.nan, 0, 9.0])
        scatter.scatter_reduce(out, out, 0, np.array([0, 1, 2]), src, reduce)
        assert np.isnan(out[:2]).all()


def test_index_put_keeps_the_last_of_several(x: Any) -> None:
    places = [np.array([1, 1])]
    values = np.stack([x[0], x[2]])
    for result in run(scatter.index_put, x, places, values):
        np.testing.assert_array_equal(result[1], x[2])
    for result in run(scatter.index_put, x, places, values, True):
        np.testing.assert_allclose(result[1], x[0] + x[1] + x[2])


def test_index_put_in_dims_apart(x: Any) -> None:
    places = [np.array([1, 1]), None, np.array([0, 0])]
    expected = x.copy()
    np.add.at(expected, (places[0], slice(None), places[2]), np.ones((2, 4)))
    for result in run(scatter.index_put, x, places, np.ones(4), True):
        np.testing.assert_allclose(result, expected)


def test_index_put_refuses_values_that_do_not_broadcast(x: Any) -> None:
    with pytest.raises(RuntimeError, match=r"value tensor of shape \[3\] cannot be broadcast"):
        scatter.index_put(x, x, [np.array([0])], np.ones(3))


def test_masked_scatter(x: Any) -> None:
    mask = x > 0
    expected = x.copy()
    expected[mask] = np.arange(mask.sum())
    for result in run(masking.masked_scatter, x, mask, np.arange(60.0)):
        np.testing.assert_array_equal(result, expected)
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones"):
        masking.masked_scatter(x, x, mask, np.arange(2.0))


def test_index_fill_counts_from_the_end(x: Any) -> None:
    for result in run(scatter.index_fill, x, 1, np.array([-1]), 0):
        assert (result[:, 3] == 0).all() and (result[:, :3] == x[:, :3]).all()


def test_scalars() -> None:
    two, out = np.array(2.0), np.empty(())
    made("scatter_add")(out, two, 0, np.array(0), np.array(3.0))
    assert out == 5
    made("index_copy")(out, two, 0, np.array([0]), np.array([4.0]))
    assert out == 4
    made("put")(out, two, np.array([-1]), np.array([1.0]), True)
    assert out == 3


@pytest.mark.parametrize("word, fold", [("add", np.add), ("multiply", np.multiply)])
def test_an_argument_names_the_fold(word: str, fold: Any) -> None:
    """Of a part of an array, in one launch: what the index does not reach is self."""
    x, index = np.arange(12.0).reshape(3, 4), np.array([[0, 3, 3], [1, 1, 0]])
    src = np.arange(6.0).reshape(2, 3) - 2
    expected = x.copy()
    fold.at(expected, (np.arange(2)[:, None], index), src)
    for result in run(made("_combine_elements"), x, 1, index, src, word):
        np.testing.assert_array_equal(result, expected)
    kernel = made("_combine_elements")
    with pytest.raises(RuntimeError, match="index 4 is out of bounds"):
        kernel(x, x, 1, index + 1, src, word)
    np.testing.assert_array_equal(x, np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("count", [3, 100_000])
def test_what_an_index_does_not_reach_is_self(count: int) -> None:
    """The launch copies it, or what calls that where threads share the launch."""
    x, index = np.arange(12.0).reshape(3, 4), np.arange(count)[None] % 4
    for result in run(made("scatter_value"), x, 1, index, 9.0):
        assert (result[0, : min(count, 4)] == 9).all()
        np.testing.assert_array_equal(result[1:], x[1:])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_an_index_repeated_along_slices(dtype: Any, reduce: str, threads: int) -> None:
    """It is read once for each slice, and means what its copy means."""
    before, rng = torch.get_num_threads(), np.random.default_rng(6)
    torch.set_num_threads(threads)
    try:
        for shape, count in (((5, 3), 9), ((4, 2, 6), 7), ((30, 40, 50), 60)):
            for dim in range(len(shape)):
                sizes = [count if each == dim else size for each, size in enumerate(shape)]
                self = torch.from_numpy(rng.integers(1, 4, shape)).to(dtype)
                src = torch.from_numpy(rng.integers(1, 4, sizes)).to(dtype)
                places = torch.from_numpy(rng.integers(0, shape[dim], 2 * count))[::2]
                view = [-1 if each == dim else 1 for each in range(len(shape))]
                index = places.view(view).expand(sizes)
                for include_self in (True, False):
                    found, expected = (
                        self.scatter_reduce(dim, each, src, reduce, include_self=include_self)
                        for each in (index, index.contiguous())
                    )
                    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    finally:
        torch.set_num_threads(before)
    for bad in (5, -1):
        index = torch.tensor([0, bad]).view(2, 1).expand(2, 3)
        with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds"):
            torch.zeros(5, 3).scatter_reduce(0, index, torch.ones(2, 3), reduce)


WITH_PLACES: dict[str, Callable[[Any, int, Any, Any], Any]] = {
    "gather": lambda x, dim, index, src: x.gather(dim, index),
    "scatter": lambda x, dim, index, src: x.scatter(dim, index, src),
    "scatter in place": lambda x, dim, index, src: x.clone().scatter_(dim, index, src),
    "scatter of a number": lambda x, dim, index, src: x.scatter(dim, index, 7),
    "scatter, added": lambda x, dim, index, src: x.scatter(dim, index, src, reduce="add"),
    "scatter of a number, multiplied": lambda x, dim, index, src: x.scatter(
        dim, index, 3, reduce="multiply"
    ),
    "scatter_add": lambda x, dim, index, src: x.scatter_add(dim, index, src),
    "scatter_add in place": lambda x, dim, index, src: x.clone().scatter_add_(dim, index, src),
}


@pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", WITH_PLACES)
def test_places_repeated_along_the_last_dim(name: str, threads: int) -> None:
    """An expanded index means what its copy means: of all slices or of some, whole or in part."""
    run, rng = WITH_PLACES[name], np.random.default_rng(7)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for shape, covered in (((5, 3), (9, 3)), ((4, 6), (2, 5)), ((2, 300, 80), (2, 700, 80)),
                               ((3, 4, 5, 6), (2, 7, 5, 4)), ((30, 600), (400, 600)),
                               ((7, 0), (3, 0))):  # fmt: skip
            x, src = (torch.from_numpy(rng.standard_normal(each)) for each in (shape, covered))
            dim = 0 if len(shape) == 2 else 1
            for own in (covered[:-1], (*[1] * dim, covered[dim], *[1] * (len(shape) - dim - 2))):
                places = torch.from_numpy(rng.integers(0, shape[dim], own))
                index = places.unsqueeze(-1).expand(covered)
                found, expected = (run(x, dim, each, src) for each in (index, index.contiguous()))
                np.testing.assert_array_equal(found.numpy(), expected.numpy())
    finally:
        torch.set_num_threads(before)
    with pytest.raises(RuntimeError, match="index 5 is out of bounds"):
        run(torch.zeros(5, 3), 0, torch.tensor([0, 5])[:, None].expand(2, 3), torch.ones(2, 3))
