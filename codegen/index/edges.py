"""Finds where along a loop all places are inside their tensors, so that nothing is asked there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ..model import place as places
from ..model.index import Access, Statement, Test
from ..model.loops import Nest
from ..model.place import Atom, Function, Place
from ..record import record
from .rewrite import map_places
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
    only: Access | None
    """The only element that may be outside, if that is all there is."""

    def inside(self, nest: Nest) -> Nest:
        """The nest where all tests hold."""
        move = partial(_moved, self.moved)
        return replace(nest, statements=tuple(map_places(s, move) for s in nest.statements))


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
    slopes = [test.place.coefficient(index) for test in found]
    is_even = all(test.place.is_linear_in(index) for test in found)
    steps = [slope.constant for slope in slopes]
    if not is_even or any(step not in (-1, 0, 1) for step in steps) or not any(steps):
        return None
    only = next(iter(asked)) if len(asked) == 1 and not moved else None
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


def _moved(moved: dict[Atom, Place], place: Place) -> Place:
    return place.substitute(moved)
