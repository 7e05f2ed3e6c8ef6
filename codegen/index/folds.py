"""Folds by their definitions: means as sums over counts, logsumexp without overflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..formula.expressions import ONE, ZERO, call, select
from ..model import place as places
from ..model.formula import Argument, Expression, Named
from ..model.index import (
    ARGMAX,
    ARGMIN,
    LAST,
    LOCATED,
    LOGSUMEXP,
    MAX,
    MEAN,
    MIN,
    PROD,
    SUM,
    Access,
    Fold,
    IndexProgram,
    Source,
    Statement,
)
from ..model.place import BatchSize
from .rewrite import fresh, with_formula


def without_starts(
    program: IndexProgram, kept: Callable[[Statement], object] = lambda _: False
) -> IndexProgram:
    """Folds that begin with nothing, put together with what others begin with. kept: those that
    stay; the last of some has no other form."""
    statements: list[Statement] = []
    taken = set(program.tensors)
    for each in program.statements:
        is_started = each.fold is not None and each.fold.start is not None
        is_other = is_started and not _is_fold(each, LAST) and not kept(each)
        statements += _started(each, taken) if is_other else [each]
    return replace(program, statements=tuple(statements))


def _started(each: Statement, taken: set[str]) -> list[Statement]:
    assert each.fold is not None
    assert each.fold.start is not None
    kind, fold = each.fold.kind, replace(each.fold, start=None)
    rest = replace(each, target=fresh(f"{each.target}_{kind}", taken), fold=fold)
    own = Access(rest.target, each.has_batch, tuple(map(places.index, each.indices)))
    sources: dict[str, Source] = {"start_": each.fold.start, "rest_": own}
    whole = started(kind, Argument("rest_"))
    return [rest, with_formula(replace(each, fold=None), whole, sources)]


def started(kind: str, value: Expression) -> Expression:
    """What a fold of a value comes to that begins with the argument `start_`."""
    name = {SUM: "add", PROD: "mul", MAX: "max", MIN: "min"}.get(kind)
    return value if name is None else call(name, Argument("start_"), value)


def without_means(program: IndexProgram) -> IndexProgram:
    """Means as sums over counts."""
    statements: list[Statement] = []
    taken = set(program.tensors)
    for each in program.statements:
        statements += _mean(each, program, taken) if _is_fold(each, MEAN) else [each]
    return replace(program, statements=tuple(statements))


def _is_fold(statement: Statement, kind: str) -> bool:
    return statement.fold is not None and statement.fold.kind == kind


def _mean(each: Statement, program: IndexProgram, taken: set[str]) -> list[Statement]:
    assert each.fold is not None
    own = Access(each.target, each.has_batch, tuple(map(places.index, each.indices)))
    total = replace(
        each, target=fresh(f"{each.target}_sum", taken), fold=replace(each.fold, kind=SUM)
    )
    made = [total]
    sources: dict[str, Source] = {"total": replace(own, tensor=total.target)}
    if each.fold.where:
        counted = replace(total, target=fresh(f"{each.target}_count", taken))
        made.append(with_formula(counted, ONE, {}))
        sources["count"] = replace(own, tensor=made[-1].target)
    else:
        extent = program.extent
        count = places.of(BatchSize()) if each.fold.has_batch else places.number(1)
        for name in each.fold.indices:
            count = count * extent[name]
        sources["count"] = count
    quotient = call("div", Argument("total"), Argument("count"))
    made.append(with_formula(replace(each, fold=None), quotient, sources))
    return made


def without_logsumexp(program: IndexProgram) -> IndexProgram:
    """logsumexp as the largest real part, and the logarithm of a sum without overflow."""
    statements: list[Statement] = []
    taken = set(program.tensors)
    for each in program.statements:
        statements += _logsumexp(each, taken) if _is_fold(each, LOGSUMEXP) else [each]
    return replace(program, statements=tuple(statements))


def _logsumexp(each: Statement, taken: set[str]) -> list[Statement]:
    assert each.fold is not None
    own = Access(each.target, each.has_batch, tuple(map(places.index, each.indices)))
    top = replace(each, target=fresh(f"{each.target}_max", taken), fold=as_kind(each.fold, MAX))
    reads: dict[str, Source] = {read.name: read.source for read in each.reads}
    top = with_formula(top, call("real", each.formula.outputs[0]), reads)
    finite = replace(each, target=fresh(f"{each.target}_top", taken), fold=None)
    largest = Argument("largest")
    is_infinite = call("eq", call("abs", largest), Named("inf"))
    finite = with_formula(
        finite, select(is_infinite, ZERO, largest), {"largest": replace(own, tensor=top.target)}
    )
    offset = Argument("offset")
    sources: dict[str, Source] = {read.name: read.source for read in each.reads}
    sources["offset"] = replace(own, tensor=finite.target)
    total = replace(each, target=fresh(f"{each.target}_sum", taken), fold=as_kind(each.fold, SUM))
    body = call("exp", call("sub", each.formula.outputs[0], offset))
    total = with_formula(total, body, sources)
    whole = call("add", call("log", Argument("total")), offset)
    sources = {"total": replace(own, tensor=total.target), "offset": sources["offset"]}
    return [top, finite, total, with_formula(replace(each, fold=None), whole, sources)]


def is_argument(statement: Statement) -> bool:
    """Whether a fold tells where an element is."""
    return statement.fold is not None and statement.fold.kind in (ARGMAX, ARGMIN)


def tells_where(other: Statement, statement: Statement) -> bool:
    """Whether one statement says where the extreme is that another finds."""
    kind = {MAX: ARGMAX, MIN: ARGMIN}.get(statement.fold.kind) if statement.fold else None
    if kind is None or statement.fold is None or other.fold is None:
        return False
    if replace(other.fold, told=None) != replace(statement.fold, kind=kind):
        return False
    return statement == replace(
        other, target=statement.target, fold=statement.fold, type=statement.type
    )


def is_located(statement: Statement) -> bool:
    """Whether a fold tells which range a number lies in."""
    return statement.fold is not None and statement.fold.kind == LOCATED


def as_kind(fold: Fold, kind: str) -> Fold:
    return replace(fold, kind=kind)


def nothing(kind: str) -> Expression:
    """What a fold gives of nothing."""
    if kind == PROD:
        return ONE
    if kind == MAX:
        return call("neg", Named("inf"))
    return Named("inf") if kind == MIN else ZERO
