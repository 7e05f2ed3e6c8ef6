"""Runs random calls in child processes, and goes on where one of them dies."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.deviations import reason_for

CHILD = "tests.fuzz.child"
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, and in which call."""

    seed: int
    turn: int
    tier: str
    operator: str
    kind: str
    what: str
    call: str

    def __str__(self) -> str:
        numbers = f"{self.seed} {self.turn} {self.turn + 1}"
        again = f"python -m {CHILD} {numbers} {self.tier} inf {self.operator}"
        return f"{self.operator} {self.kind}: {self.what}\n    {self.call}\n    {again}"


def findings(
    seed: int, count: int, tier: str, names: Sequence[str] = (), budget: float = math.inf
) -> Iterator[Finding]:
    """All differences that no known deviation explains, and what ended a process.

    budget: the processor seconds after which a process makes no further call.
    """
    first = 0
    stop = count
    while first < stop:
        command = [sys.executable, "-m", CHILD, str(seed), str(first), str(stop), tier, str(budget)]
        last = {"number": first, "stage": "start", "operator": "", "turn": 0}
        with subprocess.Popen(
            [*command, *names],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                facts = json.loads(line)
                if "stage" in facts:
                    last = facts
                elif _is_new(facts):
                    yield Finding(seed=seed, tier=tier, **facts)
        if last["stage"] == "end":
            return
        if last["stage"] != "theirs":
            what = f"exit status {child.returncode} in stage '{last['stage']}'"
            yield Finding(seed, last["turn"], tier, last["operator"], "died", what, "")
        if last["stage"] == "start":
            return
        first = last["number"] + 1


def _is_new(facts: dict[str, Any]) -> bool:
    texts = facts["operator"], facts["kind"], facts["what"], facts["call"]
    return reason_for(*texts) is None
