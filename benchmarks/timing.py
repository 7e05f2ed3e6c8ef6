"""How this project measures: rounds in turns, the best of each, and what machine it was."""

from __future__ import annotations

import os
import platform
import time
import timeit
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAUSE = 0.005
RESULTS = ROOT / "benchmarks" / "results"


def best_in_turns(
    functions: list[Callable[[], object]], rounds: int = 15, seconds: float = 0.02
) -> list[float]:
    """The shortest time of one call of each function, in seconds.

    In each round every function runs for about `seconds`; so what the machine does meanwhile
    meets all of them alike. It starts after a pause, in which threads of the one before, which
    spin for a while in wait of more work, fall asleep.
    """
    numbers = [_calls_within(seconds, function) for function in functions]
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            time.sleep(PAUSE)
            best[i] = min(best[i], timeit.timeit(function, number=numbers[i]) / numbers[i])
    return best


def _calls_within(seconds: float, function: Callable[[], object]) -> int:
    """How many calls take about that long, and one of them at least."""
    timeit.timeit(function, number=1)
    number, taken = 1, timeit.timeit(function, number=1)
    while taken < seconds / 10:
        number *= 4
        taken = timeit.timeit(function, number=number)
    return max(1, int(number * seconds / taken))


def environment(bytecode: Path, *also: Path) -> dict[str, str]:
    """For processes whose start is timed: they keep bytecode, as an installation does.

    also: folders of further modules.
    """
    path = os.pathsep.join(map(str, (*also, ROOT)))
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONPATH": path}


CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
"""Processors that the process had when it began; `placing` leaves its main thread one of them."""


def machine() -> str:
    """One line: processor, cores, Python and library versions."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    versions = []
    for package in ("numba", "numpy", "scipy", "torch", "jax"):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"no {package}")
    python = platform.python_version()
    return f"{processor}, {CORES} cores, Python {python}, {', '.join(versions)}"


def write(name: str, title: str, lines: list[str], folder: Path = RESULTS) -> None:
    """Write a page of results with the machine's description."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([f"# {title}", "", machine() + ".", "", *lines, ""])
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
