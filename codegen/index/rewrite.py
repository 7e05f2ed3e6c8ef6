"""Statements with other places, other names, other formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..formula.expressions import substitute
from ..formula.simplify import simplify
from ..model import place as places
from ..model.formula import Argument, Expression, Formula, walk
from ..model.index import Access, Read, Source, Statement, Test
from ..model.place import Atom, Index, Place


def map_source(source: Source, change: Callable[[Place], Place]) -> Source:
    """A source with other places."""
    match source:
        case Access():
            return replace(source, places=tuple(map(change, source.places)))
        case Test():
            return replace(source, place=change(source.place))
    return change(source)


def map_places(statement: Statement, change: Callable[[Place], Place]) -> Statement:
    """A statement with other places, on its right side."""
    reads = tuple(Read(each.name, map_source(each.source, change)) for each in statement.reads)
    fold = statement.fold
    if fold is not None:
        tests = tuple(replace(test, place=change(test.place)) for test in fold.where)
        told = None if fold.told is None else change(fold.told)
        start = fold.start and replace(fold.start, places=tuple(map(change, fold.start.places)))
        fold = replace(fold, where=tests, told=told, start=start)
    return replace(statement, reads=reads, fold=fold)


def renamed(statement: Statement, names: dict[str, str]) -> Statement:
    """A statement with other names of indices."""
    values: dict[Atom, Place] = {Index(a): places.index(b) for a, b in names.items()}
    found = map_places(statement, lambda place: place.substitute(values))
    fold = found.fold
    if fold is not None:
        fold = replace(fold, indices=tuple(names.get(each, each) for each in fold.indices))
    return replace(found, indices=tuple(names.get(each, each) for each in found.indices), fold=fold)


def with_formula(
    statement: Statement, outcome: Expression, sources: dict[str, Source]
) -> Statement:
    """A statement with another formula, over these sources; what it does not read is dropped.

    Equal sources become one argument, named after what it reads.
    """
    arguments = [n for n in walk((outcome,)) if isinstance(n, Argument)]
    sources = without_twins({n.name: sources[n.name] for n in arguments if n.name in sources})
    taken = {each.name for each in arguments if each.name not in sources}
    first: dict[Source, Argument] = {}
    same: dict[Expression, Expression] = {}
    for node in arguments:
        if node.name in sources:
            source = sources[node.name]
            if source not in first:
                name = fresh(f"{_word(source)}_{len(first)}", taken)
                first[source] = Argument(name, node.kind)
            same[node] = first[source]
    outcome = substitute(outcome, same)
    kept = tuple(dict.fromkeys(n for n in walk((outcome,)) if isinstance(n, Argument)))
    formula = simplify(Formula(kept, (outcome,)), collect=True, unroll=False)
    used = {n.name for n in walk(formula.outputs) if isinstance(n, Argument)}
    kept = tuple(each for each in kept if each.name in used)
    reads = tuple(
        Read(argument.name, source) for source, argument in first.items() if argument.name in used
    )
    return replace(statement, formula=replace(formula, arguments=kept), reads=reads)


def without_twins(sources: dict[str, Source]) -> dict[str, Source]:
    """Without values outside for elements that are read without one, too: those are inside."""
    plain = {each for each in sources.values() if isinstance(each, Access) and each.outside is None}
    found = dict(sources)
    for name, source in sources.items():
        if isinstance(source, Access) and replace(source, outside=None) in plain:
            found[name] = replace(source, outside=None)
    return found


def _word(source: Source) -> str:
    if isinstance(source, Access):
        return source.tensor
    return "test" if isinstance(source, Test) else "place"


def fresh(wanted: str, taken: set[str]) -> str:
    """A name that is not taken, which it is from now on."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    taken.add(name)
    return name
