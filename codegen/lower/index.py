"""Loops of index programs: which statements share a launch, which index runs innermost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..index.contract import contracted, contraction_of
from ..index.folds import without_logsumexp, without_means, without_starts
from ..index.inline import inlined
from ..index.scans import scans_of
from ..index.solve import solved
from ..model.formula import Call, walk
from ..model.index import Access, IndexProgram, Statement
from ..model.loops import Loop, LoopProgram, Nest, Phase
from ..model.place import Place
from .index_nests import nests_of, scattered_of, vector_of
from .index_windows import window_of


def plan(program: IndexProgram) -> LoopProgram:
    """The launches of a program."""
    program = prepared(program)
    groups = _groups(program)
    phases = tuple(_phase(group, program) for group in groups)
    local = {name for phase in phases for name in (*phase.numbers, *phase.rows)}
    kept = tuple(
        each.target
        for each in program.statements
        if each.target not in local and each.target not in program.results
    )
    return LoopProgram(program, phases, kept, _dense(phases))


def prepared(program: IndexProgram) -> IndexProgram:
    """The program as loops compute it: folds by definition, conditions solved, terms put in."""
    program = solved(without_logsumexp(without_means(program)))
    program = without_starts(program, kept=scattered_of)
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
        self.items = () if scattered_of(first) else _items_of(first)

    def admits(self, statement: Statement) -> bool:
        """Whether a statement can be computed with these, and gains by it; shares the items."""
        if self.is_alone or scattered_of(statement) or scattered_of(self.statements[0]):
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
    scattered = scattered_of(statements[0])
    items = group.items
    if scattered:
        items = tuple(i for i in statements[0].indices if i not in scattered)
    best = vector_of(statements, program)
    if best in items:
        items = (
            tuple(each for each in items if each != best)
            if scattered
            else (items[: items.index(best)])
        )
    nests = nests_of(statements, items, group.has_batch, best, program)
    spread = None
    if not items and not group.has_batch and len(nests) == 1:
        nest = nests[0]
        free = [loop for loop in nest.outer if not any(loop.index in s.steps for s in statements)]
        outer = nest.vector or next(iter(free), None)
        spread = outer.index if outer and outer.index not in (nest.scattered or {}) else None
    goes_over_batch = [nest for nest in nests if group.has_batch or nest.over_batch]
    runs_batch = (
        bool(goes_over_batch)
        and all(not (nest.outer or nest.inner or nest.vector) for nest in goes_over_batch)
        and not items
    )
    numbers, rows = kept_within(statements, items, group.has_batch, program)
    product = product_of(statements, program)
    phase = Phase(
        *(group.has_batch, items, spread, runs_batch, tuple(nests), numbers, rows),
        product=product,
        borrowed=_borrowed(nests, rows, program),
    )
    window = window_of(phase, program, _kept_along(phase, statements, program))
    has_tiles = not (spread or runs_batch or window)
    tile = _tile(nests, rows, program) if has_tiles else None
    return replace(phase, window=window, tile=tile, is_light=_is_light(nests))


LIGHT = 8
"""Work of a formula, in multiplications, that costs no more than what it reads."""


def _is_light(nests: Sequence[Nest]) -> bool:
    """Whether several nests go over rows whose elements they read side by side, and hardly compute
    anything."""
    loops = [nest for nest in nests if nest.inner or nest.outer]
    statements = [each for nest in loops for each in nest.statements]
    nodes = [walk(each.formula.outputs) for each in statements]
    work = [sum(node.primitive.cost for node in n if isinstance(node, Call)) for n in nodes]
    is_plain = all(place.index for s in statements for a in s.accesses for place in a.places)
    is_even = not any(nest.guards or nest.scattered or scans_of(nest) for nest in loops)
    is_even &= not any(loop.lower or loop.upper for nest in loops for loop in nest.inner)
    return len(loops) > 1 and is_plain and is_even and max(work) <= LIGHT


def _kept_along(
    phase: Phase, statements: Sequence[Statement], program: IndexProgram
) -> tuple[str, ...]:
    """The tensors that nobody needs beyond an element of a launch's rows."""
    items = statements[0].indices[: len(phase.items) + 1]
    return kept_within(statements, items, phase.has_batch, program)[0]


def _tile(nests: Sequence[Nest], rows: Sequence[str], program: IndexProgram) -> str | None:
    """The index that is innermost in all nests, whose elements need nothing of each other."""
    loops = [[*nest.outer, *nest.inner, *([nest.vector] if nest.vector else [])] for nest in nests]
    inner = loops[0][-1] if loops[0] else None
    if inner is None or inner != Loop(inner.index) or any(own[-1:] != [inner] for own in loops):
        return None
    statements = [each for nest in nests for each in nest.statements]
    if not any(nest.vector for nest in nests) or any(nest.scattered for nest in nests):
        return None
    for each in statements:
        if inner.index not in each.indices:
            return None
        for access in each.accesses:
            made = program.statement(access.tensor).indices if access.tensor in rows else ()
            at = dict(zip(made, [place.index for place in access.places], strict=False))
            if made and at.get(inner.index) != inner.index:
                return None
    return inner.index


def _borrowed(nests: Sequence[Nest], rows: Sequence[str], program: IndexProgram) -> dict[str, str]:
    """The rows that can be kept where a result will be.

    The last nest that reads such a row writes the result in its stead, each element of which is
    made of the same one of the row.
    """
    found: dict[str, str] = {}
    for row in map(program.statement, rows):
        name = row.target
        last = [nest for nest in nests if any(_reads(each, name) for each in nest.statements)][-1]
        for each in last.statements:
            reads = [access for access in each.accesses if access.tensor == name]
            is_alike = each.fold is row.fold is None and (each.indices, each.type) == (
                row.indices,
                row.type,
            )
            is_own = all([p.index for p in access.places] == list(row.indices) for access in reads)
            is_free = each.target in program.results and each.target not in found.values()
            if reads and is_alike and is_own and is_free and len(last.statements) == 1:
                found[name] = each.target
    return found


def _reads(statement: Statement, tensor: str) -> bool:
    return any(access.tensor == tensor for access in statement.accesses)


def product_of(
    statements: Sequence[Statement], program: IndexProgram
) -> tuple[Access, Access] | None:
    """What the only statement multiplies, if it is a contraction."""
    found = contraction_of(statements[0], program)
    return None if found is None else (found.one, found.other)


def kept_within(
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
