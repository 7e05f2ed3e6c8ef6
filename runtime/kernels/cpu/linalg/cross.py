"""Products of vectors of three elements."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import on_copies, planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
WORK = 2
"""How much more an element costs than in element-wise work."""


@planned(any_strides=True)
def cross(result: TensorSpec, self: TensorSpec, other: TensorSpec, dim: int) -> LaunchPlan:
    """Write the vectors orthogonal to both, along a dim of size 3."""
    if not result.numel:
        return NOTHING
    shape, numel = sizes_around(result.sizes, dim), result.numel
    views = out(0, *shape), operand(0, *shape), operand(1, *shape)
    operands = [each.expanded(result.sizes) for each in (self, other)]
    plan = plan_ranges(cross_lanes, numel // 3, WORK * numel, [result], operands, *views)
    return on_copies(plan, 1, operands)


@kernel
def cross_lanes(start, stop, out, a, b):
    """Vectors start to stop of arrays folded as (outer, 3, inner)."""
    inner = out.shape[2]
    if inner == 1:
        for o in range(start, stop):
            x, y, z = a[o, 0, 0], a[o, 1, 0], a[o, 2, 0]
            u, v, w = b[o, 0, 0], b[o, 1, 0], b[o, 2, 0]
            out[o, 0, 0] = y * w - z * v
            out[o, 1, 0] = z * u - x * w
            out[o, 2, 0] = x * v - y * u
        return
    lane = start
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        for k in range(3):
            after, before = (k + 1) % 3, (k + 2) % 3
            cross_line(
                out[o, k, first:last],
                a[o, after, first:last],
                b[o, before, first:last],
                a[o, before, first:last],
                b[o, after, first:last],
            )
        lane += last - first


@kernel
def cross_line(out, a, b, c, d):
    """One element of each of neighbouring vectors."""
    for i in range(out.size):
        out[i] = a[i] * b[i] - c[i] * d[i]
