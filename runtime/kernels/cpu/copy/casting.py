"""Copies and casts by compiled loops, which threads share: around the formula of an element, or
over elements at any places."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu.loops.pointwise_launches import LoopKernels, Run, plan_loop
from torchgen_out._runtime.kernels.cpu.small import INT64, WORDS

MOST_PLACES = 256
"""For how many elements it is remembered where each comes from and goes to."""
FLOATING = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
TRUNCATED = (dtypes.int32, dtypes.int64, dtypes.bool)
SHORT = (dtypes.int16, dtypes.int8, dtypes.uint8)
WHOLE = (*TRUNCATED, *SHORT)
COMPLEX = (dtypes.complex64, dtypes.complex128)
BY_SIZE = {1: dtypes.uint8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
"""What elements are moved as that keep their dtype."""


def cast(x):
    """The element itself: loading and storing convert it."""
    return x


@kernel
def move_places(out, at_out, source, at, to, places):
    """out[to[i]] = source[places[i]]."""
    for i in range(to.size):
        out[at_out + to[i]] = source[at + places[i]]


def can_move(count: int, itemsize: int) -> bool:
    """Whether so many elements of a width are moved by `mover`."""
    return 0 < count <= MOST_PLACES and itemsize in WORDS


def mover(itemsize: int) -> Callable[..., Any]:
    """`move_places` for all dtypes of a width: nothing is computed."""
    own = WORDS[itemsize]
    return move_places.entry_point((own, int, own, int, INT64, INT64))


@cache
def cast_kernels(own: dtypes.dtype, wanted: dtypes.dtype) -> LoopKernels | None:
    """The loops from one dtype to another; None for those that NumPy always does."""
    if own is wanted:
        moved = BY_SIZE.get(own.itemsize)
        return None if moved is None else _kernels(moved, moved, moved)
    if own in FLOATING and wanted in (*FLOATING, *TRUNCATED):
        wide = dtypes.float64 in (own, wanted)
        return _kernels(own, wanted, dtypes.float64 if wide else dtypes.float32)
    if own in FLOATING and wanted in SHORT:
        return _kernels(own, wanted, dtypes.int32)
    if own in (*WHOLE, *FLOATING, *COMPLEX) and wanted in COMPLEX:
        return _kernels(own, wanted, wanted)
    if own in WHOLE and wanted in (*FLOATING, *WHOLE):
        through = wanted.opmath if wanted in FLOATING else dtypes.int64
        return _kernels(own, wanted, through)
    return None


def _kernels(own: dtypes.dtype, wanted: dtypes.dtype, compute: dtypes.dtype) -> LoopKernels:
    return LoopKernels(PointwiseSpec(cast, ("tensor",), (own,), (wanted,), compute))


def make_mover(itemsize: int, source: plans.Geometry, out: plans.Geometry) -> Run:
    """The copy of few elements, each from its place: half the time of a loop over dims."""
    places, to = plans.element_places(source), plans.element_places(out)
    move = mover(itemsize)

    def run(at_out: int, at: int, out: Any, source: Any) -> None:
        move(out, at_out, source, at, to, places)

    return run


def find_copier(
    own: dtypes.dtype, wanted: dtypes.dtype, source: plans.Geometry, out: plans.Geometry
) -> tuple[Run, int | None] | None:
    """The copy of tensors of a geometry into another; None if it is left to NumPy."""
    kernels = cast_kernels(own, wanted)
    if kernels is None:
        return None
    if own is wanted and can_move(prod(out[0]), own.itemsize):
        return make_mover(own.itemsize, source, out), None
    plan = plans.plan_pointwise((source,), out, in_runs=True)
    return plan_loop(kernels, plan) if plan.numel else None


def find_mover(
    itemsize: int, source: plans.Geometry, out: plans.Geometry
) -> tuple[Run, int | None] | None:
    """The copy of elements of a width, whatever they are."""
    moved = BY_SIZE.get(itemsize)
    return None if moved is None else find_copier(moved, moved, source, out)
