"""The plan of a small `index_put`: one or two index tensors over neighbouring dims.

Places, index tensors and values are walked together: index tensors that broadcast, and values that
do, are read with strides of 0 where they repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import merged_stride
from torchgen_out._runtime.kernels.cpu.indexing.places import first_outside
from torchgen_out._runtime.kernels.cpu.scatter.writing_plans import COPY, SUM, combined
from torchgen_out._runtime.kernels.cpu.small import INT64, SMALL, entry_for, is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, collapse, expanded_strides
from torchgen_out._runtime.kernels.typed import typed

Array = Any


def plan_index_put(
    out: TensorSpec,
    self: TensorSpec,
    indices: Sequence[TensorSpec | None],
    values: TensorSpec,
    accumulate: bool = False,
) -> LaunchPlan | None:
    """Plan `index_put`; masks, and arguments that do not fit, are left to the kernel."""
    given = [index for index in indices if index is not None]
    first = next((dim for dim, index in enumerate(indices) if index is not None), 0)
    if not 1 <= len(given) <= 2 or list(indices[first : first + len(given)]) != given:
        return None
    fits = is_small(out, self, *given) and 0 < prod(values.sizes) <= SMALL
    if not fits or first + len(given) > len(self.sizes) or {i.dtype for i in given} != {INT64}:
        return None
    steps = _steps(self.sizes, first, given, values)
    if steps is None:
        return None
    arrays = out.dtype, self.dtype, INT64, INT64, values.dtype
    entry = entry_for(index_put_flat, out.dtype, *arrays, *(int,) * 19)
    indexed = self.sizes[first : first + len(given)]
    outer, inner = prod(self.sizes[:first]), prod(self.sizes[first + len(given) :])
    numbers = outer, inner, *indexed, *[0] * (2 - len(given)), *steps, SUM if accumulate else COPY
    return LaunchPlan(_make_run(entry, given, first, indexed), numbers)


def _steps(
    sizes: Sequence[int], first: int, given: list[TensorSpec], values: TensorSpec
) -> tuple[int, ...] | None:
    """Rows and columns of places; the strides of both index tensors and of the values over them;
    the strides of the values before and behind. None if it takes more than that."""
    try:
        shape = shapes.broadcast_shapes(*[index.sizes for index in given])
        full = (*sizes[:first], *shape, *sizes[first + len(given) :])
        if shapes.broadcast_shapes(values.sizes, full) != full:
            return None
    except RuntimeError:
        return None
    spread = expanded_strides((values.sizes, values.strides), full)
    behind = first + len(shape)
    ends = [merged_stride(full[at], spread[at]) for at in (slice(first), slice(behind, None))]
    strides = [expanded_strides((index.sizes, index.strides), shape) for index in given]
    rows = [strides[0], strides[-1], spread[first:behind]]
    loop, walked = collapse(shape, rows, list(range(len(shape))))
    if len(loop) > 2 or None in ends:
        return None
    if len(loop) == 1:
        loop, walked = [1, *loop], [[0, *row] for row in walked]
    return (*loop, *(step for row in walked for step in row), *ends)  # type: ignore[arg-type]


def _make_run(
    entry: Callable[..., Any], given: list[TensorSpec], first: int, indexed: Sequence[int]
) -> Callable[..., None]:
    """Call the loop with one index tensor or two; say what is wrong with them."""

    def check(index: Array, at: int, k: int) -> None:
        size, slots = indexed[k], index[at : at + prod(given[k].sizes)]
        if ((slots < -size) | (slots >= size)).any():
            raise errors.index_out_of_bounds(first_outside(slots, -size, size), first + k, size)

    def run_one(
        out: Array, self: Array, a: Array, values: Array, at: int, i: int, k: int, numbers: Any
    ) -> None:
        if not entry(out, self, a, a, values, at, i, i, k, *numbers):
            check(a, i, 0)

    def run_two(
        out: Array, self: Array, a: Array, b: Array, values: Array, *offsets_and_numbers: Any
    ) -> None:
        at, i, j, k, numbers = offsets_and_numbers
        if not entry(out, self, a, b, values, at, i, j, k, *numbers):
            check(a, i, 0)
            check(b, j, 1)

    return run_one if len(given) == 1 else run_two


@typed
def index_put_flat(
    out, self, a, b, values, at, at_a, at_b, at_values,
    outer, inner, size_a, size_b, rows, columns,
    a_row, a_column, b_row, b_column, row, column, before, behind, how,
):  # fmt: skip
    """out = self; out[o, place[r, c], i] joins values[o, r, c, i], in order.

    place: a[r, c], or a[r, c] * size_b + b[r, c]. size_b is 0 for one index tensor, and b is
    not read then. Returns False for a place outside, before anything is written.
    """
    places = np.empty(rows * columns, np.int64)
    for r in range(rows):
        for c in range(columns):
            place = place_of(a, at_a + r * a_row + c * a_column, size_a)
            if size_b > 0:
                other = place_of(b, at_b + r * b_row + c * b_column, size_b)
                place = place * size_b + other if place >= 0 and other >= 0 else -1
            if place < 0:
                return False
            places[np.uint64(r * columns + c)] = place
    for i in range(out.size):
        out[i] = self[at + i]
    size = size_a * max(size_b, 1)
    for o in range(outer):
        for r in range(rows):
            source = at_values + o * before + r * row
            slots = places[r * columns : (r + 1) * columns]
            if inner == 1:
                for c in range(columns):
                    k = np.uint64(o * size + slots[c])
                    out[k] = combined(out[k], values[np.uint64(source + c * column)], how)
                continue
            for c in range(columns):
                start, begin = (o * size + slots[c]) * inner, source + c * column
                target = out[start : start + inner]
                for i in range(inner):
                    value = values[np.uint64(begin + i * behind)]
                    target[i] = combined(target[i], value, how)
    return True


@kernel
def place_of(index, at, size):
    """index[at], counted from the end if negative; -1 if it is outside."""
    k = index[np.uint64(at)]
    k = k + size if k < 0 else k
    return k if np.uint64(k) < np.uint64(size) else -1
