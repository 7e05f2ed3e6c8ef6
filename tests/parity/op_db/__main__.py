"""Run entries of op_db and count: `python -m tests.parity.op_db NAME ... --dtypes float32 int64`.

Lines of JSON, one per entry and dtype, go to `--to`; a summary by kind of fault to the screen,
and how many entries pass, also of those that PyTorch 1.0 had.
What stands there is not run again, so that a run which PyTorch has ended can go on behind it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.parity.op_db import first_release, running
from tests.parity.op_db.catalogue import DTYPES, ENTRIES, Entry


def main() -> None:
    """Run the chosen entries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="entries, all by default; `fft.*` for many")
    parser.add_argument("--first-release", action="store_true", help="those of PyTorch 1.0 only")
    parser.add_argument("--dtypes", nargs="+", default=list(DTYPES))
    parser.add_argument("--most", type=int, help="how many samples of each entry, all by default")
    parser.add_argument("--part", default="0/1", help="2/8: the third of eight parts")
    parser.add_argument("--to", type=Path, help="append results to a file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    part, parts = map(int, options.part.split("/"))
    chosen = [each for each in ENTRIES if not options.names or _is_named(each, options.names)]
    if options.first_release:
        chosen = [each for each in chosen if each.info.name in first_release.NAMES]
    kinds: Counter[str] = Counter()
    failed: set[str] = set()
    done = _runs_in(options.to)
    chosen = chosen[part::parts]
    for entry in chosen:
        for dtype in [name for name in entry.dtypes() if name in options.dtypes]:
            if (str(entry), dtype) in done:
                continue
            _append(options.to, {"entry": str(entry), "dtype": dtype})
            begun = time.process_time()
            found = sorted(set(running.faults(entry, dtype, options.most)))
            seconds = round(time.process_time() - begun, 2)
            kinds.update({fault.check for fault in found})
            failed.update([str(entry)] if found else [])
            line = {"entry": str(entry), "dtype": dtype, "faults": found, "seconds": seconds}
            _append(options.to, line)
            for fault in found if options.names else []:
                print(f"{entry} {dtype} {fault.check}: {fault.message}")
    if options.to:
        failed |= {line["entry"] for line in _lines_in(options.to) if line.get("faults")}
    print(f"kinds of fault: {dict(kinds.most_common())}")
    early = [each for each in chosen if each.info.name in first_release.NAMES]
    for title, entries in (("all", chosen), ("PyTorch 1.0", early)):
        passing = [each for each in entries if str(each) not in failed]
        print(f"of {title}: {len(passing)} of {len(entries)} entries pass wholly")


def _runs_in(path: Path | None) -> set[tuple[str, str]]:
    """The entries and dtypes of a file, those too that were begun only."""
    return {(line["entry"], line["dtype"]) for line in _lines_in(path)}


def _lines_in(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return list(map(json.loads, path.read_text().splitlines()))


def _append(path: Path | None, line: dict[str, object]) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _is_named(entry: Entry, names: list[str]) -> bool:
    return any(fnmatchcase(each, name) for name in names for each in (str(entry), entry.info.name))


main()
