"""Loading with worker processes: whole epochs, the start of workers, what batches cost on the way.

Each library has a process of its own, in which nothing else runs; of several epochs the shortest
counts. Items that take a millisecond sleep for it, as those do that wait for a disk.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from types import ModuleType
from typing import Any

TITLE = "Loading with worker processes"
BUDGET = 1.0
ITEMS, BATCH = 200, 10
LARGE = 200
"""How many large batches an epoch has."""

Milliseconds = dict[str, float]


class _Slow:
    """Items that take a millisecond each."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def __len__(self) -> int:
        return ITEMS

    def __getitem__(self, index: int) -> Any:
        time.sleep(0.001)
        return self.make(1000), index


class _Large:
    """Tensors that are there; a batch of theirs holds a megabyte."""

    def __init__(self, item: Any, count: int) -> None:
        self.item, self.count = item, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.item


def _changed(item: Any) -> Any:
    return item + 1


def measure(T: ModuleType, rounds: int) -> Milliseconds:
    """Times by what they are of."""
    T.set_num_threads(1)
    slow, found = _Slow(T.zeros), {}
    for workers in (0, 1, 2):
        loader = T.utils.data.DataLoader(slow, BATCH, num_workers=workers)
        first, whole = _best(loader, rounds)
        found[f"first batch of {BATCH} items of 1 ms, {workers} workers"] = first
        found[f"epoch of {ITEMS} items of 1 ms, {workers} workers"] = whole
    whole_batches = _Large(T.ones(1 << 18), LARGE), None, _changed
    collated = _Large(T.ones(1 << 13), LARGE * 32), 32, None
    for name, (dataset, size, collate) in (("made", whole_batches), ("collated", collated)):
        for workers in (1, 2):
            loader = T.utils.data.DataLoader(
                dataset, size, num_workers=workers, collate_fn=collate, persistent_workers=True
            )
            _, whole = _best(loader, rounds)
            found[f"batch of 1 MB, {name} by {workers} workers that stay"] = whole / LARGE
    return found


def _best(loader: Iterable[Any], rounds: int) -> list[float]:
    """The shortest times to the first batch and to the end of an epoch."""
    epochs = [_epoch(loader) for _ in range(rounds + 1)][1:]
    return [min(times) * 1e3 for times in zip(*epochs, strict=True)]


def _epoch(loader: Iterable[Any]) -> tuple[float, float]:
    start = time.perf_counter()
    batches = iter(loader)
    next(batches)
    first = time.perf_counter() - start
    for _ in batches:
        pass
    return first, time.perf_counter() - start


def table(rounds: int) -> list[str]:
    """The page's lines."""
    ours, theirs = (_in_process(library, rounds) for library in ("torchgen_out", "torch"))
    lines = [
        f"| what | ours, ms | PyTorch, ms | ratio (budget {BUDGET}) |",
        "|---|--:|--:|--:|",
    ]
    for name, own in ours.items():
        ratio = f"{own / theirs[name]:.2f}"
        ratio = ratio if own <= BUDGET * theirs[name] else f"**{ratio}**"
        lines.append(f"| {name} | {own:.2f} | {theirs[name]:.2f} | {ratio} |")
    return lines


def _in_process(library: str, rounds: int) -> Milliseconds:
    command = [sys.executable, "-m", "benchmarks.loading", library, str(rounds)]
    run = subprocess.run(command, check=True, capture_output=True)
    found: Milliseconds = json.loads(run.stdout)
    return found


if __name__ == "__main__":
    library = importlib.import_module(sys.argv[1])
    importlib.import_module(f"{sys.argv[1]}.utils.data")
    print(json.dumps(measure(library, int(sys.argv[2]))))
