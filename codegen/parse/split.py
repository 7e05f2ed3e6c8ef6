"""Makes several operators of entries that come to several: all splits, in their order."""

from __future__ import annotations

from ..model.program import Program
from .draws import with_draws
from .optionals import with_optionals
from .updates import with_updates


def split(program: Program) -> Program:
    """The program with the operators that entries come to which update arguments, have optional
    ones, or draw."""
    return with_draws(with_optionals(with_updates(program)))
