"""Rewrites statements into equal ones: folds by definition, conditions solved, terms put in.

`solved` is what makes derivatives gathers: a fold over all places where `i + d - r == q` goes over
`d` alone, at `i = q - d + r`, as far as that is in range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from ..formula.expressions import ONE, ZERO, call, select, substitute
from ..formula.result import cost
from ..formula.simplify import simplify
from ..model import place as places
from ..model.formula import (
    Argument,
    Call,
    Expression,
    Formula,
    Named,
    Select,
    type_of,
    walk,
)
from ..model.index import (
    LOGSUMEXP,
    MAX,
    MEAN,
    MIN,
    PROD,
    SUM,
    Access,
    Fold,
    IndexProgram,
    Read,
    Source,
    Statement,
    Test,
)
from ..model.place import Atom, Element, Index, Parameter, Place, Size

SINGLE = (SUM, PROD, MAX, MIN)
"""Folds that give their only element back."""
TRIVIAL = 2
"""Work of a formula, in multiplications, that is done again sooner than kept."""


# -- sizes ----------------------------------------------------------------------------------


class Sizes:
    """What a program knows of sizes: which are equal, and what is at least 0."""

    def __init__(self, program: IndexProgram) -> None:
        self.extent = program.extent
        self.equal: dict[Atom, Place] = {}
        for each in program.requirements:
            self.unite(self.extent[each.index], each.extent)
        for name in self.extent:
            self.extent[name] = self.canonical(self.extent[name])

    def unite(self, one: Place, other: Place) -> None:
        one, other = self.canonical(one), self.canonical(other)
        if one == other:
            return
        for place, value in ((other, one), (one, other)):
            atoms = place.atoms
            if len(atoms) == 1 and isinstance(atoms[0], Size) and place == places.of(atoms[0]):
                self.equal[atoms[0]] = value
                self.equal = {atom: self.canonical(each) for atom, each in self.equal.items()}
                return

    def canonical(self, place: Place) -> Place:
        """The place with one name for sizes that are equal."""
        return place.substitute(self.equal) if self.equal else place

    def lowest(self, place: Place) -> Place:
        """A bound that a place does not go below, as far as indices are concerned."""
        for name in place.indices:
            factor = place.coefficient(name).constant
            if factor is not None and place.is_linear_in(name) and name in self.extent:
                end = places.number(0) if factor > 0 else self.extent[name] - places.number(1)
                place = place.substitute({Index(name): end})
        return self.canonical(place)

    def is_never_negative(self, place: Place) -> bool:
        """Whether a place is at least 0 for certain, where there are elements at all."""
        for monomial, factor in self.lowest(self.canonical(place)).terms:
            if factor < 0 or not all(isinstance(each, Size | Index) for each in monomial):
                return False
        return True

    def is_inside(self, place: Place, size: Place) -> bool:
        """Whether a place is in a dim for certain."""
        name = place.index
        if name is not None and self.canonical(self.extent[name]) == self.canonical(size):
            return True
        last = size - place - places.number(1)
        return self.is_never_negative(place) and self.is_never_negative(last)


def size_of(program: IndexProgram, tensor: str, dim: int) -> Place:
    """The size of a dim, from the first of those that have places."""
    known = program.tensors[tensor]
    if any(each.name == tensor for each in program.inputs):
        return places.of(Size(tensor, dim - known.rank))
    return program.extent[program.statement(tensor).indices[dim]]


# -- substitution ---------------------------------------------------------------------------


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
        fold = replace(fold, where=tests)
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


def _word(source: Source) -> str:
    if isinstance(source, Access):
        return source.tensor
    return "test" if isinstance(source, Test) else "place"


# -- folds ----------------------------------------------------------------------------------


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
    if each.fold.where or each.fold.has_batch:
        counted = replace(total, target=fresh(f"{each.target}_count", taken))
        made.append(with_formula(counted, ONE, {}))
        sources["count"] = replace(own, tensor=made[-1].target)
    else:
        extent = program.extent
        count = places.number(1)
        for name in each.fold.indices:
            count = count * extent[name]
        sources["count"] = count
    quotient = call("div", Argument("total"), Argument("count"))
    made.append(with_formula(replace(each, fold=None), quotient, sources))
    return made


def without_logsumexp(program: IndexProgram) -> IndexProgram:
    """logsumexp as the largest element, and the logarithm of a sum without overflow."""
    statements: list[Statement] = []
    taken = set(program.tensors)
    for each in program.statements:
        statements += _logsumexp(each, taken) if _is_fold(each, LOGSUMEXP) else [each]
    return replace(program, statements=tuple(statements))


def _logsumexp(each: Statement, taken: set[str]) -> list[Statement]:
    assert each.fold is not None
    own = Access(each.target, each.has_batch, tuple(map(places.index, each.indices)))
    top = replace(each, target=fresh(f"{each.target}_max", taken), fold=_as(each.fold, MAX))
    finite = replace(each, target=fresh(f"{each.target}_top", taken), fold=None)
    largest = Argument("largest")
    is_infinite = call("eq", call("abs", largest), Named("inf"))
    finite = with_formula(
        finite, select(is_infinite, ZERO, largest), {"largest": replace(own, tensor=top.target)}
    )
    offset = Argument("offset")
    sources: dict[str, Source] = {read.name: read.source for read in each.reads}
    sources["offset"] = replace(own, tensor=finite.target)
    total = replace(each, target=fresh(f"{each.target}_sum", taken), fold=_as(each.fold, SUM))
    body = call("exp", call("sub", each.formula.outputs[0], offset))
    total = with_formula(total, body, sources)
    whole = call("add", call("log", Argument("total")), offset)
    sources = {"total": replace(own, tensor=total.target), "offset": sources["offset"]}
    return [top, finite, total, with_formula(replace(each, fold=None), whole, sources)]


def _as(fold: Fold, kind: str) -> Fold:
    return replace(fold, kind=kind)


def fresh(wanted: str, taken: set[str]) -> str:
    """A name that is not taken, which it is from now on."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    taken.add(name)
    return name


# -- conditions -----------------------------------------------------------------------------


def solved(statement: Statement, program: IndexProgram, sizes: Sizes) -> Statement:
    """The statement with equations solved for indices of its fold, and nothing tested in vain.

    `program` knows all tensors that it reads.
    """
    fold = statement.fold
    if fold is None:
        return statement
    if fold.kind == SUM:
        statement = _without_outside(statement, program, sizes)
    while (found := _solution(statement, sizes)) is not None:
        statement = _eliminated(statement, *found)
    fold = statement.fold
    assert fold is not None
    tests = tuple(
        test
        for test in dict.fromkeys(fold.where)
        if not (test.relation == ">=" and sizes.is_never_negative(test.place))
    )
    statement = replace(statement, fold=replace(fold, where=tests))
    if not fold.indices and not fold.has_batch and fold.kind in SINGLE:
        return _as_element(statement)
    return statement


def _as_element(statement: Statement) -> Statement:
    """A fold of one element, or of none where its conditions do not hold."""
    assert statement.fold is not None
    sources: dict[str, Source] = {read.name: read.source for read in statement.reads}
    outcome = statement.formula.outputs[0]
    for number, test in enumerate(statement.fold.where):
        sources[f"test_{number}_"] = test
        condition = Argument(f"test_{number}_", "bool")
        outcome = select(condition, outcome, nothing(statement.fold.kind))
    guarded = _guarded(statement, sources)
    return with_formula(replace(statement, fold=None), outcome, guarded)


def _guarded(statement: Statement, sources: dict[str, Source]) -> dict[str, Source]:
    """Accesses that tests protected: where these fail, nothing may be read."""
    assert statement.fold is not None
    if not statement.fold.where:
        return sources
    protected = {index for test in statement.fold.where for index in test.place.indices}
    found = dict(sources)
    for name, source in sources.items():
        if not isinstance(source, Access) or source.outside is not None:
            continue
        if any(p.index is None and protected & set(p.indices) for p in source.places):
            found[name] = replace(source, outside=ZERO)
    return found


def nothing(kind: str) -> Expression:
    """What a fold gives of nothing."""
    if kind == PROD:
        return ONE
    if kind == MAX:
        return call("neg", Named("inf"))
    return Named("inf") if kind == MIN else ZERO


def _without_outside(statement: Statement, program: IndexProgram, sizes: Sizes) -> Statement:
    """Conditions in the place of zeros outside that make a whole summand zero."""
    assert statement.fold is not None
    sources: dict[str, Source] = {}
    tests = list(statement.fold.where)
    arguments = {argument.name: argument for argument in statement.formula.arguments}
    for read in statement.reads:
        source = read.source
        sources[read.name] = source
        if not isinstance(source, Access) or source.outside != ZERO:
            continue
        if not _vanishes(statement.formula.outputs[0], arguments[read.name]):
            continue
        for dim, place in enumerate(source.places):
            size = size_of(program, source.tensor, dim)
            if not sizes.is_inside(place, size):
                tests.append(Test(place, ">="))
                tests.append(Test(size - place - places.number(1), ">="))
        sources[read.name] = replace(source, outside=None)
    fold = replace(statement.fold, where=tuple(dict.fromkeys(tests)))
    reads = tuple(Read(name, source) for name, source in sources.items())
    return replace(statement, fold=fold, reads=reads)


def _vanishes(outcome: Expression, argument: Argument) -> bool:
    """Whether a value is a multiple of an argument: what is outside then adds nothing."""
    if isinstance(outcome, Select):
        return all(_vanishes(each, argument) for each in (outcome.then, outcome.otherwise))
    if not isinstance(outcome, Call):
        return outcome in (argument, ZERO)
    vanish = [_vanishes(each, argument) for each in outcome.operands]
    match outcome.primitive.name:
        case "mul":
            return any(vanish)
        case "div" | "neg" | "abs" | "square":
            return vanish[0]
        case "add" | "sub":
            return all(vanish)
    return False


def _solution(statement: Statement, sizes: Sizes) -> tuple[Test, str, Place, Place] | None:
    """An equation, the index of the fold that it tells, what it tells, and the index's extent.

    An index that goes through a tensor is preferred: what remains is the window.
    """
    assert statement.fold is not None
    best = None
    for test in statement.fold.where:
        if test.relation != "==":
            continue
        for name in statement.fold.indices:
            factor = test.place.coefficient(name).constant
            if factor not in (1, -1) or not test.place.is_linear_in(name):
                continue
            extent = sizes.extent[name]
            is_size = any(isinstance(atom, Size) for atom in extent.atoms)
            rank = (is_size, not any(isinstance(a, Element) for a in test.place.atoms))
            if best is None or rank > best[0]:
                rest = test.place - places.index(name) * places.number(factor)
                value = -rest if factor == 1 else rest
                best = (rank, (test, name, value, extent))
    return None if best is None else best[1]


def _eliminated(
    statement: Statement, test: Test, name: str, value: Place, extent: Place
) -> Statement:
    """The statement with an index of its fold replaced by what it must be."""
    fold = statement.fold
    assert fold is not None
    inside = (Test(value, ">="), Test(extent - value - places.number(1), ">="))
    rest = tuple(each for each in fold.where if each is not test)
    indices = tuple(each for each in fold.indices if each != name)
    statement = replace(statement, fold=replace(fold, indices=indices, where=(*rest, *inside)))
    values: dict[Atom, Place] = {Index(name): value}
    return map_places(statement, lambda place: place.substitute(values))


# -- statements in others -------------------------------------------------------------------


def inlined(program: IndexProgram) -> IndexProgram:
    """The program with formulas put where their values are read, if nothing is computed twice."""
    changed = True
    while changed:
        changed = False
        program = without_unused(program)
        for each in program.statements:
            if each.target in program.results or not _may_inline(each, program):
                continue
            program, changed = _put_in(each, program), True
            break
    return without_copies(program)


def _may_inline(each: Statement, program: IndexProgram) -> bool:
    """Whether an element is read once, by a statement that goes over its indices alone."""
    if each.fold is not None or each.type == "int":
        return False
    if any(access.tensor == each.target for access in each.accesses):
        return False
    readers = [
        (other, access)
        for other in program.statements
        for access in other.accesses
        if access.tensor == each.target
    ]
    if any(
        isinstance(atom, Element) and atom.tensor == each.target
        for other, _ in readers
        for place in other.all_places
        for atom in place.atoms
    ):
        return False
    is_trivial = _work(each) <= TRIVIAL and len(each.reads) <= 2
    if is_trivial:
        return True
    domains = {
        (other.indices, other.fold and replace(other.fold, kind=SUM)) for other, _ in readers
    }
    if len(readers) != 1 and (len(domains) != 1 or readers[0][0].fold is None):
        return False  # folds over the same are one loop, which computes equal parts once
    return all(_goes_over_all(each, other, access) for other, access in readers)


def _domain(statement: Statement) -> tuple[tuple[str, ...], Fold | None]:
    fold = statement.fold
    return statement.indices, None if fold is None else replace(fold, kind=SUM)


def _goes_over_all(each: Statement, other: Statement, access: Access) -> bool:
    """Whether a reader goes over no more than an element's own indices."""
    used = {index for place in access.places for index in place.indices}
    has_batch = other.has_batch or (other.fold is not None and other.fold.has_batch)
    return set(other.loops) <= used and has_batch == each.has_batch


def _work(statement: Statement) -> int:
    return cost(statement.formula) - 36 * sum(
        a.kind == "tensor" for a in statement.formula.arguments
    )


def _put_in(each: Statement, program: IndexProgram) -> IndexProgram:
    statements = [
        _with_inlined(other, each, program)
        for other in program.statements
        if other.target != each.target
    ]
    return replace(program, statements=tuple(statements))


def _with_inlined(other: Statement, each: Statement, program: IndexProgram) -> Statement:
    if not any(access.tensor == each.target for access in other.accesses):
        return other
    sources: dict[str, Source] = {}
    values: dict[Expression, Expression] = {}
    arguments = {argument.name: argument for argument in other.formula.arguments}
    for read in other.reads:
        source = read.source
        if not (isinstance(source, Access) and source.tensor == each.target):
            sources[read.name] = source
            continue
        at: dict[Atom, Place] = dict(zip(map(Index, each.indices), source.places, strict=True))
        moved = map_places(each, partial(_at, at))
        names: dict[Expression, Expression] = {}
        for own in moved.reads:
            name = f"{read.name}_{own.name}"
            argument = next(a for a in each.formula.arguments if a.name == own.name)
            names[argument] = replace(argument, name=name)
            guard = isinstance(own.source, Access) and own.source.outside is None
            is_moved = any(p.index is None for p in source.places)
            outside = ZERO if guard and source.outside is not None and is_moved else None
            sources[name] = (
                replace(own.source, outside=outside)
                if outside is not None and isinstance(own.source, Access)
                else own.source
            )
        outcome = substitute(each.formula.outputs[0], names)
        if source.outside is not None:
            outcome = _where_inside(outcome, source, program, sources, read.name)
        if arguments[read.name].kind == "bool" and type_of(outcome) != "bool":
            outcome = call("ne", outcome, ZERO)
        values[arguments[read.name]] = outcome
    return with_formula(other, substitute(other.formula.outputs[0], values), sources)


def _at(values: dict[Atom, Place], place: Place) -> Place:
    return place.substitute(values)


def _where_inside(
    outcome: Expression,
    source: Access,
    program: IndexProgram,
    sources: dict[str, Source],
    name: str,
) -> Expression:
    """A value where an access is inside its tensor, else what it is outside."""
    sizes = Sizes(program)
    assert source.outside is not None
    for dim, place in enumerate(source.places):
        size = size_of(program, source.tensor, dim)
        if sizes.is_inside(place, size):
            continue
        for number, test in enumerate((place, size - place - places.number(1))):
            key = f"{name}_inside_{dim}_{number}"
            sources[key] = Test(test, ">=")
            outcome = select(Argument(key, "bool"), outcome, source.outside)
    return outcome


def without_copies(program: IndexProgram) -> IndexProgram:
    """The program without statements that give another tensor a second name."""
    for each in program.statements:
        source = _copied(each)
        made = {other.target for other in program.statements} - set(program.results)
        if source is None or source not in made:
            continue
        readers = [
            other.target
            for other in program.statements
            if any(access.tensor == source for access in other.accesses)
        ]
        if readers == [each.target]:
            origin = program.statement(source)
            statements = tuple(
                replace(origin, target=each.target) if other is origin else other
                for other in program.statements
                if other is not each
            )
            return without_copies(replace(program, statements=statements))
    return program


def _copied(statement: Statement) -> str | None:
    """The tensor whose elements a statement gives as they are."""
    if statement.fold is not None or len(statement.reads) != 1:
        return None
    (read,) = statement.reads
    source, outcome = read.source, statement.formula.outputs[0]
    if not isinstance(source, Access) or not isinstance(outcome, Argument):
        return None
    same = [place.index for place in source.places] == list(statement.indices)
    return source.tensor if same and source.has_batch == statement.has_batch else None


def without_unused(program: IndexProgram) -> IndexProgram:
    """The program without statements that no result depends on."""
    needed = set(program.results)
    kept: list[Statement] = []
    for each in reversed(program.statements):
        if each.target in needed:
            kept.append(each)
            needed |= {access.tensor for access in each.accesses}
    used = used_indices(kept, program)
    inputs = tuple(each for each in program.inputs)
    return replace(
        program,
        inputs=inputs,
        statements=tuple(reversed(kept)),
        extents=tuple((name, extent) for name, extent in program.extents if name in used),
        requirements=tuple(each for each in program.requirements if each.index in used),
    )


def used_indices(statements: Iterable[Statement], program: IndexProgram) -> set[str]:
    """The indices that statements go over, and those that requirements need."""
    used = {name for each in statements for name in each.loops}
    return used | {index for each in program.requirements for index in (each.index,)}


def numbers_of(program: IndexProgram) -> Sequence[str]:
    """The arguments that are no tensors and that the statements read, in the program's order."""
    used: set[str] = set()
    for each in program.statements:
        bound = {read.name for read in each.reads}
        used |= {a.name for a in each.formula.arguments if a.name not in bound}
        for place in each.all_places:
            used |= {atom.name for atom in place.atoms if isinstance(atom, Parameter)}
    for place in (
        *(extent for _, extent in program.extents),
        *(each.extent for each in program.requirements),
    ):
        used |= {atom.name for atom in place.atoms if isinstance(atom, Parameter)}
    return [name for name in program.numbers if name in used]
