"""python -m codegen pack [OP ...]: write compiled kernels into files that others load.

A pack holds machine code for one level of processors: x86-64-v2, -v3, -v4 or aarch64. A wheel of
packs is installed like any other; the library then finds in it what it would have compiled.
"""

from __future__ import annotations

import argparse
import sys

from .. import library, project
from ..__main__ import generate
from ..errors import CodegenError
from . import child, lookup, sampling


def main(arguments: list[str]) -> int:
    """Bring the package up to date, then compile and write; 1 if a kernel does not compile."""
    parser = _parser()
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
    own = ["--package", chosen.package, "--dtypes", options.dtypes, "--out", options.folder]
    own += ["--name", options.name or f"{chosen.package.replace('_', '-')}-kernels"]
    own += [word for level in options.level or () for word in ("--level", level)]
    own += ["--jobs", str(options.jobs)] if options.jobs else []
    own += ["--script", options.script] if options.script else []
    own += ["--wheel"] if options.wheel else []
    own += ["--samples"] if sent else []
    sys.stdout.flush()
    return child.run(chosen, "torchgen_out._runtime.library.tools.pack", [*own, *names], sent)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"{library.COMMAND} pack", description=__doc__)
    parser.add_argument("operators", nargs="*", metavar="OP", help="which; all by default")
    parser.add_argument(
        "--dtypes", default="float32,float64", metavar="NAMES", help="of the inputs, by commas"
    )
    parser.add_argument(
        "--level",
        action="append",
        metavar="LEVEL",
        help="of processors, several times for several packs; this one's by default",
    )
    parser.add_argument("--script", metavar="COMMAND", help="what a program needs, in place of OPs")
    parser.add_argument("--name", metavar="NAME", help="of the files and the wheel")
    parser.add_argument("--folder", default="packs", metavar="DIR", help="where they are written")
    parser.add_argument("--wheel", action="store_true", help="write a wheel of the packs, too")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes; one per core by default")
    project.add_arguments(parser)
    return parser
