"""Plans of small kernels that write whole slices, or to places of the flattened tensor."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.folding import folded_shape
from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.scatter.combining import COPY, REDUCE, SUM, combined
from torchgen_out._runtime.kernels.cpu.small import INT64, agree_but_for, is_small, number_for
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


def plan_index_copy(
    result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, source: TensorSpec
) -> LaunchPlan | None:
    """Plan `index_copy` of as many slices as are named."""
    return _plan_slices(result, self, dim, index, source, COPY)


def plan_index_reduce(
    result: TensorSpec,
    self: TensorSpec,
    dim: int,
    index: TensorSpec,
    source: TensorSpec,
    reduce: str,
    include_self: bool = True,
) -> LaunchPlan | None:
    """Plan `index_reduce` where the old values take part; a mean has to count."""
    if reduce not in REDUCE or not include_self:
        return None
    return _plan_slices(result, self, dim, index, source, REDUCE[reduce])


def _plan_slices(
    result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, source: TensorSpec, how: int
) -> LaunchPlan | None:
    fits = is_small(result, self, index, source) and agree_but_for(self.sizes, source.sizes, dim)
    if not fits or index.dtype != INT64 or source.dtype != self.dtype:
        return None
    outer, size, inner = folded_shape(self.sizes, dim)
    count = prod(index.sizes)
    if source.sizes[dim] != count:
        return None
    shape = outer, size, inner
    views = out(0, *shape), operand(0, *shape), operand(1, count), operand(2, outer, count, inner)

    def refuse(target: Array, a: Array, b: Array, c: Array, i: int, j: int, *rest: Any) -> Any:
        if how != COPY:
            return errors.index_out_of_range_in_self()
        bad = places.first_outside(b[j : j + count], 0, size)
        return errors.slice_out_of_bounds(bad, dim % len(self.sizes), size)

    plan = plan_loop(write_slices, [result], [self, index, source], *views, how)
    return refusing(plan, refuse)


@typed
def write_slices(out, self, index, source, how):
    """out = self; out[o, index[j], i] combined with source[o, j, i]; False for one outside."""
    for j in range(index.size):
        if index[j] < 0 or index[j] >= out.shape[1]:
            return False
    copy_over(out.reshape(out.size), self.reshape(out.size))
    for o in range(out.shape[0]):
        for j in range(index.size):
            target, row = out[o, index[j]], source[o, j]
            for i in range(row.size):
                target[i] = combined(target[i], row[i], how)
    return True


@typed
def copy_over(out, self):
    """out = self, which may be the same."""
    for i in range(out.size):
        out[i] = self[i]


def plan_index_fill(
    result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, value: Any
) -> LaunchPlan | None:
    """Plan `index_fill` with a number."""
    if not is_small(result, self, index) or index.dtype != INT64 or not self.sizes:
        return None
    filler = number_for(result.dtype, value)
    if filler is None:
        return None
    shape, count = folded_shape(self.sizes, dim), prod(index.sizes)
    views = out(0, *shape), operand(0, *shape), operand(1, count)

    def refuse(target: Array, a: Array, b: Array, i: int, j: int, *rest: Any) -> Exception:
        bad = places.first_outside(b[j : j + count], -shape[1], shape[1])
        return errors.index_out_of_bounds(bad, dim % len(self.sizes), shape[1])

    return refusing(plan_loop(fill_slices, [result], [self, index], *views, filler), refuse)


@typed
def fill_slices(out, self, index, value):
    """out = self; out[o, index[j]] = value, counted from the end if negative."""
    size = out.shape[1]
    for j in range(index.size):
        if index[j] < -size or index[j] >= size:
            return False
    copy_over(out.reshape(out.size), self.reshape(out.size))
    for o in range(out.shape[0]):
        for j in range(index.size):
            k = index[j]
            row = out[o, k + size if k < 0 else k]
            for i in range(row.size):
                row[i] = T(value)
    return True


def plan_put(
    result: TensorSpec,
    self: TensorSpec,
    index: TensorSpec,
    source: TensorSpec,
    accumulate: bool = False,
) -> LaunchPlan | None:
    """Plan `put`."""
    fits = is_small(result, self, index, source) and source.dtype == self.dtype
    count, places_given = prod(self.sizes), prod(index.sizes)
    if not fits or index.dtype != INT64 or prod(source.sizes) != places_given:
        return None
    views = out(0, count), operand(0, count), operand(1, places_given), operand(2, places_given)

    def refuse(target: Array, a: Array, b: Array, c: Array, i: int, j: int, *rest: Any) -> Any:
        bad = places.first_outside(b[j : j + places_given], -count, count)
        return errors.flat_index_out_of_range(bad, count)

    how = SUM if accumulate else COPY
    plan = plan_loop(put_flat, [result], [self, index, source], *views, how)
    return refusing(plan, refuse)


@typed
def put_flat(out, self, index, source, how):
    """out = self; out[index[j]] combined with source[j]; False for a place outside."""
    for j in range(index.size):
        if index[j] < -out.size or index[j] >= out.size:
            return False
    copy_over(out, self)
    for j in range(index.size):
        k = index[j]
        k = k + out.size if k < 0 else k
        out[k] = combined(out[k], source[j], how)
    return True


def plan_masked_scatter(
    result: TensorSpec, self: TensorSpec, mask: TensorSpec, source: TensorSpec
) -> LaunchPlan | None:
    """Plan `masked_scatter` under a mask of self's shape."""
    if not is_small(result, self, source) or not mask.is_contiguous:
        return None
    if mask.dtype != np.bool_ or not self.sizes == mask.sizes == result.sizes:
        return None
    if source.dtype != self.dtype:
        return None
    count = prod(self.sizes)
    views = out(0, count), operand(0, count), operand(1, count), operand(2, prod(source.sizes))
    plan = plan_loop(scatter_under, [result], [self, mask, source], *views)
    return refusing(plan, lambda *args: too_few_elements())


def too_few_elements() -> RuntimeError:
    """The error of a mask with more ones than the source has elements."""
    return RuntimeError("Number of elements of source < number of ones in mask")


@typed
def scatter_under(out, self, mask, source):
    """out = the next of source where mask is true, self elsewhere; False if there are too few."""
    needed = 0
    for i in range(mask.size):
        needed += 1 if mask[i] else 0
    if needed > source.size:
        return False
    place = 0
    for i in range(mask.size):
        if mask[i]:
            out[i] = source[place]
            place += 1
        else:
            out[i] = self[i]
    return True
