"""Finds where along a loop all places are inside their tensors, so that nothing is asked there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ..formula.expressions import FALSE, TRUE, substitute
from ..model import place as places
from ..model.formula import Argument, Constant, Expression, Select, walk
from ..model.index import Access, Statement, Test
from ..model.loops import Nest
from ..model.place import Atom, Function, Place
from ..record import record
from .rewrite import map_places, with_formula
from .sizes import Sizes, size_of
from .writer import Writer

BRINGING = ("clamp", "reflect")
"""Rules that leave a place as it is where it is inside."""


@record
class Edges:
    """What is asked of places along an index."""

    tests: tuple[Test, ...]
    """What holds inside."""
    moved: dict[Atom, Place]
    """What rules come to there."""
    only: Access | Test | None
    """The only element that may be outside, or test that may fail, if that is all there is."""

    def inside(self, nest: Nest) -> Nest:
        """The nest where all tests hold."""
        move = partial(_moved, self.moved)
        return self.decided(nest, TRUE, tuple(map_places(s, move) for s in nest.statements))

    def outside(self, nest: Nest) -> Nest:
        """The nest where the only test fails."""
        return self.decided(nest, FALSE, nest.statements)

    def decided(self, nest: Nest, answer: Constant, statements: tuple[Statement, ...]) -> Nest:
        """A nest of these statements, which know the answer of the only test."""
        if isinstance(self.only, Test):
            statements = tuple(_decided(each, self.only, answer) for each in statements)
        return replace(nest, statements=statements)


def edges_of(nest: Nest, index: str, writer: Writer) -> Edges | None:
    """The edges along an index, if there are some that cut one range from it."""
    found: dict[Test, None] = {}
    moved: dict[Atom, Place] = {}
    asked: dict[Access, None] = {}
    for statement in nest.statements:
        for access, tests in _asked(statement, writer):
            asked.setdefault(access)
            found.update(dict.fromkeys(tests))
        for rule in _rules(statement, index):
            place, size = rule.operands
            if not writer.sizes.is_inside(place, size):
                moved[rule] = place
                found.update(dict.fromkeys(_inside(place, size, writer.sizes)))
    only: Access | Test | None = next(iter(asked)) if len(asked) == 1 and not moved else None
    chosen = {} if found else _choices(nest, index)
    if len(chosen) == 1:
        found, only = chosen, next(iter(chosen))
    slopes = [test.place.coefficient(index) for test in found]
    is_even = all(test.place.is_linear_in(index) for test in found)
    steps = [slope.constant for slope in slopes]
    if not is_even or any(step not in (-1, 0, 1) for step in steps) or not any(steps):
        return None
    return Edges(tuple(found), moved, only)


def _asked(statement: Statement, writer: Writer) -> Iterator[tuple[Access, list[Test]]]:
    """The elements that may be outside, and where they are not."""
    for read in statement.reads:
        access = read.source
        if not isinstance(access, Access) or access.outside is None:
            continue
        sizes = [size_of(writer.program, access.tensor, n) for n in range(len(access.places))]
        pairs = zip(access.places, sizes, strict=True)
        open_ = [pair for pair in pairs if not writer.sizes.is_inside(*pair)]
        if open_:
            yield access, [test for pair in open_ for test in _inside(*pair, writer.sizes)]


def _inside(place: Place, size: Place, sizes: Sizes) -> list[Test]:
    ends = place, size - place - places.number(1)
    return [Test(end, ">=") for end in ends if not sizes.is_never_negative(end)]


def _rules(statement: Statement, index: str) -> Iterator[Function]:
    """The places that a rule brings inside."""
    for place in statement.all_places:
        for atom in place.atoms:
            if isinstance(atom, Function) and atom.name in BRINGING and index in place.indices:
                yield atom


def _choices(nest: Nest, index: str) -> dict[Test, None]:
    """The tests that hold on one side along an index, and decide there between a number and what
    is read."""
    return {
        read.source: None
        for each in nest.statements
        for read in each.reads
        if isinstance(read.source, Test)
        and read.source.relation == ">="
        and read.source.place.coefficient(index).constant in (-1, 1)
        and _decides(each.formula.outputs[0], read.name)
    }


def _decides(outcome: Expression, name: str) -> bool:
    """Whether a formula is a choice by this argument, with a number on one side."""
    if not isinstance(outcome, Select) or outcome.condition != Argument(name, "bool"):
        return False
    return any(isinstance(each, Constant) for each in (outcome.then, outcome.otherwise))


def _decided(statement: Statement, test: Test, answer: Constant) -> Statement:
    """A statement where the answer of a test is known; what it then does not read is dropped."""
    names = {read.name for read in statement.reads if read.source == test}
    (outcome,) = statement.formula.outputs
    values: dict[Expression, Expression] = {
        node: answer
        for node in walk((outcome,))
        if isinstance(node, Argument) and node.name in names
    }
    sources = {read.name: read.source for read in statement.reads}
    return with_formula(statement, substitute(outcome, values), sources)


def _moved(moved: dict[Atom, Place], place: Place) -> Place:
    return place.substitute(moved)
