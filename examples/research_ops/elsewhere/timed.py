"""What each system's file runs: one operator's first call and step, then steady ones, as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Pair = tuple[Callable[[], Any], Callable[[], list[Any]]]
ROUNDS = 25


def arguments(name: str) -> tuple[Any, ...]:
    """The arguments of an operator as NumPy arrays and numbers, the same in each system."""
    random = np.random.default_rng(0)

    def normal(*sizes: int) -> Any:
        return random.standard_normal(sizes).astype(np.float32)

    if name == "rms_norm_gated":
        return normal(512, 1024), normal(512, 1024), normal(1024)
    if name == "local_correlation":
        return normal(2, 32, 64, 96), normal(2, 32, 64, 96), 8
    return normal(200_000), np.arange(200_000, dtype=np.int64) * 7 % 200_000 % 5_000, 5_000


def run(make: Callable[[str, tuple[Any, ...]], Pair]) -> None:
    """make(name, arguments): a call, and a step that gives the gradients of a sum of squares / 2.

    What it imports, and starts, is no part of the first call; what it compiles is.
    """
    name = sys.argv[1]
    given = arguments(name)
    call, step = make(name, given)
    start = time.perf_counter()
    result = np.asarray(call())
    first = time.perf_counter() - start
    start = time.perf_counter()
    gradients = [np.asarray(each) for each in step()]
    first_step = time.perf_counter() - start
    sums = [float(np.abs(each).sum(dtype=np.float64)) for each in (result, *gradients)]
    times = [_best(call), _best(step)]
    print(json.dumps({"first": first, "first_step": first_step, "times": times, "sums": sums}))


def _best(function: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best
