"""The library beside PyTorch on a GPU: what a call costs the host, and what work costs the GPU.

`python -m benchmarks --device cuda` writes results/cuda.md; without a GPU, or without PyTorch's
CUDA build, it refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from math import exp, fsum, log
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.cuda_cases import COPY, Case, cases

PAGE = Path(__file__).parent / "results" / "cuda.md"
LEAST_SECONDS = 0.05
"""How long the calls of one measurement take together."""


class Times(NamedTuple):
    """Seconds of one call: until it returns, and until the device is done."""

    host: float
    device: float


def measure(call: Callable[[], Any], library: ModuleType, rounds: int) -> Times:
    """The best of some rounds, each of calls enough to be measured."""
    for _ in range(3):
        call()
    library.cuda.synchronize()
    count, found = 1, _round(call, library, 1)
    while found.device * count < LEAST_SECONDS and count < 1 << 20:
        count *= 2
        found = _round(call, library, count)
    each = [_round(call, library, count) for _ in range(rounds)]
    return Times(min(t.host for t in each), min(t.device for t in each))


def _round(call: Callable[[], Any], library: ModuleType, count: int) -> Times:
    library.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        call()
    queued = time.perf_counter()
    library.cuda.synchronize()
    done = time.perf_counter()
    return Times((queued - start) / count, (done - start) / count)


def refusal(theirs: ModuleType, missing: tuple[str, ...]) -> str:
    """Why nothing can be measured; empty where it can."""
    if missing:
        return "; ".join(missing)
    return "" if theirs.cuda.is_available() else "PyTorch is installed without CUDA"


def run(rounds: int, only: str) -> None:
    """Measure all cases and write the page, or print those whose title contains `only`."""
    import torch

    import torchgen_out
    from torchgen_out._runtime.backends.cuda import availability

    reason = refusal(torch, availability.missing())
    if reason:
        raise SystemExit(f"python -m benchmarks --device cuda: {reason}")
    libraries = torchgen_out, torch
    rows = []
    for case in [each for each in cases() if only in each.title]:
        times = [measure(case.make(library), library, rounds) for library in libraries]
        rows.append(Row(case, *times))
        print(line(rows[-1]), flush=True)
    if not only:
        PAGE.write_text(page(rows, torch), encoding="utf-8")


class Row(NamedTuple):
    """A case with our times and PyTorch's."""

    case: Case
    ours: Times
    theirs: Times

    @property
    def rate(self) -> float:
        """Our work per second."""
        return self.case.work / self.ours.device


def line(row: Row, copied: float = 0) -> str:
    """One line of the table. copied: bytes that the card copies per second, if that is known."""
    case, ours, theirs = row
    scale = 1e12 if case.unit == "TFLOP/s" else 1e9
    rate = f"{row.rate / scale:.1f} {case.unit}" if case.work else ""
    if case.unit == "GB/s" and copied:
        rate += f", {row.rate / copied:.0%}"
    return (
        f"| {case.title} | {case.operands} "
        f"| {ours.host * 1e6:.2f} | {theirs.host * 1e6:.2f} | {ours.host / theirs.host:.2f} "
        f"| {ours.device * 1e6:.2f} | {theirs.device * 1e6:.2f} "
        f"| {ours.device / theirs.device:.2f} | {rate} |"
    )


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    found = list(ratios)
    return exp(fsum(log(each) for each in found) / len(found))


def page(rows: list[Row], theirs: ModuleType) -> str:
    """The page: what was measured when and on what, and a table for each group."""
    copies = [row.rate for row in rows if row.case.unit == "GB/s" and COPY in row.case.title]
    lines = [
        "# On a GPU", "",
        f"{time.strftime('%Y-%m-%d')}, {theirs.cuda.get_device_name(0)}, PyTorch "
        f"{theirs.__version__}. Microseconds of one call: until it returns, and, with many queued, "
        "until the device is done; ratios are our time by PyTorch's. The rate is ours; of memory, "
        "the part of what the card moves when it copies, too.",
    ]  # fmt: skip
    for group in dict.fromkeys(row.case.group for row in rows):
        own = [row for row in rows if row.case.group == group]
        host = mean(row.ours.host / row.theirs.host for row in own)
        device = mean(row.ours.device / row.theirs.device for row in own)
        lines += ["", f"## {group}", "", f"Geometric means of the ratios: host {host:.2f}, device "
                  f"{device:.2f}.", "", "| case | operands | host | PyTorch | ratio | device | "
                  "PyTorch | ratio | rate |", "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
        lines += [line(row, max(copies, default=0)) for row in own]
    return "\n".join(lines) + "\n"
