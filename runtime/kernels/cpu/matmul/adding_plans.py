"""Plans of matrix products, which may be added to something: `mm`, `addmm` and their kin."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.matmul import integers, matrix_plans, shared
from torchgen_out._runtime.kernels.cpu.matmul.matrix_plans import Geometry, batch_numbers
from torchgen_out._runtime.kernels.cpu.small import are_dense_alike
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, expanded_strides
from torchgen_out._runtime.kernels.typed import typed


def plan_product(
    result: TensorSpec, self: TensorSpec | None, a: TensorSpec, b: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * (a @ b); what it is of, the numbers of dims say."""
    is_vector, is_batch = len(b.sizes) == 1, len(b.sizes) == 3
    if self is None:
        plan = matrix_plans.plan_mv if is_vector else matrix_plans.plan_product
        return plan(result, a, b)
    if result.dtype.kind in "iu" and not (is_batch and len(result.sizes) < 3):
        return integers.plan_added(result, self, a, b, beta, alpha)
    if is_vector:
        return _plan_vector(result, self, a, b, beta, alpha)
    if alpha == 0:
        return None
    is_each = is_batch and len(result.sizes) == 3
    if is_each or not is_batch:
        plan_own = matrix_plans.plan_baddbmm if is_batch else matrix_plans.plan_addmm
        own = plan_own(result, self, a, b, beta, alpha)
        if own is not None:
            return own
    apart = prod(result.sizes[1:]) if is_each else 0
    return _plan(result, self, _numbers(a, b), beta, alpha, apart)


def _plan_vector(
    result: TensorSpec, self: TensorSpec, mat: TensorSpec, vec: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * (mat @ vec)."""
    numbers = matrix_plans.vector_numbers(mat, vec)
    factors = _factors(alpha, beta)
    if numbers is not None and factors is not None:
        step = expanded_strides((self.sizes, self.strides), result.sizes)
        own = np.concatenate([numbers, np.array(step, np.int64), factors])
        found = matrix_plans.plan_added_vector(result, own)
        if found is not None:
            return found
    if prod(mat.sizes) > matrix_plans.FEW:
        return None
    made, before, column = map(matrix_plans.as_column, (result, self, vec))
    return _plan(made, before, _numbers(mat, column), beta, alpha, 0)


def _factors(alpha: Any, beta: Any) -> Any:
    """Both, by their bits; None if they are not real, or nothing is multiplied."""
    are_real = all(each.__class__ in (int, float) for each in (alpha, beta))
    if not are_real or alpha == 0:
        return None
    return np.array([alpha, beta], np.float64).view(np.int64)


def _numbers(a: TensorSpec, b: TensorSpec) -> Any:
    if len(a.sizes) == 2:
        return batch_numbers(1, (a.sizes, a.strides), 0, (b.sizes, b.strides), 0)
    matrices: list[Geometry] = [(each.sizes[1:], each.strides[1:]) for each in (a, b)]
    return batch_numbers(a.sizes[0], matrices[0], a.strides[0], matrices[1], b.strides[0])


def _plan(
    result: TensorSpec, self: TensorSpec, product: Any, beta: Any, alpha: Any, apart: int
) -> LaunchPlan | None:
    """product: what the kernel reads of it, None if BLAS cannot do it; apart: from result to
    result."""
    factors = _factors(alpha, beta)
    if product is None or factors is None:
        return None
    sizes = (1,) * (3 - len(result.sizes)) + tuple(result.sizes)
    strides = expanded_strides((self.sizes, self.strides), sizes)
    numbers = np.concatenate([product, np.array([*strides, apart], np.int64), factors])
    text, has_one_result = shared.ADDING, apart == 0
    return shared.plan_products("adding", text, result.dtype, 3, numbers, has_one_result)


def plan_addr(
    result: TensorSpec, self: TensorSpec, vec1: TensorSpec, vec2: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * outer(vec1, vec2) where nothing is repeated."""
    are_real = all(each.__class__ in (int, float) for each in (alpha, beta))
    operands = result, self, vec1, vec2
    are_whole = result.dtype.kind in "iu" and all(
        each.dtype == result.dtype and each.is_contiguous and prod(each.sizes) for each in operands
    )
    are_suited = are_whole or are_dense_alike(result.dtype, *operands)
    if not (are_suited and are_real) or self.sizes != result.sizes:
        return None
    m, n = result.sizes
    views = out(0, m, n), operand(0, m, n), operand(1, m), operand(2, n)
    kind = int if are_whole else float
    numbers = kind(beta), kind(alpha)
    return plan_ranges(add_outer, m, m * n, [result], [self, vec1, vec2], *views, *numbers)


@typed
def add_outer(start, stop, out, self, a, b, beta, alpha):
    """out[i, j] = beta * self[i, j] + alpha * a[i] * b[j]; with beta 0, self is not read."""
    for i in range(start, stop):
        target, row, factor = out[i], self[i], a[i]
        if beta != 0:
            for j in range(b.size):
                target[j] = T(beta) * row[j] + T(alpha) * (factor * b[j])
        else:
            for j in range(b.size):
                target[j] = T(alpha) * (factor * b[j])
