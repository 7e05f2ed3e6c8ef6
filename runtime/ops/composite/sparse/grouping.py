"""Entries by one of their indices, and what is wrong with compressed ones, by sorts and searches.

For backends that have no kernels for this.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops


def group(offsets: Any, order: Any, keys: Any, count: int) -> None:
    """order: the places of keys 0, then of keys 1, ...; offsets[k]: where those of k begin in it.

    Keys are in [0, count): they are sorted in as few bits as that needs.
    """
    bits = count.bit_length()
    own = dtypes.int16 if bits < 16 else dtypes.int32 if bits < 32 else dtypes.int64
    ordered, places = ops.sort(keys.to(own), 0)
    every = ops.arange(count + 1, dtype=ordered.dtype, device=keys.device)
    offsets.copy_(ops.searchsorted(ordered, every))
    order.copy_(places)


def turn(
    begins: Any, rows: Any, turned: Any, offsets: Any, others: Any, carried: Any, count: int
) -> None:
    """Entries by rows brought in the order of columns: where each column begins, and the row and
    what is carried with it of each entry in that order."""
    order = ops.empty_like(others, dtype=dtypes.int64)
    group(begins, order, others, count)
    rows.copy_(ops.searchsorted(offsets.to(dtypes.int64), order, right=True) - 1)
    turned.copy_(carried.index_select(0, order))


def line_faults(faults: Any, compressed: Any, plain: Any, across: int) -> None:
    """Which rules of compressed indices are broken, one number each, 0 or 1.

    0: the first line begins at 0; 1: the last ends with the entries; 2: none ends before it begins;
    3: none has more than `across`; 4: plain indices are in [0, across); 5: they ascend along each
    line, told if 0 to 2 hold.
    """
    count, lengths = plain.shape[-1], compressed.diff()
    broken = [
        compressed.select(-1, 0) != 0,
        compressed.select(-1, -1) != count,
        lengths < 0,
        lengths > across,
        (plain < 0) | (plain >= across),
        _falls(compressed, plain),
    ]
    told = ops.stack([each.any() for each in broken])
    in_order = told.narrow(0, 0, 3).any().logical_not()
    faults.copy_(ops.cat([told.narrow(0, 0, 5), told.narrow(0, 5, 1) & in_order]))


def _falls(compressed: Any, plain: Any) -> Any:
    """Where a plain index is no more than the one before it, and begins no line."""
    places = ops.arange(1, max(plain.shape[-1], 1), dtype=compressed.dtype, device=plain.device)
    places = places.expand((*plain.shape[:-1], -1)).contiguous()
    lines = ops.searchsorted(compressed, places).clamp(max=compressed.shape[-1] - 1)
    return (plain.diff() <= 0) & (compressed.gather(-1, lines) != places)
