"""Times the operators beside their compositions in PyTorch, eager and compiled.

    python -m codegen --functions research_ops.yaml --derivatives research_derivatives.yaml \
        --out build/research_ops
    python benchmark.py [--no-compile] [--first] [--threads N] [--out FILE] [NAME ...]

Each row: the time of ours, and its ratio to PyTorch's, of the call and of a training step (the
call and its gradients); --first adds the seconds of a first call from an empty kernel cache. All
three take turns in one process, and the best of each counts. torch.compile needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SECONDS = 0.4
"""How long each is repeated, at least."""
Call = Callable[[], Any]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--package", type=Path, default=HERE / "build")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--first-of", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(given.threads))
    sys.path[:0] = [str(given.package), str(HERE), str(HERE.parents[1])]
    if given.first_of:
        print(*_first_call(given.first_of))
        return
    lines = list(_table(given))
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")


def _table(given: argparse.Namespace) -> Any:
    import torch

    torch.set_num_threads(given.threads)
    from cases import CASES

    def line(text: str) -> str:
        print(text, flush=True)
        return text

    yield line("# The research operators beside PyTorch")
    yield line("")
    for text in _machine(given.threads):
        yield line(text)
    yield line("")
    titles = ["operator", "call, ms", "/ eager", "/ compiled", "step, ms", "/ eager", "/ compiled"]
    titles += ["first call, s", "first step, s"] * given.first
    yield line("| " + " | ".join(titles) + " |")
    yield line("| --- " + "| ---: " * (len(titles) - 1) + "|")
    ratios: list[list[float]] = [[], [], [], []]
    for name in given.names or CASES:
        row = _row(name, CASES[name].compiles and not given.no_compile)
        for column, ratio in zip(ratios, (*row[1:3], *row[4:6]), strict=True):
            column.append(ratio)
        cells = [f"{row[0]:.3f}", *map(_ratio, row[1:3]), f"{row[3]:.3f}", *map(_ratio, row[4:6])]
        if given.first:
            cells += [f"{each:.2f}" for each in _first(name, given)]
        yield line(f"| {name} | " + " | ".join(cells) + " |")
    means = [_ratio(_mean(column)) for column in ratios]
    blank = [""] * (2 * given.first)
    cells = ["", *means[:2], "", *means[2:], *blank]
    yield line("| geometric mean | " + " | ".join(cells) + " |")


def _machine(threads: int) -> list[str]:
    import numba
    import torch

    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [t for t in cpuinfo.read_text().splitlines() if t.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    return [
        f"{processor}, {threads} thread(s); Python {platform.python_version()}, Numba "
        f"{numba.__version__}, PyTorch {torch.__version__}. float32; below 1 ours is faster.",
    ]


def _ratio(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan


def _row(name: str, compiled: bool) -> list[float]:
    """Milliseconds of a call and its ratios, then of a step."""
    import compositions
    import torch

    import torchgen_out as ours

    ops = importlib.import_module("research_ops")
    reference = getattr(compositions, name)
    found: list[float] = []
    for is_step in (False, True):
        calls = [
            _call(ours, getattr(ops, name), _arguments(name, torch, ours), is_step),
            _call(torch, reference, _arguments(name, torch, torch), is_step),
        ]
        if compiled:
            torch._dynamo.reset()
            fast = torch.compile(reference)
            calls.append(_call(torch, fast, _arguments(name, torch, torch), is_step))
        times = _in_turns(calls)
        own = times[0]
        found += [own * 1e3, own / times[1], own / times[2] if len(times) > 2 else math.nan]
    return found


def _arguments(name: str, torch: Any, library: Any) -> list[Any]:
    """The large arguments, made by PyTorch, as tensors of either library."""
    from cases import CASES

    generator = torch.Generator().manual_seed(0)
    case = CASES[name]
    made = case.make(torch, lambda *s: torch.randn(*s, generator=generator), *case.large)
    if library is torch:
        return list(made)
    return [library.tensor(a.numpy()) if isinstance(a, torch.Tensor) else a for a in made]


def _call(library: Any, function: Any, args: list[Any], is_step: bool) -> Call:
    """A call without anything recorded, or one and the gradients of all its floats."""
    if not is_step:

        def forward() -> Any:
            with library.no_grad():
                return function(*args)

        return forward
    for each in args:
        if isinstance(each, library.Tensor) and each.is_floating_point():
            each.requires_grad_()
    leaves = [a for a in args if isinstance(a, library.Tensor) and a.requires_grad]
    with library.no_grad():
        result = function(*args)
    weight = library.ones_like(result)

    def step() -> Any:
        return library.autograd.grad(function(*args), leaves, weight, allow_unused=True)

    return step


def _in_turns(calls: list[Call]) -> list[float]:
    """The shortest time of each, in seconds."""
    best = [math.inf] * len(calls)
    counts = []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        counts.append(max(1, int(SECONDS / 20 / max(time.perf_counter() - start, 1e-7))))
    for _ in range(20):
        for number, (call, count) in enumerate(zip(calls, counts, strict=True)):
            start = time.perf_counter()
            for _ in range(count):
                call()
            best[number] = min(best[number], (time.perf_counter() - start) / count)
    return best


def _first(name: str, given: argparse.Namespace) -> list[float]:
    """Seconds of the first call and the first step, each in a process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TORCHGEN_CACHE_DIR": folder}
        command = [sys.executable, __file__, "--package", str(given.package), "--first-of", name]
        text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [float(each) for each in text.stdout.split()]


def _first_call(name: str) -> tuple[float, float]:
    """Seconds of a call, and of a step after it, that have compiled nothing yet of this operator.

    The compiler itself has been started by another kernel.
    """
    import numpy as np

    import torchgen_out as ours

    ops = importlib.import_module("research_ops")
    from cases import CASES

    random = np.random.default_rng(0)
    case = CASES[name]

    def normal(*sizes: int) -> Any:
        return ours.tensor(random.standard_normal(sizes).astype(np.float32))

    args = list(case.make(ours, normal, *case.large))
    ours.atan2(normal(3), normal(3))
    (normal(3).requires_grad_() * 2).sum().backward()
    forward = _call(ours, getattr(ops, name), args, False)
    start = time.perf_counter()
    forward()
    called = time.perf_counter() - start
    leaves = [a for a in args if isinstance(a, ours.Tensor) and a.is_floating_point()]
    for each in leaves:
        each.requires_grad_()
    result = getattr(ops, name)(*args)
    weight = ours.ones_like(result)
    start = time.perf_counter()
    ours.autograd.grad(result, leaves, weight, allow_unused=True)
    return round(called, 3), round(time.perf_counter() - start, 3)


if __name__ == "__main__":
    main()
