"""Measuring the cases of a group: first whether the results agree, then the times, in turns."""

from __future__ import annotations

import gc
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

from benchmarks import arrays, check, timing
from benchmarks.case import Case

ABSENT = (AttributeError, NotImplementedError)
FAILURES = (RuntimeError, TypeError, ValueError, IndexError)


@dataclass
class Row:
    """What became of a case: times of one call in seconds, or why there are none."""

    name: str
    sizes: str
    ours: float | None = None
    theirs: float | None = None
    numpy: float | None = None
    jax: float | None = None
    remark: str = ""
    """`absent`, `fails` or `wrong`, and how; such a case is not timed."""

    @property
    def ratio(self) -> float | None:
        """Our time by PyTorch's."""
        return self.ours / self.theirs if self.ours and self.theirs else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "ratio": self.ratio}


def measure(case: Case, rounds: int, seconds: float, ours: ModuleType, theirs: ModuleType) -> Row:
    """Check and time one case."""
    row = Row(case.name, case.sizes)
    reference = case.make(theirs)
    expected = check.results(reference)
    try:
        mine = case.make(ours)
        difference = check.difference(check.results(mine), expected, case.is_random)
    except ABSENT as error:
        row.remark = f"absent: {_first_line(error)}"
        return row
    except FAILURES as error:
        row.remark = f"fails: {_first_line(error)}"
        return row
    if difference:
        row.remark = f"wrong: {difference}"
        return row
    others = arrays.calls(case, expected)
    del expected
    gc.collect()
    times = timing.best_in_turns([mine.call, reference.call, *others.values()], rounds, seconds)
    row.ours, row.theirs, *rest = times
    for library, taken in zip(others, rest, strict=True):
        setattr(row, library, taken)
    return row


def _first_line(error: Exception) -> str:
    return f"{error}".partition("\n")[0].replace("|", "/")
