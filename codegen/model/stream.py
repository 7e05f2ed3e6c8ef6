"""Formulas over a generator's stream of random numbers: the kind `draw`."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ..record import record
from .formula import Argument, Expression, Formula, Named, walk
from .formula import Call as PrimitiveCall

if TYPE_CHECKING:
    from .operator import FunctionReference

NAMED = {
    "uniform": "a number from [0, 1)",
    "positive": "a number from (0, 1): never zero",
    "normal": "a number of the normal distribution of mean 0 and variance 1",
}
"""Words of the stream that stand for a number."""
FLOATS = tuple(NAMED)
"""Words of numbers with a fraction: those of complex dtypes are their parts."""
CALLED = {
    "below": "a whole number from [0, n)",
    "chance": "whether an event of probability p occurs",
}
"""Words that are called with a number of the call, `chance` also with an element."""
LARGEST = Argument("largest", "int")
"""The largest whole number up to which the dtype of the result holds all."""
REAL_PART = Argument("real_part", "bool")
"""False for the imaginary parts of complex numbers."""


@record
class Draw:
    """Runs a scalar formula on a number of the stream for every element of the result."""

    formula: Formula
    """Its first argument is called like the word."""
    word: str
    """What it reads of the stream."""
    parameter: Expression | None
    """What the word is called with."""
    meta: FunctionReference | None = field(default=None)
    """Shape function; by default results have the shape of all tensors, the first one's dtype."""
    memory_format: tuple[str, ...] = ()
    """Arguments after which results of their rank lie channels-last, if one of these does."""


@record
class DrawPlan:
    """A draw as what a kernel computes for an element, and what a call computes once."""

    formula: Formula
    """Of the word, the tensors' elements, and the numbers."""
    numbers: Formula
    """Of the call's numbers: what the word is called with (0 for nothing), then all that the
    formula reads."""
    inputs: tuple[str, ...]
    """The tensors whose elements the formula reads."""
    probability: str | None
    """The tensor whose elements are probabilities of events."""


def is_of_call(node: Expression) -> bool:
    """Whether an expression depends on numbers of the call alone, and not on the compute type."""
    for each in walk((node,)):
        if isinstance(each, Argument) and (each.kind == "tensor" or each == REAL_PART):
            return False
        if isinstance(each, Argument) and each.name in CALLED:
            return False
        if isinstance(each, Named) and each.name == "eps":
            return False
        if isinstance(each, PrimitiveCall) and _only_in_kernels(each):
            return False
    return True


def _only_in_kernels(node: PrimitiveCall) -> bool:
    return node.primitive.symbol is None and node.primitive.python is None
