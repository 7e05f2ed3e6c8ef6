"""Results that are streamed past the caches have the bits of those that are stored as usual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels import threads, workers
from torchgen_out._runtime.kernels.cpu import streaming
from torchgen_out._runtime.kernels.machine.worker_text import ROWS

SIZES = (1 << 19, (1 << 19) + 1, 700_001)
"""Whole blocks, one element more, and a part of a block; of one byte each, memory begins a line."""

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "one input": lambda x, y: -x,
    "two inputs": lambda x, y: x + y,
    "a number": lambda x, y: x * 1.5,
    "one element for all": lambda x, y: x + y[:1],
    "a wider result": lambda x, y: x.double(),
    "a narrower result": lambda x, y: x < y,
    "sixteen bits": lambda x, y: x.half() * y.half(),
    "over an input": lambda x, y: x.clone().mul_(y),
    "out= that is an input": lambda x, y: torch.add(x, y, out=x),
    "out= that begins within a line": lambda x, y: torch.add(x, y, out=torch.zeros(len(x) + 1)[1:]),
    "several results": lambda x, y: torch.stack(torch.frexp(x * y)[:1]),
}


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Have all sizes streamed; whether each call that was asked for was."""
    seen: list[bool] = []
    stream = streaming.stream

    def noted(*args: Any) -> bool:
        seen.append(stream(*args))
        return seen[-1]

    monkeypatch.setattr(streaming, "stream", noted)
    monkeypatch.setattr(streaming, "LEAST", 1)
    monkeypatch.setattr(streaming, "pays", lambda nbytes: True)
    yield seen


def _operands(size: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(size)
    return tuple(torch.tensor(generator.standard_normal(size, np.float32)) for _ in range(2))


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("name", CALLS)
def test_streamed_results_are_equal(name: str, threads: int, streamed: list[bool]) -> None:
    call, before = CALLS[name], torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        for size in SIZES:
            with pytest.MonkeyPatch.context() as plain:
                plain.setattr(streaming, "LEAST", 1 << 60)
                expected = call(*_operands(size)).numpy()
            assert np.array_equal(call(*_operands(size)).numpy(), expected)
    finally:
        torch.set_num_threads(before)


def test_calls_are_streamed_but_over_their_input_and_from_within_a_line(
    streamed: list[bool],
) -> None:
    x, y = _operands(SIZES[0])
    for name in ("one input", "two inputs", "a narrower result"):
        CALLS[name](x, y)  # the first of a process works out how the others are made
        streamed.clear()
        CALLS[name](x, y)
        assert streamed == [True], name
    streamed.clear()
    x.mul_(y)
    assert streamed == []
    torch.add(x[1:], y[1:], out=torch.zeros(x.numel())[1:])
    assert streamed == [False]


def test_gradients_of_two_inputs_are_streamed(streamed: list[bool]) -> None:
    x, y = (each.requires_grad_() for each in _operands(SIZES[2]))
    (x * y).backward(y.detach())
    assert any(streamed)
    found = x.grad.numpy(), y.grad.numpy()
    a, b = x.detach().numpy().astype(np.float64), y.detach().numpy().astype(np.float64)
    for grad, expected in zip(found, (b * b, a * b), strict=True):
        np.testing.assert_allclose(grad, expected, rtol=1e-5)


def test_small_sizes_are_never_streamed_and_large_ones_without_a_trial() -> None:
    streaming._trials.clear()
    assert streaming.pays(streaming.ALWAYS)
    assert not streaming._trials
    assert streaming.pays(streaming.LEAST) in (True, False)
    assert len(streaming._trials) == 1


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([False, True], [False, False, False, False]),
        ([True, False], [True, False, False, False]),
        ([True, True, True, False], [True, True, True, True]),
    ],
)
def test_a_size_is_streamed_for_good_when_it_has_won_several_trials(
    answers: list[bool], expected: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_trials", {})
    monkeypatch.setattr(streaming, "_wins", lambda *size: answers.pop(0))
    monkeypatch.setattr(streaming, "APART", 60)
    assert streaming.pays(streaming.LEAST) == expected[0]
    left = len(answers)
    assert streaming.pays(streaming.LEAST) == expected[0]  # too soon for another
    assert len(answers) == left
    monkeypatch.setattr(
        streaming, "_trials", {size: (won, 0) for size, (won, _) in streaming._trials.items()}
    )
    monkeypatch.setattr(streaming, "APART", 0)
    assert [streaming.pays(streaming.LEAST) for _ in expected[1:]] == expected[1:]


def test_a_trial_has_both_ways_on_as_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    split = workers.run_split
    plain: list[int] = []
    streamed: list[int] = []

    def note(native: Any, how: int, parts: int, *others: Any) -> Any:
        (plain if how == ROWS else streamed).append(parts)
        return split(native, how, parts, *others)

    monkeypatch.setattr(workers, "run_split", note)
    streaming._trials.clear()
    for count in (2, 3):
        monkeypatch.setattr(threads, "_threads", count)
        streaming.pays(streaming.LEAST)
        assert len(plain) == len(streamed) > 0
        assert {*plain, *streamed} == {count}
        plain.clear()
        streamed.clear()
