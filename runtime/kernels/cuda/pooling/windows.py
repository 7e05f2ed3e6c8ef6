"""Windows of pooling: which of them see a place.

Kernels name these functions; ADAPTIVE is a constant of theirs.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.pooling import Triple
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function


def spatial(sizes: Any, count: int) -> Triple:
    """The last `count` sizes as those of three dims."""
    return (*(1,) * (3 - count), *sizes[len(sizes) - count :])


# -- device functions ---------------------------------------------------------------------------


@device_function
def first_window(at, count, length, size, step, pad):
    """The first window that may see a place."""
    if ADAPTIVE:
        return I(at * count // length)
    return divided(I(max(0, at + pad - size + step)), step)


@device_function
def last_window(at, count, length, step, pad):
    """One past the last window that may see a place."""
    if ADAPTIVE:
        return I(((at + 1) * count + length - 1) // length)
    return I(min(count, divided(I(at + pad), step) + 1))


@device_function
def window_size(i, count, length):
    """How many places adaptive window i of `count` has."""
    return I(((i + 1) * length + count - 1) // count - i * length // count)
