"""Plans of matrix products that are added to something: `addmm` and its kin."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.loop_plans import are_small_alike, operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.matmul import matrix_plans, shared
from torchgen_out._runtime.kernels.cpu.matmul.matrix_plans import Geometry, batch_numbers
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, expanded_strides
from torchgen_out._runtime.kernels.typed import typed


def plan_addmm(
    result: TensorSpec, self: TensorSpec, mat1: TensorSpec, mat2: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * (mat1 @ mat2)."""
    if alpha == 0:
        return None
    own = matrix_plans.plan_addmm(result, self, mat1, mat2, beta, alpha)
    if own is not None:
        return own
    a, b = (mat1.sizes, mat1.strides), (mat2.sizes, mat2.strides)
    return _plan(result, self, batch_numbers(1, a, 0, b, 0), beta, alpha, 0)


def plan_addmv(
    result: TensorSpec, self: TensorSpec, mat: TensorSpec, vec: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * (mat @ vec), the vectors being matrices of one column."""
    column = (*vec.sizes, 1), (*vec.strides, 1)
    numbers = batch_numbers(1, (mat.sizes, mat.strides), 0, column, 0)
    sizes, strides = (*self.sizes[-1:], 1), (*self.strides[-1:], 0)
    wide = TensorSpec(self.dtype, sizes, strides) if self.sizes else self
    return _plan(
        TensorSpec(result.dtype, (*result.sizes, 1), (1, 1)), wide, numbers, beta, alpha, 0
    )


def plan_baddbmm(
    result: TensorSpec,
    self: TensorSpec,
    batch1: TensorSpec,
    batch2: TensorSpec,
    beta: Any,
    alpha: Any,
) -> LaunchPlan | None:
    """Plan beta * self + alpha * (batch1[b] @ batch2[b]) for each b."""
    if alpha == 0:
        return None
    own = matrix_plans.plan_baddbmm(result, self, batch1, batch2, beta, alpha)
    if own is not None:
        return own
    numbers = _batch_numbers(batch1, batch2)
    return _plan(result, self, numbers, beta, alpha, prod(result.sizes[1:]))


def plan_addbmm(
    result: TensorSpec,
    self: TensorSpec,
    batch1: TensorSpec,
    batch2: TensorSpec,
    beta: Any,
    alpha: Any,
) -> LaunchPlan | None:
    """Plan beta * self + alpha * the sum over b of batch1[b] @ batch2[b]."""
    return _plan(result, self, _batch_numbers(batch1, batch2), beta, alpha, 0)


def _batch_numbers(a: TensorSpec, b: TensorSpec) -> Any:
    matrices: list[Geometry] = [(each.sizes[1:], each.strides[1:]) for each in (a, b)]
    return batch_numbers(a.sizes[0], matrices[0], a.strides[0], matrices[1], b.strides[0])


def _plan(
    result: TensorSpec, self: TensorSpec, product: Any, beta: Any, alpha: Any, apart: int
) -> LaunchPlan | None:
    """product: what the kernel reads of it, None if BLAS cannot do it; apart: from result to
    result."""
    are_real = all(each.__class__ in (int, float) for each in (alpha, beta))
    if product is None or not are_real or alpha == 0:
        return None
    sizes = (1,) * (3 - len(result.sizes)) + tuple(result.sizes)
    strides = expanded_strides((self.sizes, self.strides), sizes)
    factors = np.array([alpha, beta], np.float64).view(np.int64)
    numbers = np.concatenate([product, np.array([*strides, apart], np.int64), factors])
    text, has_one_result = shared.ADDING, apart == 0
    return shared.plan_products("adding", text, result.dtype, 3, numbers, has_one_result)


def plan_addr(
    result: TensorSpec, self: TensorSpec, vec1: TensorSpec, vec2: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * outer(vec1, vec2) where nothing is repeated."""
    are_real = all(each.__class__ in (int, float) for each in (alpha, beta))
    if not (are_small_alike(result, self, vec1, vec2) and are_real) or self.sizes != result.sizes:
        return None
    m, n = result.sizes
    views = out(0, m, n), operand(0, m, n), operand(1, m), operand(2, n)
    numbers = float(beta), float(alpha)
    return plan_loop(add_outer, [result], [self, vec1, vec2], *views, *numbers)


@typed
def add_outer(out, self, a, b, beta, alpha):
    """out[i, j] = beta * self[i, j] + alpha * a[i] * b[j]; with beta 0, self is not read."""
    for i in range(out.shape[0]):
        target, row, factor = out[i], self[i], a[i]
        if beta != 0:
            for j in range(b.size):
                target[j] = T(beta) * row[j] + T(alpha) * (factor * b[j])
        else:
            for j in range(b.size):
                target[j] = T(alpha) * (factor * b[j])
