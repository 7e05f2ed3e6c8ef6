"""Arithmetic on where entries are: positions, merging, reading other tensors there."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

Sizes = Sequence[int]


def sparse_dims(pattern: Pattern) -> int:
    """How many dims have indices."""
    return pattern.indices._sizes[0]


def count_of(pattern: Pattern) -> int:
    """How many entries there are."""
    return pattern.indices._sizes[1]


def positions(pattern: Pattern, sizes: Sizes) -> Tensor:
    """The place of each entry among the elements of the sparse dims, in row-major order."""
    indices, dims = pattern.indices, sparse_dims(pattern)
    if dims == 1:
        return indices.select(0, 0)
    known = pattern.known.get("positions")
    if known is None or known[0] != tuple(sizes[:dims]):
        given = tuple(sizes[:dims])
        shapes.check_storable(given)
        steps = shapes.contiguous_strides(given)
        found = indices.new_zeros((count_of(pattern),))
        for dim, step in enumerate(steps):
            found = ops.add(found, indices.select(0, dim), alpha=step)
        known = pattern.known["positions"] = given, found
    return known[1]


def indices_at(places: Tensor, sizes: Sizes) -> Tensor:
    """The index vectors of places among the elements of sizes; the inverse of `positions`."""
    rows = []
    for size in reversed(sizes[1:]):
        rows.append(places.remainder(size))
        places = ops.div(places, size, rounding_mode="floor")
    rows.append(places)
    return ops.stack(rows[::-1])


class Merged(NamedTuple):
    """Entries in order, each place once.

    pattern: where they are. sources: for each old entry, which new one it joins.
    """

    pattern: Pattern
    sources: Tensor

    @property
    def one_of_each(self) -> Tensor:
        """For each new entry, one of the old ones that join it."""
        count = self.sources._sizes[0]
        numbers = ops.arange(count, device=self.sources.device)
        made = numbers.new_zeros((count_of(self.pattern),))
        return made.scatter_reduce(0, self.sources, numbers, "amax")

    def sums(self, values: Tensor) -> Tensor:
        """The new values: the sums of those that lie in one place."""
        made = values.new_zeros((count_of(self.pattern), *values._sizes[1:]))
        if values.dtype is dtypes.bool:
            added = made.to(dtypes.uint8).index_add(0, self.sources, values.to(dtypes.uint8))
            return added.ne(0)
        return made.index_add(0, self.sources, values)


def merge(pattern: Pattern, sizes: Sizes) -> Merged:
    """Bring entries in order."""
    found = pattern.known.get("merged")
    if found is None or found[0] != tuple(sizes):
        found = pattern.known["merged"] = tuple(sizes), _merged(pattern, sizes)
    merged: Merged = found[1]
    return merged


def _merged(pattern: Pattern, sizes: Sizes) -> Merged:
    dims = sparse_dims(pattern)
    if not dims:
        count = min(count_of(pattern), 1)
        sources = pattern.indices.new_zeros((count_of(pattern),))
        return Merged(Pattern(pattern.indices.new_zeros((0, count)), True), sources)
    places, sources, _ = ops._unique2(positions(pattern, sizes), True, True)
    made = Pattern(indices_at(places, sizes[:dims]), True)
    return Merged(made, sources)


def gather(tensor: Tensor, pattern: Pattern, sizes: Sizes) -> Tensor:
    """A dense tensor's elements where the entries are. Shape: sizes -> (entries, *dense sizes)."""
    dims = sparse_dims(pattern)
    if not tensor.is_contiguous() and dims:
        return ops.index(tensor, [pattern.indices.select(0, dim) for dim in range(dims)])
    flat = tensor.reshape((prod(sizes[:dims]), *sizes[dims:]))
    return flat.index_select(0, positions(pattern, sizes))


def lookup(own: Pattern, pattern: Pattern, sizes: Sizes) -> tuple[Tensor, Tensor]:
    """For each entry of a pattern, which of a coalesced one's lies there, and whether one does."""
    there, here = positions(own, sizes), positions(pattern, sizes)
    at = ops.searchsorted(there, here).clamp(max=count_of(own) - 1)
    return at, there.index_select(0, at).eq(here)
