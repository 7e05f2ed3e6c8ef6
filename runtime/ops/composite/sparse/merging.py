"""Entries of a matrix in order, those of one place as one, by a sort.

For backends that have no kernels for this.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops


def merge(
    indices: Any,
    one_of_each: Any,
    sources: Any,
    kept: Any,
    lines: Any,
    others: Any,
    count: int,
    across: int,
) -> None:
    """The places of entries in order, those of one place as one; one of the entries that join each
    of these; which each entry joins; and how many these are."""
    if not lines.shape[0]:
        kept.zero_()
        return
    keys, order, numbers = _in_order(lines, others, count, across)
    edges = _edges(numbers)
    sources.copy_(ops.empty_like(order).scatter(0, order, numbers))
    one_of_each.copy_(_at_firsts(order, edges, numbers))
    _write_places(indices, kept, keys, edges, numbers, across)


def merge_values(
    indices: Any,
    merged: Any,
    kept: Any,
    lines: Any,
    others: Any,
    values: Any,
    count: int,
    across: int,
) -> None:
    """The places of entries in order, the sum of the values in each, and how many there are."""
    if not lines.shape[0]:
        kept.zero_()
        return
    keys, order, numbers = _in_order(lines, others, count, across)
    edges = _edges(numbers)
    merged.copy_(ops._range_sums(edges, values, order))
    _write_places(indices, kept, keys, edges, numbers, across)


def _in_order(lines: Any, others: Any, count: int, across: int) -> tuple[Any, Any, Any]:
    """The sorted keys of places, the entries in their order, and the number of each one's place.

    Keys are sorted in as few bits as they need.
    """
    bits = (count * across).bit_length()
    own = dtypes.int32 if bits < 32 else dtypes.int64
    keys, order = ops.sort((lines * across + others).to(own), 0)
    return keys, order, ops.cat([keys.new_zeros(1).to(dtypes.bool), keys.diff() != 0]).cumsum(0)


def _edges(numbers: Any) -> Any:
    """Where the entries of each place begin among the sorted ones; behind the last, their count."""
    every = ops.arange(numbers.shape[0] + 1, dtype=numbers.dtype, device=numbers.device)
    return ops.searchsorted(numbers, every)


def _at_firsts(x: Any, edges: Any, numbers: Any) -> Any:
    """What the first entry of each place has; 0 where there is no place any more."""
    count = numbers.shape[0]
    found = x.index_select(0, edges.narrow(0, 0, count).clamp(max=count - 1))
    every = ops.arange(count, dtype=numbers.dtype, device=numbers.device)
    return found.masked_fill(every > numbers.select(0, -1), 0)


def _write_places(
    indices: Any, kept: Any, keys: Any, edges: Any, numbers: Any, across: int
) -> None:
    """Write each place's line and its other index, and how many places there are."""
    places = _at_firsts(keys, edges, numbers).to(dtypes.int64)
    indices.copy_(ops.stack([places // across, places % across]))
    kept.copy_(numbers.narrow(0, numbers.shape[0] - 1, 1) + 1)
