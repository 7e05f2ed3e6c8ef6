"""Arithmetic on where entries are: positions, merging, reading other tensors there."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

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


class Merged:
    """Entries in order, each place once.

    pattern: where they are. one_of_each: for each new entry, one of the old ones. are_apart:
    whether no two old ones lie in one place.
    """

    def __init__(
        self, pattern: Pattern, sources: Tensor | None, one_of_each: Tensor, are_apart: bool
    ) -> None:
        self.pattern, self._sources = pattern, sources
        self.one_of_each, self.are_apart = one_of_each, are_apart

    @property
    def sources(self) -> Tensor:
        """For each old entry, which new one it joins."""
        if self._sources is None:
            order = self.one_of_each
            numbers = ops.arange(order._sizes[0], device=order.device)
            self._sources = ops.empty_like(order).index_put((order,), numbers)
        return self._sources

    def sums(self, values: Tensor) -> Tensor:
        """The new values: the sums of those that lie in one place."""
        if self.are_apart:
            return values.index_select(0, self.one_of_each)
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
    indices, dims = pattern.indices, sparse_dims(pattern)
    count = count_of(pattern)
    if count < 2:
        numbers = ops.arange(count, device=indices.device)
        return Merged(Pattern(indices, True), numbers, numbers, True)
    if dims == 2 and sizes[0] <= DENSE_ENOUGH * count + 1024 and max(*sizes, count) < LARGEST:
        return _merged_matrix(indices, sizes)
    order = ascending(pattern, sizes[:dims])
    ordered = indices.index_select(1, order)
    differs = ordered.narrow(1, 1, count - 1).ne(ordered.narrow(1, 0, count - 1))
    begins = ops.ones((count,), dtype=dtypes.bool, device=indices.device)
    begins.narrow(0, 1, count - 1).copy_(differs.any(0))
    first = begins.nonzero().select(1, 0)
    kept = first.numel()
    are_apart = kept == count
    sources = None
    if not are_apart:
        sources = ops.empty_like(order).index_put((order,), begins.cumsum(0) - 1)
    made = ordered if are_apart else ordered.index_select(1, first)
    one_of_each = order if are_apart else order.index_select(0, first)
    return Merged(Pattern(made, True), sources, one_of_each, are_apart)


def _merged_matrix(indices: Tensor, sizes: Sizes) -> Merged:
    """The same of the entries of a matrix."""
    lines, others = (indices.select(0, dim).contiguous() for dim in range(2))
    places, one_of_each, sources, kept = ops._merge(lines, others, sizes[0], sizes[1])
    number = kept.item()
    if number == lines._sizes[0]:
        return Merged(Pattern(places, True), None, one_of_each, True)
    made = Pattern(places.narrow(1, 0, number).contiguous(), True)
    return Merged(made, sources, one_of_each.narrow(0, 0, number), False)


LARGEST = 2**31
"""Places that two indices of a matrix are sorted by at once."""
DENSE_ENOUGH = 16
"""How many lines of a dim there may be for each entry, for entries to be counted by lines."""


def ascending(pattern: Pattern, sizes: Sizes) -> Tensor:
    """The order in which entries ascend: by their last index, then by the one before ..."""
    count = count_of(pattern)
    if any(size > DENSE_ENOUGH * count + 1024 for size in sizes):
        return positions(pattern, sizes).contiguous().argsort(stable=True)
    order = ops.arange(count, device=pattern.indices.device)
    for dim in reversed(range(len(sizes))):
        keys = pattern.indices.select(0, dim)
        is_last = dim == len(sizes) - 1
        keys = keys if is_last else keys.index_select(0, order)
        _, turned = ops._group(keys, sizes[dim])
        order = turned if is_last else order.index_select(0, turned)
    return order


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
