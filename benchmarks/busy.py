"""Two threads on a machine of which one core is occupied by another process.

A parallel loop then waits for its slower half, in every library. What counts is how much slower a
call becomes than on the idle machine: the median of many, in turns with PyTorch.
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from benchmarks.case import Call, Case, normal, statement
from benchmarks.cases import training

TITLE = "Two threads while one core is occupied"
THREADS = 2
CALLS_PER_ROUND = 20
SPIN = "while True: pass"

CASES: list[Case] = [
    statement("x.exp()", x=normal(1 << 20)),
    statement("x + y", x=normal(1 << 22), y=normal(1 << 22)),
    statement("x.sum()", x=normal(1 << 22)),
    statement("torch.softmax(x, 1)", x=normal(1024, 1024)),
    statement("torch.mm(a, b)", a=normal(512, 512), b=normal(512, 512)),
    *training.CASES,
]


def table(rounds: int) -> list[str]:
    """The page's lines."""
    ours: Any = importlib.import_module("torchgen_out")
    for library in (ours, torch):
        library.set_num_threads(THREADS)
    calls = [[case.make(library).call for library in (ours, torch)] for case in CASES]
    idle = [_medians(pair, rounds) for pair in calls]
    with _occupied_core():
        busy = [_medians(pair, rounds) for pair in calls]
    lines = [
        "| case | sizes | ours idle, us | busy, us | times | PyTorch idle, us | busy, us | times |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for case, before, after in zip(CASES, idle, busy, strict=True):
        cells = [case.name, case.sizes]
        for quick, slow in zip(before, after, strict=True):
            cells += [f"{quick * 1e6:,.0f}", f"{slow * 1e6:,.0f}", f"{slow / quick:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _medians(calls: list[Call], rounds: int) -> list[float]:
    """The median time of each call, measured in turns."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            for _ in range(CALLS_PER_ROUND):
                start = time.perf_counter()
                call()
                taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


@contextmanager
def _occupied_core() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()
