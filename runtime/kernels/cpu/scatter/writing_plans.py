"""Plans of small kernels that write to places given by index tensors, or under a mask."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.folding import folded_shape
from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.scatter.combining import COPY, PROD, REDUCE, SUM, combined
from torchgen_out._runtime.kernels.cpu.scatter.within_plans import plan_number_within, plan_within
from torchgen_out._runtime.kernels.cpu.small import (
    BOOL,
    INT64,
    agree_but_for,
    entry_for,
    is_small,
    number_for,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


def plan_scatter(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec
) -> LaunchPlan | None:
    """Plan `scatter` of a tensor."""
    return _plan_scattering(out, self, dim, index, src, COPY)


def plan_scatter_add(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec
) -> LaunchPlan | None:
    """Plan `scatter_add`."""
    return _plan_scattering(out, self, dim, index, src, SUM)


def plan_scatter_combine(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec, reduce: str
) -> LaunchPlan | None:
    """Plan `scatter` that adds or multiplies."""
    return _plan_scattering(out, self, dim, index, src, SUM if reduce == "add" else PROD)


def plan_scatter_reduce(
    out: TensorSpec,
    self: TensorSpec,
    dim: int,
    index: TensorSpec,
    src: TensorSpec,
    reduce: str,
    include_self: bool = True,
) -> LaunchPlan | None:
    """Plan `scatter_reduce` where the old values take part; a mean has to count."""
    if reduce not in REDUCE or not include_self:
        return None
    return _plan_scattering(out, self, dim, index, src, REDUCE[reduce])


def _plan_scattering(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec, how: int
) -> LaunchPlan | None:
    """Slices go by rows where the index covers the source, and all but `dim` of self."""
    if not is_small(out, self, index, src) or index.dtype != INT64 or src.dtype != self.dtype:
        return None
    if src.sizes != index.sizes or not agree_but_for(self.sizes, index.sizes, dim):
        return plan_within(out, self, dim, index, src, how)
    outer, count, inner = folded_shape(index.sizes, dim)
    size = self.sizes[dim]
    arrays = out.dtype, self.dtype, INT64, src.dtype
    entry = entry_for(scatter_flat, out.dtype, *arrays, *(int,) * 8)

    def run(out: Array, a: Array, b: Array, c: Array, i: int, j: int, k: int, numbers: Any) -> None:
        if not entry(out, a, b, c, i, j, k, *numbers):
            slots = b[j : j + prod(index.sizes)].reshape(index.sizes)
            raise places.bad_scatter_index(slots, dim, size)

    return LaunchPlan(run, (outer, count, size, inner, how))


@typed
def scatter_flat(out, self, index, src, at, at_index, at_src, outer, count, size, inner, how):
    """out = self; out[o, index[o, j, i], i] joins src[o, j, i]; False for a place outside."""
    for i in range(out.size):
        out[i] = self[at + i]
    place = 0
    for o in range(outer):
        if inner == 1:
            for j in range(count):
                k = np.uint64(index[np.uint64(at_index + place + j)])
                if k >= np.uint64(size):
                    return False
                target = np.uint64(o * size) + k
                out[target] = combined(out[target], src[np.uint64(at_src + place + j)], how)
            place += count
            continue
        for _ in range(count):
            slots, source = index[at_index + place :], src[at_src + place :]
            for i in range(inner):
                k = slots[i]
                if np.uint64(k) >= np.uint64(size):
                    return False
                target = np.uint64((o * size + k) * inner + i)
                out[target] = combined(out[target], source[i], how)
            place += inner
    return True


def plan_index_add(
    out: TensorSpec,
    self: TensorSpec,
    dim: int,
    index: TensorSpec,
    source: TensorSpec,
    alpha: Any = 1,
) -> LaunchPlan | None:
    """Plan `index_add` of a source as large as it can be."""
    fits = is_small(out, self, index, source) and len(self.sizes) == len(source.sizes) > 0
    if not fits or index.dtype != INT64 or alpha.__class__ not in (int, float):
        return None
    if out.dtype.kind != "f" and alpha.__class__ is float:
        return None
    outer, size, inner = folded_shape(self.sizes, dim)
    arrays = out.dtype, self.dtype, INT64, source.dtype
    kinds = (*(int,) * 7, float if out.dtype.kind == "f" else int)
    entry = entry_for(index_add_flat, out.dtype, *arrays, *kinds)

    def run(out: Array, a: Array, b: Array, c: Array, i: int, j: int, k: int, numbers: Any) -> None:
        if not entry(out, a, b, c, i, j, k, *numbers):
            slots = b[j : j + prod(index.sizes)]
            raise places.bad_slice_index(slots, dim, self.sizes)

    number = float(alpha) if out.dtype.kind == "f" else alpha
    return LaunchPlan(run, (outer, prod(index.sizes), size, inner, number))


@typed
def index_add_flat(out, self, index, src, at, at_index, at_src, outer, count, size, inner, alpha):
    """out = self; out[o, index[j]] += alpha * source[o, j]; False for a place outside."""
    for j in range(count):
        if index[at_index + j] < 0 or index[at_index + j] >= size:
            return False
    for i in range(out.size):
        out[i] = self[at + i]
    place = at_src
    if inner == 1:
        slots = index[at_index : at_index + count]
        for o in range(outer):
            row, source = out[o * size : (o + 1) * size], src[place + o * count :]
            for j in range(count):
                row[np.uint64(slots[j])] += T(alpha) * source[j]
        return True
    for o in range(outer):
        for j in range(count):
            start = (o * size + index[at_index + j]) * inner
            for i in range(inner):
                out[start + i] += T(alpha) * src[place + i]
            place += inner
    return True


def plan_scatter_number_combine(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, value: Any, reduce: str
) -> LaunchPlan | None:
    """Plan `scatter` that adds a number or multiplies by it."""
    number = number_for(out.dtype, value)
    if not is_small(out, self, index) or index.dtype != INT64 or number is None:
        return None
    how = SUM if reduce == "add" else PROD
    return plan_number_within(out, self, dim, index, number, how)


def plan_scatter_number(
    out: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, value: Any
) -> LaunchPlan | None:
    """Plan `scatter` of a number."""
    number = number_for(out.dtype, value)
    if not is_small(out, self, index) or index.dtype != INT64 or number is None:
        return None
    if not agree_but_for(self.sizes, index.sizes, dim):
        return plan_number_within(out, self, dim, index, number, COPY)
    outer, count, inner = folded_shape(index.sizes, dim)
    size = self.sizes[dim]
    kinds = (*(int,) * 6, number.__class__)
    entry = entry_for(scatter_number_flat, out.dtype, out.dtype, self.dtype, INT64, *kinds)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        if not entry(target, a, b, at_a, at_b, *numbers):
            slots = b[at_b : at_b + prod(index.sizes)].reshape(index.sizes)
            raise places.bad_scatter_index(slots, dim, size)

    return LaunchPlan(run, (outer, count, size, inner, number))


@typed
def scatter_number_flat(out, self, index, at, at_index, outer, count, size, inner, value):
    """out = self; out[o, index[o, j, i], i] = value; False for a place outside."""
    for i in range(out.size):
        out[i] = self[at + i]
    place = 0
    for o in range(outer):
        for _ in range(count):
            for i in range(inner):
                k = index[at_index + place]
                if k < 0 or k >= size:
                    return False
                out[(o * size + k) * inner + i] = T(value)
                place += 1
    return True


def plan_masked_fill(
    out: TensorSpec, self: TensorSpec, mask: TensorSpec, value: Any
) -> LaunchPlan | None:
    """Plan `masked_fill` with a number, for a mask of the same last dims."""
    fits = is_small(out, self) and mask.is_contiguous and mask.dtype == BOOL
    behind = out.sizes[len(out.sizes) - len(mask.sizes) :]
    if not fits or out.sizes != self.sizes or mask.sizes != behind or not mask.sizes:
        return None
    filler = number_for(out.dtype, value)
    if filler is None:
        return None
    entry = entry_for(
        masked_fill_flat, out.dtype, out.dtype, self.dtype, BOOL, int, int, int, filler.__class__
    )

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        entry(target, a, b, at_a, at_b, *numbers)

    return LaunchPlan(run, (prod(mask.sizes), filler))


@typed
def masked_fill_flat(out, self, mask, at, at_mask, width, value):
    """out[r, i] = value if mask[i] else self[r, i]."""
    filler = T(value)
    for start in range(0, out.size, width):
        row, source = out[start : start + width], self[at + start : at + start + width]
        flags = mask[at_mask : at_mask + width]
        for i in range(width):
            row[i] = filler if flags[i] else source[i]
