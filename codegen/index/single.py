"""A program without the last index: of all tensors, or of those that name places.

Where statements see a tensor around a dim, as (..., dim, behind), most calls have nothing behind:
then the dim itself is innermost, and no loop over one element may stand inside of it. And many
have an index that was expanded along what is behind: then a place is looked up once for a row.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.index import Access, IndexProgram, Source, Statement, Tensor, Test
from ..model.place import Atom, Element, Index, Place, Size, of
from ..record import record
from .rewrite import map_places


def without_last(program: IndexProgram) -> IndexProgram | None:
    """The program without the last index of its results; None if it has other uses for that."""
    last = _last(program)
    losing = {
        access.tensor
        for each in program.statements
        for access in (*each.accesses, _target(each))
        if access.places and access.places[-1].index == last
    }
    return None if last is None else _cut(program, _Cut(last, losing, is_gone=True))


def of_repeated_places(program: IndexProgram) -> IndexProgram | None:
    """The program for whole numbers that are the same along the last index of its results; None if
    there are none that have it."""
    last = _last(program)
    losing = {
        atom.tensor
        for each in program.statements
        for place in each.all_places
        for atom in place.atoms
        if isinstance(atom, Element) and len(atom.places) > 1 and atom.places[-1].index == last
    }
    losing &= {tensor.name for tensor in program.inputs}
    return _cut(program, _Cut(last, losing)) if last and losing else None


@record
class _Cut:
    """What is cut out of a program: the last place of some tensors, where that is an index."""

    last: str
    losing: set[str]
    is_gone: bool = False
    """Whether nothing else may depend on the index, which is an index no more."""


def _last(program: IndexProgram) -> str | None:
    """The last index of all results, if they have one in common."""
    lasts = {(program.statement(name).indices or (None,))[-1] for name in program.results}
    return lasts.pop() if len(lasts) == 1 else None


def _cut(program: IndexProgram, cut: _Cut) -> IndexProgram | None:
    values: dict[Atom, Place] = {
        Size(name, dim): of(Size(name, dim + 1)) for name in cut.losing for dim in range(-8, -1)
    }

    def change(place: Place) -> Place:
        if any(Size(name, -1) in place.atoms for name in cut.losing):
            raise _OtherUseError
        return place.substitute(values)

    def is_lost(index: str, extent: Place) -> bool:
        """Whether an extent, or what must agree with it, is that of a dim that is cut off."""
        return index == cut.last and (cut.is_gone or _is_last_size(extent, cut.losing))

    try:
        statements = tuple(map_places(_statement(s, cut), change) for s in program.statements)
        lost = {n for n, extent in program.extents if is_lost(n, extent)}
        if lost and not cut.is_gone:
            return None
        extents = [(n, change(extent)) for n, extent in program.extents if n not in lost]
        requirements = tuple(
            replace(each, extent=change(each.extent))
            for each in program.requirements
            if not is_lost(each.index, each.extent)
        )
    except _OtherUseError:
        return None
    inputs = tuple(_tensor(each, cut.losing) for each in program.inputs)
    return replace(
        program,
        inputs=inputs,
        statements=statements,
        extents=tuple(extents),
        requirements=requirements,
    )


def _is_last_size(extent: Place, tensors: set[str]) -> bool:
    return any(extent == of(Size(name, -1)) for name in tensors)


class _OtherUseError(Exception):
    """The index stands elsewhere than in the last place of a tensor."""


def _target(statement: Statement) -> Access:
    places = tuple(of(Index(name)) for name in statement.indices)
    return Access(statement.target, statement.has_batch, places)


def _tensor(tensor: Tensor, losing: set[str]) -> Tensor:
    return replace(tensor, rank=tensor.rank - 1) if tensor.name in losing else tensor


def _statement(statement: Statement, cut: _Cut) -> Statement:
    last, losing = cut.last, cut.losing

    def change(place: Place) -> Place:
        values: dict[Atom, Place] = {
            atom: of(replace(atom, places=_places(atom.tensor, atom.places, cut)))
            for atom in place.atoms
            if isinstance(atom, Element)
        }
        found = place.substitute(values) if values else place
        if cut.is_gone and last in found.indices:
            raise _OtherUseError
        return found

    def source(given: Source) -> Source:
        match given:
            case Access(tensor, _, places):
                return replace(given, places=tuple(map(change, _places(tensor, places, cut))))
            case Test():
                return replace(given, place=change(given.place))
        return change(given)

    folded = statement.fold.indices if statement.fold else ()
    has_last = last in statement.indices
    if cut.is_gone and (last in folded or (statement.target in losing) != has_last):
        raise _OtherUseError
    reads = tuple(replace(each, source=source(each.source)) for each in statement.reads)
    fold = statement.fold
    if fold is not None and fold.start is not None:
        start = fold.start
        fold = replace(fold, start=replace(start, places=_places(start.tensor, start.places, cut)))
    tested = map_places(replace(statement, reads=(), fold=fold), change)
    indices = tuple(name for name in statement.indices if name != last or not cut.is_gone)
    return replace(tested, reads=reads, indices=indices)


def _places(tensor: str, places: tuple[Place, ...], cut: _Cut) -> tuple[Place, ...]:
    if tensor not in cut.losing:
        return places
    if places[-1].index != cut.last:
        raise _OtherUseError
    return places[:-1]
