"""Arithmetic on where entries are: positions, merging, reading other tensors there."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import WORD_BITS, Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

Sizes = Sequence[int]


class Rows(Pattern):
    """A pattern by an index vector for each dim, of which a tensor is made when it is asked for.

    is_apart: whether it is known that no two entries lie in one place.
    """

    __slots__ = ("_rows", "is_apart")

    def __init__(self, rows: Sequence[Tensor], is_coalesced: bool, is_apart: bool = False) -> None:
        self._rows, self.is_apart = list(rows), is_apart or is_coalesced
        self._indices, self.is_coalesced = None, is_coalesced
        self._known: dict[str, Any] = {}
        self._version = self._rows_version()

    def _rows_version(self) -> int:
        return sum(row._storage.version for row in self._rows)

    def _unchanged_rows(self) -> list[Tensor]:
        if self._version != self._rows_version():
            raise errors.indices_changed()
        return self._rows

    @property
    def indices(self) -> Tensor:
        """The index vectors, one a row.

        Raises: RuntimeError if those that it was made of were written to since.
        """
        if self._indices is None:
            self._indices = ops.stack(self._unchanged_rows())
            self._rows, self._version = [], self._indices._storage.version
        return self._indices

    def row(self, dim: int) -> Tensor:
        """The index vector of one dim."""
        return super().row(dim) if self._indices is not None else self._unchanged_rows()[dim]

    @property
    def device(self) -> Any:
        """Where the indices are."""
        return self._rows[0].device if self._indices is None else super().device

    @property
    def dims(self) -> int:
        """How many dims have indices."""
        return len(self._rows) if self._indices is None else super().dims

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._rows[0]._sizes[0] if self._indices is None else super().count

    @property
    def known(self) -> dict[str, Any]:
        """What was found out; empty after a write to the indices."""
        return self._known if self._indices is None else super().known


def sparse_dims(pattern: Pattern) -> int:
    """How many dims have indices."""
    return pattern.dims


def count_of(pattern: Pattern) -> int:
    """How many entries there are."""
    return pattern.count


def positions(pattern: Pattern, sizes: Sizes) -> Tensor:
    """The place of each entry among the elements of the sparse dims, in row-major order."""
    indices, dims = pattern.indices, sparse_dims(pattern)
    if dims == 1:
        return indices.select(0, 0)
    known, given = pattern.known.get("positions"), tuple(sizes)[:dims]
    if known is None or known[0] != given:
        shapes.check_storable(given)
        steps = shapes.contiguous_strides(given)
        found = indices.select(0, dims - 1) if dims else indices.new_zeros((count_of(pattern),))
        for dim, step in enumerate(steps[:-1]):
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
            order = self.one_of_each.to(dtypes.int64)
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


def in_order(pattern: Pattern, sizes: Sizes, values: Tensor) -> tuple[Pattern, Tensor]:
    """Entries in order, those of one place added.

    A pattern that is met for the first time is brought in order together with its values; of one
    that is met again, and where gradients are recorded, the order is found, and kept.
    """
    is_new = "ordered" not in pattern.known and "merged" not in pattern.known
    is_recorded = values._key & keys.GRAD and grad_mode.state.enabled
    is_carried = values.ndim == 1 and values.dtype in CARRIED and count_of(pattern) > 1
    if not is_new or is_recorded or not is_carried or not _is_countable(pattern, sizes, 32):
        merged = merge(pattern, sizes)
        return merged.pattern, merged.sums(values)
    made, sums = _with_values(pattern, sizes, values)
    pattern.known["ordered"] = tuple(sizes), made
    return made, sums


def _with_values(pattern: Pattern, sizes: Sizes, values: Tensor) -> tuple[Pattern, Tensor]:
    """A matrix's entries in order, and their values, of 32 bits."""
    rows = (pattern.row(dim).contiguous() for dim in range(2))
    indices, sums, kept = ops._merge_values(*rows, values, sizes[0], sizes[1])
    number = kept.item()
    if number < count_of(pattern):
        indices, sums = indices.narrow(1, 0, number).contiguous(), sums.narrow(0, 0, number)
    return Pattern(indices, True), sums


CARRIED = (dtypes.float32, dtypes.int32)
"""Values that are moved with their entries; others are read in the order of the entries."""


def _is_countable(pattern: Pattern, sizes: Sizes, carried: int) -> bool:
    """Whether entries are those of a matrix, and enough of them for being counted by lines.

    carried: bits that are moved with each.
    """
    count = count_of(pattern)
    return (
        sparse_dims(pattern) == 2
        and sizes[0] <= DENSE_ENOUGH * count + 1024
        and max(*sizes[:2], count) < LARGEST
        and sizes[0].bit_length() + sizes[1].bit_length() + carried <= WORD_BITS
    )


def merge(pattern: Pattern, sizes: Sizes) -> Merged:
    """Bring entries in order."""
    found = pattern.known.get("merged")
    if found is None or found[0] != tuple(sizes):
        found = pattern.known["merged"] = tuple(sizes), _merged(pattern, sizes)
    merged: Merged = found[1]
    return merged


def _merged(pattern: Pattern, sizes: Sizes) -> Merged:
    count, device = count_of(pattern), pattern.device
    if count < 2:
        numbers = ops.arange(count, device=device)
        return Merged(Pattern(pattern.indices, True), numbers, numbers, True)
    if _is_countable(pattern, sizes, count.bit_length()):
        return _merged_matrix(pattern, sizes)
    order = ascending(pattern, sizes[: sparse_dims(pattern)])
    ordered = pattern.indices.index_select(1, order)
    differs = ordered.narrow(1, 1, count - 1).ne(ordered.narrow(1, 0, count - 1))
    begins = ops.ones((count,), dtype=dtypes.bool, device=device)
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


def _merged_matrix(pattern: Pattern, sizes: Sizes) -> Merged:
    """The same of the entries of a matrix."""
    count, (own, ordered) = count_of(pattern), pattern.known.get("ordered", (None, None))
    is_apart = isinstance(pattern, Rows) and pattern.is_apart
    if is_apart and _is_countable(pattern, sizes, 32):
        numbers = ops.arange(count, dtype=dtypes.int32, device=pattern.device)
        made, order = _with_values(pattern, sizes, numbers)
        if count_of(made) == count:
            return Merged(made, None, order, True)
    rows = (pattern.row(dim).contiguous() for dim in range(2))
    places, one_of_each, sources, kept = ops._merge(*rows, sizes[0], sizes[1])
    number = kept.item()
    if number < count:
        places = places.narrow(1, 0, number).contiguous()
        one_of_each = one_of_each.narrow(0, 0, number)
    made = ordered if own == tuple(sizes) else Pattern(places, True)
    return Merged(made, None if number == count else sources, one_of_each, number == count)


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
        keys = pattern.row(dim)
        is_last = dim == len(sizes) - 1
        keys = keys if is_last else keys.index_select(0, order)
        _, turned = ops._group(keys, sizes[dim])
        order = turned if is_last else order.index_select(0, turned)
    return order


def gather(tensor: Tensor, pattern: Pattern, sizes: Sizes) -> Tensor:
    """A dense tensor's elements where the entries are. Shape: sizes -> (entries, *dense sizes)."""
    dims = sparse_dims(pattern)
    if not tensor.is_contiguous() and dims:
        return ops.index(tensor, [pattern.row(dim) for dim in range(dims)])
    flat = tensor.reshape((prod(sizes[:dims]), *sizes[dims:]))
    return flat.index_select(0, positions(pattern, sizes))


def lookup(own: Pattern, pattern: Pattern, sizes: Sizes) -> tuple[Tensor, Tensor]:
    """For each entry of a pattern, which of a coalesced one's lies there, and whether one does."""
    there, here = positions(own, sizes), positions(pattern, sizes)
    at = ops.searchsorted(there, here).clamp(max=count_of(own) - 1)
    return at, there.index_select(0, at).eq(here)
