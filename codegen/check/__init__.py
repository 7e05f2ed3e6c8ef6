"""The rules that a program must keep, one module per subject; `check` runs them all."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..errors import Diagnostic
from ..model.program import Program
from ..model.signature import Signature
from . import derivatives, expressions, families, kinds, samples, schemas, words
from .rules import Context, run_rules

SUBJECTS = (schemas, words, kinds, samples, families, derivatives, expressions)
"""The modules whose rules are registered by importing them."""


def check(
    program: Program,
    functions: Mapping[str, Signature],
    broken: Collection[str] = (),
    unread: Collection[str] = (),
) -> list[Diagnostic]:
    """Return every violation of every rule.

    `functions` are what derivative formulas may call besides operators; `broken` names operators
    whose entries could not be read, so that nobody is told that these do not exist; `unread` names
    those whose derivative entries could not be read.
    """
    return run_rules(Context(program, functions, broken, unread))
