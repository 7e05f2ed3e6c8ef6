"""Planned ways of hand-written kernels: bit by bit what the kernels themselves compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from runtime.backends.cpu import planned_calls
from runtime.dispatch.operator import forget_calls

SHAPE = (6, 5, 7)


@contextmanager
def without_plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All calls take the general way."""

    def make(table: Any, geometry: Any, args: Any, written: int = 0) -> Any:
        return *table.prepare(args), *planned_calls.NO_PLAN

    with monkeypatch.context() as patch:
        patch.setattr(planned_calls.PlanTable, "make", make)
        forget_calls()
        yield
    forget_calls()


def tied(*sizes: int) -> Any:
    """Few different numbers, in disorder, with both zeros, infinities and NaN among them."""
    rng = np.random.default_rng(3)
    values = np.array([-np.inf, -1.5, -0.0, 0.0, 1.0, 1.0, 2.5, np.inf, np.nan], np.float32)
    return torch.tensor(values[rng.integers(0, len(values), sizes)])


LAYOUTS: dict[str, Callable[[], Any]] = {
    "contiguous": lambda: tied(*SHAPE),
    "transposed": lambda: tied(7, 5, 6).permute(2, 1, 0),
    "rows apart": lambda: tied(12, 5, 7)[::2],
    "offset": lambda: tied(7, 5, 7)[1:],
    "repeated": lambda: tied(5, 1).expand(SHAPE),
    "not mergeable": lambda: tied(6, 8, 14)[:, :5, ::2],
}

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


def results(found: Any) -> list[Any]:
    """Shapes, dtypes and bits of all tensors of an answer, every NaN being the same."""
    tensors = found if isinstance(found, (tuple, list)) else [found]
    return [(each.shape, each.dtype, bits(each.numpy().copy())) for each in tensors]


def bits(array: Any) -> bytes:
    """The memory of an array."""
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()  # type: ignore[no-any-return]


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


def places_in(size: int, *sizes: int) -> Any:
    """Places of a dim, some named twice and some not at all."""
    return torch.tensor(np.random.default_rng(5).integers(0, size, sizes))


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


MOVING: dict[str, Callable[[Any], Any]] = {
    "roll": lambda x: [x.roll(shift, dim) for shift in (0, 1, -2, 9) for dim in (0, 1, -1)],
    "roll flat": lambda x: [x.roll(shift) for shift in (0, 3, -200)],
    "roll two": lambda x: x.roll((1, 2), (0, 2)),
    "repeat": lambda x: [x.repeat_interleave(n, dim) for n in (0, 1, 2, 3) for dim in (0, 1, -1)],
    "repeat flat": lambda x: [x.repeat_interleave(n) for n in (2, 5)],
    "pad": lambda x: [pad(x, sides) for sides in ((1, 2), (0, 1, 2, 0), [3, 0])],
    "pad with a number": lambda x: [pad(x, (1, 2, 1, 1), "constant", value) for value in (3, -7)],
    "pad three": lambda x: pad(x, (1, 2, 1, 1, 0, 2)),
    "cut": lambda x: pad(x, (-1, 2)),
    "flip": lambda x: [x.flip(0), x.flip(-1), x.flip(0, 2)],
    "join": lambda x: [torch.cat([x, x[:2].contiguous()]), torch.stack([x, x], 1)],
    "join three": lambda x: torch.cat([x, x, x], -1),
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


DRAWING: dict[str, Callable[[Any], Any]] = {
    "uniform_": lambda x: x.uniform_(-2, 3),
    "normal_": lambda x: x.normal_(1, 0.5),
    "exponential_": lambda x: x.exponential_(2.0),
    "randperm": lambda x: torch.randperm(x.numel()),
    "cauchy_": lambda x: x.cauchy_(1, 2),
    "log_normal_": lambda x: x.log_normal_(0.5, 0.25),
    "geometric_": lambda x: x.geometric_(0.3),
    "random_": lambda x: x.random_(),
    "random_ to": lambda x: x.random_(7),
    "random_ from": lambda x: x.random_(-3, 900),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "bernoulli_ of a row": lambda x: x.bernoulli_(torch.linspace(0, 1, x.size(-1)).to(x.dtype)),
    "bernoulli": lambda x: x.uniform_().bernoulli(),
    "dropout": lambda x: torch.native_dropout(x + 1, 0.4, True),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("name", DRAWING)
def test_drawing(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw() -> list[Any]:
        torch.manual_seed(7)
        made = [torch.zeros(3, 5, dtype=dtype), torch.zeros(6, 4, dtype=dtype).t()]
        drawn = [results(DRAWING[name](x)) for x in (*made, made[0][1:], torch.zeros(0, 2))]
        return drawn + [results(x) for x in made]

    planned = draw()
    with without_plans(monkeypatch):
        assert planned == draw()


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool], ids=str)
def test_drawing_whole_numbers(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw() -> list[Any]:
        torch.manual_seed(7)
        made = torch.zeros(3, 5, dtype=dtype)
        return [results(x) for x in (made.random_(), made.random_(1), made.bernoulli_(0.4))]

    planned = draw()
    with without_plans(monkeypatch):
        assert planned == draw()


def test_a_probability_above_one_is_refused_before_anything_is_written() -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="p_in"):
        x.bernoulli_(torch.tensor([1.0, 0.5, 1.5]))
    assert not x.any()


def test_drawing_in_place_counts_as_a_change() -> None:
    x, generator = torch.zeros(4), torch.Generator().manual_seed(5)
    first = x.uniform_(generator=generator).clone()
    assert x._version == 1
    assert torch.equal(first, torch.zeros(4).uniform_(generator=generator.manual_seed(5)))
    with pytest.raises(RuntimeError, match="range"):
        x.uniform_(2, 1)
    with pytest.raises(RuntimeError):
        torch.zeros(1).expand(4).uniform_()


def normalised(given: str, sizes: tuple[int, ...], dtype: Any) -> list[Any]:
    """Batch normalisation in training: the result, running statistics, gradients."""
    torch.manual_seed(3)
    x = torch.randn(*sizes, dtype=dtype, requires_grad=True)
    vectors = {name: torch.rand(6, dtype=dtype)[1:] + 0.5 for name in given.split()}
    for name in ("weight", "bias"):
        if name in vectors:
            vectors[name].requires_grad_()
    mean, var = vectors.get("mean"), vectors.get("var")
    parameters = vectors.get("weight"), vectors.get("bias")
    result = torch.nn.functional.batch_norm(x, mean, var, *parameters, True, 0.3)
    result.backward(torch.randn(*sizes, dtype=dtype))
    leaves = [x, *(each for each in parameters if each is not None)]
    statistics = [each for each in (mean, var) if each is not None]
    return [result.detach(), *statistics, *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("given", ["", "weight", "bias", "weight bias mean var", "mean var", "var"])
@pytest.mark.parametrize("sizes", [(6, 5), (2, 5, 3), (3, 5, 4, 2)], ids=str)
def test_batch_norm(
    sizes: tuple[int, ...], given: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = results(normalised(given, sizes, dtype))
    with without_plans(monkeypatch):
        assert planned == results(normalised(given, sizes, dtype))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(6, 5), (5,), (2, 5, 3), (2, 5, 4, 2)], ids=str)
def test_losses(
    sizes: tuple[int, ...],
    weighted: bool,
    reduction: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = getattr(torch.nn.functional, name)
    weight = torch.linspace(0.5, 2, 5) if weighted else None
    target = places_in(5, *sizes[:1] * (len(sizes) > 1), *sizes[2:])

    def loss() -> list[Any]:
        torch.manual_seed(1)
        x = torch.randn(*sizes, requires_grad=True)
        out = function(x, target, weight, ignore_index=2, reduction=reduction)
        out.backward(torch.rand_like(out))
        with pytest.raises(IndexError, match="Target 5 is out of bounds"):
            function(x, target * 0 + 5)
        return results([out.detach(), x.grad])

    planned = loss()
    with without_plans(monkeypatch):
        assert planned == loss()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("given", ["", "weight", "bias", "weight bias"])
@pytest.mark.parametrize("sizes", [(6, 5), (5,), (2, 3, 4, 5)], ids=str)
def test_layer_norm(
    sizes: tuple[int, ...], given: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def normalise() -> list[Any]:
        torch.manual_seed(3)
        leaves = [torch.randn(*sizes, dtype=dtype), *(torch.rand(5, dtype=dtype) for _ in "wb")]
        for leaf in leaves:
            leaf.requires_grad_()
        names = zip(("weight", "bias"), leaves[1:], strict=True)
        parameters = [each if name in given.split() else None for name, each in names]
        result = torch.nn.functional.layer_norm(leaves[0], (5,), *parameters)
        result.backward(torch.randn(*sizes, dtype=dtype))
        grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
        return results([result.detach(), *grads])

    planned = normalise()
    with without_plans(monkeypatch):
        assert planned == normalise()


def test_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [tied(9, 4), tied(4, 9).t(), tied(20, 4)[5:]]

    def look_up() -> list[Any]:
        indices = places_in(9, 3, 2), places_in(9), places_in(9, 0)
        return results([torch.nn.functional.embedding(i, w) for i in indices for w in weights])

    planned = look_up()
    with without_plans(monkeypatch):
        assert planned == look_up()
    with pytest.raises(IndexError):
        torch.nn.functional.embedding(torch.tensor([9]), weights[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(torch, name)

    def soften() -> list[Any]:
        found = []
        for make in (lambda: tied(*SHAPE), lambda: tied(7, 5, 7)[1:], lambda: tied(5)):
            for dim in range(-1, make().ndim):
                x = make().nan_to_num(0.5, 2, -9).to(dtype).requires_grad_()
                result = function(x, dim)
                result.backward(torch.linspace(-1, 1, x.numel(), dtype=dtype).view(x.shape))
                found += [result.detach(), x.grad]
        return results(found)

    planned = soften()
    with without_plans(monkeypatch):
        assert planned == soften()
