"""Statements put into those that read them, and what is not needed left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from ..formula.expressions import ZERO, call, select, substitute
from ..formula.result import cost
from ..model import place as places
from ..model.formula import Argument, Expression, type_of
from ..model.index import SUM, Access, Fold, IndexProgram, Source, Statement, Test
from ..model.place import Atom, Element, Index, Parameter, Place
from .rewrite import map_places, with_formula
from .sizes import Sizes, size_of

TRIVIAL = 2
"""Work of a formula, in multiplications, that is done again sooner than kept."""


def inlined(program: IndexProgram) -> IndexProgram:
    """The program with formulas put where their values are read, if nothing is computed twice."""
    changed = True
    while changed:
        changed = False
        program = without_unused(program)
        for each in program.statements:
            if each.target in program.results or not _may_inline(each, program):
                continue
            program, changed = _put_in(each, program), True
            break
    return without_copies(program)


def recomputed(program: IndexProgram) -> IndexProgram:
    """The program where two readers compute what they read, if that costs less than memory."""
    for each in program.statements:
        found = None if each.target in program.results else _readers(each, program)
        if not found or len(found) > 2 or _work(each) > CHEAP:
            continue
        if all(_goes_over_all(each, other, access) for other, access in found):
            return recomputed(_put_in(each, program))
    return program


CHEAP = 72
"""Work of a formula that a device does again sooner than to write and read what it gives."""


def _may_inline(each: Statement, program: IndexProgram) -> bool:
    """Whether an element is read once, by a statement that goes over its indices alone."""
    readers = _readers(each, program)
    if readers is None:
        return False
    is_trivial = _work(each) <= TRIVIAL and len(each.reads) <= 2
    if is_trivial:
        return True
    domains = {
        (other.indices, other.fold and replace(other.fold, kind=SUM)) for other, _ in readers
    }
    if len(readers) != 1 and (len(domains) != 1 or readers[0][0].fold is None):
        return False  # folds over the same are one loop, which computes equal parts once
    return all(_goes_over_all(each, other, access) for other, access in readers)


def _readers(each: Statement, program: IndexProgram) -> list[tuple[Statement, Access]] | None:
    """What reads elements of a statement; None if its formula cannot be put there."""
    if each.fold is not None or each.type == "int" or each.is_detached or each.reads_itself:
        return None
    folds = [other.fold for other in program.statements if other.fold is not None]
    if any(fold.start is not None and fold.start.tensor == each.target for fold in folds):
        return None
    readers = [
        (other, access)
        for other in program.statements
        for access in other.accesses
        if access.tensor == each.target
    ]
    is_place = any(
        isinstance(atom, Element) and atom.tensor == each.target
        for other, _ in readers
        for place in other.all_places
        for atom in place.atoms
    )
    return None if is_place else readers


def _domain(statement: Statement) -> tuple[tuple[str, ...], Fold | None]:
    fold = statement.fold
    return statement.indices, None if fold is None else replace(fold, kind=SUM)


def _goes_over_all(each: Statement, other: Statement, access: Access) -> bool:
    """Whether a reader goes over no more than an element's own indices."""
    used = {index for place in access.places for index in place.indices}
    has_batch = other.has_batch or (other.fold is not None and other.fold.has_batch)
    return set(other.loops) <= used and has_batch == each.has_batch


def _work(statement: Statement) -> int:
    return cost(statement.formula) - 36 * sum(
        a.kind == "tensor" for a in statement.formula.arguments
    )


def _put_in(each: Statement, program: IndexProgram) -> IndexProgram:
    statements = [
        _with_inlined(other, each, program)
        for other in program.statements
        if other.target != each.target
    ]
    return replace(program, statements=tuple(statements))


def _with_inlined(other: Statement, each: Statement, program: IndexProgram) -> Statement:
    if not any(access.tensor == each.target for access in other.accesses):
        return other
    sources: dict[str, Source] = {}
    values: dict[Expression, Expression] = {}
    arguments = {argument.name: argument for argument in other.formula.arguments}
    for read in other.reads:
        source = read.source
        if not (isinstance(source, Access) and source.tensor == each.target):
            sources[read.name] = source
            continue
        at: dict[Atom, Place] = dict(zip(map(Index, each.indices), source.places, strict=True))
        moved = map_places(each, partial(_at, at))
        names: dict[Expression, Expression] = {}
        for own in moved.reads:
            name = f"{read.name}_{own.name}"
            argument = next(a for a in each.formula.arguments if a.name == own.name)
            names[argument] = replace(argument, name=name)
            guard = isinstance(own.source, Access) and own.source.outside is None
            is_moved = any(p.index is None for p in source.places)
            outside = ZERO if guard and source.outside is not None and is_moved else None
            sources[name] = (
                replace(own.source, outside=outside)
                if outside is not None and isinstance(own.source, Access)
                else own.source
            )
        outcome = substitute(each.formula.outputs[0], names)
        if source.outside is not None:
            outcome = _where_inside(outcome, source, program, sources, read.name)
        if arguments[read.name].kind == "bool" and type_of(outcome) != "bool":
            outcome = call("ne", outcome, ZERO)
        values[arguments[read.name]] = outcome
    return with_formula(other, substitute(other.formula.outputs[0], values), sources)


def _at(values: dict[Atom, Place], place: Place) -> Place:
    return place.substitute(values)


def _where_inside(
    outcome: Expression,
    source: Access,
    program: IndexProgram,
    sources: dict[str, Source],
    name: str,
) -> Expression:
    """A value where an access is inside its tensor, else what it is outside."""
    sizes = Sizes(program)
    assert source.outside is not None
    for dim, place in enumerate(source.places):
        size = size_of(program, source.tensor, dim)
        if sizes.is_inside(place, size):
            continue
        for number, test in enumerate((place, size - place - places.number(1))):
            key = f"{name}_inside_{dim}_{number}"
            sources[key] = Test(test, ">=")
            outcome = select(Argument(key, "bool"), outcome, source.outside)
    return outcome


def without_copies(program: IndexProgram) -> IndexProgram:
    """The program without statements that give another tensor a second name."""
    for each in program.statements:
        source = _copied(each)
        made = {other.target for other in program.statements} - set(program.results)
        if source is None or source not in made:
            continue
        readers = [
            other.target
            for other in program.statements
            if any(access.tensor == source for access in other.accesses)
        ]
        if readers == [each.target]:
            origin = program.statement(source)
            statements = tuple(
                replace(origin, target=each.target) if other is origin else other
                for other in program.statements
                if other is not each
            )
            return without_copies(replace(program, statements=statements))
    return program


def _copied(statement: Statement) -> str | None:
    """The tensor whose elements a statement gives as they are."""
    if statement.fold is not None or statement.is_detached or len(statement.reads) != 1:
        return None
    (read,) = statement.reads
    source, outcome = read.source, statement.formula.outputs[0]
    if not isinstance(source, Access) or not isinstance(outcome, Argument):
        return None
    same = [place.index for place in source.places] == list(statement.indices)
    return source.tensor if same and source.has_batch == statement.has_batch else None


def without_unused(program: IndexProgram) -> IndexProgram:
    """The program without statements that no result depends on."""
    needed = set(program.results)
    kept: list[Statement] = []
    for each in reversed(program.statements):
        if each.target in needed:
            kept.append(each)
            needed |= {access.tensor for access in each.accesses}
    used = used_indices(kept, program)
    inputs = tuple(each for each in program.inputs)
    return replace(
        program,
        inputs=inputs,
        statements=tuple(reversed(kept)),
        extents=tuple((name, extent) for name, extent in program.extents if name in used),
        requirements=tuple(each for each in program.requirements if each.index in used),
    )


def used_indices(statements: Iterable[Statement], program: IndexProgram) -> set[str]:
    """The indices that statements go over, and those that requirements need."""
    used = {name for each in statements for name in each.loops}
    return used | {index for each in program.requirements for index in (each.index,)}


def numbers_of(program: IndexProgram) -> Sequence[str]:
    """The arguments that are no tensors and that the statements read, in the program's order."""
    used: set[str] = set()
    for each in program.statements:
        used |= each.numbers
        for place in each.all_places:
            used |= {atom.name for atom in place.atoms if isinstance(atom, Parameter)}
    for place in (
        *(extent for _, extent in program.extents),
        *(each.extent for each in program.requirements),
        *(size for draw in program.draws for size in draw.sizes),
    ):
        used |= {atom.name for atom in place.atoms if isinstance(atom, Parameter)}
    return [name for name in program.numbers if name in used]
