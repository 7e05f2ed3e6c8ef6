"""Elements spread over a diagonal: what fills the rest is written in one piece."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.copy.casting import find_mover
from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.folding import copy_parts
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import planned, viewer
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


@planned(any_strides=True)
def diag_embed(
    result: TensorSpec, self: TensorSpec, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> LaunchPlan:
    """Write zeros, and then the elements where the result's diagonals lie."""
    if not result.numel:
        return NOTHING
    steps, ndim = list(result.strides), len(result.sizes)
    down, right = steps[dim1], steps[dim2]
    for dim in sorted((dim1 % ndim, dim2 % ndim), reverse=True):
        del steps[dim]
    diagonals = TensorSpec(self.dtype, self.sizes, (*steps, down + right))
    start = offset * right if offset > 0 else -offset * down
    copier = find_mover(self.dtype.itemsize, self[1:], diagonals[1:])
    if copier is None:
        view, seen = viewer(diagonals), viewer(self)
        move = lambda out, a, at: copy_parts((view(out, start), seen(a, at)))  # noqa: E731
    elif copier[1] is None:
        move = lambda out, a, at: copier[0](start, at, out, a)  # noqa: E731
    else:
        move = lambda out, a, at: copier[0](out[start:], a[at:])  # noqa: E731

    def run(out: Array, a: Array, at: int, params: None) -> None:
        fill(out, 0)
        move(out, a, at)

    return LaunchPlan(run, None)
