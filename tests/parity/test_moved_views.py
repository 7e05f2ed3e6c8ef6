"""Few places in views of many elements, and many narrow rows, beside PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch as reference

import torchgen_out as torch

VIEWS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "permuted": lambda x: x.permute(1, 2, 0),
    "with gaps": lambda x: x[..., 1::2],
    "begins later": lambda x: x[1:, 2:].transpose(0, 1),
    "expanded": lambda x: x[:, :1].expand(6, 7, 8),
}
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "put": lambda x, at, values: x.put(at, values),
    "put, added": lambda x, at, values: x.put(at, values, True),
    "put_": lambda x, at, values: x.put_(at, values),
    "put_, added": lambda x, at, values: x.put_(at, values, True),
    "index_fill": lambda x, at, values: x.index_fill(1, at[:2] % 3, 7.0),
    "index_fill_": lambda x, at, values: x.index_fill_(-1, at[:2] % 3, values[0]),
}
PLACES = np.array([5, -1, 17, 60])


def _compared(case: Callable[[Any], list[Any]]) -> None:
    """The tensors of both libraries: values and strides."""
    for own, wanted in zip(case(torch), case(reference), strict=True):
        assert own.stride() == wanted.stride()
        np.testing.assert_array_equal(own.detach().numpy(), wanted.detach().numpy())


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_few_places_of_a_view_are_written(view: str, write: str) -> None:
    if view == "expanded" and write.split(",")[0].endswith("_"):
        pytest.skip("elements that share their memory are not written")

    def case(library: Any) -> list[Any]:
        whole = library.arange(336.0).reshape(6, 7, 8).clone()
        values = library.arange(4.0) + 0.5
        made = WRITES[write](VIEWS[view](whole), library.from_numpy(PLACES), values)
        return [made, whole]

    _compared(case)


@pytest.mark.parametrize("view", VIEWS)
def test_few_places_of_a_view_are_read(view: str) -> None:
    def case(library: Any) -> list[Any]:
        whole = library.arange(336.0).reshape(6, 7, 8).clone().requires_grad_()
        found = VIEWS[view](whole).take(library.from_numpy(PLACES))
        found.square().sum().backward()
        return [found, whole.grad]

    _compared(case)


@pytest.mark.parametrize("place", [336, -337])
def test_a_place_outside_a_view_is_refused(place: int) -> None:
    view = torch.zeros(6, 7, 8).transpose(0, 2)
    with pytest.raises(IndexError, match=f"{place}"):
        view.take(torch.tensor([0, place]))
    with pytest.raises(IndexError, match=f"{place}"):
        view.put_(torch.tensor([0, place]), torch.zeros(2))


@pytest.mark.parametrize("rows", [1, 17, 96, 1030, 3072])
@pytest.mark.parametrize("width", [2, 8, 23, 40])
def test_many_narrow_rows(rows: int, width: int) -> None:
    def case(library: Any) -> list[Any]:
        x = library.arange(rows * width).reshape(rows, width)
        classes = x[:, 0] % width
        pairs = library.stack([x, -x], -1)
        return [x.roll(3, 1), x.double().roll(-1, 1), pairs, library.nn.functional.one_hot(classes)]

    _compared(case)


MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "constant_pad": lambda F, x: F.pad(x, (1, 2, -3, 0), value=2.5),
    "reflect_pad": lambda F, x: F.pad(x, (3, 2), mode="reflect"),
    "roll": lambda F, x: x.roll((3, -1), (0, 1)),
    "flip": lambda F, x: x.flip(1),
    "tril": lambda F, x: x.tril(5),
    "repeat": lambda F, x: x.repeat(2, 1, 3),
    "a part": lambda F, x: x[:, 1:],
    "a slice": lambda F, x: x[2],
    "index_select": lambda F, x: x.index_select(1, x.new_tensor([3, 0, 0, 7] * 60).long()),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (1, 0, 2)], ids=str)
def test_many_turned_elements_are_moved(move: str, order: tuple[int, ...]) -> None:
    def case(library: Any) -> list[Any]:
        whole = library.arange(210.0 * 40 * 9).reshape(210, 9, 40).clone().requires_grad_()
        turned = whole.permute(order)
        functional = library.nn.functional
        found = MOVES[move](functional, turned)
        turns = range(found.ndim)[::-1]
        grad = library.arange(float(found.numel())).reshape(found.permute(*turns).shape)
        found.backward(grad.permute(*turns))
        return [found, whole.grad]

    _compared(case)
