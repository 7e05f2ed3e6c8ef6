"""A program for tensors whose last dim has one element: the last index is left out of it.

Where statements see a tensor around a dim, as (..., dim, behind), most calls have nothing behind:
then the dim itself is innermost, and no loop over one element may stand inside of it.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.index import Access, IndexProgram, Source, Statement, Tensor, Test
from ..model.place import Atom, Element, Index, Place, Size, of
from .rewrite import map_places


def without_last(program: IndexProgram) -> IndexProgram | None:
    """The program without the last index of its results; None if it has other uses for that."""
    lasts = {(program.statement(name).indices or (None,))[-1] for name in program.results}
    last = lasts.pop()
    if last is None or lasts:
        return None
    losing = {
        access.tensor
        for each in program.statements
        for access in (*each.accesses, _target(each))
        if access.places and access.places[-1].index == last
    }
    values: dict[Atom, Place] = {
        Size(name, dim): of(Size(name, dim + 1)) for name in losing for dim in range(-8, -1)
    }
    try:
        cut = (_statement(each, last, losing) for each in program.statements)
        statements = tuple(map_places(each, lambda place: place.substitute(values)) for each in cut)
    except _OtherUseError:
        return None
    extents = [(n, place.substitute(values)) for n, place in program.extents if n != last]
    requirements = tuple(
        replace(each, extent=each.extent.substitute(values))
        for each in program.requirements
        if each.index != last
    )
    inputs = tuple(_tensor(each, losing) for each in program.inputs)
    return replace(
        program,
        inputs=inputs,
        statements=statements,
        extents=tuple(extents),
        requirements=requirements,
    )


class _OtherUseError(Exception):
    """The index stands elsewhere than in the last place of a tensor."""


def _target(statement: Statement) -> Access:
    places = tuple(of(Index(name)) for name in statement.indices)
    return Access(statement.target, statement.has_batch, places)


def _tensor(tensor: Tensor, losing: set[str]) -> Tensor:
    return replace(tensor, rank=tensor.rank - 1) if tensor.name in losing else tensor


def _statement(statement: Statement, last: str, losing: set[str]) -> Statement:
    def change(place: Place) -> Place:
        values: dict[Atom, Place] = {
            atom: of(replace(atom, places=_places(atom.tensor, atom.places, last, losing)))
            for atom in place.atoms
            if isinstance(atom, Element)
        }
        found = place.substitute(values) if values else place
        if last in found.indices:
            raise _OtherUseError
        return found

    def source(given: Source) -> Source:
        match given:
            case Access(tensor, _, places):
                kept = _places(tensor, places, last, losing)
                return replace(given, places=tuple(map(change, kept)))
            case Test():
                return replace(given, place=change(given.place))
        return change(given)

    folded = statement.fold.indices if statement.fold else ()
    if last in folded or (statement.target in losing) != (last in statement.indices):
        raise _OtherUseError
    reads = tuple(replace(each, source=source(each.source)) for each in statement.reads)
    fold = statement.fold
    if fold is not None and fold.start is not None:
        start = fold.start
        kept = _places(start.tensor, start.places, last, losing)
        fold = replace(fold, start=replace(start, places=kept))
    tested = map_places(replace(statement, reads=(), fold=fold), change)
    indices = tuple(name for name in statement.indices if name != last)
    return replace(tested, reads=reads, indices=indices)


def _places(
    tensor: str, places: tuple[Place, ...], last: str, losing: set[str]
) -> tuple[Place, ...]:
    if tensor not in losing:
        return places
    if places[-1].index != last:
        raise _OtherUseError
    return places[:-1]
