"""Tables in which measurements are compared: a row for each task, a column for each description."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.programs.benchmark_measurements import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

_BOLD, _END = "\033[1m", "\033[0m"
_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m"
_BETWEEN = "  |  "
_OF_WARNINGS = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."


class Colorize(enum.Enum):
    """What the colours of a table compare."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Tables of measurements, one for each label; `str` and `print` show them."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trims = False
        self._colorize = Colorize.NONE
        self._warns = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. **Raises** ValueError if one is none."""
        added = list(results)
        for each in added:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(each)} instead."
                )
        self._results.extend(added)

    def trim_significant_figures(self) -> None:
        """Show no more figures than mean something."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour by how times compare within a column, or a row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that differ suspiciously among themselves."""
        self._warns = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        by_label: dict[str | None, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            by_label.setdefault(each.label, []).append(each)
        tables = [
            _Table(each, self._colorize, self._trims, self._warns) for each in by_label.values()
        ]
        return "\n".join(table.text() for table in tables)


class _Table:
    """Measurements of one label."""

    def __init__(
        self, results: list[Measurement], colorize: Colorize, trims: bool, warns: bool
    ) -> None:
        self.label = results[0].label or ""
        self.colorize, self.trims = colorize, trims
        self.unit, self.scale = select_unit(min(each.median for each in results))
        self.warns = warns and any(each.has_warnings for each in results)
        self.names = ordered_unique(each.description for each in results)
        self.keys = sorted(
            ordered_unique((each.num_threads, each.env, each.as_row_name) for each in results),
            key=lambda key: key[:2],
        )
        self.several_envs = len({each.env for each in results}) > 1
        self.cells = {
            (each.num_threads, each.env, each.as_row_name, each.description): each
            for each in results
        }

    def row(self, key: Any) -> list[Measurement | None]:
        """The measurements of a row, None where there is none."""
        return [self.cells.get((*key, name)) for name in self.names]

    def text(self) -> str:
        """The table."""
        columns = [["", *self._titles()]]
        for i, name in enumerate(self.names):
            columns.append([name or "", *self._column([self.row(key)[i] for key in self.keys])])
        widths = [max(map(len, column)) for column in columns]
        heads, *rows = zip(*columns, strict=True)
        lines = [_BETWEEN.join(map(str.center, heads, widths))]
        width = len(lines[0])
        shown = dict(zip(self.keys, rows, strict=True))
        for threads, group in groupby(self.keys, key=lambda key: key[0]):
            lines.append(f"{threads} threads: ".ljust(width, "-"))
            keys = list(group)
            for key in keys:
                title, *cells = shown[key]
                cells = list(map(str.center, cells, widths[1:]))
                cells = list(map(_coloured, cells, self.row(key), self._best(key, keys)))
                lines.append(_BETWEEN.join([title.ljust(widths[0]), *cells]))
        lines.insert(0, f"[{f' {self.label} '.center(width - 2, '-')}]")
        lines += ["", f"Times are in {unit_to_english(self.unit)}s ({self.unit}).", ""]
        if self.warns:
            lines.insert(-1, _OF_WARNINGS)
        return "\n".join(lines)

    def _titles(self) -> list[str]:
        """How each row begins: with its environment, where that changes, and its name."""
        width = max(len(str(env)) for _, env, _ in self.keys) if self.several_envs else 0
        titles, before = [], None
        for key in self.keys:
            is_new = self.several_envs and key[:2] != before
            env = f"({key[1]})" if is_new else ""
            titles.append(f"  {env.ljust(width + 4)}{key[2]}")
            before = key[:2]
        return titles

    def _column(self, found: list[Measurement | None]) -> list[str]:
        """The cells of one column, all equally wide."""
        there = [each for each in found if each is not None]
        digits = [math.ceil(math.log10(each.median / self.scale)) for each in there]
        decimals = 1
        if self.trims:
            pairs = zip(there, digits, strict=True)
            decimals = min(max(each.significant_figures - before, 0) for each, before in pairs)
        length = max(digits) + decimals + (1 if decimals else 0)
        marks = self.warns and any(each.has_warnings for each in there)
        blank = " " * len(f"{1:>{length}.{decimals}f}") + " " * (7 if marks else 0)

        def cell(each: Measurement) -> str:
            value = each.median / self.scale
            if self.trims:
                value = trim_sigfig(value, each.significant_figures)
            mark = f" (! {each.iqr / each.median * 100:.0f}%)" if each.has_warnings else ""
            number = f"{value:>{length}.{decimals}f}"
            return f"{number}{mark:>7}" if marks else number

        return [blank if each is None else cell(each) for each in found]

    def _best(self, key: Any, keys: list[Any]) -> list[float | None]:
        """The time with which each cell of a row is compared, None for none."""
        row = self.row(key)
        if self.colorize is Colorize.NONE:
            return [None] * len(row)
        if self.colorize is Colorize.ROWWISE:
            return [_least(row)] * len(row)
        return [_least(column) for column in zip(*map(self.row, keys), strict=True)]


def _least(found: Iterable[Measurement | None]) -> float | None:
    return min((each.median for each in found if each is not None), default=None)


def _coloured(cell: str, measured: Measurement | None, best: float | None) -> str:
    if measured is None or best is None:
        return cell
    value = measured.median
    if value <= best * 1.01 or value <= best + 100e-9:
        return f"{_BEST}{_BOLD}{cell}{_END * 2}"
    if value <= best * 1.1:
        return f"{_GOOD}{_BOLD}{cell}{_END * 2}"
    if value >= best * 5:
        return f"{_VERY_BAD}{_BOLD}{cell}{_END * 2}"
    return f"{_BAD}{cell}{_END * 2}" if value >= best * 2 else cell


public.place_all("utils.benchmark", globals())
