"""Whole numbers of the index language: places in tensors, extents of indices, bounds.

A place is a polynomial with integer coefficients in its normal form, so that two that are equal
for all values compare equal: `i + d - r` and `d + (i - r)` are one object to a dictionary. What no
polynomial says (a quotient, a clamped place, an element of an integer tensor) is an atom in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ..record import record


@record
class Index:
    """An index: all whole numbers from 0 to below its extent."""

    name: str


@record
class Size:
    """The size of a tensor along a dim, which is counted from the last, -1."""

    tensor: str
    dim: int


@record
class BatchSize:
    """How many elements the dims of `...` have together."""


@record
class Parameter:
    """An argument of the operator that is a whole number."""

    name: str


@record
class Function:
    """What no polynomial says, of places.

    quotient, remainder: rounded down, as Python's; least, greatest: of two; clamp, wrap, reflect:
    of a place and an extent, inside that; reflection does not repeat the border; signed: of the
    same, counted from the end if negative; checked: the same, which is no place if negative.
    """

    name: str
    operands: tuple[Place, ...]


@record
class Element:
    """An element of an integer tensor: what makes an access a gather."""

    tensor: str
    has_batch: bool
    places: tuple[Place, ...]
    outside: Place | None = None
    """The whole number where a place is not in the tensor; None if all places are."""


Atom: TypeAlias = Index | Size | BatchSize | Parameter | Function | Element
Monomial: TypeAlias = tuple[Atom, ...]
FUNCTIONS = {
    "quotient": 2, "remainder": 2, "least": 2, "greatest": 2, "clamp": 2, "wrap": 2, "reflect": 2,
    "signed": 2, "checked": 2,
}  # fmt: skip

LOOKED_AT = ("signed", "checked")
"""Those that may be outside all the same, which is an error."""


@record
class Place:
    """A polynomial: a sum of products of atoms, each once, with a coefficient that is not 0."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    def __add__(self, other: Place) -> Place:
        return _total((*self.terms, *other.terms))

    def __neg__(self) -> Place:
        return Place(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Place) -> Place:
        return self + -other

    def __mul__(self, other: Place) -> Place:
        return _total(
            (tuple(sorted((*one, *two), key=repr)), a * b)
            for one, a in self.terms
            for two, b in other.terms
        )

    @property
    def constant(self) -> int | None:
        """Its value, if that is known."""
        if not self.terms:
            return 0
        (monomial, factor), *others = self.terms
        return factor if not monomial and not others else None

    @property
    def index(self) -> str | None:
        """The name of the index that it is, if it is one alone."""
        if len(self.terms) != 1:
            return None
        (monomial, factor) = self.terms[0]
        if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Index):
            return monomial[0].name
        return None

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """All atoms, also those inside others, each once."""
        return tuple(dict.fromkeys(self._atoms()))

    def _atoms(self) -> Iterator[Atom]:
        for monomial, _ in self.terms:
            for atom in monomial:
                yield atom
                for part in parts(atom):
                    yield from part._atoms()

    @property
    def indices(self) -> tuple[str, ...]:
        """The names of the indices that it depends on."""
        return tuple(atom.name for atom in self.atoms if isinstance(atom, Index))

    def coefficient(self, index: str) -> Place:
        """What an index is multiplied by, where it stands alone or in a product."""
        found = []
        for monomial, factor in self.terms:
            if Index(index) in monomial:
                rest = list(monomial)
                rest.remove(Index(index))
                found.append((tuple(rest), factor))
        return Place(tuple(found))

    def is_linear_in(self, index: str) -> bool:
        """Whether an index stands in no square, and in nothing but sums and products."""
        inner = [
            name
            for monomial, _ in self.terms
            for atom in monomial
            for part in parts(atom)
            for name in part.indices
        ]
        return index not in inner and index not in self.coefficient(index).indices

    def map(self, change: Callable[[Atom], Place | None]) -> Place:
        """Replace atoms, outermost first, by what `change` gives for them."""
        total = Place()
        for monomial, factor in self.terms:
            product = number(factor)
            for atom in monomial:
                product = product * _changed(atom, change)
            total = total + product
        return total

    def substitute(self, values: Mapping[Atom, Place]) -> Place:
        """Put places in the place of atoms."""
        if not any(atom in values for atom in self._atoms()):
            return self
        return self.map(values.get)

    def __str__(self) -> str:
        ordered = sorted(self.terms, key=lambda term: (not term[0], term[1] < 0))
        text = ""
        for monomial, factor in ordered:
            factors = [spelled(atom) for atom in monomial]
            if abs(factor) != 1 or not factors:
                factors.insert(0, str(abs(factor)))
            sign = "-" if factor < 0 else "+"
            part = " * ".join(factors)
            text = f"{text} {sign} {part}" if text else part if factor > 0 else f"-{part}"
        return text or "0"


def looked_at(place: Place) -> tuple[Place, Place] | None:
    """What a place is that is looked at where it is read, and the extent that it must be below."""
    match place.terms:
        case (((Function("checked", (value, extent)),), 1),):
            return value, extent
    return None


def parts(atom: Atom) -> tuple[Place, ...]:
    """The places that an atom is made of."""
    if isinstance(atom, Function):
        return atom.operands
    if isinstance(atom, Element):
        return atom.places if atom.outside is None else (*atom.places, atom.outside)
    return ()


def with_parts(atom: Atom, places: tuple[Place, ...]) -> Place:
    """The atom, made of other places."""
    if isinstance(atom, Function):
        return apply(atom.name, *places)
    if isinstance(atom, Element):
        rank = len(atom.places)
        return of(Element(atom.tensor, atom.has_batch, places[:rank], *places[rank:]))
    return of(atom)


def number(value: int) -> Place:
    """A constant."""
    return Place((((), value),)) if value else Place()


def of(atom: Atom) -> Place:
    """A place that is one atom."""
    return Place((((atom,), 1),))


def index(name: str) -> Place:
    """A place that is one index."""
    return of(Index(name))


def apply(name: str, *operands: Place) -> Place:
    """A function of places, of constants its value."""
    first, second = operands
    values = first.constant, second.constant
    if second.constant == 1 and name in ("quotient", "remainder"):
        return first if name == "quotient" else number(0)
    if None not in values:
        one, other = (each or 0 for each in values)
        if name in ("quotient", "remainder") and other:
            return number(one // other if name == "quotient" else one % other)
        if name in ("least", "greatest"):
            return number(min(one, other) if name == "least" else max(one, other))
    if name in ("least", "greatest") and first == second:
        return first
    if name == "remainder" and (second.constant or 0) > 1:
        return _remainder(first, second.constant or 0)
    if name == "quotient" and (second.constant or 0) > 1:
        return _quotient(first, second.constant or 0)
    return of(Function(name, operands))


def _remainder(place: Place, by: int) -> Place:
    """`place % by`, of which multiples of `by` are no part."""
    rest = Place(tuple((m, factor % by) for m, factor in place.terms if factor % by))
    if rest.constant is not None:
        return rest
    if by == 2 and any(not monomial for monomial, _ in rest.terms):
        return number(1) - _remainder(rest - number(1), by)
    return of(Function("remainder", (rest, number(by))))


def _quotient(place: Place, by: int) -> Place:
    """`place // by`, without what is divided for certain: `(i - i % 2) // 2` is `i // 2`."""
    for monomial, factor in place.terms:
        match monomial:
            case (Function("remainder", (first, second)) as atom,) if second.constant == by:
                whole = place + number(-factor) * of(atom) - first
                if factor % by == by - 1 and all(f % by == 0 for _, f in whole.terms):
                    turns = number((factor + 1) // by) * of(atom)
                    return turns + _divided(whole, by) + _quotient(first, by)
    rest = Place(tuple((monomial, f) for monomial, f in place.terms if f % by))
    outer = _divided(place - rest, by)
    if rest.constant is not None:
        return outer + number(rest.constant // by)
    return outer + of(Function("quotient", (rest, number(by))))


def _divided(place: Place, by: int) -> Place:
    """What is a multiple, divided."""
    return Place(tuple((monomial, factor // by) for monomial, factor in place.terms))


def spelled(atom: Atom) -> str:
    """An atom as the language writes it."""
    match atom:
        case Index(name) | Parameter(name):
            return name
        case BatchSize():
            return "size(...)"
        case Size(tensor, dim):
            return f"size({tensor}, {dim})"
        case Element(tensor, has_batch, places, outside):
            otherwise = "" if outside is None else f" else {outside}"
            inner = ", ".join(["..."] * has_batch + [str(each) for each in places])
            return f"{tensor}[{inner}{otherwise}]"
        case Function("quotient" | "remainder" as name, (first, second)):
            symbol = "//" if name == "quotient" else "%"
            by = str(second)
            by = f"({by})" if " * " in by or len(second.terms) > 1 else by
            return f"({_enclosed(first)} {symbol} {by})"
        case Function("least" | "greatest" as name, (first, second)):
            return f"{'min' if name == 'least' else 'max'}({first}, {second})"
        case Function(name, (first, _)):
            return f"{name}({first})"
    raise AssertionError(atom)


def _enclosed(place: Place) -> str:
    return f"({place})" if len(place.terms) > 1 else str(place)


def _changed(atom: Atom, change: Callable[[Atom], Place | None]) -> Place:
    found = change(atom)
    if found is not None:
        return found
    inner = tuple(part.map(change) for part in parts(atom))
    return of(atom) if inner == parts(atom) else with_parts(atom, inner)


def _total(terms: Iterator[tuple[Monomial, int]] | tuple[tuple[Monomial, int], ...]) -> Place:
    found: dict[Monomial, int] = {}
    for monomial, factor in terms:
        found[monomial] = found.get(monomial, 0) + factor
    kept = [(monomial, factor) for monomial, factor in found.items() if factor]
    return Place(tuple(sorted(kept, key=repr)))
