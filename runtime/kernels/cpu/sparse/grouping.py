"""Entries by one of their indices: a counting sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.planned import contiguous

Array = Any


def group(offsets: Array, order: Array, keys: Array, count: int) -> None:
    """order: the places of keys 0, then of keys 1, ...; offsets[k]: where those of k begin in it.

    Raises: RuntimeError for a key that is negative, or not less than `count`.
    """
    begins = np.empty(count, np.int64)
    if not count_and_place(offsets, order, begins, contiguous(keys)):
        raise RuntimeError(f"_group: a key is not in [0, {count})")


@kernel
def count_and_place(offsets, order, begins, keys):
    """False, and nothing placed, if a key is outside. begins: room for a number for each key."""
    count, total = np.uint64(begins.size), 0
    for k in range(begins.size):
        begins[k] = 0
    for i in range(keys.size):
        key = np.uint64(keys[i])
        if key >= count:
            return False
        begins[key] += 1
    for k in range(begins.size):
        offsets[k], total = total, total + begins[k]
        begins[k] = offsets[k]
    offsets[begins.size] = total
    for i in range(keys.size):
        key = np.uint64(keys[i])
        order[np.uint64(begins[key])] = i
        begins[key] += 1
    return True
