"""Launches of index programs on devices: an item is a thread's, or a warp's."""

from __future__ import annotations

from collections.abc import Sequence

from ..index.contract import contraction_of
from ..index.device import is_last
from ..index.folds import is_located
from ..index.inline import recomputed
from ..index.scans import carried_of
from ..model.index import Access, Fold, IndexProgram, Statement
from ..model.loops import Lanes, Loop, LoopProgram, Nest, Phase
from ..model.place import Element, Index, Place, Size
from .index import kept_within, prepared, product_of
from .index_gathers import gathered
from .index_nests import is_target, nests_of, scattered_of, vector_of


def long_rows_plan(program: IndexProgram) -> LoopProgram | None:
    """The launches where rows are few and long: each fold by itself, which many threads share.

    None unless the first launch whose items threads share has several folds over rows of a tensor.
    """
    phase = next((each for each in device_plan(program).phases if each.lanes is not None), None)
    if phase is None or phase.lanes is None or any(nest.ranges for nest in phase.nests):
        return None
    loops = [loop.index for nest in phase.nests if nest.is_fold for loop in nest.inner]
    long = [each for each in loops if any(isinstance(a, Size) for a in program.extent[each].atoms)]
    if len(long) < 2 or len(set(long)) != 1 or phase.lanes.index != long[0]:
        return None
    return device_plan(program, is_apart=True)


def device_plan(program: IndexProgram, is_apart: bool = False) -> LoopProgram:
    """The launches of a program on a device. is_apart: whether folds of a row are no one launch.

    Threads run side by side in any order, so every element of a statement is an item of its own. A
    scatter is cut in two: its items tell where each value goes, and the runtime combines the values
    of each place in their order.
    """
    program = gathered(recomputed(prepared(program)))
    phases = tuple(_device_phase(group, program) for group in _device_groups(program, is_apart))
    local = {name for phase in phases for name in phase.numbers}
    kept = tuple(
        each.target
        for each in program.statements
        if each.target not in local and each.target not in program.results
    )
    return LoopProgram(program, phases, kept, {})


def _device_groups(program: IndexProgram, is_apart: bool) -> list[list[Statement]]:
    """Neighbours whose elements need nothing of each other but those of the same item.

    After folds over a row what is made of each of its elements is of the same item, too.
    """
    groups: list[list[Statement]] = []
    for each in program.statements:
        last = groups[-1] if groups else []
        is_fold = is_apart and each.fold is not None
        is_of_columns = bool(last) and _folds_columns_again(each, last, program)
        admits = last and not is_fold and _is_elementwise_with(each, last, program)
        is_of_row = bool(last) and not is_apart and _is_of_row(each, last, program)
        if not is_of_columns and (admits or is_of_row):
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _is_elementwise_with(
    statement: Statement, group: Sequence[Statement], program: IndexProgram
) -> bool:
    first = group[0]
    if contraction_of(first, program) or contraction_of(statement, program):
        return False
    if (first.has_batch, first.indices) != (statement.has_batch, statement.indices):
        return False
    if any(scattered_of(each) or each.steps != first.steps for each in (*group, statement)):
        return False
    if any(each.reads_itself and carried_of(each) is None for each in (*group, statement)):
        return False
    made = {each.target for each in group}
    own = list(statement.indices)
    return all(
        [place.index for place in access.places] == own and access.has_batch == first.has_batch
        for access in statement.accesses
        if access.tensor in made
    )


def _is_of_row(statement: Statement, group: Sequence[Statement], program: IndexProgram) -> bool:
    """Whether a statement goes over the rows that a group folds.

    Its results are written by the threads that share a row, each its own elements.
    """
    first = group[0]
    loops = {each.fold.indices for each in group if each.fold is not None}
    own = tuple(name for name in statement.indices if name not in first.indices)
    items = tuple(name for name in statement.indices if name in first.indices)
    is_alone = any(contraction_of(each, program) for each in (first, statement))
    if is_alone or not loops or items != first.indices or statement.reads_itself:
        return False
    if any(each.reads_itself or scattered_of(each) for each in (*group, statement)):
        return False
    if any(map(is_located, (*group, statement))):
        return False
    if any(each.fold is not None and each.fold.start for each in (*group, statement)):
        return False
    if first.has_batch != statement.has_batch or any(len(each) != 1 for each in loops):
        return False
    is_row = statement.fold is None and (own,) == tuple(loops) and statement.type == "number"
    is_made = statement.target in program.results and not _is_read(statement.target, program)
    is_fold = statement.fold is not None and not own and loops == {statement.fold.indices}
    if not (is_fold or (is_row and is_made) or (not own and statement.fold is None)):
        return False
    made = {each.target: list(each.indices) for each in group}
    return not any(
        [place.index for place in access.places] != made[access.tensor]
        or access.has_batch != first.has_batch
        for access in statement.accesses
        if access.tensor in made
    )


def _folds_columns_again(
    statement: Statement, group: Sequence[Statement], program: IndexProgram
) -> bool:
    """Whether a statement folds columns of what was made before by what the group folds of them.

    Such tensors are dense along their last index. As launches of their own, both folds can be cut
    into slices where columns are few and long.
    """
    fold = statement.fold
    made = {each.target for each in group}
    if fold is None or made.isdisjoint(access.tensor for access in statement.accesses):
        return False
    own = {each.target: each.indices[-1:] for each in program.statements}
    folded = set(fold.indices)
    read = [each.tensor for each in statement.accesses if folded & set(_moving(each))]
    return bool(read) and all(
        name in own and name not in program.results and not set(own[name]) & set(fold.indices)
        for name in read
    )


def _moving(access: Access) -> list[str]:
    """The indices on which an access depends."""
    return [index for place in access.places for index in place.indices]


def _is_read(tensor: str, program: IndexProgram) -> bool:
    return any(access.tensor == tensor for s in program.statements for access in s.accesses)


def _kept_along(
    group: Sequence[Statement], items: Sequence[str], program: IndexProgram
) -> tuple[str, ...]:
    """The numbers of a row that nobody needs beyond it."""
    own = {each.target for each in group}
    others = [s for s in program.statements if s.target not in own]
    needed = {access.tensor for each in others for access in each.accesses}
    needed |= set(program.results)
    return tuple(s.target for s in group if s.indices == items and s.target not in needed)


def _device_phase(group: Sequence[Statement], program: IndexProgram) -> Phase:
    first = group[0]
    if scattered_of(first):
        return _device_scatter(first)
    items = tuple(each for each in first.indices if each not in first.steps)
    best = vector_of(group, program)
    nests = nests_of(group, items, first.has_batch, best, program)
    is_of_rows = any(each.indices != first.indices for each in group)
    numbers = (
        _kept_along(group, items, program)
        if is_of_rows
        else kept_within(group, items, first.has_batch, program)[0]
    )
    is_whole = any(each.reads_itself or _tells_in_turn(each.fold) for each in group)
    columns = best if best in items else None
    shared = [] if is_whole else [_shared_loop(nest, best, columns) for nest in nests]
    lanes = next((each for each in shared if each), None)
    return Phase(
        *(first.has_batch, items, None, False, tuple(nests), numbers, (), lanes),
        scans_along=best if best in first.steps else None,
        product=product_of(group, program),
    )


def _tells_in_turn(fold: Fold | None) -> bool:
    """Whether what a fold tells of an element does not grow with its place, or of none is 0: then
    lanes do not know which of theirs comes first."""
    if fold is None or fold.told is None:
        return False
    return fold.has_ranges or any(isinstance(atom, Element) for atom in fold.told.atoms)


def _shared_loop(nest: Nest, best: str | None, columns: str | None) -> Lanes | None:
    """The loop of a fold that a warp's threads can share."""
    folds = [each.fold for each in nest.statements if each.fold is not None]
    if not folds or not nest.inner or any(map(is_last, nest.statements)):
        return None
    if any(map(is_located, nest.statements)):
        return None
    if any(fold.told is not None for fold in folds):
        return None
    shared = nest.inner[-1].index
    return Lanes(shared, shared == best, columns)


def _device_scatter(statement: Statement) -> Phase:
    """An item for each value: of all that the fold goes over."""
    fold = statement.fold
    assert fold is not None
    scattered = scattered_of(statement)
    free = tuple(i for i in statement.indices if i not in scattered)
    tests = tuple(test for test in fold.where if not is_target(test, scattered))
    loops: tuple[Loop, ...] = ()
    nest = Nest((statement,), loops, False, loops, None, tests, scattered)
    has_batch = statement.has_batch or fold.has_batch
    keyed = _keyed(fold, [*scattered.values(), *(test.place for test in tests)])
    items = (*free, *fold.indices)
    is_all = len(keyed) == len(items) + has_batch or is_last(statement)
    return Phase(has_batch, items, None, False, (nest,), keyed=None if is_all else keyed)


def _keyed(fold: Fold, places: Sequence[Place]) -> tuple[str, ...]:
    """What places depend on, and the loops of a fold, whose values are put together in order."""
    found = [atom for place in places for atom in place.atoms]
    indices = [atom.name for atom in found if isinstance(atom, Index)]
    has_batch = fold.has_batch or any(isinstance(a, Element) and a.has_batch for a in found)
    return (*dict.fromkeys((*fold.indices, *indices)), *(["..."] if has_batch else []))
