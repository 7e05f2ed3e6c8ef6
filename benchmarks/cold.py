"""Compiling: the processor time that first calls and first steps take from an empty kernel cache.

Each process starts with an empty cache. What its compiler's process works is counted with it; the
import of Numba there, by the first kernel of all, is not, except in the rows of whole steps.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks import timing

TITLE = "Compiling, from an empty kernel cache"
MOST_ROUNDS = 3


class Kind(NamedTuple):
    """Operators whose kernels are alike: by the names of the calls in `_calls`, with their goal."""

    title: str
    goal: float
    calls: tuple[str, ...]


POINTWISE = "mul add div exp log sin tanh sigmoid erf gelu silu softplus sqrt pow where clamp eq "
POINTWISE += "relu atan2 lgamma"
ROWS = "sum sum_columns sum_all mean amax argmax prod var norm all softmax log_softmax layer_norm "
ROWS += "cumsum logsumexp"
OTHERS = "sort topk gather index_select scatter_add cat embedding cross_entropy batch_norm conv2d "
OTHERS += "max_pool2d avg_pool2d interpolate attention nonzero tril cdist"
KINDS = (
    Kind("pointwise, dense", 0.1, tuple(POINTWISE.split())),
    Kind("pointwise, broadcast", 0.1, ("mul_broadcast", "add_broadcast", "where_broadcast")),
    Kind("reductions and rows", 0.3, tuple(ROWS.split())),
    Kind("all else", 1.0, tuple(OTHERS.split())),
)
STEPS = (("a small CNN", 5.0), ("an LSTM", 3.0))
"""Models whose first training step is measured, with their goals in seconds."""


def table(rounds: int) -> list[str]:
    """The page's lines."""
    lines = [
        "Processor seconds, its children's included, per kernel that was compiled; of "
        f"{min(rounds, MOST_ROUNDS)} processes, the best for each operator.",
        "",
        "| kernels | operators | median | goal | slowest |",
        "|---|--:|--:|--:|--:|",
    ]
    found = [_in_process("kernels") for _ in range(min(rounds, MOST_ROUNDS))]
    best = {name: min(each[name] for each in found) for name in found[0]}
    for kind in KINDS:
        times = {name: best[name] for name in kind.calls if name in best}
        slowest = max(times, key=lambda name: times[name])
        median = _marked(statistics.median(times.values()), kind.goal)
        lines.append(
            f"| {kind.title} | {len(times)} | {median} | {kind.goal} | "
            f"{slowest} {_marked(times[slowest], 1.0)} |"
        )
    lines += ["", "| first training step | kernels | processor seconds | goal | seconds |"]
    lines += ["|---|--:|--:|--:|--:|"]
    for position, (title, goal) in enumerate(STEPS):
        tries = [_in_process(str(position)) for _ in range(min(rounds, MOST_ROUNDS))]
        step = min(tries, key=lambda each: each["processor"])
        lines.append(
            f"| {title} | {step['kernels']:.0f} | {_marked(step['processor'], goal)} | {goal} | "
            f"{step['seconds']:.2f} |"
        )
    return lines


def _marked(seconds: float, goal: float) -> str:
    return f"{seconds:.2f}" if seconds <= goal else f"**{seconds:.2f}**"


def _in_process(what: str, bytecode: Path) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**timing.environment(bytecode), "TORCHGEN_CACHE_DIR": folder}
        command = [sys.executable, "-m", "benchmarks.cold", what]
        run = subprocess.run(command, env=environment, check=True, capture_output=True)
    found: dict[str, float] = json.loads(run.stdout)
    return found


# In the process that is measured.


def _processor_seconds() -> float:
    """What this process and those that it has started have taken so far."""
    ended = os.times()
    total = time.process_time() + ended.children_user + ended.children_system
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            for thread in Path("/proc", child, "task").glob("*/schedstat"):
                with contextlib.suppress(OSError):  # it has ended meanwhile
                    total += int(thread.read_text().split()[0]) / 1e9
    return total


def _kernels(T: ModuleType) -> dict[str, float]:
    """Seconds per kernel that the first call of each operator compiles, if none before it did."""
    from torchgen_out._runtime.kernels.build import cache_counts

    calls = _calls(T)
    T.ones(8) - 1  # the compiler is there after that
    found = {}
    for kind in KINDS:
        for name in kind.calls:
            compiled, start = cache_counts()[1], _processor_seconds()
            calls[name]()
            taken = _processor_seconds() - start
            if cache_counts()[1] > compiled:
                found[name] = taken / (cache_counts()[1] - compiled)
    return found


def _calls(T: ModuleType) -> dict[str, Callable[[], Any]]:
    functional = T.nn.functional
    x, y = T.rand(100) + 0.5, T.rand(100) + 0.5
    rows, column = T.rand(24, 40), T.rand(24, 1)
    planes, weight = T.rand(2, 3, 12, 12), T.rand(4, 3, 3, 3)
    places, labels = T.randint(0, 24, (5, 40)), T.randint(0, 40, (24,))
    heads = T.rand(2, 2, 16, 8)
    return {
        "mul": lambda: x * y,
        "add": lambda: x + y,
        "div": lambda: x / y,
        "pow": lambda: x**y,
        "where": lambda: T.where(x > y, x, y),
        "clamp": lambda: x.clamp(0.2, 0.7),
        "eq": lambda: x == y,
        "atan2": lambda: T.atan2(x, y),
        **{
            name: _unary(T, name, x)
            for name in ["exp", "log", "sin", "tanh", "erf", "sqrt", "lgamma"]
        },
        **{name: _unary(functional, name, x) for name in ["gelu", "silu", "softplus", "relu"]},
        "sigmoid": lambda: T.sigmoid(x),
        "mul_broadcast": lambda: rows * column,
        "add_broadcast": lambda: rows + column,
        "where_broadcast": lambda: T.where(rows > column, rows, column),
        "sum": lambda: rows.sum(1),
        "sum_columns": lambda: rows.sum(0),
        "sum_all": lambda: rows.sum(),
        **{name: _over_rows(T, name, rows) for name in ["mean", "amax", "argmax", "prod", "var"]},
        **{name: _over_rows(T, name, rows) for name in ["softmax", "log_softmax", "cumsum"]},
        "logsumexp": lambda: T.logsumexp(rows, 1),
        "norm": lambda: rows.norm(dim=1),
        "all": lambda: (rows > 0).all(1),
        "layer_norm": lambda: functional.layer_norm(rows, (40,)),
        "sort": lambda: rows.sort(1),
        "topk": lambda: rows.topk(3, 1),
        "gather": lambda: rows.gather(0, places),
        "index_select": lambda: rows.index_select(0, places[0]),
        "scatter_add": lambda: T.zeros(24, 40).scatter_add(0, places, rows[:5]),
        "cat": lambda: T.cat([rows, rows], 1),
        "embedding": lambda: functional.embedding(places, rows),
        "cross_entropy": lambda: functional.cross_entropy(rows, labels),
        "batch_norm": lambda: functional.batch_norm(planes, None, None, training=True),
        "conv2d": lambda: functional.conv2d(planes, weight),
        "max_pool2d": lambda: functional.max_pool2d(planes, 2),
        "avg_pool2d": lambda: functional.avg_pool2d(planes, 2),
        "interpolate": lambda: functional.interpolate(planes, scale_factor=2, mode="bilinear"),
        "attention": lambda: functional.scaled_dot_product_attention(heads, heads, heads),
        "nonzero": lambda: rows.nonzero(),
        "tril": lambda: rows.tril(),
        "cdist": lambda: T.cdist(rows, rows),
    }


def _unary(home: Any, name: str, x: Any) -> Callable[[], Any]:
    return lambda: getattr(home, name)(x)


def _over_rows(T: ModuleType, name: str, rows: Any) -> Callable[[], Any]:
    return lambda: getattr(T, name)(rows, 1)


def _step(T: ModuleType, position: int) -> dict[str, float]:
    """What the first training step of a model takes, its making included."""
    from torchgen_out._runtime.kernels.build import cache_counts

    before, start = _processor_seconds(), time.perf_counter()
    model, x = (_cnn, _lstm)[position](T)
    optimizer = T.optim.Adam(model.parameters())
    result = model(x)
    result = result[0].sum((1, 2)) if isinstance(result, tuple) else result.sum(1)
    (result * result).mean().backward()
    optimizer.step()
    seconds = time.perf_counter() - start
    processor = _processor_seconds() - before
    return {"processor": processor, "seconds": seconds, "kernels": cache_counts()[1]}


def _cnn(T: ModuleType) -> tuple[Any, Any]:
    nn = T.nn
    blocks = [
        *(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
    ]
    return nn.Sequential(*blocks, nn.Flatten(), nn.Linear(256, 10)), T.rand(8, 1, 16, 16)


def _lstm(T: ModuleType) -> tuple[Any, Any]:
    return T.nn.LSTM(16, 32), T.rand(5, 4, 16)


def main() -> None:
    """Measure what the command line names, and print it."""
    import torchgen_out as T

    T.set_num_threads(1)
    what = sys.argv[1]
    print(json.dumps(_kernels(T) if what == "kernels" else _step(T, int(what))))


if __name__ == "__main__":
    main()
