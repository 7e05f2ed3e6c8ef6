"""Writing to places of small tensors: planned, bit by bit what the kernels write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch
from tests.runtime.planned_ways import places_in, results, tied, without_plans

X, Y = tied(6, 5, 7), tied(7, 6, 5).permute(1, 2, 0).contiguous()
PART = [places_in(size, 2, 3, 4) for size in X.shape]
"""For each dim an index that covers a part of X."""
ROWS = [places_in(size, 4) for size in X.shape]

WRITING: dict[str, Callable[[Any, int], Any]] = {
    "scatter of a part": lambda x, d: x.scatter(d, PART[d], Y.to(x.dtype)),
    "scatter of a number": lambda x, d: x.scatter(d, PART[d], 3),
    "scatter, added": lambda x, d: x.scatter(d, PART[d], Y.to(x.dtype), reduce="add"),
    "scatter, multiplied": lambda x, d: x.scatter(d, PART[d], 3, reduce="multiply"),
    "scatter_add of a part": lambda x, d: x.scatter_add(d, PART[d], Y.to(x.dtype)),
    "amax of a part": lambda x, d: x.scatter_reduce(d, PART[d], Y.to(x.dtype), "amax"),
    "in place": lambda x, d: x.clone().scatter_(d, PART[d], Y.to(x.dtype)),
    "index_copy": lambda x, d: x.index_copy(d, ROWS[d], Y.to(x.dtype).narrow(d, 1, 4).contiguous()),
    "index_copy in place": lambda x, d: x.clone().index_copy_(
        d, ROWS[d], Y.to(x.dtype).narrow(d, 0, 4).contiguous()
    ),
    "index_reduce": lambda x, d: x.index_reduce(
        d, ROWS[d], Y.to(x.dtype).narrow(d, 1, 4).contiguous(), "amin"
    ),
    "index_fill": lambda x, d: x.index_fill(d, ROWS[d] - x.size(d), 2),
    "index_fill in place": lambda x, d: x.clone().index_fill_(d, ROWS[d], -1),
    "put": lambda x, d: x.put(PART[d] - 5, Y.to(x.dtype)[:2, :3, :4].contiguous()),
    "put, added": lambda x, d: x.put(PART[d], Y.to(x.dtype)[:2, :3, :4].contiguous(), True),
    "masked_scatter": lambda x, d: x.masked_scatter(x > 0, Y.to(x.dtype)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
@pytest.mark.parametrize("name", WRITING)
def test_writing(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = X if dtype.is_floating_point else X.nan_to_num(3, 9, -7).to(dtype)

    def write() -> list[Any]:
        with torch.no_grad():
            return [results(WRITING[name](x, dim)) for dim in range(3)]

    planned = write()
    with without_plans(monkeypatch):
        assert planned == write()


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "scatter": (lambda x: x.scatter_(0, torch.tensor([[1, 3]]), x[:1] + 1), RuntimeError),
    "scatter of a number": (lambda x: x.scatter_(1, torch.tensor([[1, 3]]), 1), RuntimeError),
    "index_copy": (lambda x: x.index_copy_(0, torch.tensor([0, 3]), x[:2] + 1), IndexError),
    "index_reduce": (
        lambda x: x.index_reduce_(0, torch.tensor([0, -1]), x[:2] + 1, "prod"),
        IndexError,
    ),
    "index_fill": (lambda x: x.index_fill_(1, torch.tensor([0, -4]), 1), IndexError),
    "put": (lambda x: x.put_(torch.tensor([0, 9]), torch.ones(2)), IndexError),
    "masked_scatter": (lambda x: x.masked_scatter_(x == 0, torch.ones(8)), RuntimeError),
    "embedding": (lambda x: torch.embedding(x, torch.tensor([3])), IndexError),
}
"""What names a place outside, and the error."""


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_anything_is_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write, error = REFUSED[name]
    x = torch.zeros(3, 3)
    with pytest.raises(error) as planned:
        write(x)
    assert not x.any()
    with without_plans(monkeypatch), pytest.raises(error) as general:
        write(torch.zeros(3, 3))
    assert str(planned.value) == str(general.value)


SEARCHING: dict[str, Callable[[], Any]] = {
    "searchsorted": lambda: torch.searchsorted(X[0, 0].sort()[0], X),
    "searchsorted in rows": lambda: torch.searchsorted(X.sort(2)[0], Y, right=True),
    "searchsorted, an offset": lambda: torch.searchsorted(X.sort(2)[0][2, 3], X[1:]),
    "bucketize": lambda: torch.bucketize(X, torch.tensor([-1.0, 0.0, 2.0]), right=True),
    "isin": lambda: torch.isin(X[1:], X[0, 2]),
    "isin, inverted": lambda: torch.isin(PART[2], PART[0][0], invert=True),
    "embedding": lambda: torch.embedding(X[1], PART[1]),
}


@pytest.mark.parametrize("name", SEARCHING)
def test_searching(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = results(SEARCHING[name]())
    with without_plans(monkeypatch):
        assert planned == results(SEARCHING[name]())


@pytest.mark.parametrize("value", [3, -2.75, True])
def test_a_value_of_another_dtype_fills(value: Any) -> None:
    """A 0-d tensor is converted, as a number is; few elements and many."""
    for size in (3, 1 << 17):
        x, at = torch.zeros(2, size), torch.tensor([1])
        found = x.index_fill(0, at, torch.tensor(value, dtype=torch.float64))
        assert torch.equal(found, x.index_fill(0, at, value))
        assert torch.equal(x.index_fill(0, at, torch.tensor(value)), found)
