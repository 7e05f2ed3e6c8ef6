"""Two threads in three situations: by themselves, in turns with PyTorch's, and after a pause.

A worker thread that has nothing to do waits awake for a while, in every library. While another
library's threads wait so, ours find their processors taken; after a pause they have to be woken.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import torch

from benchmarks import placing
from benchmarks.case import Call, Case, normal, statement
from benchmarks.report import geometric_mean

TITLE = "Two threads by themselves, in turns, and after a pause"
THREADS = 2
CALLS_PER_ROUND = 20
REST = 0.05
"""Seconds after which no thread of a library waits awake any more."""
PAUSE = 0.005

SQUARE = normal(1024, 1024)
CASES: list[Case] = [
    *(
        statement(text, x=SQUARE)
        for text in ("-x", "x.abs()", "x.relu()", "x.reciprocal()", "x.sigmoid()", "x.exp()")
    ),
    statement("x + y", x=SQUARE, y=SQUARE),
    statement("x + y", x=SQUARE, y=normal(1024)),
    statement("x + y", x=SQUARE, y=normal(1024, 1)),
    statement("x.double()", x=SQUARE),
    *(
        statement(text, x=SQUARE)
        for text in ("x.sum()", "x.mean()", "x.prod()", "x.sum(1)", "x.sum(0)", "x.max()")
    ),
    statement("torch.softmax(x, 1)", x=SQUARE),
    statement("torch.cat([x, y])", x=SQUARE, y=SQUARE),
    statement("x + y", x=normal(1 << 16), y=normal(1 << 16)),
    statement("torch.mm(a, b)", a=normal(256, 256), b=normal(256, 256)),
]


def table(rounds: int) -> list[str]:
    """The page's lines."""
    ours: Any = importlib.import_module("torchgen_out")
    for library in (ours, torch):
        library.set_num_threads(THREADS)
    placing.separate_threads()
    lines = [
        "| case | sizes | by itself, us | PyTorch | ratio | in turns, us | PyTorch | ratio | "
        "after a pause, us | PyTorch | ratio |",
        "|---|---|" + "--:|" * 9,
    ]
    ratios: list[list[float]] = []
    for case in CASES:
        calls = [case.make(library).call for library in (ours, torch)]
        times = [situation(calls, rounds) for situation in (_alone, _in_turns, _after_pauses)]
        ratios.append([own / other for own, other in times])
        cells = chain.from_iterable(
            (f"{own * 1e6:,.0f}", f"{other * 1e6:,.0f}", f"{own / other:.2f}")
            for own, other in times
        )
        lines.append(f"| {case.name} | {case.sizes} | {' | '.join(cells)} |")
    means = [f"{geometric_mean(column):.2f}" for column in zip(*ratios, strict=True)]
    lines.append(f"| geometric mean | | | | {' | | | '.join(means)} |")
    return lines


def _alone(calls: Sequence[Call], rounds: int) -> list[float]:
    """The median of calls of one library that follow one another."""
    found = []
    for call in calls:
        time.sleep(REST)
        found.append(_median([_seconds(call) for _ in range(rounds * CALLS_PER_ROUND)]))
    return found


def _in_turns(calls: Sequence[Call], rounds: int) -> list[float]:
    """The median of calls of both libraries, one call of each at a time."""
    pairs = [[_seconds(call) for call in calls] for _ in range(rounds * CALLS_PER_ROUND)]
    return [_median(taken) for taken in zip(*pairs, strict=True)]


def _after_pauses(calls: Sequence[Call], rounds: int) -> list[float]:
    """The median of calls of one library that follow a pause each."""

    def rested(call: Call) -> float:
        time.sleep(PAUSE)
        return _seconds(call)

    found = []
    for call in calls:
        time.sleep(REST)
        found.append(_median([rested(call) for _ in range(rounds * CALLS_PER_ROUND // 2)]))
    return found


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _median(taken: Sequence[float]) -> float:
    """Without the first tenth, in which threads start."""
    return statistics.median(taken[len(taken) // 10 :])
