"""Folds over windows: a few elements around each, whose places move evenly with an index."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ..index.folds import tells_where
from ..index.sizes import Sizes, size_of
from ..model import place as places
from ..model.index import Access, IndexProgram, Statement, Test
from ..model.loops import Nest, Phase, Window
from ..model.place import Element, Function, Place
from .index_nests import cuts, goes_through_a_tensor, nests_of


def window_of(phase: Phase, program: IndexProgram, numbers: tuple[str, ...]) -> Window | None:
    """A launch over rows as one over windows along the rows, if it is such.

    numbers: the tensors that nobody needs beyond an element of a row.
    """
    statements = [each for nest in phase.nests for each in nest.statements]
    index = next((nest.vector.index for nest in phase.nests if nest.vector is not None), None)
    if phase.product is not None or not (phase.items or phase.has_batch):
        return None
    if index is None:
        return _cut_window_of(phase, statements)
    items = (*phase.items, index)
    made = {each.target for each in statements}
    if not all(_is_of_windows(each, items, phase.has_batch, made, program) for each in statements):
        return None
    if set(numbers) != {*phase.numbers, *phase.rows}:
        return None
    certain = tuple(dict.fromkeys(_certain(statements, items, program)))
    everywhere = nests_of(statements, items, phase.has_batch, None, program)
    bare = [_without(each, certain) for each in statements]
    whole = {each.target: each for each in statements}
    inside = [
        replace(nest, statements=tuple(whole[each.target] for each in nest.statements))
        for nest in nests_of(bare, items, phase.has_batch, None, program)
    ]
    return Window(items, numbers, tuple(everywhere), tuple(inside), certain)


def _cut_window_of(phase: Phase, statements: Sequence[Statement]) -> Window | None:
    """The launch where an item's last index tells by quotients which part of a tensor is folded.

    What the other indices tell is worked out once for a row of items.
    """
    items = phase.items
    if not items or phase.rows or not any(cuts(items[-1], each) for each in statements):
        return None
    if any(each.indices != items for each in statements) or len(items) + phase.has_batch < 2:
        return None
    nests = _paired(phase.nests)
    return Window(items, phase.numbers, nests, nests, (), is_cut=True)


def _paired(nests: Sequence[Nest]) -> tuple[Nest, ...]:
    """Nests of extremes together with those, over the same, that tell where these are."""
    found: list[Nest] = []
    for nest in nests:
        (told, *others), before = nest.statements, found[-1] if found else None
        if before is not None and not others and tells_where(told, before.statements[-1]):
            joined = replace(nest, statements=(*before.statements, told))
            if before == replace(joined, statements=before.statements):
                found[-1] = joined
                continue
        found.append(nest)
    return tuple(found)


def _is_of_windows(
    statement: Statement,
    items: Sequence[str],
    has_batch: bool,
    made: Collection[str],
    program: IndexProgram,
) -> bool:
    """Whether a statement has an element for each item, of few others."""
    fold = statement.fold
    if (statement.has_batch, statement.indices) != (has_batch, tuple(items)):
        return False
    if statement.reads_itself or any(_gathers(each, items, made) for each in statement.all_places):
        return False
    if fold is None:
        return True
    if fold.start is not None:
        return False
    far = [name for name in fold.indices if goes_through_a_tensor(name, program)]
    return bool(fold.indices) and not far and not fold.has_batch


def _gathers(place: Place, items: Sequence[str], made: Collection[str]) -> bool:
    """Whether a place is told by elements, of other tensors than what is made for an item."""
    return any(
        atom.tensor not in made or [each.index for each in atom.places] != list(items)
        for atom in place.atoms
        if isinstance(atom, Element)
    )


def _certain(
    statements: Sequence[Statement], items: Sequence[str], program: IndexProgram
) -> Iterator[Test]:
    """What can be asked of a window as a whole, in place of each of its elements."""
    sizes = Sizes(program)
    for statement in statements:
        own = statement.fold.indices if statement.fold is not None else ()
        loops = {items[-1], *own}
        tests = statement.fold.where if statement.fold is not None else ()
        yield from (test for test in tests if _moves_evenly(test, loops))
        for read in statement.reads:
            if isinstance(read.source, Access) and read.source.outside is not None:
                found = list(_inside(read.source, sizes, program))
                if all(_moves_evenly(test, loops) for test in found):
                    yield from found


def _inside(access: Access, sizes: Sizes, program: IndexProgram) -> Iterator[Test]:
    """What must hold for an element to be there."""
    for dim, place in enumerate(access.places):
        size = size_of(program, access.tensor, dim)
        if not sizes.is_inside(place, size):
            yield Test(place, ">=")
            yield Test(size - place - places.number(1), ">=")


def _moves_evenly(test: Test, loops: set[str]) -> bool:
    """Whether a test is a sum of multiples of indices, which nothing in the loops changes."""
    place = test.place
    return (
        test.relation == ">="
        and not any(isinstance(atom, Function) and set(_indices(atom)) for atom in place.atoms)
        and all(place.is_linear_in(name) for name in loops)
        and not any(loops & set(place.coefficient(name).indices) for name in loops)
    )


def _indices(function: Function) -> tuple[str, ...]:
    return tuple(name for each in function.operands for name in each.indices)


def _without(statement: Statement, certain: Sequence[Test]) -> Statement:
    """A statement whose fold asks no more what is certain."""
    fold = statement.fold
    if fold is None:
        return statement
    where = tuple(test for test in fold.where if test not in certain)
    return replace(statement, fold=replace(fold, where=where))
