"""Arrays as (outer, count, inner): the sizes before, at and behind a dim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import NamedTuple


class Folded(NamedTuple):
    """Sizes around one dim of a contiguous array: (outer, count, inner)."""

    outer: int
    count: int
    inner: int


def sizes_around(sizes: Sequence[int], dim: int) -> Folded:
    """The sizes around `dim`; those of no dims are (1, 1, 1)."""
    if not sizes:
        return Folded(1, 1, 1)
    dim %= len(sizes)
    return Folded(prod(sizes[:dim]), sizes[dim], prod(sizes[dim + 1 :]))


@lru_cache(maxsize=1024)
def strides_around(
    sizes: Sequence[int], strides: Sequence[int], dim: int
) -> tuple[int, int, int] | None:
    """The strides of an array seen as `sizes_around` says; None if no one stride walks a side."""
    if not sizes:
        return (1, 1, 1)
    dim %= len(sizes)
    before = merged_stride(sizes[:dim], strides[:dim])
    behind = merged_stride(sizes[dim + 1 :], strides[dim + 1 :])
    return None if before is None or behind is None else (before, strides[dim], behind)


def merged_stride(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """The stride from element to element of several dims taken as one; any without elements."""
    if 0 in sizes:
        return 1
    walked = [(n, step) for n, step in zip(sizes, strides, strict=True) if n != 1]
    if any(outer != n * step for (_, outer), (n, step) in pairwise(walked)):
        return None
    return walked[-1][1] if walked else 1
