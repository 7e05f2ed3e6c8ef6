"""What a program knows of sizes: which are equal, and what is never negative."""

from __future__ import annotations

from ..model import place as places
from ..model.index import IndexProgram
from ..model.place import Atom, BatchSize, Index, Place, Size


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
            if factor < 0 or not all(
                isinstance(each, Size | BatchSize | Index) for each in monomial
            ):
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
