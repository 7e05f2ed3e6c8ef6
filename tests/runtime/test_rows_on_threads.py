"""Kernels whose rows, channels or planes are shared by threads: any number gives the same result,
and none of them needs Python's own threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn.functional as F
from torchgen_out._runtime.kernels import threads

Tensor = Any


def tensor(*sizes: int, seed: int = 0, grad: bool = False) -> Tensor:
    """Normal numbers."""
    numbers = np.random.default_rng(seed).standard_normal(sizes)
    made = torch.from_numpy(numbers.astype(np.float32))
    return made.requires_grad_() if grad else made


def trained(function: Callable[..., Tensor], *sizes: tuple[int, ...]) -> list[Tensor]:
    """The result of a function of tensors of some sizes, and all gradients."""
    leaves = [tensor(*each, seed=i, grad=True) for i, each in enumerate(sizes)]
    result = function(*leaves)
    result.backward(tensor(*result.shape, seed=9))
    return [result.detach(), *(leaf.grad for leaf in leaves)]


def places(*sizes: int, below: int = 99) -> Tensor:
    """Whole numbers from 0 on."""
    return torch.from_numpy(np.random.default_rng(5).integers(0, below, sizes))


def seeded() -> Any:
    """A generator that always begins alike."""
    return torch.Generator().manual_seed(3)


def strided(*sizes: int) -> Tensor:
    """Every second element of a tensor."""
    return tensor(*sizes[:-1], 2 * sizes[-1])[..., ::2]


NORMS: dict[str, Callable[[], list[Tensor]]] = {
    "layer_norm": lambda: trained(
        lambda x, w, b: F.layer_norm(x, (19,), w, b), (103, 19), (19,), (19,)
    ),
    "layer_norm, no bias": lambda: trained(
        lambda x, w: F.layer_norm(x, (3, 19), w), (41, 3, 19), (3, 19)
    ),
    "layer_norm, strided": lambda: [F.layer_norm(strided(41, 19), (19,))],
    "group_norm": lambda: trained(
        lambda x, w, b: F.group_norm(x, 3, w, b), (5, 6, 7, 3), (6,), (6,)
    ),
    "group_norm, strided": lambda: [F.group_norm(strided(5, 6, 11), 2)],
    "batch_norm": lambda: trained(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (5, 7, 11), (7,), (7,)
    ),
    "batch_norm of rows": lambda: trained(
        lambda x, w: F.batch_norm(x, None, None, w, None, True), (41, 13), (13,)
    ),
    "batch_norm, running": lambda: trained(
        lambda x: F.batch_norm(x, tensor(13), tensor(13).abs(), None, None, False), (5, 13, 3)
    ),
    "batch_norm, strided": lambda: [F.batch_norm(strided(5, 7, 11), None, None, training=True)],
    "instance_norm": lambda: trained(F.instance_norm, (3, 5, 23)),
}
COPIES: dict[str, Callable[[], list[Tensor]]] = {
    "clone": lambda: [tensor(3, 50_001).clone()],
    "copy_": lambda: [torch.empty(3, 50_001).copy_(tensor(3, 50_001))],
    "copy_ into a transpose": lambda: [torch.empty(19, 31).t().copy_(tensor(31, 19))],
    "clone, strided": lambda: [strided(31, 19).clone(), tensor(31, 19)[:, 3:].contiguous()],
    "fill_": lambda: [torch.empty(3, 50_001).fill_(2.5), torch.empty(3, 50_001).zero_()],
    "casts": lambda: [
        (100 * tensor(31, 17)).to(own).to(wanted) for own in DTYPES for wanted in DTYPES
    ],
    "casts, strided": lambda: [strided(31, 17).long().t().float(), strided(31, 17).int().bool()],
}
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.bool)
MOVES: dict[str, Callable[[], list[Tensor]]] = {
    "cat": lambda: [torch.cat([tensor(31, 7), tensor(31, 11)], dim) for dim in (1, -1)],
    "cat, first dim": lambda: [torch.cat([tensor(7, 31), tensor(3, 31), tensor(1, 31)])],
    "cat of three": lambda: [torch.cat([tensor(7, n) for n in (9, 31, 40)], 1)],
    "cat, strided": lambda: [torch.cat([strided(7, 31), tensor(31, 7).t()])],
    "cat of bool": lambda: [torch.cat([tensor(9, 31) > 0, tensor(9, 31) > 1], 1)],
    "stack": lambda: [torch.stack([tensor(7, 31), tensor(7, 31, seed=1)], dim) for dim in range(3)],
    "stack into": lambda: [
        torch.stack([tensor(7, 31), tensor(7, 31)], out=torch.empty(2, 7, 62)[..., ::2])
    ],
    "flip": lambda: [tensor(7, 9, 11).flip(*dims) for dims in ((0,), (1,), (2,), (0, 1), (0, 2))],
    "flip, strided": lambda: [strided(9, 31).flip(0), strided(9, 31).flip(1)],
    "roll": lambda: [tensor(7, 9, 11).roll(3, dim) for dim in (0, 1, 2)] + [tensor(7, 99).roll(50)],
    "roll, strided": lambda: [strided(9, 31).roll((2, 3), (0, 1)), strided(9, 31).roll(100)],
    "repeat": lambda: [tensor(7, 11).repeat(2, 3), strided(7, 11).repeat(3, 1, 2)],
    "repeat_interleave": lambda: [
        tensor(9, 31).repeat_interleave(n, dim) for n in (2, 3) for dim in (None, 0, 1)
    ],
    "repeat_interleave of bool": lambda: [(tensor(9, 31) > 0).repeat_interleave(2, 1)],
    "pad": lambda: [
        F.pad(tensor(3, 9, 11), pad, value=2.0)
        for pad in ((1, 2), (1, 2, 3, 0), (1, 1, 1, 1, 1, 1), (-2, 3))
    ],
    "tril": lambda: [tensor(3, 9, 11).tril(n) for n in (-2, 0, 5)],
    "triu": lambda: [tensor(3, 9, 11).triu(n) for n in (-2, 0, 5)] + [strided(9, 31).triu()],
    "cumsum": lambda: [tensor(9, 31).cumsum(1), strided(31, 9).cumsum(1), tensor(9, 31).cumsum(0)],
    "logcumsumexp": lambda: [tensor(9, 31).logcumsumexp(1), tensor(9, 31).cumprod(1)],
    "cross": lambda: [
        tensor(99, 3).cross(tensor(99, 3).flip(0), 1),
        tensor(7, 3, 50).cross(tensor(7, 3, 50).flip(0), 1),
    ],
}
POOLS: dict[str, Callable[[], list[Tensor]]] = {
    "max_pool2d": lambda: trained(lambda x: F.max_pool2d(x, 2), (3, 5, 20, 24)),
    "max_pool2d, large windows": lambda: trained(
        lambda x: F.max_pool2d(x, 5, 3, 2), (3, 5, 21, 25)
    ),
    "max_pool2d, strided": lambda: [F.max_pool2d(strided(3, 5, 20, 24), 3, 2, 1)],
    "max_pool1d": lambda: [F.max_pool1d(tensor(3, 50, 240), 2)],
    "avg_pool2d": lambda: trained(lambda x: F.avg_pool2d(x, 3, 2, 1), (3, 5, 20, 24)),
    "avg_pool2d, large windows": lambda: trained(lambda x: F.avg_pool2d(x, 5), (3, 5, 25, 25)),
    "avg_pool3d": lambda: trained(lambda x: F.avg_pool3d(x, 2), (3, 5, 8, 10, 12)),
    "adaptive_avg_pool2d": lambda: trained(
        lambda x: F.adaptive_avg_pool2d(x, (3, 2)), (5, 40, 7, 9)
    ),
    "adaptive_avg_pool2d, whole": lambda: trained(
        lambda x: F.adaptive_avg_pool2d(x, 1), (5, 40, 7, 9)
    ),
    "interpolate, larger": lambda: trained(
        lambda x: F.interpolate(x, (70, 50), mode="bicubic"), (3, 2, 40, 24)
    ),
    "interpolate, smaller": lambda: trained(
        lambda x: F.interpolate(x, (37, 11), mode="bilinear", antialias=True), (3, 2, 60, 24)
    ),
    "adaptive_max_pool2d": lambda: trained(
        lambda x: F.adaptive_max_pool2d(x, (3, 2)), (5, 40, 7, 9)
    ),
}
INDEXING: dict[str, Callable[[], list[Tensor]]] = {
    "index_select": lambda: [
        tensor(7, 30, 11).index_select(dim, places(300, below=7)) for dim in range(3)
    ],
    "index_select of a vector": lambda: [tensor(7).index_select(0, places(300, below=7))],
    "index_select, strided": lambda: [strided(7, 9, 31).index_select(1, places(30, below=9))],
    "index": lambda: trained(lambda x: x[places(300, below=7)], (7, 5)),
    "take": lambda: [
        tensor(30, 11).take(places(300, below=330) - 1),
        strided(9, 31).take(places(99)),
    ],
    "gather": lambda: [
        tensor(30, 41, 3).gather(dim, places(30, 41, 3, below=3)) for dim in range(3)
    ],
    "scatter": lambda: [
        tensor(30, 41, 3).scatter(dim, places(30, 41, 3, below=3), 2.0) for dim in range(3)
    ],
    "scatter_add": lambda: trained(
        lambda x, y: x.scatter_add(1, places(30, 41, 3, below=41), y), (30, 41, 3), (30, 41, 3)
    ),
    "scatter_add, first dim": lambda: [
        tensor(9, 99).scatter_add(0, places(9, 99, below=9), tensor(9, 99))
    ],
    "scatter_add in place, strided": lambda: [
        strided(9, 99).scatter_add_(1, places(9, 99, below=99), tensor(9, 99))
    ],
    "index_add": lambda: [
        tensor(30, 41, 3).index_add(dim, places(n, below=3), tensor(30, 41, 3))
        for dim, n in enumerate((30, 41, 3))
    ],
    "index_put": lambda: [
        tensor(9, 99).index_put((places(50, below=9),), tensor(99), accumulate=each)
        for each in (False, True)
    ],
    "embedding": lambda: trained(lambda w: F.embedding(places(9, 31, below=30), w, 3), (30, 41)),
    "embedding by frequency": lambda: trained(
        lambda w: F.embedding(places(9, 31, below=30), w, scale_grad_by_freq=True), (30, 41)
    ),
    "topk": lambda: [
        each for largest in (True, False) for each in tensor(50, 300).topk(2, largest=largest)
    ],
    "masked_fill": lambda: [tensor(9, 99).masked_fill(tensor(99) > 0, 2.0)],
}
EXPONENTIALS: dict[str, Callable[[], list[Tensor]]] = {
    "softmax": lambda: trained(lambda x: x.softmax(-1), (41, 13)),
    "softmax of columns": lambda: trained(lambda x: x.softmax(1), (5, 13, 7)),
    "log_softmax": lambda: trained(lambda x: x.log_softmax(-1), (41, 13)),
    "log_softmax of columns": lambda: trained(lambda x: x.log_softmax(1), (5, 13, 7)),
    "softmax, strided": lambda: [strided(41, 13).softmax(1), strided(5, 13, 7).log_softmax(1)],
    "logsumexp": lambda: [
        tensor(5, 13, 7).logsumexp(dim) for dim in (0, 1, 2, (0, 1), (1, 2), (0, 2))
    ],
    "cross_entropy": lambda: [
        each
        for reduction in ("mean", "sum", "none")
        for each in trained(
            lambda x: F.cross_entropy(x, places(41, below=13), reduction=reduction),  # noqa: B023
            (41, 13),
        )
    ],
    "cross_entropy, weights": lambda: trained(
        lambda x: F.cross_entropy(x, places(41, below=13), tensor(13).abs(), ignore_index=3),
        (41, 13),
    ),
    "cross_entropy, strided": lambda: [F.cross_entropy(strided(41, 13), places(41, below=13))],
}
DRAWS: dict[str, Callable[[], list[Tensor]]] = {
    "draws": lambda: [
        drawn
        for dtype in (torch.float32, torch.float64)
        for drawn in (
            torch.empty(1001, dtype=dtype).uniform_(-1, 1, generator=seeded()),
            torch.empty(1001, dtype=dtype).normal_(1, 2, generator=seeded()),
            torch.empty(1001, dtype=dtype).exponential_(2, generator=seeded()),
            torch.empty(1001, dtype=dtype).bernoulli_(0.3, generator=seeded()),
            torch.empty(1001, dtype=dtype).random_(generator=seeded()),
        )
    ],
    "draws of whole numbers": lambda: [
        torch.empty(1001, dtype=torch.int64).random_(*bounds, generator=seeded())
        for bounds in ((), (7,), (-(2**40), 2**40))
    ],
    "draws, strided": lambda: [strided(9, 99).normal_(generator=seeded())],
    "dropout": lambda: torch.manual_seed(1) and [torch.dropout(tensor(41, 99), 0.3, True)],
}
CASES = {**DRAWS, **NORMS, **COPIES, **MOVES, **POOLS, **INDEXING, **EXPONENTIALS}


@pytest.fixture(autouse=True)
def small_grain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little work is shared, but never by Python's threads."""

    def refuse(kernel: Any, calls: Any) -> None:
        pytest.fail(f"{kernel} is called by Python's threads")

    monkeypatch.setattr(threads, "GRAIN", 64)
    monkeypatch.setattr(threads, "_run_in_pool", refuse)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_any_number_of_threads(
    case: Callable[[], list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = None
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_threads", count)
        found = [each.numpy() for each in case()]
        expected = expected or found
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("bad", [0, 150, 299])
def test_a_place_outside_is_found(count: int, bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_threads", count)
    index = places(300, below=7)
    index[bad] = 7
    with pytest.raises(IndexError):
        tensor(7).take(index)
    with pytest.raises(RuntimeError):
        tensor(7, 300).scatter_add(0, index[None], tensor(1, 300))


@pytest.mark.parametrize("own", ["float32", "float64", "float16"])
@pytest.mark.parametrize("wanted", ["int64", "int32", "bool"])
def test_casts_of_any_length_agree(own: str, wanted: str) -> None:
    """Few elements are cast by NumPy, many by loops: also those that no integer is near to."""
    odd = [np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 2.0**63, 2.5, -2.5, -0.0, 1e-40]
    few = torch.from_numpy(np.array(odd)).to(getattr(torch, own))
    many = few.repeat(2 * 64)
    cast = many.to(getattr(torch, wanted)).reshape(-1, len(odd))
    assert (cast == few.to(getattr(torch, wanted))).all()
