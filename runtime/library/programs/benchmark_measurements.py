"""What a benchmark found: times of a task, and how they are told."""

from __future__ import annotations

import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable
from typing import Any

from torchgen_out._runtime.core import public

_LEAST_INTERVAL = 25e-9
"""No confidence interval is taken to be smaller: the clock tells no more."""
_SUSPECT, _VERY_SUSPECT = 0.1, 0.25
"""From these shares of the median on, the interquartile range is worth a warning."""
_UNITS = {-3: ("ns", 1e-9), -2: ("us", 1e-6), -1: ("ms", 1e-3)}
_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


def select_unit(t: float) -> tuple[str, float]:
    """Return the unit in which a time is told, and the seconds that it has."""
    return _UNITS.get(int(math.log10(t) // 3), ("s", 1))


def unit_to_english(u: str) -> str:
    """Return the word for a unit."""
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """Round to `n` significant figures."""
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    scale = 10.0 ** (math.ceil(math.log10(abs(x))) - n)
    return round(x / scale) * scale


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Return the elements, each at its first place."""
    return list(dict.fromkeys(elements))


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """What was measured."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or else the statement."""
        name = self.stmt if self.label is None else self.label
        if self.label is not None or "\n" not in self.stmt:
            return f"{name}: {self.sub_label}" if self.sub_label else name
        after = f" ({self.sub_label})" if self.sub_label else ""
        return f"stmt:{after}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup, as reports show it."""
        if self.setup in ("", "pass"):
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """The title, the description and the setup, where they are given."""
        sections = filter(None, (self.title, self.description, self.setup_str()))
        return "\n".join(f"{each}\n" if "\n" in each else each for each in sections)


_OF_TASK = frozenset(field.name for field in dataclasses.fields(TaskSpec))


@dataclasses.dataclass(repr=False)
class Measurement:
    """The times that a statement took: each of `raw_times` is that of `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _OF_TASK:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """The time of one run, of each measurement."""
        return [each / self.number_per_run for each in self.raw_times]

    def _quantile(self, share: float) -> float:
        ordered = sorted(self.times)
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    @property
    def median(self) -> float:
        """The median time of one run."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean time of one run."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The interquartile range: that of the middle half."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many figures of the median mean something, by the spread of the middle half."""
        ordered = sorted(self.times)
        count = len(ordered)
        middle = ordered[count // 4 : math.ceil(3 * count / 4)]
        interval = 1.645 * statistics.pstdev(middle) / math.sqrt(len(middle))
        figures = math.floor(math.log10(self.median / max(interval, _LEAST_INTERVAL)))
        return min(max(figures, 1), 4)

    def meets_confidence(self, threshold: float = _SUSPECT) -> bool:
        """Whether the interquartile range is below this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ suspiciously."""
        return not self.meets_confidence()

    @property
    def title(self) -> str:
        """The label, or else the statement."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """How the row of a table that compares is called."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        count = len(self.raw_times)
        unit, scale = select_unit(self.median)
        low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
        threads = self.task_spec.num_threads
        runs = f"{self.number_per_run} runs {'per measurement,' if count > 1 else ','}"
        lines = [
            object.__repr__(self),
            self.task_spec.summarize(),
            f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}",
            f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})",
            f"  {count} {_plural('measurement', count)}, {runs} {threads} "
            f"{_plural('thread', threads)}",
        ]
        if count < 4:
            del lines[3]
        if self.has_warnings:
            cause = (
                "This could indicate system fluctuation."
                if self.meets_confidence(_VERY_SUSPECT)
                else "This suggests significant environmental influence."
            )
            share = f"{self.iqr / self.median * 100:.1f}%"
            lines.append(f"  WARNING: Interquartile range is {share} of the median measurement.")
            lines.append(f"           {cause}")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Put those of one task together, as times of single runs."""
        found: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            found.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, task) for task, times in found.items()]


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


public.place_all("utils.benchmark", globals())
