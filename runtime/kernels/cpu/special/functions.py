"""Numbers by their mantissa and exponent."""

from __future__ import annotations

import math

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec


@planned(results=2)
def frexp(mantissa: TensorSpec, exponent: TensorSpec, self: TensorSpec) -> LaunchPlan:
    """Write numbers of magnitude in [0.5, 1) and the powers of 2 that self is of them."""
    count = self.numel
    views = out(0, count), out(1, count), operand(0, count)
    return plan_ranges(split_numbers, count, 4 * count, [mantissa, exponent], [self], *views)


@kernel
def split_numbers(start, stop, mantissa, exponent, x):
    """Zero, infinity and NaN are their own mantissa, with exponent 0."""
    for i in range(start, stop):
        value, power = math.frexp(np.float64(x[i]))
        is_finite = abs(value) < np.inf
        mantissa[i] = value if is_finite else x[i]
        exponent[i] = power if is_finite else 0
