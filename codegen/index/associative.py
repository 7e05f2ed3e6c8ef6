"""Scans whose steps may be put together in any grouping, so that many threads share a row.

What a scan has come to over some elements is one or two numbers for each statement; two neighbours
have theirs put together. Running sums and products are associative, and linear recurrences, whose
elements are put together as the maps that they are; of other formulas in the last element and one
that is read, numbers tell whether they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

from ..formula.expressions import ONE, ZERO, call, is_call, select, substitute
from ..formula.simplify import simplify
from ..model import place as places
from ..model.formula import (
    Argument,
    Call,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    Select,
    walk,
)
from ..model.index import ARGMAX, MAX, PROD, SUM, Access, Read, Source, Statement, Test
from ..model.loops import Nest
from ..record import record
from .scans import Carried, scans_of


@record
class Part:
    """One of the numbers that a scan carries."""

    statement: Statement
    """Of which it is a part."""
    element: Expression
    """What one element alone comes to, in terms of the statement's reads."""
    start: Constant | Named
    """What stands before the first."""
    is_value: bool
    """Whether it is the statement's value."""


@record
class Associative:
    """What is carried, and how two neighbours are put together."""

    parts: tuple[Part, ...]
    joined: Formula
    """An output for each part, of a0, a1 ... before and b0, b1 ... behind."""


def associative_of(nest: Nest) -> Associative | None:
    """How rows of a scan are shared; None if they are not."""
    carried = scans_of(nest)
    if len(nest.outer) != 1 or set(carried) != {each.target for each in nest.statements}:
        return None
    found = _Parts()
    for statement in nest.statements:
        if not found.add(statement, carried[statement.target]):
            return None
    outputs = tuple(found.outputs)
    names = [f"{side}{n}" for side in "ab" for n in range(len(outputs))]
    joined = simplify(Formula(tuple(map(Argument, names)), outputs), unroll=False)
    if not found.is_certain and not _is_associative(joined):
        return None
    return Associative(tuple(found.parts), joined)


STEP = "place_of_step"
"""What an element's place is called among the reads of a fold that tells it."""
BEHIND = Constant(1 << 62)
"""Behind each place."""


def folded_of(nest: Nest) -> Associative | None:
    """How elements of folds over one index are put together, in any order; None if they are not."""
    loops = [*nest.inner, *([nest.vector] if nest.vector else [])]
    is_plain = not (nest.over_batch or nest.guards or nest.scattered or nest.vector or nest.outer)
    if not is_plain or len(loops) != 1 or loops[0].lower or loops[0].upper:
        return None
    parts: list[Part] = []
    outputs: list[Expression] = []
    for statement in nest.statements:
        made = _folded_parts(statement, len(parts))
        if made is None:
            return None
        parts += made[0]
        outputs += made[1]
    names = [f"{side}{n}" for side in "ab" for n in range(len(outputs))]
    formula = Formula(tuple(map(Argument, names)), tuple(outputs))
    return Associative(tuple(parts), simplify(formula, unroll=False))


def _folded_parts(statement: Statement, first: int) -> tuple[list[Part], list[Expression]] | None:
    """What a fold has so far, and how it meets another of its kind."""
    fold = statement.fold
    if fold is None or fold.where or fold.told is not None or len(fold.indices) != 1:
        return None
    if fold.start is not None:
        return None
    element = statement.formula.outputs[0]
    (a, b), (at, other) = ([Argument(f"{s}{first + n}") for s in "ab"] for n in (0, 1))
    single = replace(statement, fold=None, type="number")
    largest = fold.kind in (MAX, ARGMAX)
    end = Constant(-math.inf) if largest else Named("inf")
    wins = call("gt" if largest else "lt", b, a)
    is_nan = call("ne", b, b)
    match fold.kind:
        case "sum" | "prod":
            start = ZERO if fold.kind == SUM else ONE
            joined = call("add" if fold.kind == SUM else "mul", a, b)
            return [Part(single, element, start, True)], [joined]
        case "max" | "min":
            joined = select(call("logical_or", wins, is_nan), b, a)
            return [Part(single, element, end, True)], [joined]
        case "argmax" | "argmin":
            is_first = call("lt", other, at)
            of_nan = call("logical_or", call("eq", a, a), is_first)
            wins = select(is_nan, of_nan, select(call("eq", a, b), is_first, wins))
            step = Read(STEP, places.index(fold.indices[0]))
            placed = replace(statement, fold=None, reads=(*statement.reads, step))
            parts = [
                Part(single, element, end, False),
                Part(placed, Argument(STEP), BEHIND, True),
            ]
            return parts, [select(wins, b, a), select(wins, other, at)]
    return None


class _Parts:
    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.outputs: list[Expression] = []
        self.seeds: dict[Source, int] = {}
        self.values: dict[str, int] = {}
        self.is_certain = True

    def add(self, statement: Statement, carried: Carried) -> bool:
        """Add the parts of a statement; whether it has some."""
        sources = {read.name: read.source for read in statement.reads}
        others = [a for a in _arguments(statement) if a != carried.argument]
        reads_own = any(self._value(sources.get(a.name)) is not None for a in others)
        outside = carried.begin
        number = len(self.parts)
        if statement.type == "number" and not reads_own:
            linear = _linear(statement.formula.outputs[0], carried.argument)
            if carried.kind is not None and carried.term is not None:
                a, b = Argument(f"a{number}"), Argument(f"b{number}")
                self.parts.append(Part(statement, carried.term, outside, True))
                self.outputs.append(call("add" if carried.kind == SUM else "mul", a, b))
                self.values[statement.target] = number
                return carried.kind in (SUM, PROD)
            if linear is not None:
                self._add_linear(statement, linear, outside)
                return True
        return self._add_picked(statement, carried, sources, others)

    def _add_linear(
        self, statement: Statement, linear: tuple[Expression, Expression], start: Constant | Named
    ) -> None:
        """h' = factor * h + term, of two steps: h'' = f2 * f1 * h + (f2 * t1 + t2)."""
        n = len(self.parts)
        factor, term = linear
        a0, b0, a1, b1 = (Argument(f"{s}{n + i}") for i in (0, 1) for s in "ab")
        self.parts.append(Part(statement, factor, ONE, False))
        self.parts.append(Part(statement, term, start, True))
        self.outputs += [call("mul", a0, b0), call("add", call("mul", b0, a1), b1)]
        self.values[statement.target] = n + 1

    def _add_picked(
        self,
        statement: Statement,
        carried: Carried,
        sources: Mapping[str, Source],
        others: list[Argument],
    ) -> bool:
        number = len(self.parts)
        told: dict[Expression, Expression] = {carried.argument: Argument(f"a{number}")}
        seeds = []
        for each in others:
            source = sources.get(each.name)
            value = self._value(source)
            if source is None or isinstance(source, Test):
                return False
            if value is not None:
                told[each] = self.outputs[value]
            elif source in self.seeds:
                told[each] = Argument(f"b{self.seeds[source]}")
            else:
                seeds.append(each)
        if len(seeds) != 1:
            return False
        (seed,) = seeds
        told[seed] = Argument(f"b{number}")
        outside = carried.begin
        self.parts.append(Part(statement, seed, outside, True))
        self.outputs.append(substitute(statement.formula.outputs[0], told))
        self.seeds[sources[seed.name]] = number
        self.values[statement.target] = number
        self.is_certain = False
        return True

    def _value(self, source: Source | None) -> int | None:
        """The part that is another statement's value at the same element."""
        if isinstance(source, Access) and source.tensor in self.values:
            own = self.parts[self.values[source.tensor]].statement
            at_hand = tuple(map(places.index, own.indices))
            return self.values[source.tensor] if source.places == at_hand else None
        return None


def _arguments(statement: Statement) -> list[Argument]:
    nodes = walk(statement.formula.outputs)
    return list(dict.fromkeys(each for each in nodes if isinstance(each, Argument)))


def _linear(outcome: Expression, last: Argument) -> tuple[Expression, Expression] | None:
    """(factor, term) of `factor * last + term`."""
    if not is_call(outcome, "add"):
        return None
    assert isinstance(outcome, Call)
    for product, term in (outcome.operands, outcome.operands[::-1]):
        if is_call(product, "mul") and last not in walk((term,)):
            assert isinstance(product, Call)
            factors = [each for each in product.operands if each != last]
            if len(factors) == 1 and last not in walk((factors[0],)):
                return factors[0], term
    return None


# -- numbers that tell whether a formula is associative -------------------------------------------

_SAMPLES = (-3.25, -1.0, 0.5, 2.0, 7.5)
_TOLERANCE = 1e-9


def _is_associative(joined: Formula) -> bool:
    """Whether the grouping of three elements makes no difference, as far as samples tell.

    Parts behind the first are told apart by numbers that no two elements share, as places are.
    """
    count = len(joined.outputs)
    try:
        for three in itertools.product(_SAMPLES, repeat=3):
            a, b, c = ([value, *[n + 10.0 * i for i in range(1, count)]]
                       for n, value in enumerate(three))  # fmt: skip
            left = _together(joined, _together(joined, a, b), c)
            right = _together(joined, a, _together(joined, b, c))
            pairs = zip(left, right, strict=True)
            if not all(
                math.isclose(x, y, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) for x, y in pairs
            ):
                return False
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return False
    return True


def _together(joined: Formula, a: list[float], b: list[float]) -> list[float]:
    known: dict[Expression, float] = {}
    for side, values in (("a", a), ("b", b)):
        known |= {Argument(f"{side}{n}"): value for n, value in enumerate(values)}
    return [_evaluated(each, known) for each in joined.outputs]


def _evaluated(node: Expression, known: Mapping[Expression, float]) -> float:
    match node:
        case Argument():
            return known[node]
        case Constant(value):
            return float(value.real)
        case Named(name):
            return float(getattr(math, name))
        case Select(condition, then, otherwise):
            return _evaluated(then if _evaluated(condition, known) else otherwise, known)
        case IsNone():
            raise TypeError
    values = [_evaluated(each, known) for each in node.operands]
    if node.primitive.python is None:
        raise TypeError(node.primitive.name)
    text = node.primitive.python.format(*(f"(values[{n}])" for n in range(len(values))))
    return float(eval(text, {"math": math, "values": values}))  # of the table of primitives
