"""Launches of index programs on devices: an item is a thread's, or a warp's."""

from __future__ import annotations

from collections.abc import Sequence

from ..index.contract import contraction_of
from ..index.device import is_last
from ..index.scans import carried_of
from ..model.index import IndexProgram, Statement
from ..model.loops import Lanes, Loop, LoopProgram, Nest, Phase
from .index import kept_within, prepared, product_of
from .index_gathers import gathered
from .index_nests import is_target, nests_of, scattered_of, vector_of


def device_plan(program: IndexProgram) -> LoopProgram:
    """The launches of a program on a device.

    Threads run side by side in any order, so every element of a statement is an item of its own. A
    scatter is cut in two: its items tell where each value goes, and the runtime combines the values
    of each place in their order.
    """
    program = gathered(prepared(program))
    phases = tuple(_device_phase(group, program) for group in _device_groups(program))
    local = {name for phase in phases for name in phase.numbers}
    kept = tuple(
        each.target
        for each in program.statements
        if each.target not in local and each.target not in program.results
    )
    return LoopProgram(program, phases, kept, {})


def _device_groups(program: IndexProgram) -> list[list[Statement]]:
    """Neighbours whose elements need nothing of each other but those of the same item."""
    groups: list[list[Statement]] = []
    for each in program.statements:
        if groups and _is_elementwise_with(each, groups[-1], program):
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


def _device_phase(group: Sequence[Statement], program: IndexProgram) -> Phase:
    first = group[0]
    if scattered_of(first):
        return _device_scatter(first)
    items = tuple(each for each in first.indices if each not in first.steps)
    best = vector_of(group, program)
    nests = nests_of(group, items, first.has_batch, best, program)
    numbers, _ = kept_within(group, items, first.has_batch, program)
    is_scan = any(each.reads_itself for each in group)
    shared = [] if is_scan else [_shared_loop(nest, best) for nest in nests]
    lanes = next((each for each in shared if each), None)
    return Phase(
        *(first.has_batch, items, None, False, tuple(nests), numbers, (), lanes),
        scans_along=best if best in first.steps else None,
        product=product_of(group, program),
    )


def _shared_loop(nest: Nest, best: str | None) -> Lanes | None:
    """The loop of a fold that a warp's threads can share."""
    folds = [each.fold for each in nest.statements if each.fold is not None]
    if not folds or not nest.inner or any(map(is_last, nest.statements)):
        return None
    if any(fold.told is not None for fold in folds):
        return None
    shared = nest.inner[-1].index
    return Lanes(shared, shared == best)


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
    return Phase(has_batch, (*free, *fold.indices), None, False, (nest,))
