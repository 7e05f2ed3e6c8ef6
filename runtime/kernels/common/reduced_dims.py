"""Arrays folded around the dims that a kernel reduces: rows, or columns of (outer, n, inner)."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple


class Fold(NamedTuple):
    """How to see an array: `order` of its dims (None: as they are), then its shape.

    inner: elements behind the reduced dims; with 1, each row of `shape` is reduced to one number,
    else the middle of its three dims. count: elements per result.
    """

    order: tuple[int, ...] | None
    shape: tuple[int, ...]
    inner: int
    count: int


@lru_cache(maxsize=1024)
def plan_fold(sizes: tuple[int, ...], dim: Any, with_columns: bool) -> Fold:
    """Plan the folding of an array of these sizes."""
    ndim = len(sizes)
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(ndim))
    reduced = tuple(sorted(d % ndim for d in dims)) if ndim else ()
    count = prod(sizes[d] for d in reduced)
    adjacent = bool(reduced) and reduced == tuple(range(reduced[0], reduced[-1] + 1))
    inner = prod(sizes[reduced[-1] + 1 :]) if adjacent else 1
    if adjacent and with_columns and inner != 1:
        return Fold(None, (prod(sizes[: reduced[0]]), count, inner), inner, count)
    kept = tuple(d for d in range(ndim) if d not in reduced)
    order = (*kept, *reduced)
    rows = prod(sizes[d] for d in kept)
    return Fold(None if order == tuple(range(ndim)) else order, (rows, count), 1, count)
