"""Folds over ranges that tensors tell: values beside NumPy's, gradients, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.research_package import generated
from tests.ruff import accept
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck

Array = Any
F64 = torch.float64


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("ranges")
    with generated(folder, "ranges_ops", Path(__file__).parent, "ranges") as package:
        yield package


# -- what is expected ---------------------------------------------------------------------------


def row_products(start: Array, other: Array, value: Array, x: Array) -> Array:
    rows = np.zeros((len(start) - 1, x.shape[1]))
    for i in range(len(rows)):
        for e in range(start[i], start[i + 1]):
            rows[i] += value[e] * x[other[e]]
    return rows


def graph_attention(start: Array, other: Array, left: Array, right: Array, x: Array) -> Array:
    rows = np.zeros((len(start) - 1, x.shape[1]))
    for i in range(len(rows)):
        near = other[start[i] : start[i + 1]]
        score = left[i] + right[near]
        weight = np.exp(np.where(score > 0, score, 0.2 * score))
        rows[i] = weight / weight.sum() @ x[near]
    return rows


def range_folds(first: Array, end: Array, x: Array) -> tuple[Array, ...]:
    batch, columns = x.shape[:-2], x.shape[-1]
    first, end = (np.broadcast_to(each, (*batch, each.shape[-1])) for each in (first, end))
    found = np.zeros((4, *first.shape, columns))
    for at in np.ndindex(first.shape):
        part = x[at[:-1]][first[at] : end[at]]
        with np.errstate(invalid="ignore"):
            middle = part.sum(0) / len(part) if len(part) else np.nan
        total, high = part.sum(0), part.max(0, initial=-np.inf)
        for n, each in enumerate((total, middle, high, part.prod(0))):
            found[(n, *at)] = each
    return tuple(found)


def range_best(start: Array, x: Array) -> tuple[Array, ...]:
    parts = [x[start[r] : start[r + 1]] for r in range(len(start) - 1)]
    at = [s + int(p.argmax()) if len(p) else 0 for s, p in zip(start, parts, strict=False)]
    own = [s + int(p.argmin()) + 1 if len(p) else 0 for s, p in zip(start, parts, strict=False)]
    most = np.iinfo(x.dtype).max if x.dtype.kind == "i" else np.inf
    return np.array(at), np.array(own), np.array([p.min(initial=most) for p in parts])


def nearby(x: Array, behind: int) -> Array:
    columns = range(x.shape[-1])
    parts = [(x[..., max(t - 2, 0) : max(t + behind, 0)] ** 2).sum(-1) for t in columns]
    return np.stack(parts, -1)


def range_pairs(start: Array, key: Array, x: Array, w: Array, count: int) -> Array:
    out = np.zeros((count, x.shape[1]))
    for r in range(len(start) - 1):
        for k in range(start[r], start[r + 1]):
            out[key[k]] += x[k] * w[r]
    return out


EXPECTED: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (row_products, graph_attention, range_folds, range_best, nearby, range_pairs)
}


def _ints(*values: Any) -> Any:
    return torch.tensor(values)


def _randn(*sizes: int) -> Any:
    return torch.randn(*sizes, dtype=F64)


START = (0, 3, 3, 4, 40, 50)
"""An empty range, a short one, and one that threads of a device share."""


def _others(count: int, below: int) -> Any:
    return torch.arange(count) * 7 % below


CALLS: dict[str, list[Callable[[], tuple[Any, ...]]]] = {
    "row_products": [
        lambda: (_ints(*START), _others(50, 6), _randn(50), _randn(6, 37)),
        lambda: (_ints(*START), _others(50, 6), _randn(50), _randn(37, 6).t()),
        lambda: (_ints(*START).to(torch.int32), _others(50, 6), _randn(50), _randn(6, 1)),
        lambda: (_ints(4, 2, 7), _others(9, 4), _randn(9), _randn(4, 3)),
        lambda: (_ints(0), _others(3, 4), _randn(3), _randn(4, 3)),
        lambda: (_ints(0, 0), _others(0, 4), _randn(0), _randn(4, 3)),
    ],
    "graph_attention": [
        lambda: (_ints(0, 3, 4, 40, 50), _others(50, 4), _randn(4), _randn(4), _randn(4, 5)),
    ],
    "range_folds": [
        lambda: (_ints(0, 3, 3, 9), _ints(3, 3, 6, 50), _randn(50, 5)),
        lambda: (_ints(6, 2), _ints(2, 5), _randn(2, 9, 3)),
        lambda: (_ints([0, 4], [1, 2]), _ints([3, 6], [2, 9]), _randn(2, 9, 3)),
    ],
    "range_best": [
        lambda: (_ints(*START), _randn(50)),
        lambda: (_ints(*START), _others(50, 11) - 20),
    ],
    "nearby": [lambda: (_randn(2, 9), 2), lambda: (_randn(9), 0), lambda: (_randn(3), 9)],
    "range_pairs": [
        lambda: (_ints(*START), _others(50, 6), _randn(50, 3), _randn(5), 6),
    ],
}


def made(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", CALLS)
def test_values(ops: Any, name: str) -> None:
    torch.manual_seed(0)
    for call in CALLS[name]:
        given = call()
        wanted = made(
            EXPECTED[name](*(a.numpy() if isinstance(a, torch.Tensor) else a for a in given))
        )
        found = made(getattr(ops, name)(*given))
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["row_products", "graph_attention", "nearby", "range_pairs"])
def test_gradients_of_two_orders(ops: Any, name: str) -> None:
    torch.manual_seed(0)
    for call in CALLS[name]:
        given = [
            a.requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
            for a in call()
        ]
        assert gradcheck(getattr(ops, name), tuple(given))
        if len(given[0]) < 5:
            assert gradgradcheck(getattr(ops, name), tuple(given))


def test_gradients_of_ranges_with_gaps(ops: Any) -> None:
    """What lies in none has none; ends of ranges are another tensor's."""
    x = _randn(2, 12, 3).requires_grad_()
    first, end = _ints(1, 4, 9), _ints(3, 9, 11)
    assert gradcheck(lambda x: ops.range_folds(first, end, x), (x,))
    own = _ints([1, 4, 9], [0, 2, 3]), _ints([3, 9, 11], [1, 3, 12])
    assert gradcheck(lambda x: ops.range_folds(*own, x), (x,))
    total = ops.range_folds(first, end, x)[0].sum()
    (slope,) = torch.autograd.grad(total, x)
    np.testing.assert_array_equal(slope[0, :, 0].numpy(), [0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0])


@pytest.mark.parametrize("start", [(0, 4, 10), (-1, 2, 3), (0, 1 << 40, 3), (-(1 << 62), 0)])
def test_a_bound_outside_is_refused(ops: Any, start: tuple[int, ...]) -> None:
    """Before anything is read there: bounds are looked at as places are."""
    with pytest.raises(IndexError, match="row_products: index out of range"):
        ops.row_products(_ints(*start), _others(9, 4), _randn(9), _randn(4, 3))


@pytest.mark.parametrize("start", [(0, 5, 3, 9), (0, 9, 0, 9)])
def test_gradients_of_ranges_that_overlap_are_refused(ops: Any, start: tuple[int, ...]) -> None:
    """Results are there for ranges of any order; which of them a number lies in is looked for."""
    given = _ints(*start), _others(9, 4), _randn(9), _randn(4, 3)
    found = ops.row_products(*given)
    np.testing.assert_allclose(found.numpy(), row_products(*(a.numpy() for a in given)), rtol=1e-12)
    with pytest.raises(IndexError, match="index out of range"):
        ops.row_products(*given[:2], given[2].requires_grad_(), given[3]).sum().backward()


def test_formatters_leave_the_package_as_it_is(ops: Any) -> None:
    accept(ops)
