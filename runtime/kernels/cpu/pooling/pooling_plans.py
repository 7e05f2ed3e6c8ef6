"""Geometry of pooling: windows and planes in three dims, of which some have size 1."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.common.pooling import Triple


def plane_sizes(sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The number of planes and their three sizes."""
    split = len(sizes) - count
    return (prod(sizes[:split]), *(1,) * (3 - count), *sizes[split:])


@lru_cache(maxsize=1024)
def empty_windows(
    counts: Triple, lengths: Triple, size: Triple, step: Triple, pad: Triple, spread: Triple
) -> tuple[Any, Any] | None:
    """The windows that see padding alone: a mask, and the place at which each would begin.

    Only windows with holes may step over a whole plane: mostly there are none.
    """
    if max(spread) == 1 or max(pad) == 0:
        return None
    firsts, misses = [], []
    for numbers in zip(counts, lengths, size, step, pad, spread, strict=True):
        count, length, taps, stride, padding, apart = numbers
        start = np.arange(count) * stride - padding
        first = start + np.maximum(0, -(start // apart)) * apart
        firsts.append(first)
        misses.append((first >= length) | (first > start + (taps - 1) * apart))
    mask = misses[0][:, None, None] | misses[1][:, None] | misses[2]
    if not mask.any():
        return None
    first_d, first_h, first_w = np.ix_(*firsts)
    return mask, ((first_d * lengths[1] + first_h) * lengths[2] + first_w)[mask]
