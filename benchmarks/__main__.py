"""python -m benchmarks [--only NAME ...]: measure beside PyTorch and write benchmarks/results/."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path

from benchmarks.groups import GROUPS, PAGES

NAMES = (*GROUPS, *PAGES)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument("--case", default="", help="only cases whose name contains this; no pages")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=Path, help="write all times to this file, too")
    parser.add_argument("--quick", action="store_true", help="each case once, short; no pages")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    if arguments.device == "cuda":
        importlib.import_module("benchmarks.cuda").run(arguments.rounds, arguments.case)
        return
    # NumPy's BLAS reads this when it is loaded: `run` is imported afterwards.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    importlib.import_module("benchmarks.run").run(arguments)


if __name__ == "__main__":
    main()
