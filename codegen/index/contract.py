"""Sums of products of two elements, which libraries multiply: what a contraction is, and factors.

`out[b, i, o] = sum(k: x[b, i, k] * w[o, k])` is one, with as many indices of each sort as one
likes: of the result and the one factor, of the result and the other, of both factors alone, of all
three. A factor that is more than an element becomes a statement of its own: it is computed once
per element then, not once per product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..formula.expressions import ONE, ZERO, call, is_call, select
from ..formula.simplify import simplify
from ..model import place as places
from ..model.formula import Argument, Constant, Expression, Formula, Select, children, walk
from ..model.index import SUM, Access, IndexProgram, Source, Statement, Test
from ..model.place import Index, Place, Size
from ..record import record
from .rewrite import fresh, with_formula
from .sizes import size_of

BATCH = "..."
"""What stands for the dims of `...` among indices."""


@record
class Contraction:
    """The two elements of which a statement sums the products."""

    one: Access
    other: Access


def contracted(program: IndexProgram) -> IndexProgram:
    """The program with factors of contractions as statements of their own."""
    statements: list[Statement] = []
    extents = program.extent
    taken = {*program.tensors, *program.numbers, *extents}
    for each in program.statements:
        known = replace(program, statements=(*statements, each), extents=tuple(extents.items()))
        statements += _with_factors(each, known, taken, extents) or [each]
    return replace(program, statements=tuple(statements), extents=tuple(extents.items()))


def contraction_of(statement: Statement, program: IndexProgram) -> Contraction | None:
    """What a statement multiplies, if it is a product of matrices."""
    outcome = statement.formula.outputs[0]
    sources = {read.name: read.source for read in statement.reads}
    if not _is_plain_sum(statement) or not is_call(outcome, "mul"):
        return None
    found = [sources.get(n.name) for n in children(outcome) if isinstance(n, Argument)]
    match found:
        case [Access() as one, Access() as other]:
            pass
        case _:
            return None
    for access in (one, other):
        kind = program.tensors[access.tensor].type
        if kind != "number" or access.outside is not None or access.tensor == statement.target:
            return None
    if _masks(statement):
        return None
    every = [*one.places, *other.places, *(t.place for t in statement.fold.where)]  # type: ignore[union-attr]
    if not all(map(_is_affine, every)):
        return None
    return Contraction(one, other) if _multiplies(statement, one, other, program) else None


def _is_plain_sum(statement: Statement) -> bool:
    fold = statement.fold
    return (
        fold is not None
        and fold.kind == SUM
        and not statement.reads_itself
        and all(test.relation == ">=" for test in fold.where)
    )


def _is_affine(place: Place) -> bool:
    return all(
        place.is_linear_in(name) and not place.coefficient(name).indices for name in place.indices
    )


def _of(access: Access) -> frozenset[str]:
    """The indices that an element depends on."""
    names = {name for place in access.places for name in place.indices}
    return frozenset(names | ({BATCH} if access.has_batch else set()))


def _multiplies(statement: Statement, one: Access, other: Access, program: IndexProgram) -> bool:
    """Whether there are rows, columns and inner indices that go through whole tensors."""
    a, b = _of(one), _of(other)
    return _has_three_sorts(statement, a, b, program)


def _has_three_sorts(
    statement: Statement, a: frozenset[str], b: frozenset[str], program: IndexProgram
) -> bool:
    fold = statement.fold
    assert fold is not None
    own = {*statement.indices, *([BATCH] if statement.has_batch else [])}
    folded = {*fold.indices, *([BATCH] if fold.has_batch else [])}
    sorts = (a & own) - b, (b & own) - a, a & b & folded
    far = [any(_goes_far(name, program) for name in sort) for sort in sorts]
    return all(far) and own <= a | b and folded <= a & b


def _goes_far(name: str, program: IndexProgram) -> bool:
    return name == BATCH or any(isinstance(a, Size) for a in program.extent[name].atoms)


# -- factors --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Factors:
    """What a body multiplies, divides by, and on what it depends whether it is 0."""

    above: list[Expression]
    below: list[Expression]
    conditions: list[Expression]

    def product(self) -> Expression:
        """All of it in one expression."""
        outcome: Expression = ONE
        for number, each in enumerate(self.above):
            outcome = call("mul", outcome, each) if number else each
        for each in self.below:
            outcome = call("div", outcome, each)
        for condition in self.conditions:
            outcome = select(condition, outcome, ZERO)
        return outcome


def _with_factors(
    statement: Statement, program: IndexProgram, taken: set[str], extents: dict[str, Place]
) -> list[Statement] | None:
    """The statement over two elements, and before it those that its factors are."""
    if not _is_plain_sum(statement) or contraction_of(statement, program):
        return None
    sources = {read.name: read.source for read in statement.reads}
    statement = _masked(statement, sources)
    grouped = _groups(statement, sources, program)
    if grouped is None:
        return None
    groups, outside = grouped
    made: list[Statement] = []
    arguments: dict[str, Source] = {}
    for number, group in enumerate(groups):
        outcome = simplify(Formula((), (group.product(),)), unroll=False).outputs[0]
        source = sources.get(outcome.name) if isinstance(outcome, Argument) else None
        if not isinstance(source, Access):
            factor = _factor(statement, outcome, sources, program, taken, extents)
            if factor is None:
                return None
            made.append(factor[0])
            source = factor[1]
        arguments[f"factor_{number}"] = source
    product = call("mul", *(Argument(name) for name in arguments))
    statements = (*program.statements, *made)
    known = replace(program, statements=statements, extents=tuple(extents.items()))
    whole = with_formula(statement, product, arguments)
    if contraction_of(whole, known) is None:
        return None
    if not outside.above and not outside.below and not outside.conditions:
        return [*made, whole]
    whole = replace(whole, target=fresh(f"{statement.target}_product", taken))
    own = Access(whole.target, whole.has_batch, tuple(map(places.index, whole.indices)))
    outside.above.append(Argument("product"))
    sources["product"] = own
    return [*made, whole, with_formula(replace(statement, fold=None), outside.product(), sources)]


def _masks(statement: Statement) -> tuple[Test, ...]:
    """Conditions on whole sums, where all elements may be read without them."""
    fold = statement.fold
    assert fold is not None
    if any(place.index is None for each in statement.accesses for place in each.places):
        return ()
    return tuple(test for test in fold.where if not set(test.place.indices) & set(fold.indices))


def _masked(statement: Statement, sources: dict[str, Source]) -> Statement:
    """The statement with conditions on whole sums as part of its formula."""
    fold = statement.fold
    assert fold is not None
    outcome, masks = statement.formula.outputs[0], _masks(statement)
    for number, test in enumerate(masks):
        name = f"mask_{number}"
        sources[name] = test
        outcome = select(Argument(name, "bool"), outcome, ZERO)
    where = tuple(test for test in fold.where if test not in masks)
    formula = replace(statement.formula, outputs=(outcome,))
    return replace(statement, formula=formula, fold=replace(fold, where=where))


def _groups(
    statement: Statement, sources: dict[str, Source], program: IndexProgram
) -> tuple[list[_Factors], _Factors] | None:
    """The factors in two groups, by the indices that they depend on, and those of the result."""
    assert statement.fold is not None
    factors = _factors(statement.formula.outputs[0])
    every = [*factors.above, *factors.below]
    folded = {*statement.fold.indices, *([BATCH] if statement.fold.has_batch else [])}
    sets = {found for each in every if (found := _depends(each, sources)) & folded}
    largest = [one for one in sets if not any(one < other for other in sets)]
    if len(largest) != 2 or not _has_three_sorts(statement, largest[0], largest[1], program):
        return None
    largest.sort(key=lambda each: (len(each), sorted(each)))
    *groups, outside = [_Factors([], [], []) for _ in (*largest, ())]
    for field in ("above", "below", "conditions"):
        for each in getattr(factors, field):
            own = _depends(each, sources)
            home = next((n for n, names in enumerate(largest) if own <= names), None)
            if field == "conditions" and not own & folded:
                home = None
            if home is None and own & folded:
                return None
            getattr(outside if home is None else groups[home], field).append(each)
    return groups, outside


def _factors(node: Expression) -> _Factors:
    if is_call(node, "mul"):
        one, other = map(_factors, children(node))
        return _Factors(
            one.above + other.above, one.below + other.below, one.conditions + other.conditions
        )
    if is_call(node, "div"):
        first, second = children(node)
        found = _factors(first)
        return replace(found, below=[*found.below, second])
    if is_call(node, "neg"):
        found = _factors(children(node)[0])
        return replace(found, above=[Constant(-1), *found.above])
    if isinstance(node, Select) and node.otherwise == ZERO:
        found = _factors(node.then)
        return replace(found, conditions=[*found.conditions, node.condition])
    return _Factors([node], [], [])


def _depends(node: Expression, sources: dict[str, Source]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for source in _sources_in(node, sources):
        if isinstance(source, Access):
            found |= _of(source)
        else:
            place = source if isinstance(source, Place) else source.place
            found |= frozenset(place.indices)
    return found


def _sources_in(node: Expression, sources: dict[str, Source]) -> Iterator[Source]:
    for each in walk((node,)):
        if isinstance(each, Argument) and each.name in sources:
            yield sources[each.name]


def _factor(
    statement: Statement,
    outcome: Expression,
    sources: dict[str, Source],
    program: IndexProgram,
    taken: set[str],
    extents: dict[str, Place],
) -> tuple[Statement, Access] | None:
    """A factor as a statement, and how it is read: where all it reads is at the same places."""
    read = list(dict.fromkeys(_sources_in(outcome, sources)))
    accesses = [each for each in read if isinstance(each, Access) and each.places]
    if not accesses or len({(each.places, each.has_batch) for each in accesses}) != 1:
        names = sorted({n for each in accesses for p in each.places for n in p.indices})
        plain = all(p.index is not None for each in accesses for p in each.places)
        if not accesses or not plain or any(not isinstance(each, Access) for each in read):
            return None
        indices = tuple(name for name in statement.loops if name in names)
        at = tuple(map(places.index, indices))
        values: dict[str, Source] = sources
    else:
        if any(not isinstance(each, Access) or each.outside is not None for each in read):
            return None
        first = accesses[0]
        indices, at = _own_indices(first, program, taken, extents), first.places
        own = tuple(map(places.index, indices))
        values = {
            name: replace(source, places=own) if isinstance(source, Access) and source.places
            else source
            for name, source in sources.items()
        }  # fmt: skip
    has_batch = any(isinstance(each, Access) and each.has_batch for each in read)
    target = fresh(f"{statement.target}_factor", taken)
    empty = Statement(target, has_batch, indices, None, Formula((), (ZERO,)), ())
    return with_formula(empty, outcome, values), Access(target, has_batch, at)


def _own_indices(
    access: Access, program: IndexProgram, taken: set[str], extents: dict[str, Place]
) -> tuple[str, ...]:
    """An index for each dim of a tensor: that at which it is read, or a new one."""
    found = []
    for dim, place in enumerate(access.places):
        name = place.index
        if name is None or name in found or place != places.of(Index(name)):
            name = fresh(f"{access.tensor}_{dim}", taken)
            extents[name] = size_of(program, access.tensor, dim)
        found.append(name)
    return tuple(found)
