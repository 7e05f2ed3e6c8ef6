"""Plans of scatters whose index covers a part of the tensor: element by element, by coordinates."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.loop_plans import View, operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.scatter.combining import combined
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any
MOST = 1 << 10  # elements of an index whose coordinates are divided out


def plan_within(
    result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec, how: int
) -> LaunchPlan | None:
    """Plan a scatter of dense arrays."""
    if not _is_walkable(index, self, src):
        return None
    views = (*_views(result, self, index), operand(2, prod(src.sizes)))
    numbers = how, dim % len(index.sizes), list(index.sizes)
    strides = list(self.strides), list(src.strides)
    plan = plan_loop(
        scatter_within, [result], [self, index, src], *views, *numbers, *strides, self.sizes[dim]
    )
    return _refusing(plan, self, dim, index)


def plan_number_within(
    result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, value: float, how: int
) -> LaunchPlan | None:
    """Plan a scatter of one number."""
    if not _is_walkable(index, self):
        return None
    numbers = how, dim % len(index.sizes), list(index.sizes), list(self.strides), self.sizes[dim]
    views = _views(result, self, index)
    plan = plan_loop(number_within, [result], [self, index], *views, value, *numbers)
    return _refusing(plan, self, dim, index)


def _is_walkable(index: TensorSpec, *others: TensorSpec) -> bool:
    """Whether the index is small, and its coordinates are those of the other operands."""
    ndim = len(index.sizes)
    return ndim > 0 and prod(index.sizes) <= MOST and all(len(o.sizes) == ndim for o in others)


def _views(result: TensorSpec, self: TensorSpec, index: TensorSpec) -> tuple[View, ...]:
    count = prod(self.sizes)
    return out(0, count), operand(0, count), operand(1, prod(index.sizes))


def _refusing(plan: LaunchPlan, self: TensorSpec, dim: int, index: TensorSpec) -> LaunchPlan:
    def refuse(*args: Any) -> Exception:
        flat, start = args[2], args[len(args) // 2 + 1]
        slots = flat[start : start + prod(index.sizes)].reshape(index.sizes)
        return places.bad_scatter_index(slots, dim, self.sizes[dim])

    return refusing(plan, refuse)


@typed
def scatter_within(out, self, index, src, how, dim, sizes, strides, src_strides, size):
    """out = self; the element at the index's coordinates, with its number for that of `dim`, joins
    that of src there. False for a place outside."""
    for j in range(index.size):
        if index[j] < 0 or index[j] >= size:
            return False
    for i in range(out.size):
        out[i] = self[i]
    for j in range(index.size):
        rest, target, source = j, 0, 0
        for d in range(sizes.size - 1, -1, -1):
            place = rest % sizes[d]
            rest //= sizes[d]
            source += place * src_strides[d]
            target += (index[j] if d == dim else place) * strides[d]
        out[target] = combined(out[target], src[source], how)
    return True


@typed
def number_within(out, self, index, value, how, dim, sizes, strides, size):
    """The same for one number."""
    src = np.empty(1, out.dtype)
    src[0] = T(value)
    zeros = np.zeros(sizes.size, np.int64)
    return scatter_within(out, self, index, src, how, dim, sizes, strides, zeros, size)
