"""A few places that are counted in a tensor, found where they lie in its memory.

A flattened view that no one stride walks would have to be copied, and what is written to it copied
back. Where few of its elements are read or written, their places are turned into places of its
memory instead, which is one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.index import REFUSAL, Order, Refusal
from torchgen_out._runtime.kernels.cpu.planned import gatherer, view_of
from torchgen_out._runtime.kernels.cpu.small import INT64
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, collapse

Array = Any
MOST_FOUND = 4
"""How many elements are copied in the time in which one is found."""


def plan_at_places(made: Any, args: Sequence[Any], orders: dict[str, Order]) -> LaunchPlan | None:
    """The plan of an index kernel's call where `orders` name the places of all that lie apart.

    None if these are no few, or the tensors they are counted in do not lie alike.
    """
    names = (*made.program.results, *made.program.arguments)
    given = dict(zip(names, args, strict=True))
    counted = {name for name, order in orders.items() if order.places}
    layouts = {given[name][1:3] for name in counted}
    indices = {orders[name].places for name in counted}
    if len(layouts) != 1 or len(indices) != 1:
        return None
    ((sizes, strides),), (index,) = layouts, indices
    spec = given[index]
    if not 0 < MOST_FOUND * spec.numel <= given[next(iter(counted))].numel:
        return None
    memory = shapes.extent_of(sizes, strides)
    vectors = {name: TensorSpec(given[name].dtype, (memory,), (1,)) for name in counted}
    vectors[index] = TensorSpec(INT64, spec.sizes, shapes.contiguous_strides(spec.sizes))
    plan = made.planner(*{**given, **vectors}.values())
    find, error = _finder(spec, sizes, strides), _refusal(made.program, given)
    at = _tensors_before(args, names.index(index))
    start = _tensors_before(args, len(args)) + at - made.results

    def run(*args: Any) -> Any:
        changed = list(args)
        found = find(args[at], args[start])
        if found is None:
            raise error(view_of(args[at], args[start], spec))
        changed[at], changed[start] = found, 0
        return plan.run(*changed)

    return LaunchPlan(run, plan.params)


def _tensors_before(args: Sequence[Any], end: int) -> int:
    return sum(each.__class__ is TensorSpec for each in args[:end])


def _refusal(program: Any, given: dict[str, Any]) -> Callable[[Array], Exception]:
    """The error for places of which one is outside: that of a call on dense tensors."""
    dense = {
        name: each._replace(strides=shapes.contiguous_strides(each.sizes))
        if each.__class__ is TensorSpec
        else each
        for name, each in given.items()
    }
    refusal: Refusal = program.geometry(*dense.values())[REFUSAL]
    return refusal.error


def _finder(
    index: TensorSpec, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> Callable[[Array, int], Array | None]:
    """find(flat, at): where elements lie of these places; None if one is outside."""
    dims, (steps,) = collapse(sizes, [strides], range(len(sizes)))
    geometry = np.array([*dims, *steps], np.int64)
    gather, count = gatherer(index), index.numel
    entry = find_places.entry_point((INT64, INT64, INT64))

    def find(flat: Array, at: int) -> Array | None:
        counted = gather(flat, at)
        found = np.empty(count, np.int64)
        is_plain = counted.dtype == INT64
        fine = entry(found, counted if is_plain else counted.astype(INT64), geometry)
        return found if fine else None

    return find


@kernel
def find_places(out, counted, geometry):
    """Where elements lie, counted in row-major order, from the end if negative; False if one is
    outside. geometry: the sizes of dims, and behind them their strides.

    Places are divided as float64, which holds all that memory has, and vectors do that: the
    quotient is right, or one off.
    """
    dims, numel = geometry.size // 2, 1
    for dim in range(dims):
        numel *= geometry[dim]
    rest = np.empty(counted.size, np.int64)
    outside = False
    for i in range(counted.size):
        k = counted[i]
        k = k + numel if k < 0 else k
        outside |= np.uint64(k) >= np.uint64(numel)
        rest[i] = k
        out[i] = 0
    if outside:
        return False
    for dim in range(dims - 1, 0, -1):
        size, step = geometry[dim], geometry[dims + dim]
        inverse = 1.0 / np.float64(size)
        for i in range(counted.size):
            quotient = np.int64(np.float64(rest[i]) * inverse)
            left = rest[i] - quotient * size
            quotient += (1 if left >= size else 0) - (1 if left < 0 else 0)
            out[i] += (rest[i] - quotient * size) * step
            rest[i] = quotient
    for i in range(counted.size):
        out[i] += rest[i] * geometry[dims]
    return True
