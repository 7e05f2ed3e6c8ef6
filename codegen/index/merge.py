"""Merges sums over the same indices: what a tensor's gradient is the sum of, is one fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..formula.expressions import call, is_call, substitute
from ..model.formula import Argument, Expression, children
from ..model.index import SUM, Access, Fold, IndexProgram, Source, Statement
from ..record import record
from .rewrite import fresh, renamed, with_formula
from .sizes import Sizes


@record
class _Part:
    """A fold that is a term of a sum, its own indices named as in that statement."""

    argument: Argument
    statement: Statement
    key: object


def merged(program: IndexProgram) -> IndexProgram:
    """The program with one fold in the place of several whose sum is taken."""
    sizes = Sizes(program)
    for each in program.statements:
        groups: dict[object, list[_Part]] = {}
        for part in _parts(each, program, sizes) if each.fold is None else ():
            groups.setdefault(part.key, []).append(part)
        found = next((parts for parts in groups.values() if len(parts) > 1), None)
        if found is not None:
            return merged(_joined(program, each, found))
    return program


def _terms(outcome: Expression) -> Iterator[Expression]:
    if is_call(outcome, "add"):
        for each in children(outcome):
            yield from _terms(each)
    else:
        yield outcome


def _parts(statement: Statement, program: IndexProgram, sizes: Sizes) -> Iterator[_Part]:
    """The folds that a statement adds up, which nothing else reads."""
    sources = {read.name: read.source for read in statement.reads}
    made = {each.target: each for each in program.statements}
    for term in _terms(statement.formula.outputs[0]):
        source = sources.get(term.name) if isinstance(term, Argument) else None
        if not isinstance(term, Argument) or not isinstance(source, Access):
            continue
        origin = made.get(source.tensor)
        if origin is None or origin.fold is None or origin.fold.kind != SUM:
            continue
        if origin.target in program.results or _reads(program, origin.target) != 1:
            continue
        names = [place.index for place in source.places]
        if None in names or source.has_batch != origin.has_batch:
            continue
        own = dict(zip(origin.indices, map(str, names), strict=True))
        extent = {name: str(sizes.canonical(program.extent[name])) for name in origin.fold.indices}
        order = sorted(origin.fold.indices, key=lambda name: extent[name])
        own |= {name: f"~{number}" for number, name in enumerate(order)}
        moved = renamed(origin, own)
        assert moved.fold is not None
        tests = frozenset(str(test) for test in moved.fold.where)
        extents = tuple(extent[name] for name in order)
        key = (moved.indices, moved.fold.has_batch, moved.has_batch, extents, tests)
        yield _Part(term, replace(moved, where=origin.where), key)


def _reads(program: IndexProgram, name: str) -> int:
    return sum(access.tensor == name for each in program.statements for access in each.accesses)


def _joined(program: IndexProgram, statement: Statement, parts: list[_Part]) -> IndexProgram:
    """The program with these parts of a statement as one."""
    taken = {*program.tensors, *program.numbers, *program.extent}
    targets = [_target(statement, part) for part in parts]
    first = next(each for each in program.statements if each.target == targets[0])
    last = max(n for n, each in enumerate(program.statements) if each.target in targets)
    origins = {each.target: each for each in program.statements}
    extents = dict(program.extents)
    names: dict[str, str] = {}
    assert first.fold is not None
    pairs = _fold_names(parts[0].statement, first)
    for mark, name in pairs.items():
        new = name if name not in statement.indices else fresh(name, taken)
        extents[new] = extents[name]
        names[mark] = new
    outcome: Expression | None = None
    sources: dict[str, Source] = {}
    for number, part in enumerate(parts):
        moved = renamed(part.statement, names)
        values: dict[Expression, Expression] = {}
        for argument in moved.formula.arguments:
            source = next((r.source for r in moved.reads if r.name == argument.name), None)
            if source is not None:
                values[argument] = replace(argument, name=f"{argument.name}_of_{number}")
                sources[f"{argument.name}_of_{number}"] = source
        body = substitute(moved.formula.outputs[0], values)
        outcome = body if outcome is None else call("add", outcome, body)
    assert outcome is not None
    whole = replace(renamed(parts[0].statement, names), target=first.target)
    assert isinstance(whole.fold, Fold)
    whole = with_formula(whole, outcome, sources)
    summed = _without(statement, parts[1:])
    kept: list[Statement] = []
    for number, each in enumerate(program.statements):
        if number == last:
            kept.append(whole)
        elif each.target == statement.target:
            kept.append(summed)
        elif each.target not in targets:
            kept.append(origins[each.target])
    return replace(program, statements=tuple(kept), extents=tuple(extents.items()))


def _target(statement: Statement, part: _Part) -> str:
    source = next(r.source for r in statement.reads if r.name == part.argument.name)
    assert isinstance(source, Access)
    return source.tensor


def _fold_names(moved: Statement, origin: Statement) -> dict[str, str]:
    """What the indices of a part's fold were called before."""
    assert moved.fold is not None and origin.fold is not None
    return dict(zip(moved.fold.indices, origin.fold.indices, strict=True))


def _without(statement: Statement, parts: list[_Part]) -> Statement:
    """A sum without some of its terms."""
    dropped = {part.argument for part in parts}
    terms = [t for t in _terms(statement.formula.outputs[0]) if t not in dropped]
    outcome = terms[0]
    for term in terms[1:]:
        outcome = call("add", outcome, term)
    return with_formula(statement, outcome, {read.name: read.source for read in statement.reads})
