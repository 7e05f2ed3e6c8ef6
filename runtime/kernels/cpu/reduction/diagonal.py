"""Sums of diagonals."""

from __future__ import annotations

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec


@planned(any_strides=True)
def trace(result: TensorSpec, self: TensorSpec) -> LaunchPlan:
    """Write the sum of the main diagonal of a matrix."""
    count, step = min(self.sizes), sum(self.strides)
    zero = 0 if result.dtype.kind == "i" else 0.0
    elements = operand(0, 1 + step * max(count - 1, 0))
    return plan_loop(sum_steps, [result], [self], out(0, 1), elements, count, step, zero)


@kernel
def sum_steps(out, x, count, step, zero):
    """Elements at one distance, added up in the type of zero, or complex numbers of that."""
    out[0] = 0
    total = zero + out[0]
    for i in range(count):
        total += x[i * step]
    out[0] = total
