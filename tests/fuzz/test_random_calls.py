"""Random calls of all operators beside guard pages, in processes of their own.

The quick tier draws what other tests have compiled already. For a longer run, of all dtypes and
layouts:

    TORCHGEN_FUZZ_CALLS=1000000 TORCHGEN_FUZZ_SEED=7 python -m pytest -m slow tests/fuzz
"""

from __future__ import annotations

import math
import os

import pytest

pytest.importorskip("torch")

from tests.fuzz import deviations, random_calls, running

CALLS = int(os.environ.get("TORCHGEN_FUZZ_CALLS", "20000"))
SEED = int(os.environ.get("TORCHGEN_FUZZ_SEED", "1"))
QUICK_CALLS = 700
BUDGET = 45.0
"""Processor seconds of the quick tier, which end it where kernels have still to be compiled."""
MOST_SHOWN = 20


def check(seed: int, count: int, tier: str, budget: float = math.inf) -> None:
    """Make the calls; fail with what was found, and how to call it again."""
    found = list(running.findings(seed, count, tier, budget=budget))
    shown = "\n\n".join(map(str, found[:MOST_SHOWN]))
    assert not found, f"{len(found)} of {count} calls:\n\n{shown}"


def test_random_calls() -> None:
    check(0, QUICK_CALLS, "quick", BUDGET)


@pytest.mark.slow
def test_many_random_calls() -> None:
    check(SEED, CALLS, "wide")


def test_a_call_is_drawn_again() -> None:
    """Also where only its operator is called: a call is found again by name and round."""
    first = random_calls.draw(3, 14, random_calls.WIDE)
    again = random_calls.draw(3, 0, random_calls.WIDE, [first.operator.name])
    assert str(first) == str(again)
    assert str(first) != str(random_calls.draw(4, 14, random_calls.WIDE))


def test_all_operators_are_called() -> None:
    assert len(random_calls.operators()) > 500


def test_a_process_that_dies_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that cannot even begin says so, too."""
    monkeypatch.setattr(running, "CHILD", "tests.fuzz.no_such_module")
    (found,) = running.findings(0, 5, "quick")
    assert found.kind == "died"


@pytest.mark.parametrize(
    ("operator", "kind", "what"),
    [("fill_", "internal", "KeyError: 3"), ("add", "died", "exit status -11"), ("mm", "value", "")],
)
def test_no_deviation_excuses_a_fault(operator: str, kind: str, what: str) -> None:
    assert deviations.reason_for(operator, kind, what, "") is None
