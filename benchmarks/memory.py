"""Peak memory of the training steps: what a process takes above what it had before the model.

Each measurement is a process of its own. A first model runs and is thrown away, so that compiled
code, libraries and threads are there; then the kernel's mark of the peak is set back, and a second
one takes three steps. Linux only.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from benchmarks.cases import training

TITLE = "Peak memory of whole training steps"
STEPS = 3
MOST_ROUNDS = 2
"""Peaks hardly differ."""
BUDGET = 1.2
LEAST = 0.5
"""MiB below which the system's pages are all that is seen."""
PROCESS = Path("/proc/self")


def table(rounds: int) -> list[str]:
    """The page's lines."""
    if not (PROCESS / "clear_refs").exists():
        return ["Not measured: this system does not tell a process its peak."]
    lines = [
        "Parameters, gradients, the optimizer's state and all that a step needs in between.",
        "",
        f"| training step | sizes | ours, MiB | PyTorch, MiB | ratio (budget {BUDGET}) |",
        "|---|---|--:|--:|--:|",
    ]
    for position, case in enumerate(training.CASES):
        ours, theirs = (
            min(_in_process(library, position) for _ in range(min(rounds, MOST_ROUNDS)))
            for library in ("torchgen_out", "torch")
        )
        ratio = f"{ours / theirs:.2f}" if theirs >= LEAST else "some pages"
        ratio = ratio if ours <= max(BUDGET * theirs, LEAST) else f"**{ratio}**"
        lines.append(f"| {case.name} | {case.sizes} | {ours:.1f} | {theirs:.1f} | {ratio} |")
    return lines


def _in_process(library: str, position: int) -> float:
    command = [sys.executable, "-m", "benchmarks.memory", library, str(position)]
    return float(subprocess.run(command, check=True, capture_output=True).stdout)


def peak(T: ModuleType, position: int) -> float:
    """MiB that the model and its steps take at most."""
    T.set_num_threads(1)
    case = training.CASES[position]
    _train(T, case)
    gc.collect()
    if hasattr(T.cpu, "empty_cache"):
        T.cpu.empty_cache()
    ctypes.CDLL(None).malloc_trim(0)
    before = _kib("VmRSS")
    (PROCESS / "clear_refs").write_text("5")
    _train(T, case)
    return (_kib("VmHWM") - before) / 1024


def _train(T: ModuleType, case: training.Case) -> None:
    work = case.make(T)
    for _ in range(STEPS):
        work.call()


def _kib(name: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise LookupError(name)


if __name__ == "__main__":
    print(peak(importlib.import_module(sys.argv[1]), int(sys.argv[2])))
