"""Equations through quotients, remainders and wrapped places, solved for an index of a fold.

With `u = i + k`, a fold over `i` is one over `u // c` and `u % c`. An equation that tells the first
leaves a fold over the second, and the other way round; one that has `i` and `i % c` (as `i ^ 1`
has, `i + 1 - 2 * (i % 2)`) is a congruence for `i % c`. So the adjoint of what repeats, turns, or
takes elements of a tensor in another order is a gather.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import gcd

from ..model import place as places
from ..model.index import Statement, Test
from ..model.place import Atom, Function, Index, Place
from ..record import record
from .rewrite import fresh, map_places
from .sizes import Sizes

ONE = places.number(1)
DIVISIONS = ("quotient", "remainder", "wrap")


@record
class _Split:
    """`u = sign * index + shift`, of which a test has the quotient or the remainder by `by`."""

    test: Test
    index: str
    sign: int
    shift: Place
    by: Place
    quotient: Place
    """What the quotient is multiplied by in the test."""
    remainder: Place
    outer: Place
    """What the index is multiplied by besides."""
    rest: Place

    def values(self, index: Place, quotient: Place | None, remainder: Place) -> dict[Atom, Place]:
        """What stands in the place of the index and of its divisions."""
        found: dict[Atom, Place] = {Index(self.index): index}
        for name in DIVISIONS:
            value = quotient if name == "quotient" else remainder
            if value is not None:
                found[Function(name, (self.operand, self.by))] = value
        return found

    def index_at(self, u: Place) -> Place:
        """The index, from `u`."""
        return (u - self.shift) * places.number(self.sign)

    @property
    def operand(self) -> Place:
        return places.index(self.index) * places.number(self.sign) + self.shift


def inverted(statement: Statement, sizes: Sizes, taken: set[str]) -> Statement | None:
    """The statement with an equation through a division solved, or None if it has none.

    New indices are noted in `sizes.extent`.
    """
    assert statement.fold is not None
    for test in statement.fold.where:
        if test.relation == "==":
            for name in statement.fold.indices:
                split = _split(test, name)
                if split is None:
                    found = _multiple(statement, test, name, sizes)
                else:
                    found = _solved(statement, split, sizes, taken)
                if found is not None:
                    return found
    return None


def _multiple(statement: Statement, test: Test, name: str, sizes: Sizes) -> Statement | None:
    """The statement at the only index of which a multiple is told, where there is one."""
    assert statement.fold is not None
    factor = test.place.coefficient(name).constant
    rest = test.place - places.index(name) * places.number(factor or 0)
    if not factor or name in rest.indices or set(rest.indices) & set(statement.fold.indices):
        return None
    by = places.number(abs(factor))
    found = places.apply("quotient", rest * places.number(-1 if factor > 0 else 1), by)
    exact = Test(places.apply("remainder", rest, by), "==")
    inside = (exact, *_inside(found, sizes.extent[name], sizes))
    return _at(statement, test, {Index(name): found}, name, inside)


def _split(test: Test, name: str) -> _Split | None:
    """How a test depends on an index of the fold, if that is through one division."""
    functions = [
        atom
        for monomial, _ in test.place.terms
        for atom in monomial
        if isinstance(atom, Function) and name in places.of(atom).indices
    ]
    operands = {function.operands for function in functions}
    if len(operands) != 1 or any(each.name not in DIVISIONS for each in functions):
        return None
    ((operand, by),) = operands
    sign = operand.coefficient(name).constant
    if sign not in (1, -1) or not operand.is_linear_in(name) or by.indices:
        return None
    parts = dict.fromkeys(DIVISIONS, Place())
    rest = test.place
    for function in dict.fromkeys(functions):
        factor = _coefficient(test.place, function)
        if factor.constant is None and name in factor.indices:
            return None
        parts[function.name] = factor
        rest = rest - factor * places.of(function)
    outer = rest.coefficient(name)
    if outer.constant is None or not rest.is_linear_in(name):
        return None
    rest = rest - outer * places.index(name)
    shift = operand - places.index(name) * places.number(sign)
    remainder = parts["remainder"] + parts["wrap"]
    return _Split(test, name, sign, shift, by, parts["quotient"], remainder, outer, rest)


def _coefficient(place: Place, atom: Atom) -> Place:
    """What an atom is multiplied by."""
    return Place(
        tuple(
            (tuple(each for each in monomial if each != atom), factor)
            for monomial, factor in place.terms
            if atom in monomial
        )
    )


def _solved(statement: Statement, split: _Split, sizes: Sizes, taken: set[str]) -> Statement | None:
    kinds = (split.quotient.constant, split.remainder.constant, split.outer.constant)
    extent = sizes.extent[split.index]
    match kinds:
        case (1 | -1 as factor, 0, 0):
            value = split.rest * places.number(-factor)
            rest = _new(f"{split.index}_rest", split.by, sizes, taken)
            return _replaced(statement, split, (value, places.index(rest)), extent, (rest,))
        case (0, 1 | -1 as factor, 0):
            value = split.rest * places.number(-factor)
            first = places.apply("wrap", split.index_at(value), split.by)
            inside = _inside(value, split.by, sizes)
            if sizes.canonical(extent) == sizes.canonical(split.by):
                values = split.values(first, None, value)
                return _at(statement, split.test, values, split.index, inside)
            count = places.apply("quotient", extent + split.by - ONE, split.by)
            turn = _new(f"{split.index}_turn", count, sizes, taken)
            found = first + split.by * places.index(turn)
            inside = (*inside, *_inside(found, extent, sizes))
            values = split.values(found, None, value)
            return _at(statement, split.test, values, split.index, inside, (turn,))
        case (0, int(), 1 | -1 as outer):
            return _congruent(statement, split, outer, sizes)
        case (1 | -1, _, 0) if not split.shift.terms and split.sign == 1:
            count = places.apply("quotient", extent + split.by - ONE, split.by)
            block = _new(f"{split.index}_block", count, sizes, taken)
            rest = _new(f"{split.index}_rest", split.by, sizes, taken)
            pair = places.index(block), places.index(rest)
            return _replaced(statement, split, pair, extent, (block, rest), solves=False)
    return None


def _congruent(statement: Statement, split: _Split, outer: int, sizes: Sizes) -> Statement | None:
    """The only remainder that fulfils the equation, where there is one for every residue."""
    by = split.by.constant
    sign = -outer * split.sign
    factor = sign * (split.remainder.constant or 0)
    if by is None or gcd(factor - 1, by) != 1:
        return None
    # outer * i + remainder * r + rest == 0, where i = sign * (u - shift) and u % by == r
    offset = split.rest * places.number(sign) + split.shift
    inverse = pow(factor - 1, -1, by)
    rest = places.apply("remainder", offset * places.number(-inverse), split.by)
    u = rest * places.number(factor) + offset
    found = split.index_at(u)
    quotient = places.apply("quotient", u - rest, split.by)
    inside = _inside(found, sizes.extent[split.index], sizes)
    values = split.values(found, quotient, rest)
    return _at(statement, split.test, values, split.index, inside)


def _new(wanted: str, extent: Place, sizes: Sizes, taken: set[str]) -> str:
    name = fresh(wanted, taken)
    sizes.extent[name] = sizes.canonical(extent)
    return name


def _inside(value: Place, extent: Place, sizes: Sizes) -> tuple[Test, ...]:
    if sizes.is_inside(value, extent):
        return ()
    return Test(value, ">="), Test(extent - value - ONE, ">=")


def _replaced(
    statement: Statement,
    split: _Split,
    pair: tuple[Place, Place],
    extent: Place,
    new: tuple[str, ...],
    solves: bool = True,
) -> Statement:
    """The statement with the index made of a quotient and a remainder, perhaps still tested."""
    found = split.index_at(pair[0] * split.by + pair[1])
    inside = (Test(found, ">="), Test(extent - found - ONE, ">="))
    test = split.test if solves else None
    return _at(statement, test, split.values(found, *pair), split.index, inside, new)


def _at(
    statement: Statement,
    test: Test | None,
    values: dict[Atom, Place],
    index: str,
    inside: tuple[Test, ...],
    new: tuple[str, ...] = (),
) -> Statement:
    """The statement with `values` in the place of atoms of an index, and without a test.

    new: the indices of the fold that come instead.
    """
    fold = statement.fold
    assert fold is not None
    where = tuple(each for each in fold.where if each is not test)
    kept = tuple(each for each in fold.indices if each != index)
    statement = replace(statement, fold=replace(fold, indices=(*kept, *new), where=where))
    found = map_places(statement, partial(_substituted, values))
    assert found.fold is not None
    tests = tuple(dict.fromkeys((*found.fold.where, *inside)))
    return replace(found, fold=replace(found.fold, where=tests))


def _substituted(values: dict[Atom, Place], place: Place) -> Place:
    return place.substitute(values)
