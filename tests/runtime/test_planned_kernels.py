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

    def make(table: Any, geometry: Any, args: Any, operands: Any, plain: Any) -> Any:
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
    """Bits of all tensors of an answer, and their shapes."""
    tensors = found if isinstance(found, (tuple, list)) else [found]
    return [(each.shape, each.dtype, each.numpy().tobytes()) for each in tensors]


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
