"""python -m benchmarks [--only NAME ...]: run the measurements and write benchmarks/results/."""

from __future__ import annotations

import argparse
import importlib

NAMES = (
    "overhead",
    "autograd",
    "indexing",
    "moving",
    "layers",
    "start",
    "author_loop",
    "regenerate",
)


def main() -> None:
    """Run all measurements, or those named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    for name in parser.parse_args().only:
        print(f"\n{name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    main()
