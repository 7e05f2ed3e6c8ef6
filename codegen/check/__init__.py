"""The rules that a program must keep, one module per subject; `check` runs them all."""

from __future__ import annotations

from ..model.program import Program
from ..parse import Inputs, Parsed, parse
from . import (
    cases,
    derivatives,
    draws,
    expressions,
    families,
    kinds,
    names,
    samples,
    schemas,
    words,
)
from .rules import Context, run_rules

SUBJECTS = (schemas, words, kinds, cases, draws, samples, families, derivatives, expressions, names)
"""The modules whose rules are registered by importing them."""


def check(parsed: Parsed) -> Program:
    """Hold a program to every rule.

    Raises: CodegenError with all mistakes, those that the parser found included.
    """
    context = Context(
        parsed.program, parsed.functions, parsed.broken, parsed.unread, tuple(parsed.roots)
    )
    parsed.report.extend(run_rules(context, parsed.again))
    parsed.report.raise_if_any()
    return parsed.program


def read_program(inputs: Inputs) -> Program:
    """Parse and check: what two files say, for whoever emits nothing.

    Raises: CodegenError with all mistakes.
    """
    return check(parse(inputs))
