"""Copies and casts by compiled loops, which threads share.

Casts of few elements from or to integers are left to NumPy, that no loop is compiled for them, and
so are those from floats to short integers, of which C leaves open what becomes of numbers out of
range: LLVM decides otherwise than NumPy's compiler.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from torchgen_out._runtime.backends.cpu.conversions import Operand
from torchgen_out._runtime.backends.cpu.pointwise_kernels import LoopKernels, Run, plan_loop
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu.copy.casting import can_move, cast, mover
from torchgen_out._runtime.kernels.cpu.copy.copy import assign, cast_into

FLOATING = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
TRUNCATED = (dtypes.int32, dtypes.int64, dtypes.bool)
WHOLE = (*TRUNCATED, dtypes.int16, dtypes.int8, dtypes.uint8)
BY_SIZE = {1: dtypes.uint8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
"""What elements are moved as that keep their dtype."""


@cache
def cast_kernels(own: dtypes.dtype, wanted: dtypes.dtype) -> LoopKernels | None:
    """The loops from one dtype to another; None for those that NumPy always does."""
    if own is wanted:
        moved = BY_SIZE.get(own.itemsize)
        return None if moved is None else _kernels(moved, moved, moved)
    if own in FLOATING and wanted in (*FLOATING, *TRUNCATED):
        wide = dtypes.float64 in (own, wanted)
        return _kernels(own, wanted, dtypes.float64 if wide else dtypes.float32)
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


def plan_cast(out: Operand, source: Operand) -> tuple[Run, int | None] | None:
    """The launch of a copy, of the same sizes, as `plan_loop` has it; None: left to NumPy."""
    if out.sizes != source.sizes:
        return None
    are_dense = out.own_spec.is_contiguous and source.own_spec.is_contiguous
    if are_dense and (out.own is source.own or is_left_to_numpy(source, out)):
        is_exact = out.own is source.own or source.own.kind in "bi"
        return assign if is_exact else cast_into, out.own_spec.numel
    return find_copier(source.own, out.own, source[2:4], out[2:4])


def is_left_to_numpy(source: Operand, out: Operand) -> bool:
    """Whether NumPy casts the memory as it is: of few elements, from or to integers."""
    kinds = source.own.kind + out.own.kind
    are_wide = source.own.opmath is source.own and out.own.opmath is out.own
    is_small = 0 < out.own_spec.numel < threads.GRAIN
    return is_small and are_wide and "c" not in kinds and kinds != "ff"


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
    is_common = own is wanted or (own in FLOATING and wanted in FLOATING)
    if not plan.numel or (plan.numel < threads.GRAIN and not is_common):
        return None
    return plan_loop(kernels, plan)
