"""Kernels that read at index tensors, against NumPy's indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.index_programs import cpu_kernel
from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.indexing import reading as indexing

X = np.arange(60.0).reshape(3, 4, 5)


EXPRESSIONS = [
    [np.array([2, -1])],
    [np.array([2, 0]), np.array([-1, 3])],
    [np.array([[2], [0]]), np.array([1, 3])],
    [None, np.array([1, 1, 0]), np.array([0, -5, 2])],
    [np.array([0, 1]), None, np.array([4, 4])],
    [None, None, np.array([[4, 0], [-1, 2]])],
    [None, np.array([[3, 0], [-1, 2]])],
    [X > 30],
    [None, X[0] > 7],
    [np.array(2)],
    [np.zeros(0, np.int64)],
]


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_index(number: int) -> None:
    indices = EXPRESSIONS[number]
    expected = X[tuple(slice(None) if index is None else index for index in indices)]
    np.testing.assert_array_equal(indexing.index(X, indices), expected)
    transposed = np.ascontiguousarray(X.transpose(2, 1, 0)).transpose(2, 1, 0)
    np.testing.assert_array_equal(indexing.index(transposed, indices), expected)


def test_index_is_a_copy() -> None:
    x = X.copy()
    indexing.index(x, [np.array(1)])[...] = 0
    assert (x == X).all()


@pytest.mark.parametrize(
    "indices, says",
    [
        ([np.array([3])], "index 3 is out of bounds for dimension 0 with size 3"),
        ([None, np.array([-5])], "index -5 is out of bounds for dimension 1 with size 4"),
        ([np.array([0, 1]), np.array([0, 1, 2])], "could not be broadcast together"),
        ([np.ones(4, bool)], "shape of the mask"),
        ([np.array([0.5])], "must be long, int, byte or bool"),
        ([np.array([0])] * 4, "too many indices"),
        ([None], "at least one index"),
    ],
)
def test_index_errors(indices: Any, says: str) -> None:
    with pytest.raises(IndexError, match=says):
        indexing.index(X, indices)


def test_linear_places() -> None:
    """Neighbouring dims merge into one; dims apart do not."""
    plain = places.plain_indices((3, 4, 5), [None, np.array([1, -1]), np.array([0, 2])])
    first, stop, place = places.linear_places((3, 4, 5), plain) or (0, 0, None)
    assert (first, stop) == (1, 3)
    np.testing.assert_array_equal(place, [5, 17])
    apart = places.plain_indices((3, 4, 5), [np.array([0]), None, np.array([0])])
    assert places.linear_places((3, 4, 5), apart) is None


def test_take_counts_from_the_end() -> None:
    take, out = cpu_kernel("take"), np.empty(3)
    take(out, X.T, np.array([0, -1, 59]))
    np.testing.assert_array_equal(out, [0, 59, 59])
    with pytest.raises(IndexError, match="tried to access index 60"):
        take(out, X, np.array([0, 60, 1]))


def test_nonzero_of_a_scalar() -> None:
    assert indexing.nonzero(np.array(5.0)).shape == (1, 0)
    assert indexing.nonzero(np.array(0.0)).shape == (0, 0)


@pytest.mark.parametrize("padding", [-1, 2])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_embedding_backward(padding: int, by_frequency: bool) -> None:
    grad = np.random.default_rng(0).standard_normal((2, 4, 3))
    indices = np.array([[0, 2, 2, 1], [4, 0, 0, 2]])
    expected = np.zeros((5, 3))
    np.add.at(expected, indices, grad)
    if by_frequency:
        expected /= np.maximum(np.bincount(indices.reshape(-1), minlength=5), 1)[:, None]
    if padding >= 0:
        expected[padding] = 0
    out = np.empty((5, 3))
    cpu_kernel("embedding_dense_backward")(out, grad, indices, 5, padding, by_frequency)
    np.testing.assert_allclose(out, expected)


def test_repeat_interleave() -> None:
    np.testing.assert_array_equal(indexing.repeat_interleave(np.array([2, 0, 3])), [0, 0, 2, 2, 2])
    with pytest.raises(RuntimeError, match="allocated size does not match"):
        indexing.repeat_interleave(np.array([1, 1]), 3)
