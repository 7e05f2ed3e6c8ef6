"""Tables: a page of results per group, and the summary, which is read from these pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks import plot, timing
from benchmarks.groups import GROUPS
from benchmarks.measure import Row

HEAD = [
    "| case | sizes | ours, us | PyTorch, us | ratio | {arrays}, us | JAX, us |",
    "|---|---|--:|--:|--:|--:|--:|",
]


def line(row: Row, limit: float) -> str:
    """The row of a table; a ratio above the limit is bold."""
    cells = [row.name, row.sizes, _microseconds(row.ours), _microseconds(row.theirs)]
    if row.ratio is None:
        return f"| {' | '.join([*cells, row.remark, '', ''])} |"
    ratio = f"{row.ratio:.2f}"
    cells += [f"**{ratio}**" if row.ratio > limit else ratio]
    cells += [_microseconds(row.numpy), _microseconds(row.jax)]
    return f"| {' | '.join(cells)} |"


def _microseconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.2f}" if seconds < 1e-5 else f"{seconds * 1e6:,.0f}"


def verdict(name: str, rows: list[Row]) -> str:
    """One sentence about a group."""
    group = GROUPS[name]
    ratios = [row.ratio for row in rows if row.ratio]
    untimed = f", {len(rows) - len(ratios)} not timed" if len(rows) > len(ratios) else ""
    return (
        f"Geometric mean of {len(ratios)} ratios: {geometric_mean(ratios):.2f}, "
        f"budget {group.budget}; above {group.limit}: {count_above(ratios, group.limit)}{untimed}."
    )


def beside_arrays(name: str, rows: list[Row]) -> list[str]:
    """A sentence about the faster of PyTorch and the library that the group names."""
    group = GROUPS[name]
    if group.arrays == "NumPy":
        return []
    best = [(row, min(row.theirs, row.numpy or math.inf)) for row in rows if row.ratio]
    ratios = [row.ours / fastest for row, fastest in best]
    above = count_above(ratios, group.budget)
    return [
        f"By the faster of PyTorch and {group.arrays}: {geometric_mean(ratios):.2f}, above "
        f"{group.budget}: {above}, above {group.limit}: {count_above(ratios, group.limit)}."
    ]


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean of factors; of none, nan."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def count_above(ratios: Sequence[float], limit: float) -> int:
    """How many cases are over a limit."""
    return sum(ratio > limit for ratio in ratios)


def folder(threads: int) -> Path:
    """Where pages for this number of threads are."""
    return timing.RESULTS if threads == 1 else timing.RESULTS / f"{threads}_threads"


def write_group(name: str, rows: list[Row], threads: int) -> None:
    """Write the page of a group."""
    group = GROUPS[name]
    head = [each.format(arrays=group.arrays) for each in HEAD]
    said = [verdict(name, rows), *beside_arrays(name, rows)]
    if group.note:
        said += ["", *group.note.splitlines()]
    lines = [*said, "", *head, *(line(row, group.limit) for row in rows)]
    title = f"{GROUPS[name].title}, {_threads(threads)}"
    timing.write(name, title, lines, folder(threads))


def write_summary(threads: int) -> None:
    """Write the summary and the plot from the pages of all groups that have one."""
    lines = [
        f"Our time by PyTorch eager's in the same process, {_threads(threads)}; the best of many",
        "rounds in turns. A group is within its budget if the geometric mean of its ratios is; no",
        "case should be above its limit.",
        "",
        "| group | cases | mean | budget | limit | above it | worst | not timed |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    found: dict[str, list[float]] = {}
    for name, group in GROUPS.items():
        page = folder(threads) / f"{name}.md"
        if not page.exists():
            continue
        cells = read_ratios(page)
        found[name] = ratios = [cell for cell in cells if cell is not None]
        mean, worst = geometric_mean(ratios), max(ratios, default=math.nan)
        shown = f"{mean:.2f}" if mean <= group.budget else f"**{mean:.2f}**"
        lines.append(
            f"| [{group.title}]({name}.md) | {len(cells)} | {shown} | {group.budget} | "
            f"{group.limit} | {count_above(ratios, group.limit)} | {worst:.2f} | "
            f"{len(cells) - len(ratios)} |"
        )
    lines += ["", "![ratios per group](summary.svg)"]
    timing.write("README", f"Beside PyTorch, {_threads(threads)}", lines, folder(threads))
    plot.draw(found, folder(threads) / "summary.svg")


def read_ratios(page: Path) -> list[float | None]:
    """The ratio of each case on a page, None for one that was not timed."""
    text = page.read_text(encoding="utf-8")
    table = [each for each in text.splitlines() if each.startswith("| ")][1:]
    return [_number(each.split(" | ")[4].strip("* ")) for each in table]


def _number(cell: str) -> float | None:
    """A ratio; what stands in its place otherwise is a remark."""
    return float(cell) if cell.replace(".", "", 1).isdigit() else None


def _threads(count: int) -> str:
    return "one thread" if count == 1 else f"{count} threads"
