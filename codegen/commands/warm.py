"""python -m codegen warm [OP ...]: compile kernels ahead, in parallel."""

from __future__ import annotations

import argparse
import sys

from .. import library, project
from ..__main__ import generate
from ..errors import CodegenError
from . import child, lookup, sampling


def main(arguments: list[str]) -> int:
    """Bring the package up to date, then compile; 1 if a kernel does not compile."""
    parser = argparse.ArgumentParser(prog=f"{library.COMMAND} warm", description=__doc__)
    parser.add_argument("operators", nargs="*", metavar="OP", help="which; all by default")
    parser.add_argument(
        "--dtypes", default="float32,float64", metavar="NAMES", help="of the inputs, by commas"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes; one per core by default")
    parser.add_argument(
        "--script", metavar="COMMAND", help="what a program needs, which is run, in place of OPs"
    )
    project.add_arguments(parser)
    options = parser.parse_args(arguments)
    chosen = project.chosen(options, parser)
    status = 0 if chosen.is_installed else generate(chosen)
    if status:
        return status
    try:
        names, sent = (
            ([], "") if options.script else sampling.chosen(chosen.read(), options.operators)
        )
    except (CodegenError, lookup.UnknownOperator) as error:
        print(error, file=sys.stderr)
        return 1
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    jobs += ["--script", options.script] if options.script else []
    jobs += ["--samples"] if sent else []
    sys.stdout.flush()
    return child.run(
        chosen,
        "torchgen_out._runtime.library.tools.warm",
        ["--package", chosen.package, "--dtypes", options.dtypes, *jobs, *names],
        sent,
    )
