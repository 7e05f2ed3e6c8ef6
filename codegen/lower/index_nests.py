"""Nests of loops around statements of index programs: which index runs innermost, and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..index.folds import is_argument, is_located
from ..model import place as places
from ..model.index import (
    ARGMAX,
    ARGMIN,
    LOCATED,
    SUM,
    Access,
    Fold,
    IndexProgram,
    Statement,
    Test,
)
from ..model.loops import Loop, Nest, presumed_end, presumed_first
from ..model.place import LOOKED_AT, Element, Function, Index, Parameter, Place, Size


def vector_of(statements: Sequence[Statement], program: IndexProgram) -> str | None:
    """The index along which most of what is read and written is dense.

    What has more indices has more elements, as far as the text tells; a fold writes seldom, and
    reads rows that it could go along as often as its loops run.
    """
    scores: dict[str, float] = {}
    for statement in statements:
        loops = statement.loops
        scattered = scattered_of(statement) or {}
        for access in statement.accesses:
            if access.places:
                last = access.places[-1]
                weight = 4.0 ** len(_indices_of(access))
                gathers = any(isinstance(atom, Element) for atom in last.atoms)
                for name in loops:
                    if not gathers and last.coefficient(name).constant in (1, -1):
                        goes_far = goes_through_a_tensor(name, program)
                        weight *= 1 if goes_far else SHORT
                        scores[name] = scores.get(name, 0) + weight
                    elif name in _indices_of(access) and _folds_along(statement, last, program):
                        scores[name] = scores.get(name, 0) - 4.0 ** len(loops)
        if statement.indices and statement.indices[-1] not in scattered:
            last_index = statement.indices[-1]
            weight = (1.5 if statement.fold is None else 0.25) * 4.0 ** len(statement.indices)
            weight *= 1 if goes_through_a_tensor(last_index, program) else SHORT
            scores[last_index] = scores.get(last_index, 0) + weight
    for name in [each for each in scores if any(cuts(each, other) for other in statements)]:
        del scores[name]
    return max(scores, key=lambda name: scores[name]) if scores else None


def _folds_along(statement: Statement, place: Place, program: IndexProgram) -> bool:
    """Whether what a statement folds is dense there, and more than a window."""
    return statement.fold is not None and any(
        place.coefficient(name).constant in (1, -1) and goes_through_a_tensor(name, program)
        for name in statement.fold.indices
    )


def _indices_of(access: Access) -> set[str]:
    return {name for place in access.places for name in place.indices}


def cuts(name: str, statement: Statement) -> bool:
    """Whether an index tells, by a quotient, which part of another is folded: that is no vector."""
    fold = statement.fold
    for test in fold.where if fold else ():
        functions = [f for f in test.place.atoms if isinstance(f, Function)]
        inner = [f for f in functions if f.name not in LOOKED_AT]
        is_told = any(name in operand.indices for each in inner for operand in each.operands)
        if fold and is_told and set(fold.indices) & set(test.place.indices) - {name}:
            return True
    return False


SHORT = 0.01
"""What an index that goes through a window, not a tensor, is worth as the innermost."""


def goes_through_a_tensor(name: str, program: IndexProgram) -> bool:
    """Whether an index has as many values as a tensor has elements, not a window."""
    extent = program.extent[name]
    if any(isinstance(atom, Size) for atom in extent.atoms):
        return True
    last = {indices[-1] for each in program.results if (indices := program.statement(each).indices)}
    return name in last and extent.constant is None


def nests_of(
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
    at the same indices alone.

    Elements and folds over them are one nest, too: what is made is added up as it is stored.
    """
    if _loops_of(one) != _loops_of(other) or one.scattered is not None:
        return None
    if is_argument(one.statements[0]) != is_argument(other.statements[0]):
        return None
    if is_located(one.statements[0]) or is_located(other.statements[0]):
        return None
    made = {each.target: each for each in one.statements}
    for access in other.statements[0].accesses:
        if access.tensor in made:
            own = made[access.tensor]
            if own.fold is not None or [each.index for each in access.places] != list(own.indices):
                return None
    if one.is_fold == other.is_fold:
        is_same = replace(one, statements=()) == replace(other, statements=())
    else:
        is_same = _may_mix(one) and _may_mix(other)
    shape = one if one.is_fold else other
    return replace(shape, statements=(*one.statements, *other.statements)) if is_same else None


def _loops_of(nest: Nest) -> tuple[Loop, ...]:
    return (*nest.outer, *nest.inner, *([nest.vector] if nest.vector else []))


def _may_mix(nest: Nest) -> bool:
    """Whether elements may be made in a nest of folds: where that hinders no vectors."""
    last = _loops_of(nest)[-1:]
    return (
        not (nest.over_batch or nest.guards or nest.scattered)
        and all(_is_plain(each, [loop.index for loop in last]) for each in nest.statements)
        and sum(len(each.reads) for each in nest.statements) <= MOST_READ
    )


MOST_READ = 4
"""What a nest may read that also stores: LLVM compares each with what is written."""


def _is_plain(statement: Statement, along: Sequence[str]) -> bool:
    """Whether elements lie evenly along the innermost index, and vectors fold them."""
    is_argument = statement.fold is not None and statement.fold.kind in (ARGMAX, ARGMIN)
    return not (
        is_argument
        or statement.reads_itself
        or any(not p.is_linear_in(name) for p in statement.all_places for name in along)
        or any(isinstance(atom, Element) for p in statement.all_places for atom in p.atoms)
    )


def _nest(
    statement: Statement, items: Sequence[str], best: str | None, program: IndexProgram
) -> Nest:
    scattered = scattered_of(statement)
    fold = statement.fold
    free = [i for i in statement.indices if i not in items and i not in (scattered or {})]
    folded = list(fold.indices) if fold else []
    tests = list(fold.where) if fold else []
    if scattered:
        tests = [test for test in tests if not is_target(test, scattered)]
    best = _best_of(statement, free, folded, best, program)
    is_vector = fold is not None and (folded or fold.has_batch) and not _counts(statement)
    is_vector = is_vector and fold is not None and fold.kind != LOCATED
    if is_vector and fold is not None and fold.told is not None:
        is_vector = _is_seen_alike(fold, best)
    vector = best if is_vector and best in free else None
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
    bounds, guards = _bounds(order, tests, folded + ([vector] if vector else []), program)
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


def _is_seen_alike(fold: Fold, index: str | None) -> bool:
    """Whether the same is folded for all values of an index: so is whether there is an element."""
    return not any(index in test.place.indices for test in fold.where)


def _counts(statement: Statement) -> bool:
    """Whether a fold adds up equal terms, which is a product: that needs no loop innermost."""
    return statement.fold is not None and statement.fold.kind == SUM and not statement.reads


def _best_of(
    statement: Statement,
    free: list[str],
    folded: list[str],
    best: str | None,
    program: IndexProgram,
) -> str | None:
    if best in free or best in folded:
        return best
    own = vector_of([statement], program)
    return own if own in free or own in folded else None


def _bounds(
    order: Sequence[str], tests: Sequence[Test], bounded: Sequence[str], program: IndexProgram
) -> tuple[dict[str, tuple[tuple[Place, ...], tuple[Place, ...]]], list[Test]]:
    """Which conditions are bounds of loops, and which are none."""
    lower: dict[str, list[Place]] = {name: [] for name in order}
    upper: dict[str, list[Place]] = {name: [] for name in order}
    guards = []
    for test in tests:
        inner = [name for name in order if name in test.place.indices]
        name = inner[-1] if inner else None
        if name is not None and name in bounded:
            test = _undivided(test, name)
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
            if name is not None and name in bounded and test.relation == ">=":
                step = _presumed_bounds(test.place, name, program.extent[name])
                lower[name] += step[0]
                upper[name] += step[1]
            continue
        rest = test.place - places.index(name) * places.number(factor)
        turns = places.apply("quotient", rest, places.number(abs(factor)))
        if factor > 0:
            lower[name].append(-turns)
        else:
            upper[name].append(turns + places.number(1))
    return {name: (tuple(lower[name]), tuple(upper[name])) for name in order}, guards


def _undivided(test: Test, name: str) -> Test:
    """The same condition without a quotient of an index, where what divides is a size.

    `u // m >= r` is `u >= m * r`, and `u // m <= r` is `u < m * (r + 1)`.
    """
    quotients = [
        (monomial[0], factor)
        for monomial, factor in test.place.terms
        if len(monomial) == 1 and name in places.of(monomial[0]).indices
    ]
    match quotients:
        case [(Function("quotient", (first, second)) as atom, 1 | -1 as factor)]:
            rest = test.place - places.of(atom) * places.number(factor)
            is_size = second.atoms[:1] and second == places.of(second.atoms[0])
            if test.relation != ">=" or name in (*rest.indices, *second.indices) or not is_size:
                return test
            if not isinstance(second.atoms[0], Size):
                return test
            if factor == 1:
                return Test(first + second * rest, ">=")
            return Test(second * (rest + places.number(1)) - first - places.number(1), ">=")
    return test


def _presumed_bounds(place: Place, name: str, extent: Place) -> tuple[list[Place], list[Place]]:
    """Bounds that follow from `place >= 0` where an index is multiplied by whole arguments.

    They hold for positive ones, and bound nothing for others: the condition itself is asked, too.
    """
    factor = place.coefficient(name)
    if not place.is_linear_in(name) or factor.constant is not None:
        return [], []
    if not all(isinstance(atom, Parameter) for atom in factor.atoms) or len(factor.terms) != 1:
        return [], []
    is_lower = factor.terms[0][1] > 0
    step = factor if is_lower else -factor
    rest = place - places.index(name) * factor
    turns = places.apply("quotient", rest, places.apply("greatest", step, places.number(1)))
    if is_lower:
        return [presumed_first(step, turns)], []
    return [], [presumed_end(step, turns, extent)]


def scattered_of(statement: Statement) -> dict[str, Place]:
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


def is_target(test: Test, scattered: dict[str, Place]) -> bool:
    for name, value in scattered.items():
        if test.relation == "==" and Index(name) in test.place.atoms:
            difference = places.index(name) - value
            if test.place in (difference, -difference):
                return True
    return False
