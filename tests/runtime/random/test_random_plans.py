"""Planned kernels that draw random numbers, against the kernels themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch
from tests.runtime.planned_ways import results, without_plans

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
