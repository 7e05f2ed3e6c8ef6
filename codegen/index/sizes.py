"""What a program knows of sizes: which are equal, and what is never negative."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import place as places
from ..model.index import ARGMAX, ARGMIN, LOCATED, IndexProgram, Test
from ..model.place import Atom, BatchSize, Element, Function, Index, Parameter, Place, Size


class Sizes:
    """What a program knows of sizes: which are equal, and what is at least 0."""

    def __init__(self, program: IndexProgram) -> None:
        self.extent = program.extent
        self.told = {
            each.target: each.fold.indices[0]
            for each in program.statements
            if each.fold is not None
            and each.fold.kind in (ARGMAX, ARGMIN, LOCATED)
            and each.fold.told is None
            if len(each.fold.indices) == 1
        }
        """The indices whose extents tensors of places belong to."""
        folds = {each.target: each.fold for each in program.statements if each.fold is not None}
        self.located = {name for name, fold in folds.items() if fold.kind == LOCATED}
        """Those of them that are -1 where there is no such place."""
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
            if atoms and atoms[0] in value.atoms:
                continue  # `min(size(x), size(y))` is `size(x)`: it says nothing of either alone
            if len(atoms) == 1 and isinstance(atoms[0], Size) and place == places.of(atoms[0]):
                self.equal[atoms[0]] = value
                self.equal = {atom: self.canonical(each) for atom, each in self.equal.items()}
                return

    def canonical(self, place: Place) -> Place:
        """The place with one name for sizes that are equal."""
        return place.substitute(self.equal) if self.equal else place

    def lowest(self, place: Place) -> Place:
        """A bound that a place does not go below, as far as indices are concerned."""
        return self._end(place, True)

    def _end(self, place: Place, is_low: bool) -> Place:
        place, extent = self._by_residue(place)
        total = Place()
        for monomial, factor in place.terms:
            term = Place(((monomial, factor),))
            if len(monomial) == 1 and isinstance(monomial[0], Function):
                end = self._end_of(monomial[0], is_low == (factor > 0))
                term = term if end is None else end * places.number(factor)
            total = total + term
        for name in total.indices:
            coefficient = total.coefficient(name).constant
            if coefficient is not None and total.is_linear_in(name) and name in extent:
                is_first = is_low == (coefficient > 0)
                end = places.number(0) if is_first else extent[name] - places.number(1)
                total = total.substitute({Index(name): end})
        return self.canonical(total)

    def _end_of(self, function: Function, is_low: bool) -> Place | None:
        """The same of what no polynomial says."""
        first, second = function.operands
        match function.name:
            case "quotient" if (second.constant or 0) > 0:
                return places.apply("quotient", self._end(first, is_low), second)
            case "remainder" | "wrap" | "clamp" | "reflect":
                return places.number(0) if is_low else second - places.number(1)
        return None

    def _by_residue(self, place: Place) -> tuple[Place, dict[str, Place]]:
        """A place over `i // c` and `i % c`, where it has these and `i`; the extents of all."""
        extent = self.extent
        for atom in place.atoms:
            match atom:
                case Function("quotient" | "remainder", (first, second)) if second.constant:
                    name = first.index or ""
                    if name not in extent or not place.coefficient(name).terms:
                        continue
                    block, rest = places.index(f"{name} // "), places.index(f"{name} % ")
                    values: dict[Atom, Place] = {
                        Index(name): block * second + rest,
                        Function("quotient", (first, second)): block,
                        Function("remainder", (first, second)): rest,
                    }
                    place = place.substitute(values)
                    count = extent[name] + second - places.number(1)
                    extent = {**extent, f"{name} % ": second}
                    extent[f"{name} // "] = places.apply("quotient", count, second)
        return place, extent

    def measured_ends(self, place: Place) -> tuple[Place, Place] | None:
        """The least and the greatest place of a quotient of a sum of indices."""
        moving = [monomial for monomial, _ in place.terms if Place(((monomial, 1),)).indices]
        match moving:
            case [(Function("quotient", (first, second)),)] if (second.constant or 0) > 0:
                polynomial = not any(isinstance(a, Function | Element) for a in first.atoms)
                factors = [first.coefficient(name).constant for name in first.indices]
                if polynomial and None not in factors:
                    return self._end(place, True), self._end(place, False)
        return None

    def is_never_negative(self, place: Place) -> bool:
        """Whether a place is at least 0 for certain, where there are elements at all."""
        for monomial, factor in self.lowest(self.canonical(place)).terms:
            if factor < 0 or not all(map(self._is_natural, monomial)):
                return False
        return True

    def _is_natural(self, atom: Atom) -> bool:
        if isinstance(atom, Function) and atom.name == "quotient":
            first, second = atom.operands
            return self._divides(second) and self.is_never_negative(first)
        is_extent = isinstance(atom, Parameter) and places.of(atom) in self.extent.values()
        return is_extent or isinstance(atom, Size | BatchSize | Index)

    @staticmethod
    def _divides(place: Place) -> bool:
        """Whether a place is positive for certain where something is divided by it."""
        is_size = len(place.atoms) == 1 and isinstance(place.atoms[0], Size)
        return (place.constant or 0) > 0 or (is_size and place == places.of(place.atoms[0]))

    def is_inside(self, place: Place, size: Place, tests: Iterable[Test] = ()) -> bool:
        """Whether a place is in a dim for certain, where some tests hold."""
        name = place.index
        if name is not None and self.canonical(self.extent[name]) == self.canonical(size):
            return True
        if self.is_found(place, size, tests):
            return True
        last = size - place - places.number(1)
        natural = [Place(), *(test.place for test in tests if test.relation == ">=")]
        return all(
            any(self.is_never_negative(end - each) for each in natural) for end in (place, last)
        )

    def is_found(self, place: Place, size: Place, tests: Iterable[Test] = ()) -> bool:
        """Whether a fold over a dim has told the place."""
        own = [each for each in place.atoms if isinstance(each, Element)]
        if not own or place != places.of(own[0]):
            return False
        if own[0].tensor in self.located and Test(place, ">=") not in tests:
            return False
        found = self.told.get(own[0].tensor)
        return found is not None and self.canonical(self.extent[found]) == self.canonical(size)


def size_of(program: IndexProgram, tensor: str, dim: int) -> Place:
    """The size of a dim, from the first of those that have places."""
    known = program.tensors[tensor]
    if any(each.name == tensor for each in program.inputs):
        return places.of(Size(tensor, dim - known.rank))
    if tensor in program.drawn:
        return program.drawn[tensor].sizes[dim]
    return program.extent[program.statement(tensor).indices[dim]]
