"""Plans of small kernels that read at places given by index tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import folded_shape, folded_strides
from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.small import (
    INT64,
    agree_but_for,
    entry_for,
    is_dense,
    is_small,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any
SCATTERED = 3
"""How much more an element costs that is read by itself than one that is copied with others."""


def plan_gather(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, sparse_grad: bool = False
) -> LaunchPlan | None:
    """Plan `gather` where self, of any strides, is no larger than the index but along `dim`."""
    fits = is_small(out, index) and agree_but_for(self.sizes, index.sizes, dim)
    steps = folded_strides(self.sizes, self.strides, dim)
    if not fits or index.dtype != INT64 or steps is None or prod(self.sizes) == 0:
        return None
    outer, count, inner = folded_shape(out.sizes, dim)
    size = self.sizes[dim]
    entry = entry_for(gather_flat, out.dtype, out.dtype, self.dtype, INT64, *(int,) * 9)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        if not entry(target, a, b, at_a, at_b, *numbers):
            slots = b[at_b : at_b + prod(index.sizes)].reshape(index.sizes)
            raise places.bad_scatter_index(slots, dim, size)

    return LaunchPlan(run, (outer, count, size, inner, *steps))


@typed
def gather_flat(
    out, self, index, at, at_index, outer, count, size, inner, outer_step, step, inner_step
):
    """out[o, j, i] = self[o, index[o, j, i], i]; False for a place outside.

    Rows, which may be of one place each, are not taken out: views count references, 15 ns each.
    """
    place = 0
    for o in range(outer):
        start = at + o * outer_step
        if inner == 1:
            for j in range(count):
                k = index[np.uint64(at_index + place + j)]
                if np.uint64(k) >= np.uint64(size):
                    return False
                out[np.uint64(place + j)] = self[np.uint64(start + k * step)]
            place += count
            continue
        for _ in range(count):
            slots, target = index[at_index + place : at_index + place + inner], out[place:]
            for i in range(inner):
                k = slots[i]
                if np.uint64(k) >= np.uint64(size):
                    return False
                target[i] = self[start + k * step + i * inner_step]
            place += inner
    return True


def plan_index_select(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec
) -> LaunchPlan | None:
    """Plan `index_select`."""
    if not is_dense(out, self, index) or index.dtype != INT64:
        return None
    return _plan_select(out, self, folded_shape(self.sizes, dim), prod(index.sizes))


def plan_embedding(
    out: TensorSpec,
    weight: TensorSpec,
    indices: TensorSpec,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> LaunchPlan | None:
    """Plan `embedding`: rows of a matrix."""
    if not is_dense(out, indices) or indices.dtype != INT64 or not weight.is_contiguous:
        return None
    return _plan_select(out, weight, (1, *weight.sizes), prod(indices.sizes))


def _plan_select(
    out: TensorSpec, self: TensorSpec, shape: tuple[int, int, int], count: int
) -> LaunchPlan:
    """Plan `select_flat`, on several threads if it is much."""
    outer, size, inner = shape
    kinds = int, int, out.dtype, self.dtype, INT64, *(int,) * 5
    entry = entry_for(select_flat, out.dtype, *kinds)
    lines = outer if inner == 1 else outer * count
    work = prod(out.sizes) * (SCATTERED if inner == 1 else 1)

    def run(*args: Any) -> None:
        if not entry(0, lines, *args[:-1], count, size, inner):
            raise errors.index_out_of_range_in_self()

    def run_parts(*args: Any) -> None:
        if not threads.run_ranges(entry, lines, work, *args[:-1], count, size, inner):
            raise errors.index_out_of_range_in_self()

    return LaunchPlan(run if work < 2 * threads.GRAIN else run_parts, 0)


@typed
def select_flat(start, stop, out, self, index, at, at_index, count, size, inner):
    """out[o, j] = self[o, index[j]], rows or lines start to stop; False for a place outside.

    Lines are not taken out: views count references.
    """
    for j in range(count):
        if index[at_index + j] < 0 or index[at_index + j] >= size:
            return False
    if inner == 1:
        slots = index[at_index : at_index + count]
        for o in range(start, stop):
            row, target = self[at + o * size : at + (o + 1) * size], out[o * count :]
            for j in range(count):
                target[j] = row[np.uint64(slots[j])]
        return True
    o, j = divmod(start, count)
    for line in range(start, stop):
        target = np.uint64(line * inner)
        source = np.uint64(at + (o * size + index[np.uint64(at_index + j)]) * inner)
        for i in range(np.uint64(inner)):
            out[target + i] = self[source + i]
        j += 1
        if j == count:
            o, j = o + 1, 0
    return True


def plan_take(out: TensorSpec, self: TensorSpec, index: TensorSpec) -> LaunchPlan | None:
    """Plan `take`."""
    if not is_small(out, self, index) or index.dtype != INT64:
        return None
    entry = entry_for(take_flat, out.dtype, out.dtype, self.dtype, INT64, int, int, int)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, size: int) -> None:
        if not entry(target, a, b, at_a, at_b, size):
            places.nonnegative_flat(b[at_b : at_b + target.size], size)  # raises

    return LaunchPlan(run, prod(self.sizes))


@typed
def take_flat(out, self, index, at, at_index, size):
    """out[j] = self[index[j]], counted from the end if negative; False for a place outside."""
    for j in range(out.size):
        k = index[at_index + j]
        if k < -size or k >= size:
            return False
        out[j] = self[at + (k + size if k < 0 else k)]
    return True
