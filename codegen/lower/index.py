"""Loops of index programs: which statements share a launch, which index runs innermost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..index.contract import contracted, contraction_of
from ..index.folds import without_logsumexp, without_means
from ..index.inline import inlined
from ..index.solve import solved
from ..model import place as places
from ..model.index import Access, IndexProgram, Statement, Test
from ..model.loops import Lanes, Loop, LoopProgram, Nest, Phase
from ..model.place import Element, Index, Place, Size


def plan(program: IndexProgram) -> LoopProgram:
    """The launches of a program."""
    program = _prepared(program)
    groups = _groups(program)
    phases = tuple(_phase(group, program) for group in groups)
    local = {name for phase in phases for name in (*phase.numbers, *phase.rows)}
    kept = tuple(
        each.target
        for each in program.statements
        if each.target not in local and each.target not in program.results
    )
    return LoopProgram(program, phases, kept, _dense(phases))


def _prepared(program: IndexProgram) -> IndexProgram:
    """The program as loops compute it: folds by definition, conditions solved, terms put in."""
    program = solved(without_logsumexp(without_means(program)))
    statements = tuple(replace(each, is_detached=False) for each in program.statements)
    return contracted(inlined(replace(program, statements=statements)))


def _dense(phases: Sequence[Phase]) -> dict[str, str]:
    """Of what each tensor is made along the innermost loop: its layout is the generator's."""
    found: dict[str, str] = {}
    for phase in phases:
        for nest in phase.nests:
            inner = nest.vector or (nest.outer[-1] if nest.outer else None)
            for each in nest.statements:
                if inner is not None and inner.index in each.indices:
                    found[each.target] = inner.index
    return found


# -- launches -------------------------------------------------------------------------------


class _Group:
    """Statements that are computed item by item, one after the other."""

    def __init__(self, first: Statement, is_alone: bool) -> None:
        self.is_alone = is_alone
        self.statements = [first]
        self.has_batch = first.has_batch
        self.items = () if _scattered(first) else _items_of(first)

    def admits(self, statement: Statement) -> bool:
        """Whether a statement can be computed with these, and gains by it; shares the items."""
        if self.is_alone or _scattered(statement) or _scattered(self.statements[0]):
            return False
        items = _common(self.items, _items_of(statement))
        if self.has_batch != statement.has_batch or not (items or self.has_batch):
            return False
        made = {each.target for each in self.statements}
        reads = [access for access in statement.accesses if access.tensor in made]
        if any(_places_of_items(access.places, items) is False for access in reads):
            return False
        if not reads and items != self.items:
            return False
        if any(access.has_batch != self.has_batch for access in reads):
            return False
        self.statements.append(statement)
        self.items = items
        return True


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    found = []
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        found.append(a)
    return tuple(found)


def _places_of_items(accessed: Sequence[Place], items: Sequence[str]) -> bool:
    """Whether an access is to the element of the same item."""
    return [each.index for each in accessed[: len(items)]] == list(items)


def _items_of(statement: Statement) -> tuple[str, ...]:
    """The indices that may make an item: those before the first along which a scan goes."""
    steps = statement.steps
    first = next((n for n, name in enumerate(statement.indices) if name in steps), None)
    return statement.indices[:first]


def _groups(program: IndexProgram) -> list[_Group]:
    """All statements, each in the last group that admits it and comes after what it reads."""
    groups: list[_Group] = []
    home: dict[str, int] = {}
    for each in program.statements:
        first = max((home.get(access.tensor, 0) for access in each.accesses), default=0)
        is_alone = contraction_of(each, program) is not None
        if is_alone:
            first = len(groups)
        for number in range(len(groups) - 1, first - 1, -1):
            if groups[number].admits(each):
                home[each.target] = number
                break
        else:
            home[each.target] = len(groups)
            groups.append(_Group(each, is_alone))
    return groups


def _phase(group: _Group, program: IndexProgram) -> Phase:
    statements = group.statements
    scattered = _scattered(statements[0])
    items = group.items
    if scattered:
        items = tuple(i for i in statements[0].indices if i not in scattered)
    best = _vector_of(statements, program)
    if best in items:
        items = (
            tuple(each for each in items if each != best)
            if scattered
            else (items[: items.index(best)])
        )
    nests = _nests(statements, items, group.has_batch, best, program)
    spread = None
    if not items and not group.has_batch and len(nests) == 1:
        nest = nests[0]
        outer = nest.vector or (nest.outer[0] if nest.outer else None)
        spread = outer.index if outer and outer.index not in (nest.scattered or {}) else None
    goes_over_batch = [nest for nest in nests if group.has_batch or nest.over_batch]
    runs_batch = (
        bool(goes_over_batch)
        and all(not (nest.outer or nest.inner or nest.vector) for nest in goes_over_batch)
        and not items
    )
    numbers, rows = _kept(statements, items, group.has_batch, program)
    product = _product(statements, program)
    return Phase(
        *(group.has_batch, items, spread, runs_batch, tuple(nests), numbers, rows), product=product
    )


def _product(
    statements: Sequence[Statement], program: IndexProgram
) -> tuple[Access, Access] | None:
    """What the only statement multiplies, if it is a contraction."""
    found = contraction_of(statements[0], program)
    return None if found is None else (found.one, found.other)


def _kept(
    statements: Sequence[Statement], items: Sequence[str], has_batch: bool, program: IndexProgram
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tensors that nobody needs beyond an item: numbers, and rows."""
    own = {each.target for each in statements}
    needed = set(program.results)
    for each in program.statements:
        for access in each.accesses:
            inside = each.target in own and _places_of_items(access.places, items)
            if not inside or access.has_batch != has_batch:
                needed.add(access.tensor)
    local = [each for each in statements if each.target not in needed]
    numbers = tuple(each.target for each in local if tuple(each.indices) == tuple(items))
    rows = tuple(each.target for each in local if each.target not in numbers)
    return numbers, rows


# -- nests ----------------------------------------------------------------------------------


def _vector_of(statements: Sequence[Statement], program: IndexProgram) -> str | None:
    """The index along which most of what is read and written is dense.

    What has more indices has more elements, as far as the text tells; a fold writes seldom.
    """
    scores: dict[str, float] = {}
    for statement in statements:
        loops = statement.loops
        scattered = _scattered(statement) or {}
        for access in statement.accesses:
            if access.places:
                last = access.places[-1]
                weight = 4.0 ** len({name for place in access.places for name in place.indices})
                gathers = any(isinstance(atom, Element) for atom in last.atoms)
                for name in loops:
                    if not gathers and last.coefficient(name).constant in (1, -1):
                        goes_far = _goes_through_a_tensor(name, program)
                        weight *= 1 if goes_far else SHORT
                        scores[name] = scores.get(name, 0) + weight
        if statement.indices and statement.indices[-1] not in scattered:
            last_index = statement.indices[-1]
            weight = (1.5 if statement.fold is None else 0.25) * 4.0 ** len(statement.indices)
            weight *= 1 if _goes_through_a_tensor(last_index, program) else SHORT
            scores[last_index] = scores.get(last_index, 0) + weight
    return max(scores, key=lambda name: scores[name]) if scores else None


SHORT = 0.01
"""What an index that goes through a window, not a tensor, is worth as the innermost."""


def _goes_through_a_tensor(name: str, program: IndexProgram) -> bool:
    return any(isinstance(atom, Size) for atom in program.extent[name].atoms)


def _nests(
    statements: Sequence[Statement],
    items: Sequence[str],
    has_batch: bool,
    best: str | None,
    program: IndexProgram,
) -> list[Nest]:
    nests: list[Nest] = []
    for each in statements:
        nest = _nest(each, items, best, program)
        if nests and (joined := _joined(nests[-1], nest)) is not None:
            nests[-1] = joined
        else:
            nests.append(nest)
    return nests


def _joined(one: Nest, other: Nest) -> Nest | None:
    """Two nests as one, if they have the same loops and the second reads what the first has made
    at the same indices alone."""
    same = replace(one, statements=()) == replace(other, statements=())
    if not same or one.scattered is not None or one.is_fold != other.is_fold:
        return None
    made = {each.target: each for each in one.statements}
    for access in other.statements[0].accesses:
        if access.tensor in made:
            if one.is_fold:
                return None
            own = made[access.tensor].indices
            if [each.index for each in access.places] != list(own):
                return None
    return replace(one, statements=(*one.statements, *other.statements))


def _nest(
    statement: Statement, items: Sequence[str], best: str | None, program: IndexProgram
) -> Nest:
    scattered = _scattered(statement)
    fold = statement.fold
    free = [i for i in statement.indices if i not in items and i not in (scattered or {})]
    folded = list(fold.indices) if fold else []
    tests = list(fold.where) if fold else []
    if scattered:
        tests = [test for test in tests if not _is_target(test, scattered)]
    best = _best_of(statement, free, folded, best, program)
    vector = best if fold is not None and (folded or fold.has_batch) and best in free else None
    if vector is not None:
        free.remove(vector)
    elif best in folded:
        folded.remove(best)
        folded.append(best)
    elif best in free:
        free.remove(best)
        free.append(best)
    steps = statement.steps
    free.sort(key=lambda name: name not in steps)
    order = [*free, *folded, *([vector] if vector else [])]
    bounds, guards = _bounds(order, tests, folded + ([vector] if vector else []))
    loops = {name: Loop(name, *bounds[name], steps.get(name) == -1) for name in order}
    return Nest(
        (statement,),
        tuple(loops[name] for name in free),
        fold is not None and fold.has_batch,
        tuple(loops[name] for name in folded),
        loops[vector] if vector else None,
        tuple(guards),
        scattered or None,
    )


def _best_of(
    statement: Statement,
    free: list[str],
    folded: list[str],
    best: str | None,
    program: IndexProgram,
) -> str | None:
    if best in free or best in folded:
        return best
    own = _vector_of([statement], program)
    return own if own in free or own in folded else None


def _bounds(
    order: Sequence[str], tests: Sequence[Test], bounded: Sequence[str]
) -> tuple[dict[str, tuple[tuple[Place, ...], tuple[Place, ...]]], list[Test]]:
    """Which conditions are bounds of loops, and which are none."""
    lower: dict[str, list[Place]] = {name: [] for name in order}
    upper: dict[str, list[Place]] = {name: [] for name in order}
    guards = []
    for test in tests:
        inner = [name for name in order if name in test.place.indices]
        name = inner[-1] if inner else None
        factor = test.place.coefficient(name).constant if name else None
        is_bound = (
            test.relation == ">="
            and name in bounded
            and factor
            and name is not None
            and test.place.is_linear_in(name)
        )
        if not is_bound or name is None or factor is None:
            guards.append(test)
            continue
        rest = test.place - places.index(name) * places.number(factor)
        turns = places.apply("quotient", rest, places.number(abs(factor)))
        if factor > 0:
            lower[name].append(-turns)
        else:
            upper[name].append(turns + places.number(1))
    return {name: (tuple(lower[name]), tuple(upper[name])) for name in order}, guards


# -- scatters -------------------------------------------------------------------------------


def _scattered(statement: Statement) -> dict[str, Place]:
    """The indices of a fold's own whose values its conditions tell, from those that it folds."""
    fold = statement.fold
    found: dict[str, Place] = {}
    for test in fold.where if fold else ():
        if test.relation != "==":
            continue
        for name in statement.indices:
            factor = test.place.coefficient(name).constant
            if name in found or factor not in (1, -1) or not test.place.is_linear_in(name):
                continue
            rest = test.place - places.index(name) * places.number(factor or 1)
            value = -rest if factor == 1 else rest
            if set(value.indices) - set(statement.indices) and not set(value.indices) & set(found):
                found[name] = value
                break
    return found


def _is_target(test: Test, scattered: dict[str, Place]) -> bool:
    for name, value in scattered.items():
        if test.relation == "==" and Index(name) in test.place.atoms:
            difference = places.index(name) - value
            if test.place in (difference, -difference):
                return True
    return False


# -- devices --------------------------------------------------------------------------------


def device_plan(program: IndexProgram) -> LoopProgram:
    """The launches of a program on a device.

    Threads run side by side in any order, so every element of a statement is an item of its own. A
    scatter is cut in two: its items tell where each value goes, and the runtime combines the values
    of each place in their order.
    """
    program = _prepared(program)
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
    if any(_scattered(each) or each.reads_itself for each in (*group, statement)):
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
    if _scattered(first):
        return _device_scatter(first)
    items = tuple(each for each in first.indices if each not in first.steps)
    best = _vector_of(group, program)
    nests = _nests(group, items, first.has_batch, best, program)
    numbers, _ = _kept(group, items, first.has_batch, program)
    is_scan = any(each.reads_itself for each in group)
    shared = [] if is_scan else [_shared_loop(nest, best) for nest in nests]
    lanes = next((each for each in shared if each), None)
    return Phase(
        *(first.has_batch, items, None, False, tuple(nests), numbers, (), lanes),
        product=_product(group, program),
    )


def _shared_loop(nest: Nest, best: str | None) -> Lanes | None:
    """The loop of a fold that a warp's threads can share."""
    if not nest.is_fold or not nest.inner:
        return None
    shared = nest.inner[-1].index
    return Lanes(shared, shared == best)


def _device_scatter(statement: Statement) -> Phase:
    """An item for each value: of all that the fold goes over."""
    fold = statement.fold
    assert fold is not None
    scattered = _scattered(statement)
    free = tuple(i for i in statement.indices if i not in scattered)
    tests = tuple(test for test in fold.where if not _is_target(test, scattered))
    loops: tuple[Loop, ...] = ()
    nest = Nest((statement,), loops, False, loops, None, tests, scattered)
    has_batch = statement.has_batch or fold.has_batch
    return Phase(has_batch, (*free, *fold.indices), None, False, (nest,))
