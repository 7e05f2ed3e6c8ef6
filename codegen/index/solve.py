"""Conditions of folds, solved for the indices that they tell.

`solved` is what makes derivatives gathers: a fold over all places where `i + d - r == q` goes over
`d` alone, at `i = q - d + r`, as far as that is in range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..formula.expressions import ZERO, select
from ..model import place as places
from ..model.formula import Argument, Call, Expression, Select
from ..model.index import (
    LAST,
    MAX,
    MIN,
    PROD,
    SUM,
    Access,
    IndexProgram,
    Read,
    Source,
    Statement,
    Test,
)
from ..model.place import Atom, Element, Function, Index, Place, Size
from .folds import nothing, started
from .invert import inverted
from .rewrite import map_places, with_formula
from .segments import located
from .sizes import Sizes, size_of

SINGLE = (SUM, PROD, MAX, MIN, LAST)
"""Folds that give their only element back."""


def solved(program: IndexProgram) -> IndexProgram:
    """The program with equations solved for indices of folds, and nothing tested in vain."""
    program = located(program)
    sizes = Sizes(program)
    taken = {*program.tensors, *program.numbers, *program.extent}
    statements = tuple(_solved(each, program, sizes, taken) for each in program.statements)
    new = [(name, size) for name, size in sizes.extent.items() if name not in program.extent]
    return replace(program, statements=statements, extents=(*program.extents, *new))


def _solved(
    statement: Statement, program: IndexProgram, sizes: Sizes, taken: set[str]
) -> Statement:
    fold = statement.fold
    if fold is None:
        return statement
    if fold.kind == SUM:
        statement = _without_outside(statement, program, sizes)
    while not _is_sparse(statement):
        found = _solution(statement, sizes)
        if found is not None:
            statement = _eliminated(statement, *found)
            continue
        is_ordered = statement.fold is not None and statement.fold.kind == LAST
        divided = None if is_ordered else inverted(statement, sizes, taken)
        if divided is None:
            break
        statement = divided
    fold = statement.fold
    assert fold is not None
    tests = tuple(
        test
        for test in dict.fromkeys(fold.where)
        if not (test.relation == ">=" and sizes.is_never_negative(test.place))
    )
    statement = replace(statement, fold=replace(fold, where=tests))
    if not fold.indices and not fold.has_batch and fold.kind in SINGLE:
        return _as_element(statement)
    return statement


def _is_sparse(statement: Statement) -> bool:
    """Whether a fold writes few of its elements, as a diagonal: these are not looked for."""
    fold = statement.fold
    if fold is None or fold.kind != LAST:
        return False
    told = [test for test in fold.where if test.relation == "=="]
    return len(told) > len(fold.indices) + fold.has_batch


def _as_element(statement: Statement) -> Statement:
    """A fold of one element, or of none where its conditions do not hold."""
    assert statement.fold is not None
    sources: dict[str, Source] = {read.name: read.source for read in statement.reads}
    outcome = statement.formula.outputs[0]
    for number, test in enumerate(statement.fold.where):
        sources[f"test_{number}_"] = test
        condition = Argument(f"test_{number}_", "bool")
        otherwise = nothing(statement.fold.kind)
        if statement.fold.kind == LAST and statement.fold.start is not None:
            otherwise = Argument("start_")
        outcome = select(condition, outcome, otherwise)
    guarded = _guarded(statement, sources)
    if statement.fold.start is not None:
        guarded["start_"] = statement.fold.start
        outcome = started(statement.fold.kind, outcome)
    return with_formula(replace(statement, fold=None), outcome, guarded)


def _guarded(statement: Statement, sources: dict[str, Source]) -> dict[str, Source]:
    """Accesses that tests protected: where these fail, nothing may be read."""
    assert statement.fold is not None
    if not statement.fold.where:
        return sources
    protected = {index for test in statement.fold.where for index in test.place.indices}
    found = dict(sources)
    for name, source in sources.items():
        if not isinstance(source, Access) or source.outside is not None:
            continue
        if any(p.index is None and protected & set(p.indices) for p in source.places):
            found[name] = replace(source, outside=ZERO)
    return found


def _without_outside(statement: Statement, program: IndexProgram, sizes: Sizes) -> Statement:
    """Conditions in the place of zeros outside that make a whole summand zero."""
    assert statement.fold is not None
    sources: dict[str, Source] = {}
    tests = list(statement.fold.where)
    arguments = {argument.name: argument for argument in statement.formula.arguments}
    for read in statement.reads:
        source = read.source
        sources[read.name] = source
        if not isinstance(source, Access) or source.outside != ZERO:
            continue
        if not _vanishes(statement.formula.outputs[0], arguments[read.name]):
            continue
        if any(isinstance(atom, Element) for place in source.places for atom in place.atoms):
            continue  # no loop has bounds that an element tells: a zero costs less than a branch
        for dim, place in enumerate(source.places):
            size = size_of(program, source.tensor, dim)
            if not sizes.is_inside(place, size):
                tests.append(Test(place, ">="))
                tests.append(Test(size - place - places.number(1), ">="))
        sources[read.name] = replace(source, outside=None)
    fold = replace(statement.fold, where=tuple(dict.fromkeys(tests)))
    reads = tuple(Read(name, source) for name, source in sources.items())
    return replace(statement, fold=fold, reads=reads)


def _vanishes(outcome: Expression, argument: Argument) -> bool:
    """Whether a value is a multiple of an argument: what is outside then adds nothing."""
    if isinstance(outcome, Select):
        return all(_vanishes(each, argument) for each in (outcome.then, outcome.otherwise))
    if not isinstance(outcome, Call):
        return outcome in (argument, ZERO)
    vanish = [_vanishes(each, argument) for each in outcome.operands]
    match outcome.primitive.name:
        case "mul":
            return any(vanish)
        case "div" | "neg" | "abs" | "square":
            return vanish[0]
        case "add" | "sub":
            return all(vanish)
    return False


def _solution(statement: Statement, sizes: Sizes) -> tuple[Test, str, Place, Place] | None:
    """An equation, the index of the fold that it tells, what it tells, and the index's extent.

    An index that goes through a tensor is preferred: what remains is the window. That of a window
    around a place which another tensor tells is left: its places would be looked for in all.
    """
    assert statement.fold is not None
    folded = set(statement.fold.indices)
    best = None
    for test in statement.fold.where:
        if test.relation != "==":
            continue
        for name in statement.fold.indices:
            factor = test.place.coefficient(name).constant
            if factor not in (1, -1) or not test.place.is_linear_in(name):
                continue
            if _depends_on_data_of(test, statement.fold.indices):
                continue
            extent = sizes.extent[name]
            is_size = any(isinstance(atom, Size) for atom in extent.atoms)
            told = [a for a in test.place.atoms if isinstance(a, Element | Function)]
            if not is_size and any(folded & set(p.indices) for a in told for p in places.parts(a)):
                continue
            rank = (is_size, not told)
            if best is None or rank > best[0]:
                rest = test.place - places.index(name) * places.number(factor)
                value = -rest if factor == 1 else rest
                best = (rank, (test, name, value, extent))
    return None if best is None else best[1]


def _depends_on_data_of(test: Test, indices: Sequence[str]) -> bool:
    """Whether an equation has elements at places that the fold goes over: that is a scatter."""
    elements = [atom for atom in test.place.atoms if isinstance(atom, Element)]
    return any(set(places.of(atom).indices) & set(indices) for atom in elements)


def _eliminated(
    statement: Statement, test: Test, name: str, value: Place, extent: Place
) -> Statement:
    """The statement with an index of its fold replaced by what it must be."""
    fold = statement.fold
    assert fold is not None
    inside = (Test(value, ">="), Test(extent - value - places.number(1), ">="))
    rest = tuple(each for each in fold.where if each is not test)
    indices = tuple(each for each in fold.indices if each != name)
    statement = replace(statement, fold=replace(fold, indices=indices, where=(*rest, *inside)))
    values: dict[Atom, Place] = {Index(name): value}
    return map_places(statement, lambda place: place.substitute(values))
