"""python -m codegen verify OP ...: hold operators to independent values and gradients."""

from __future__ import annotations

import argparse
import json
import sys

from .. import library, project
from ..__main__ import generate
from ..errors import CodegenError
from . import child, lookup, records


def main(arguments: list[str]) -> int:
    """Bring the package up to date, then check operators; 1 if a check fails."""
    parser = argparse.ArgumentParser(prog=f"{library.COMMAND} verify", description=__doc__)
    parser.add_argument(
        "operators", nargs="*", metavar="OP", help="which; all of a package outside the tree"
    )
    project.add_arguments(parser)
    options = parser.parse_args(arguments)
    chosen = project.chosen(options, parser)
    if not options.operators and chosen.base is None:
        parser.error("name the operators")
    status = generate(chosen)
    if status:
        return status
    try:
        program = chosen.read()
        names = options.operators or list(dict.fromkeys(o.base_name for o in program.operators))
        found = dict.fromkeys(o for name in names for o in lookup.find(program, name))
    except (CodegenError, lookup.UnknownOperator) as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.flush()
    sent = json.dumps([records.record_of(program, operator) for operator in found])
    return child.run(chosen, "torchgen_out._runtime.library.tools.verify", sent=sent)
