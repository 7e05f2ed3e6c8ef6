"""View functions against NumPy: the elements that a geometry shows are those of NumPy's view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor, alias, from_array
from torchgen_out._runtime.dispatch.view_call import make_view_call
from torchgen_out._runtime.ops import views

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def shown(source: Tensor, geometry: Any) -> np.ndarray:
    """The elements that a geometry shows."""
    array: np.ndarray = alias(source, *geometry)._array()
    return array


def case(shape: list[int], order: Any = None) -> tuple[np.ndarray, Tensor]:
    """An array of distinct elements and the same as a record, both permuted by `order`."""
    array = np.arange(float(np.prod(shape))).reshape(shape)
    tensor = from_array(array)
    if order is not None:
        tensor = alias(tensor, *views.permute(tensor, order))
        array = array.transpose(order)
    return array, tensor


@st.composite
def cases(draw: Any) -> tuple[np.ndarray, Tensor]:
    shape = draw(shapes)
    return case(shape, draw(st.permutations(range(len(shape)))))


@given(cases(), st.data())
def test_dims_reorder_as_in_numpy(pair: Any, data: Any) -> None:
    array, tensor = pair
    dim = st.integers(-array.ndim, array.ndim - 1)
    first, second = data.draw(dim), data.draw(dim)
    np.testing.assert_array_equal(
        shown(tensor, views.transpose(tensor, first, second)), array.swapaxes(first, second)
    )
    np.testing.assert_array_equal(
        shown(tensor, views.movedim(tensor, first, second)), np.moveaxis(array, first, second)
    )
    np.testing.assert_array_equal(shown(tensor, views.reverse_dims(tensor)), array.T)


@given(cases(), st.data())
def test_selection_is_numpy_indexing(pair: Any, data: Any) -> None:
    array, tensor = pair
    dim = data.draw(st.integers(-array.ndim, array.ndim - 1))
    size = array.shape[dim]
    index = data.draw(st.integers(-size, size - 1))
    np.testing.assert_array_equal(
        shown(tensor, views.select(tensor, dim, index)), array.take(index, dim)
    )
    start, end = data.draw(st.integers(-6, 6)), data.draw(st.integers(-6, 6))
    step = data.draw(st.integers(1, 3))
    moved = np.moveaxis(array, dim, 0)[start:end:step]
    np.testing.assert_array_equal(
        shown(tensor, views.slice(tensor, dim, start, end, step)), np.moveaxis(moved, 0, dim)
    )


@given(cases(), st.data())
def test_windows_are_numpy_windows(pair: Any, data: Any) -> None:
    array, tensor = pair
    dim = data.draw(st.integers(0, array.ndim - 1))
    size, step = data.draw(st.integers(1, array.shape[dim])), data.draw(st.integers(1, 3))
    windows = np.lib.stride_tricks.sliding_window_view(array, size, dim)
    expected = np.moveaxis(np.moveaxis(windows, dim, 0)[::step], 0, dim)
    np.testing.assert_array_equal(shown(tensor, views.unfold(tensor, dim, size, step)), expected)


@given(cases(), st.integers(-4, 4))
def test_diagonal_is_numpy_diagonal(pair: Any, offset: int) -> None:
    array, tensor = pair
    if array.ndim > 1:
        np.testing.assert_array_equal(
            shown(tensor, views.diagonal(tensor, offset, -1, 0)), array.diagonal(offset, -1, 0)
        )


@given(cases(), st.integers(1, 5))
def test_pieces_put_together_are_the_whole(pair: Any, count: int) -> None:
    array, tensor = pair
    for pieces in (
        views.split(tensor, count, -1),
        views.chunk(tensor, count, -1),
    ):
        joined = np.concatenate([shown(tensor, piece) for piece in pieces], -1)
        np.testing.assert_array_equal(joined, array)
    stacked = np.stack([shown(tensor, piece) for piece in views.unbind(tensor, -1)], -1)
    np.testing.assert_array_equal(stacked, array)


@given(cases(), st.lists(st.integers(1, 3), max_size=2))
def test_expand_is_broadcast_to(pair: Any, leading: list[int]) -> None:
    array, tensor = pair
    wanted = [*leading, *[3 if size == 1 else size for size in array.shape]]
    np.testing.assert_array_equal(
        shown(tensor, views.expand(tensor, wanted)), np.broadcast_to(array, wanted)
    )


@given(cases())
def test_view_never_shows_other_elements(pair: Any) -> None:
    array, tensor = pair
    for wanted in ((-1,), (1, -1), (*array.shape, 1), (array.shape[0], -1)):
        try:
            geometry = views.view(tensor, wanted)
        except RuntimeError as error:
            assert "view size is not compatible" in str(error)
        else:
            np.testing.assert_array_equal(shown(tensor, geometry), array.reshape(wanted))


def test_dense_tensors_can_take_any_shape() -> None:
    array, tensor = case([2, 3, 4])
    for wanted in ((24,), (6, -1), (4, 3, 2), (2, 1, 12)):
        np.testing.assert_array_equal(
            shown(tensor, views.view(tensor, wanted)), array.reshape(wanted)
        )


def test_dtype_views_reread_the_bytes() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    sizes, strides, offset, dtype = views.view_as_complex(from_array(array.reshape(3, 2, 2)))
    assert (sizes, strides, offset, dtype.name) == ((3, 2), (2, 1), 0, "complex64")
    tensor = from_array((array + 1j).astype(np.complex64))
    sizes, strides, offset, dtype = views.view_as_real(tensor)
    assert (sizes, strides, offset, dtype.name) == ((3, 4, 2), (8, 2, 1), 0, "float32")


@pytest.mark.parametrize(
    ("call", "error", "phrase"),
    [
        (lambda x: views.view(x, (5, 3)), RuntimeError, r"shape '\[5, 3\]' is invalid for input"),
        (lambda x: views.view(x, (-1, -1)), RuntimeError, "only one dimension can be inferred"),
        (lambda x: views.select(x, 0, 3), IndexError, "index 3 out of range for tensor of size"),
        (lambda x: views.transpose(x, 0, 2), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda x: views.expand(x, (2, 4)), RuntimeError, "must match the existing size"),
        (lambda x: views.narrow(x, 0, 1, 5), RuntimeError, "exceeds dimension size"),
        (lambda x: views.split(x, -1), RuntimeError, "split_size be non-negative"),
        (lambda x: views.as_strided(x, (20,), (1,)), RuntimeError, "out of bounds for storage"),
    ],
)
def test_errors_say_what_is_wrong(call: Any, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        call(case([3, 4])[1])


def test_views_follow_memory_that_grows() -> None:
    base = torch.arange(4.0)
    view, row = base.view(2, 2), base.view(2, 2)[0]
    assert (view + view).tolist() == [[0, 2], [4, 6]]
    base.resize_(100)
    base[:4] = 7.0
    assert view.add(0).tolist() == [[7, 7], [7, 7]]
    assert row.add(0).tolist() == [7, 7]


def test_remembered_answers_move_with_the_offset() -> None:
    array, tensor = case([2, 3, 4])
    call = make_view_call(views.narrow, tensor._key, several=False, tracked=True)
    pieces = make_view_call(views.chunk, tensor._key, several=True, tracked=True)
    for index in (0, 1):
        row = alias(tensor, *views.select(tensor, 0, index))
        np.testing.assert_array_equal(call(row, 1, 1, 2)._array(), array[index][:, 1:3])
        for piece, wanted in zip(pieces(row, 2, 1), np.split(array[index], 2, 1), strict=True):
            np.testing.assert_array_equal(piece._array(), wanted)


def test_remembered_answers_follow_offsets_and_storages() -> None:
    numbers = torch.arange(8.0)
    pairs = [torch.view_as_complex(numbers[2 * i : 2 * i + 2]) for i in range(4)]
    assert [each.item() for each in pairs] == [0 + 1j, 2 + 3j, 4 + 5j, 6 + 7j]
    with pytest.raises(RuntimeError, match="divisible by 2"):
        torch.view_as_complex(numbers[1:3])
    wide = numbers[4:6].view(torch.float64)
    assert wide.storage_offset() == 2 and numbers[2:4].view(torch.float64).storage_offset() == 1
    assert numbers.as_strided((2,), (3,), 2).tolist() == [2, 5]
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.arange(4.0).expand(2, 4)[0].as_strided((2,), (3,), 2)


def test_answers_to_tensors_are_not_remembered() -> None:
    column, count = torch.ones(1), torch.tensor(2)
    assert column.expand([count]).shape == (2,)
    count.fill_(3)
    assert column.expand([count]).shape == (3,)


FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "unsqueeze": lambda x, one: x.unsqueeze(one),
    "select": lambda x, one: x.select(0, one),
    "transpose": lambda x, one: x.transpose(0, one),
    "narrow": lambda x, one: x.narrow(0, one, 1),
    "unfold": lambda x, one: x.unfold(0, one, 1),
    "diagonal": lambda x, one: x.diagonal(one),
    "view": lambda x, one: x.view(6, one),
    "permute": lambda x, one: x.permute((one, 0)),
    "expand": lambda x, one: x.expand(one, 3, 2),
    "unflatten": lambda x, one: x.unflatten(0, (3, one)),
    "movedim": lambda x, one: x.movedim((0, one), (one, 0)),
    "unbind": lambda x, one: x.unbind(one),
    "split": lambda x, one: x.split(one),
    "chunk": lambda x, one: x.chunk(one),
}


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_is_no_integer_to_what_remembers_answers(name: str) -> None:
    x, view = torch.zeros(3, 2), FLOATS[name]
    with pytest.raises(TypeError):
        view(x, 1.0)
    for _ in range(2):
        view(x, 1)
        with pytest.raises(TypeError):
            view(x, 1.0)
