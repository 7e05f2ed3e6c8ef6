"""Reductions of any geometry: every length of rows and of columns, every order of dims."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")

LENGTHS = [1, 2, 3, 4, 5, 6, 9, 63, 64, 65, 127, 128, 129, 130, 191, 192, 259, 1000]
FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, dim: x.sum(dim),
    "mean": lambda x, dim: x.mean(dim, keepdim=True),
    "amax": lambda x, dim: x.amax(dim),
    "amin": lambda x, dim: x.amin(dim, keepdim=True),
    "prod of signs": lambda x, dim: x.sign().prod(dim if dim.__class__ is int else dim[0]),
}


def pair(array: Any) -> tuple[Any, Any]:
    """The same numbers as a tensor of ours and of PyTorch's."""
    return ours.tensor(array), theirs.tensor(array)


def check(found: Any, expected: Any) -> None:
    """Values to rounding; sizes exactly."""
    assert tuple(found.shape) == tuple(expected.shape)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(name: str, length: int) -> None:
    rng = np.random.default_rng(length)
    for shape, dim in (((3, length), 1), ((length, 3), 0), ((2, length, 5), 1), ((length, 70), 0)):
        mine, other = pair(rng.standard_normal(shape).astype(np.float32))
        check(FOLDS[name](mine, dim), FOLDS[name](other, dim))


@pytest.mark.parametrize("name", ["amax", "amin"])
@pytest.mark.parametrize("length", [5, 64, 130, 191])
def test_nan_wins_wherever_it_stands(name: str, length: int) -> None:
    array = np.random.default_rng(1).standard_normal((length, length)).astype(np.float32)
    np.fill_diagonal(array, np.nan)
    for dim in (0, 1):
        assert FOLDS[name](ours.tensor(array), dim).isnan().all()
    array[:, 0] = np.nan
    assert FOLDS[name](ours.tensor(array[:, 1:].copy()), 1).isnan().sum() == length - 1


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_orders_of_dims(name: str, order: tuple[int, ...]) -> None:
    array = np.random.default_rng(2).standard_normal((4, 3, 5, 2)).astype(np.float32)
    for dim in (0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (2, 0, 1)):
        for part in (np.s_[..., 0], np.s_[1:, ..., 1], np.s_[:, :, 4:, 0], np.s_[0]):
            mine, other = (x[part].permute(order) for x in pair(array))
            check(FOLDS[name](mine, dim), FOLDS[name](other, dim))
            dense = mine.permute(*np.argsort(order)).contiguous().permute(order)
            check(FOLDS[name](dense, dim), FOLDS[name](other, dim))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_orders_of_dims_of_large_memory(order: tuple[int, ...], threads: int) -> None:
    """Beyond the sizes at which loops are shared among threads."""
    array = np.random.default_rng(0).standard_normal((97, 80, 71)).astype(np.float32)
    x, y = (each.permute(order) for each in pair(array))
    before = ours.get_num_threads()
    ours.set_num_threads(threads)
    try:
        for dim in (0, 1, 2, (0, 1), (0, 2), (1, 2)):
            check(x.sum(dim) / 100, y.sum(dim) / 100)
            check(x.amax(dim), y.amax(dim))
    finally:
        ours.set_num_threads(before)


@pytest.mark.parametrize("shape", [(70_001, 3), (700_003, 2), (2, 70_001)], ids=str)
def test_rounding_errors_do_not_grow_with_the_length(shape: tuple[int, int]) -> None:
    """Of equal numbers every addition of a stretch is rounded to the same side."""
    for number in (0.1, 1.7):
        x = ours.full(shape, number)
        for dim in (0, 1):
            exact = x.double().sum(dim)
            assert ((x.sum(dim) - exact).abs() <= 2e-6 * exact).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_norm_is_shared_in_the_precision_of_the_input(dtype: str) -> None:
    """A third in float32 is not one in float64."""
    gradients = []
    for x in pair(np.array([[3, 1, -3, 3], [2, 2, -1, 2]], dtype)):
        x.requires_grad_()
        x.norm(p=float("inf"), dim=1).sum().backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=0, atol=1e-16)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_parts_of_complex_numbers(name: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    parts = rng.standard_normal((2, 6, 17, 9, 5))
    mine, other = pair((parts[0] + 1j * parts[1]).astype(dtype))
    views = (
        lambda x: x,
        lambda x: x[:, ::2],
        lambda x: x.transpose(1, 3),
        lambda x: x[..., 2],
        lambda x: x[1:3, :, 4:, 1:],
        lambda x: x[0, 0, 0, 0],
        lambda x: x[:1].expand(6, 17, 9, 5),
        lambda x: x[:, :0],
    )
    for view in views:
        for dim in (None, 0, -1, (0, 1), [0, -1]):
            if view(other).ndim < 2 and isinstance(dim, (tuple, list)):
                continue
            for given in ({}, {"keepdim": True}, {"dtype": "complex128"}):
                found, expected = (
                    getattr(view(x), name)(
                        dim, **given | ({"dtype": T.complex128} if "dtype" in given else {})
                    )
                    for T, x in ((ours, mine), (theirs, other))
                )
                assert str(found.dtype) == str(expected.dtype)
                check(found, expected)
