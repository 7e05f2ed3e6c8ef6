"""Planned kernels that sort, search and list, against the kernels themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.runtime.planned_ways import LAYOUTS, SHAPE, places_in, results, tied, without_plans

ORDERING: dict[str, Callable[[Any, int], Any]] = {
    "sort": lambda x, dim: x.sort(dim),
    "sort descending": lambda x, dim: x.sort(dim, descending=True),
    "sort stable": lambda x, dim: x.sort(dim=dim, stable=True),
    "argsort": lambda x, dim: x.argsort(dim),
    "topk": lambda x, dim: x.topk(3, dim),
    "smallest": lambda x, dim: x.topk(2, dim, largest=False),
    "kthvalue": lambda x, dim: x.kthvalue(4, dim),
    "kthvalue kept": lambda x, dim: x.kthvalue(1, dim, keepdim=True),
    "median": lambda x, dim: x.median(dim),
    "nanmedian": lambda x, dim: x.nanmedian(dim, keepdim=True),
}

OF_ONE: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: x.sort(),
    "topk": lambda x: x.topk(1),
    "kthvalue": lambda x: x.kthvalue(1, keepdim=True),
    "median": lambda x: x.median(0),
    "nanmedian": lambda x: x.nanmedian(-1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ORDERING)
def test_ordering(name: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, operator = LAYOUTS[layout](), ORDERING[name]
    planned = [results(operator(x, dim)) for dim in (0, 1, 2, -1)]
    with without_plans(monkeypatch):
        assert planned == [results(operator(x, dim)) for dim in (0, 1, 2, -1)]


@pytest.mark.parametrize("name", OF_ONE)
def test_ordering_of_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.tensor(2.5)
    planned = results(OF_ONE[name](x))
    with without_plans(monkeypatch):
        assert planned == results(OF_ONE[name](x))


LISTING: dict[str, Callable[[], Any]] = {
    "nonzero": lambda: (tied(*SHAPE) > 0).nonzero(),
    "nonzero of a matrix": lambda: (tied(30, 7) > 0).nonzero(),
    "nonzero of a vector": lambda: (tied(9)[2:] > 0).nonzero(),
    "nonzero of a part": lambda: (tied(9, 8) > 0)[3:].nonzero(),
    "nonzero, transposed": lambda: (tied(9, 8) > 0).t().nonzero(),
    "nonzero of nothing": lambda: torch.zeros(3, 4, dtype=torch.bool).nonzero(),
    "nonzero of one": lambda: torch.tensor(True).nonzero(),
    "nonzero as a tuple": lambda: (tied(9, 8) > 0).nonzero(as_tuple=True),
    "unique": lambda: places_in(7, 9, 8)[1:].unique(),
    "unique, inverse": lambda: (places_in(7, 9, 8) - 4).unique(return_inverse=True),
    "unique, counts": lambda: places_in(7, 9, 8).unique(return_counts=True),
    "unique, all": lambda: places_in(90, 9, 8)[1:].unique(True, True, True),
    "unique, wide": lambda: (places_in(7, 90) * 3074457345618258602).unique(True, True),
    "unique, ends": lambda: torch.tensor([2**63 - 1, -(2**63), 0, -(2**63)]).unique(True, True),
    "unique of one": lambda: torch.tensor(5).unique(True, True, True),
    "consecutive": lambda: places_in(3, 9, 8)[1:].unique_consecutive(True, True),
    "consecutive floats": lambda: torch.unique_consecutive(tied(40), return_counts=True),
    "consecutive slices": lambda: places_in(2, 9, 1).unique_consecutive(dim=0),
    "bincount": lambda: places_in(9, 40)[3:].bincount(),
    "bincount, longer": lambda: places_in(9, 40).bincount(minlength=12),
    "bincount, weights": lambda: places_in(9, 40).bincount(torch.ones(40)),
    "mode of whole numbers": lambda: places_in(4, 6, 5, 7).mode(1),
    "unique of floats": lambda: tied(40).nan_to_num().unique(True, True, True),
}


@pytest.mark.parametrize("name", LISTING)
def test_listing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = results(LISTING[name]())
    with without_plans(monkeypatch):
        assert planned == results(LISTING[name]())


SEARCHING: dict[str, Callable[[Any, Any], Any]] = {
    "searchsorted": lambda sequence, x: torch.searchsorted(sequence, x),
    "right": lambda sequence, x: torch.searchsorted(sequence, x, right=True),
    "side": lambda sequence, x: torch.searchsorted(sequence, x, side="right"),
    "int32": lambda sequence, x: torch.searchsorted(sequence, x, out_int32=True),
    "a number": lambda sequence, x: torch.searchsorted(sequence, 2),
    "rows": lambda sequence, x: torch.searchsorted(sequence.expand(6, 4, -1), x[:, :4]),
    "bucketize": lambda sequence, x: torch.bucketize(x, sequence),
    "bucketize right": lambda sequence, x: torch.bucketize(x, sequence, right=True),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64], ids=str)
@pytest.mark.parametrize("name", SEARCHING)
def test_searching(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def search() -> list[Any]:
        sequence = torch.tensor([-9, -1, 0, 0, 1, 1, 2, 5]).to(dtype)
        tensors = [make().nan_to_num(3, 2, 1).to(dtype) for make in LAYOUTS.values()]
        parts = sequence, sequence[1:], sequence[::2], sequence[:1]
        return [results(SEARCHING[name](part, x)) for part in parts for x in tensors]

    planned = search()
    with without_plans(monkeypatch):
        assert planned == search()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
@pytest.mark.parametrize(
    "sizes, dims", [((3, 2), (1, 0)), ((4, 3, 5), (2, 0, 1)), ((30, 40), (1, 0))]
)
def test_values_and_places_of_turned_tensors_belong_together(
    dtype: Any, sizes: tuple[int, ...], dims: tuple[int, ...]
) -> None:
    """Values are computed in another dtype for some, places are not: both lie in one order."""
    numbers = np.random.default_rng(5).permutation(np.prod(sizes)) % 97
    x = torch.from_numpy(numbers.reshape(sizes)).to(dtype).permute(dims)
    for dim in range(len(sizes)):
        for descending in (False, True):
            values, places = x.sort(dim=dim, descending=descending)
            assert torch.equal(values, x.gather(dim, places))
            dense = x.contiguous().sort(dim=dim, descending=descending, stable=True)
            assert torch.equal(values, dense.values) and torch.equal(places, dense.indices)
