"""What functions of numbers remember."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out._runtime.core import cached


def test_plain_arguments_are_told_apart_by_value_and_type() -> None:
    asked: list[Any] = []

    @cached.cached_by_numbers
    def find(*given: Any) -> int:
        asked.append(given)
        return len(asked)

    calls: list[tuple[Any, ...]] = [
        (1, None),
        (True, None),
        (1.0, None),
        ("1", None),
        ([1], None),
        ((1,), None),
        ([1.0], None),
        ([1, 2], 3),
        ([1], [2, 3]),
        (torch.Size((1,)), None),
    ]
    first = [find(*call) for call in calls]
    assert len(set(first)) == len(calls)
    assert [find(*call) for call in calls] == first
    assert asked[4] == ([1], None) and type(asked[4][0]) is list


def test_what_is_no_number_and_what_fails_is_asked_again() -> None:
    asked = 0

    @cached.cached_by_numbers
    def fail(*given: Any) -> None:
        nonlocal asked
        asked += 1
        if given == (1,):
            raise ValueError(given)

    for _ in range(2):
        with pytest.raises(ValueError, match="1"):
            fail(1)
        fail([torch.tensor(1)])
        fail({})
    assert asked == 6


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "KEPT", 4)
    asked: list[int] = []
    find = cached.cached_by_numbers(asked.append)
    for number in (*range(5), 0, 4):
        find(number)
    assert asked == [0, 1, 2, 3, 4, 0]
