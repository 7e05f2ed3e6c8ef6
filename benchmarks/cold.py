"""Compiling: the time that first calls and first steps take, with and without compiled kernels.

Each process starts with an empty kernel cache, or with what another one like it left there, or with
a pack. What its compiler's process works is counted with it; the import of Numba there, by the
first kernel of all, is not, except in the rows of whole steps. Python's bytecode is there, as in an
installation.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks import start, timing

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
"""Models whose first training step is measured, with their goals in processor seconds."""
WARM_GOAL = 0.15
"""Processor seconds that such a step may take once its kernels are compiled."""
DEMO_GOAL = 2.0

FIRST_SUM = """
import torchgen_out as torch
x = torch.ones(8)
x + x
"""


class Places(NamedTuple):
    """Where processes find things: bytecode, the cache of kernels, packs."""

    bytecode: Path
    cache: Path
    packs: Path

    def environment(self) -> dict[str, str]:
        """What tells a process of them."""
        return {
            **timing.environment(self.bytecode),
            "TORCHGEN_CACHE_DIR": str(self.cache),
            "TORCHGEN_PACKS": str(self.packs),
        }


def table(rounds: int) -> list[str]:
    """The page's lines."""
    rounds = min(rounds, MOST_ROUNDS)
    with tempfile.TemporaryDirectory() as name:
        bytecode = Path(name, "bytecode")
        _afresh("0", bytecode)  # writes the bytecode
        lines = _kinds(rounds, bytecode)
        lines += ["", *_steps(rounds, bytecode), "", *_starts(rounds, bytecode)]
    return lines


def _kinds(rounds: int, bytecode: Path) -> list[str]:
    lines = [
        "Processor seconds, its children's included, per kernel that was compiled; of "
        f"{rounds} processes, the best for each operator.",
        "",
        "| kernels | operators | median | goal | slowest |",
        "|---|--:|--:|--:|--:|",
    ]
    found = [_afresh("kernels", bytecode) for _ in range(rounds)]
    best = {name: min(each[name] for each in found) for name in found[0]}
    for kind in KINDS:
        times = {name: best[name] for name in kind.calls if name in best}
        slowest = max(times, key=lambda name: times[name])
        median = _marked(statistics.median(times.values()), kind.goal)
        lines.append(
            f"| {kind.title} | {len(times)} | {median} | {kind.goal} | "
            f"{slowest} {_marked(times[slowest], 1.0)} |"
        )
    return lines


def _steps(rounds: int, bytecode: Path) -> list[str]:
    lines = [
        "Processor seconds of the first training step, children's included.",
        "",
        "| first training step | kernels | compiled | goal | wall | with a pack "
        "| with the cache | goal |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for position, (title, goal) in enumerate(STEPS):
        tries = [_afresh(str(position), bytecode) for _ in range(rounds)]
        step = min(tries, key=lambda each: each["processor"])
        with tempfile.TemporaryDirectory() as name:
            places = Places(bytecode, Path(name, "cache"), Path(name, "packs"))
            _pack(places, f"-m benchmarks.cold {position}")
            warm = min(_in_process(str(position), places)["processor"] for _ in range(rounds))
            shutil.rmtree(places.cache)
            packed = min(_in_process(str(position), places)["processor"] for _ in range(rounds))
        lines.append(
            f"| {title} | {step['kernels']:.0f} | {_marked(step['processor'], goal)} | {goal} | "
            f"{step['seconds']:.2f} | {_marked(packed, WARM_GOAL)} | {_marked(warm, WARM_GOAL)} | "
            f"{WARM_GOAL} |"
        )
    return lines


def _starts(rounds: int, bytecode: Path) -> list[str]:
    """From the interpreter's start."""
    with tempfile.TemporaryDirectory() as name:
        places = Places(bytecode, Path(name, "cache"), Path(name, "packs"))
        _in_process("kernels", places)
        found = [_in_process("loads", places) for _ in range(rounds)]
        load, use = (min(each[name] for each in found) * 1e3 for name in ("load", "use"))
        environment = places.environment()
        first = min(
            _processor([sys.executable, "-c", FIRST_SUM], environment) for _ in range(rounds)
        )
        lines = [
            "| kernels compiled before | processor time | goal |",
            "|---|--:|--:|",
            f"| `import torchgen_out` and the first `x + y`, s | {_marked(first, 0.3)} | 0.3 |",
            f"| to find and place a kernel, median, ms | {_marked(load, 0.5)} | 0.5 |",
            f"| ... and to make its text and all of the first call, ms | {use:.2f} | |",
        ]
        if importlib.util.find_spec("sklearn"):
            demo = Path(name, "demo.py")
            demo.write_text(start.FIRST_STEP)
            _pack(places, str(demo))
            shutil.rmtree(places.cache)
            command = [sys.executable, str(demo)]
            seconds = min(_elapsed(command, environment) for _ in range(rounds))
            lines.append(
                "| `examples/digits.py` to its first step, with a pack alone, s by the clock "
                f"| {_marked(seconds, DEMO_GOAL)} | {DEMO_GOAL} |"
            )
    return lines


def _pack(places: Places, script: str) -> None:
    """Write a pack of what a program needs."""
    module = "torchgen_out._runtime.library.tools.pack"
    own = ["--script", script, "--name", "measured", "--out", str(places.packs)]
    environment = {**places.environment(), "TORCHGEN_PACKS": ""}
    command = [sys.executable, "-m", module, *own]
    subprocess.run(command, env=environment, check=True, capture_output=True)


def _processor(command: list[str], environment: dict[str, str]) -> float:
    """Processor seconds of a process, from its start to its end."""
    before = os.times()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def _elapsed(command: list[str], environment: dict[str, str]) -> float:
    """Seconds that somebody waits for a process."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def _marked(seconds: float, goal: float) -> str:
    return f"{seconds:.2f}" if seconds <= goal else f"**{seconds:.2f}**"


def _afresh(what: str, bytecode: Path) -> dict[str, float]:
    """Measure with neither a cache nor packs."""
    with tempfile.TemporaryDirectory() as name:
        return _in_process(what, Places(bytecode, Path(name, "cache"), Path(name, "packs")))


def _in_process(what: str, places: Places) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.cold", what]
    run = subprocess.run(command, env=places.environment(), check=True, capture_output=True)
    found: dict[str, float] = json.loads(run.stdout)
    return found


# In the process that is measured.


def processor_seconds() -> float:
    """What this process and those that it has started have taken so far."""
    ended = os.times()
    total = time.process_time() + ended.children_user + ended.children_system
    for children in Path("/proc/self/task").glob("*/children"):
        for child in _read(children).split():
            for thread in Path("/proc", child, "task").glob("*/schedstat"):
                total += int((_read(thread) or "0").split()[0]) / 1e9
    return total


def _read(path: Path) -> str:
    """What a file of the system's says; nothing if what it is about has ended meanwhile."""
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""


def _kernels(T: ModuleType) -> dict[str, float]:
    """Seconds per kernel that the first call of each operator compiles, if none before it did."""
    from torchgen_out._runtime.kernels.build import cache_counts

    calls = _calls(T)
    T.ones(8) - 1  # the compiler is there after that
    found = {}
    for kind in KINDS:
        for name in kind.calls:
            compiled, begin = cache_counts()[1], processor_seconds()
            calls[name]()
            taken = processor_seconds() - begin
            if cache_counts()[1] > compiled:
                found[name] = taken / (cache_counts()[1] - compiled)
    return found


def _loads(T: ModuleType) -> dict[str, float]:
    """Per kernel that first calls load: seconds of that, and of all they do more than others."""
    from torchgen_out._runtime.kernels.build import cache_counts
    from torchgen_out._runtime.kernels.machine import library

    native_for, taken = library.native_for, [0.0]

    def timed(*args: Any) -> Any:
        begin = time.process_time()
        found = native_for(*args)
        taken[0] += time.process_time() - begin
        return found

    library.native_for = timed
    loads, uses = [], []
    for call in _calls(T).values():
        before, times = cache_counts()[0], []
        taken[0] = 0.0
        for _ in range(2):
            begin = time.process_time()
            call()
            times.append(time.process_time() - begin)
        loaded = cache_counts()[0] - before
        if loaded:
            loads.append(taken[0] / loaded)
            uses.append((times[0] - times[1]) / loaded)
    return {"load": statistics.median(loads), "use": statistics.median(uses)}


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

    before, begin = processor_seconds(), time.perf_counter()
    model, x = (_cnn, _lstm)[position](T)
    optimizer = T.optim.Adam(model.parameters())
    result = model(x)
    result = result[0].sum((1, 2)) if isinstance(result, tuple) else result.sum(1)
    (result * result).mean().backward()
    optimizer.step()
    seconds = time.perf_counter() - begin
    processor = processor_seconds() - before
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
    measures = {"kernels": _kernels, "loads": _loads}
    found = measures[what](T) if what in measures else _step(T, int(what))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
