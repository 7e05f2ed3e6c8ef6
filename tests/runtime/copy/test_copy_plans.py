"""Planned kernels that move elements to other places, against the kernels themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.runtime.planned_ways import LAYOUTS, SHAPE, places_in, results, tied, without_plans
from torchgen_out._runtime.kernels.cpu.loops.index_launches import Call


def test_gather(monkeypatch: pytest.MonkeyPatch) -> None:
    def gather() -> list[Any]:
        found = []
        for make in LAYOUTS.values():
            found += results([make().gather(dim, INDEX[dim]) for dim in range(3)])
        return found

    planned = gather()
    with without_plans(monkeypatch):
        assert planned == gather()


INDEX = [places_in(n, *SHAPE[:dim], 9, *SHAPE[dim + 1 :]) for dim, n in enumerate(SHAPE)]
"""An index along each dim, longer than the dim."""

SCATTERING: dict[str, Callable[[Any, int, Any, Any], Any]] = {
    "scatter": lambda x, dim, i, y: x.scatter(dim, i, y),
    "scatter_add": lambda x, dim, i, y: x.scatter_add(dim, i, y),
    "sum": lambda x, dim, i, y: x.scatter_reduce(dim, i, y, "sum"),
    "prod": lambda x, dim, i, y: x.scatter_reduce(dim, i, y, "prod"),
    "amax": lambda x, dim, i, y: x.scatter_reduce(dim, i, y, "amax"),
    "amin": lambda x, dim, i, y: x.scatter_reduce(dim, i, y, "amin"),
    "amin without self": lambda x, dim, i, y: x.scatter_reduce(
        dim, i, y, "amin", include_self=False
    ),
    "mean": lambda x, dim, i, y: x.scatter_reduce(dim, i, y, "mean"),
    "in place": lambda x, dim, i, y: x.clone().scatter_add_(dim, i, y),
    "amax in place": lambda x, dim, i, y: x.clone().scatter_reduce_(dim, i, y, "amax"),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64], ids=str)
@pytest.mark.parametrize("name", SCATTERING)
def test_scattering(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def scatter() -> list[Any]:
        x = (tied(*SHAPE) if dtype.is_floating_point else places_in(9, *SHAPE)).to(dtype)
        sources = [x.repeat(2, 2, 2)[tuple(map(slice, index.shape))] for index in INDEX]
        calls = zip(INDEX, [source.contiguous() for source in sources], strict=True)
        return results([SCATTERING[name](x, dim, *each) for dim, each in enumerate(calls)])

    planned = scatter()
    with without_plans(monkeypatch):
        assert planned == scatter()


PUTTING: dict[str, Callable[[], tuple[Any, Any]]] = {
    "rows": lambda: ((places_in(6, 4) - 6,), tied(4, 5, 7)),
    "rows of one value": lambda: ((places_in(6, 4),), tied(1)[0]),
    "rows alike": lambda: ((places_in(6, 3, 2),), tied(1, 7)),
    "columns": lambda: ((None, None, places_in(7, 3)), tied(6, 1, 3)),
    "middle": lambda: ((None, places_in(5, 2, 3)), tied(2, 3, 7)),
    "two": lambda: ((places_in(6, 4), places_in(5, 4)), tied(4, 7)),
    "two that broadcast": lambda: ((places_in(6, 4, 1), places_in(5, 3) - 5), tied(4, 1, 7)),
    "two of all": lambda: ((None, places_in(5, 4), places_in(7, 3, 4)), tied(6, 3, 4)),
    "transposed values": lambda: ((places_in(6, 4),), tied(7, 5, 4).permute(2, 1, 0)),
    "apart": lambda: ((places_in(6, 4), None, places_in(7, 4)), tied(4, 5)),
    "mask": lambda: ((tied(*SHAPE) > 0,), tied(1)),
    "one place": lambda: ((torch.tensor(2),), tied(5, 7)),
    "none": lambda: ((places_in(6, 0),), tied(1)),
}


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("name", PUTTING)
def test_putting(name: str, accumulate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    indices, values = PUTTING[name]()

    def put() -> list[Any]:
        found = [make().index_put(indices, values, accumulate) for make in LAYOUTS.values()]
        return results([*found, tied(*SHAPE).index_put_(indices, values, accumulate)])

    planned = put()
    with without_plans(monkeypatch):
        assert planned == put()


@pytest.mark.parametrize(
    "indices", [([6],), ([-7],), ([0, 1], [0, 5]), (None, [0], [7]), ([0], [0, -6])], ids=str
)
def test_places_outside_are_refused_before_anything_is_written(indices: Any) -> None:
    x = torch.zeros(SHAPE)
    given = [None if each is None else torch.tensor(each) for each in indices]
    with pytest.raises(IndexError, match="out of bounds"):
        x.index_put_(given, torch.tensor(1.0))
    with pytest.raises(IndexError, match="out of bounds"):
        x.index_put(given, torch.tensor(1.0))
    assert not x.any()


MOVING: dict[str, Callable[[Any], Any]] = {
    "roll": lambda x: [x.roll(shift, dim) for shift in (0, 1, -2, 9) for dim in (0, 1, -1)],
    "roll flat": lambda x: [x.roll(shift) for shift in (0, 3, -200)],
    "roll two": lambda x: [x.roll((1, 2), (0, 2)), x.roll([3, -9], [1, 1])],
    "repeat": lambda x: [x.repeat_interleave(n, dim) for n in (0, 1, 2, 3) for dim in (0, 1, -1)],
    "repeat flat": lambda x: [x.repeat_interleave(n) for n in (2, 5)],
    "pad": lambda x: [pad(x, sides) for sides in ((1, 2), (0, 1, 2, 0), [3, 0])],
    "pad with a number": lambda x: [pad(x, (1, 2, 1, 1), "constant", value) for value in (3, -7)],
    "pad three": lambda x: pad(x, (1, 2, 1, 1, 0, 2)),
    "cut": lambda x: pad(x, (-1, 2)),
    "flip": lambda x: [x.flip(0), x.flip(-1), x.flip(0, 2), x.flip(-1, 1, 0), x.flip(())],
    "join": lambda x: [torch.cat([x, x[:2].contiguous()]), torch.stack([x, x], 1)],
    "join three": lambda x: torch.cat([x, x, x], -1),
    "join many": lambda x: [torch.cat([x.contiguous()] * 9, dim) for dim in (0, 1, -1)],
    "join many parts": lambda x: torch.cat([x.contiguous(), *x[:, 1:].split(1, 1)] * 5, 1),
}
pad = torch.nn.functional.pad


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int8], ids=str)
@pytest.mark.parametrize("name", MOVING)
def test_moving(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def move() -> list[Any]:
        layouts = [make().nan_to_num(3, 2, 1).to(dtype) for make in LAYOUTS.values()]
        tensors = [*layouts, layouts[1].t() if layouts[1].ndim == 2 else layouts[0].mT]
        return [results(MOVING[name](x)) for x in tensors]

    planned = move()
    with without_plans(monkeypatch):
        assert planned == move()


def test_zeros_keep_their_signs() -> None:
    x, mask, index = torch.ones(4), torch.tensor([True, False] * 2), torch.tensor([0, 2])
    for zero, is_negative in ((0.0, False), (-0.0, True), (0.0, False)):
        found = [
            x.masked_fill(mask, zero)[0],
            pad(x, (1, 1), "constant", zero)[0],
            x.scatter(0, index, zero)[0],
            x.clone().masked_fill_(mask, zero)[0],
        ]
        assert [bool(each.signbit()) for each in found] == [is_negative] * 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_parts_of_complex_numbers(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = [make().to(dtype) for make in LAYOUTS.values()]

    def join() -> list[Any]:
        pairs = [torch.complex(x, tensors[0]) for x in tensors]
        return results([torch.view_as_real(pair) for pair in pairs])

    planned = join()
    with without_plans(monkeypatch):
        assert planned == join()


def test_equal_tensors() -> None:
    x = places_in(9, 3, 5)
    for dtype in (torch.float32, torch.int64, torch.bool, torch.float16, torch.complex64):
        a = x.to(dtype)
        assert torch.equal(a, a.clone())
        assert torch.equal(a, a.t().contiguous().t())
        b = a.clone()
        b[2, 4] = 1 - b[2, 4].item()
        assert not torch.equal(a, b)
        assert not torch.equal(a, a[:2])
    assert torch.equal(x, x.to(torch.float64))
    assert torch.equal(torch.empty(0), torch.empty(0))
    assert torch.equal(torch.tensor(-0.0), torch.tensor(0.0))
    assert not torch.equal(torch.tensor([1.0, np.nan]), torch.tensor([1.0, np.nan]))


@pytest.mark.parametrize("dims", [(0,), (2,), (0, 1, 2)])
def test_copies_run_along_memory(dims: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The innermost loop goes along the result's neighbours, whatever the order of dims."""
    runs: list[int] = []
    loops = Call._loops

    def seen(call: Call, launch: Any) -> Any:
        found = loops(call, launch)
        runs.append(found.runs[launch.writes[0]])
        return found

    monkeypatch.setattr(Call, "_loops", seen)
    x = torch.arange(6 * 50 * 30).reshape(6, 50, 30).permute(2, 0, 1)
    found = x.flip(dims)
    assert runs == [1] and found.stride() == x.stride()
    np.testing.assert_array_equal(found.numpy(), np.flip(x.numpy(), dims))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [2, 3, 12])
@pytest.mark.parametrize("other", [None, torch.float64])
def test_joins_of_parts_of_memory(other: Any, count: int, threads: int) -> None:
    """What is dense only with its dims turned, or cast beside what has gaps, begins anywhere in its
    storage, which goes on behind it."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    rng = np.random.default_rng(4)
    try:
        for shape in ((6, 5, 4), (40, 50, 60), (3000, 2, 3)):
            data = rng.standard_normal(shape).astype(np.float32)
            whole = torch.from_numpy(data)
            for first in (0, 1, 2):
                rows = slice(first, first + 2)
                turned, expected = whole[rows].permute(0, 2, 1), data[rows].transpose(0, 2, 1)
                parts = [turned] * count
                for dim in range(3):
                    found = torch.cat(parts, dim).numpy()
                    np.testing.assert_array_equal(found, np.concatenate([expected] * count, dim))
                wide = (whole.to(other) if other else whole)[rows]
                apart, own = whole[rows, :, ::2], data[rows]
                for several in range(1, 4):
                    found = torch.cat([wide, *[apart] * several], 2).numpy()
                    expected = np.concatenate([own, *[own[:, :, ::2]] * several], 2)
                    np.testing.assert_array_equal(found, expected)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "int64", "complex128"])
def test_joins_of_views_in_rows(dtype: str, threads: int) -> None:
    """Parts of rows, turned and repeated ones, of few and of many elements, empty ones among
    them, are joined as their copies are."""
    before, own = torch.get_num_threads(), getattr(torch, dtype)
    torch.set_num_threads(threads)
    try:
        for rows, width in ((130, 16), (260, 3), (3000, 40)):
            x = (torch.arange(rows * 2 * width).view(rows, 2 * width) % 251).to(own)
            left, right = x[:, :width], x[:, width:]
            turned, one = x.t()[:width].t(), x[:, :1].expand(rows, width)
            joins = [[right, left], [left, x], [one, left], [left, x[:, :0], right]]
            joins += [[left, right[:, :1], turned], [left[None], right[None], one[None]]]
            for parts in joins:
                alike = [each for each in parts if each.size(-1) == width]
                for given, dim in ((parts, -1), (alike, 0)):
                    dense = [each.contiguous() for each in given]
                    assert torch.equal(torch.cat(given, dim), torch.cat(dense, dim))
            for dim in range(3):
                found = torch.stack([right, left, turned], dim)
                assert torch.equal(found, torch.stack([right.clone(), left.clone(), left], dim))
    finally:
        torch.set_num_threads(before)
