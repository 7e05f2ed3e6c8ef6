"""Running the groups named on the command line, and handing their rows to the report."""

from __future__ import annotations

import argparse
import importlib
import json
import warnings
from typing import Any

import torch

from benchmarks import measure, placing, report, timing
from benchmarks.groups import GROUPS

OURS: Any = importlib.import_module("torchgen_out")
PAGE_ROUNDS = 5
"""Each takes seconds."""


def run(arguments: argparse.Namespace) -> None:
    """Measure, print, and write what the arguments ask for."""
    warnings.simplefilter("ignore")  # what a library has to say of its functions' future
    torch.set_num_threads(arguments.threads)
    OURS.set_num_threads(arguments.threads)
    is_written = not (arguments.quick or arguments.case)
    if any(name in GROUPS for name in arguments.only):
        placing.separate_threads()
    measured = {}
    for name in arguments.only:
        if name in GROUPS:
            measured[name] = rows = run_group(name, arguments)
            if is_written:
                report.write_group(name, rows, arguments.threads)
        elif not arguments.case:
            page = importlib.import_module(f"benchmarks.{name}")
            lines = page.table(1 if arguments.quick else min(arguments.rounds, PAGE_ROUNDS))
            print(f"\n## {page.TITLE}\n\n" + "\n".join(lines), flush=True)
            if is_written:
                timing.write(name, page.TITLE, lines)
    if is_written and measured:
        report.write_summary(arguments.threads)
    if arguments.json:
        found = {name: [row.as_dict() for row in rows] for name, rows in measured.items()}
        data = {"machine": timing.machine(), "threads": arguments.threads, "groups": found}
        arguments.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def run_group(name: str, arguments: argparse.Namespace) -> list[measure.Row]:
    """Measure the cases of a group, each printed as soon as it is known."""
    rounds, seconds = (1, 0.001) if arguments.quick else (arguments.rounds, 0.02)
    rows: list[measure.Row] = []
    print(f"\n## {GROUPS[name].title}\n\n" + "\n".join(report.HEAD), flush=True)
    for case in importlib.import_module(f"benchmarks.cases.{name}").CASES:
        if arguments.case in case.name:
            rows.append(measure.measure(case, rounds, seconds, OURS, torch))
            print(report.line(rows[-1], GROUPS[name].limit), flush=True)
    print("\n" + report.verdict(name, rows), flush=True)
    return rows
