"""Folds over ranges, by whoever is in them: which range a whole number lies in is looked for.

`out[r] = sum(k in start[r] .. start[r + 1]: x[k])` hands its gradient on to each `x[k]` from all
`r` in whose range `k` lies. Of ranges that lie one behind another that is one at most, and
bisection finds it; so the adjoint is a gather.
"""

from __future__ import annotations

from dataclasses import replace

from ..formula.expressions import ONE
from ..model import place as places
from ..model.formula import Formula
from ..model.index import ARGMAX, ARGMIN, LOCATED, Fold, IndexProgram, Statement, Test
from ..model.place import Atom, Element, Index, Place, looked_at
from ..record import record
from .rewrite import fresh, map_places


@record
class Segment:
    """A range that an index numbers, and a whole number that lies in it."""

    index: str
    number: Place
    first: Place
    """What the number is not below."""
    end: Place
    """What it is below."""
    tests: tuple[Test, Test]


def segment_of(statement: Statement) -> Segment | None:
    """The range of which a fold's conditions tell that a number lies in it, and its own index that
    numbers the ranges."""
    fold = statement.fold
    if fold is None:
        return None
    for name in fold.indices:
        bounds = [(test, bound) for test in fold.where if (bound := _bound_of(test, name))]
        for test, (first, is_end) in bounds:
            for other, (end, is_other_end) in bounds:
                number = test.place + first
                same = end - other.place - places.number(1) == number
                if not is_end and is_other_end and same and number.indices:
                    return Segment(name, number, first, end, (test, other))
    return None


def _bound_of(test: Test, name: str) -> tuple[Place, bool] | None:
    """What in a condition is looked at and depends on an index alone, and whether it is an end."""
    if test.relation != ">=":
        return None
    for term in test.place.terms:
        bound = Place(((term[0], abs(term[1])),))
        rest = test.place - Place((term,))
        if looked_at(bound) and name in bound.indices and name not in rest.indices:
            return bound, term[1] > 0
    return None


def located(program: IndexProgram) -> IndexProgram:
    """The program where folds over all ranges in which a number lies look for the only one."""
    taken = {*program.tensors, *program.numbers, *program.extent}
    made: dict[tuple[Place, Place, Place], Statement] = {}
    statements: list[Statement] = []
    for each in program.statements:
        while _is_looked_for(each) and (segment := segment_of(each)) is not None:
            key = segment.number, segment.first, segment.end
            if key not in made:
                made[key] = _search(each, segment, taken)
                statements.append(made[key])
            each = _at(each, segment, made[key])
        statements.append(each)
    return replace(program, statements=tuple(statements))


def _is_looked_for(statement: Statement) -> bool:
    fold = statement.fold
    return fold is not None and fold.kind not in (ARGMAX, ARGMIN, LOCATED)


def _search(statement: Statement, segment: Segment, taken: set[str]) -> Statement:
    """What tells which range each number lies in, -1 for none."""
    bounds = segment.first, segment.end
    atoms = [atom for bound in bounds for atom in bound.atoms if isinstance(atom, Element)]
    used = {name for each in (segment.number, *bounds) for name in each.indices}
    indices = tuple(name for name in statement.loops if name in used - {segment.index})
    target = fresh(f"{atoms[0].tensor if atoms else segment.index}_segment", taken)
    fold = Fold(LOCATED, False, (segment.index,), segment.tests)
    has_batch = any(atom.has_batch for atom in atoms)
    return Statement(target, has_batch, indices, fold, Formula((), (ONE,)), (), "int")


def _at(statement: Statement, segment: Segment, search: Statement) -> Statement:
    """A fold at the only range in which its number lies, if there is one."""
    fold = statement.fold
    assert fold is not None
    own = tuple(map(places.index, search.indices))
    found = places.of(Element(search.target, search.has_batch, own))
    kept = tuple(test for test in fold.where if test not in segment.tests)
    left = tuple(name for name in fold.indices if name != segment.index)
    fold = replace(fold, indices=left, where=(Test(found, ">="), *kept))
    values: dict[Atom, Place] = {Index(segment.index): found}
    return map_places(replace(statement, fold=fold), lambda place: place.substitute(values))
