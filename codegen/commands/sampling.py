"""Operators whose kernels are compiled ahead: their names, and their samples for who calls them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..model.program import Program
from . import lookup, records


def chosen(program: Program, wanted: Sequence[str]) -> tuple[list[str], str]:
    """The schema names of the operators that are wanted, and records of them, or of all, as JSON.

    Raises: lookup.UnknownOperator.
    """
    named = list(dict.fromkeys(o for name in wanted for o in lookup.find(program, name)))
    operators = named if wanted else program.operators
    sent = json.dumps([records.record_of(program, operator) for operator in operators])
    return [operator.name for operator in named], sent
