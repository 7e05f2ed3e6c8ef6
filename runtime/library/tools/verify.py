"""Hold operators to independent values and gradients: a table per operator, with ticks.

Reads records as JSON from standard input; `python -m codegen verify OP` sends them.
"""

from __future__ import annotations

import json
import sys
import time

import torchgen_out  # noqa: F401  # registers the library that the records speak of
from torchgen_out._runtime.library.tools import checks
from torchgen_out._runtime.library.tools.records import Record, record_of

MARKS = {checks.PASSED: "✓", checks.FAILED: "✗", checks.NOT_APPLICABLE: "–"}

MOST_LINES = 8
"""Of what a failed check says; Jacobians can be long."""


def main() -> int:
    """Check every operator sent; the exit status is 1 if a check failed."""
    records = [record_of(data) for data in json.load(sys.stdin)]
    results = [verify(record) for record in records]
    return 0 if all(results) else 1


def verify(record: Record) -> bool:
    """Print the table of one operator, a row when it is known; whether nothing failed."""
    print(f"{record.name} ({record.package}.{record.path})", flush=True)
    good = True
    for title, check in checks.CHECKS.items():
        start = time.perf_counter()
        outcome = checks.run(check, record)
        seconds = time.perf_counter() - start
        good = good and outcome.status != checks.FAILED
        if outcome.status == checks.NOT_APPLICABLE:
            continue
        lines = outcome.detail.strip().split("\n")
        print(f"  {MARKS[outcome.status]} {title:18} {lines[0]}  [{seconds:.1f} s]", flush=True)
        for line in lines[1:MOST_LINES]:
            print(f"      {line}")
    return good


if __name__ == "__main__":
    sys.exit(main())
