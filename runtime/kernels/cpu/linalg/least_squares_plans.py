"""Plans of least squares of small matrices, by any of LAPACK's drivers."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg.lapack import workspace
from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import (
    lies_by_columns,
    plan_routines,
    stack_of,
)
from torchgen_out._runtime.kernels.cpu.loop_plans import refusing
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

FULL_RANK = '''\
@inner
def solve(own, rows, columns, right, length, sides, exchanges, s, rcond, found, room):
    """By QR, for matrices of full rank."""
    at, to, plain, work = own.ctypes.data, right.ctypes.data, np.int32(ord("N")), room[0]
    return gels(
        COLUMNS, plain, rows, columns, sides, at, rows, to, length, work.ctypes.data, work.size
    )


'''

ANY_RANK = """\
@inner
def solve(own, rows, columns, right, length, sides, exchanges, s, rcond, found, room):
    work, reals, integers = room
    return {driver}(
        COLUMNS,
        rows,
        columns,
        sides,
        own.ctypes.data,
        rows,
        right.ctypes.data,
        length,
        {second}.ctypes.data,
        rcond,
        found.ctypes.data,
        work.ctypes.data,
        work.size,{rest}
    )


"""

LEAST_SQUARES = '''\
@entry
def kernel(solution, rank, values, a, b, at, at_b, plan):
    """Solutions by columns, and ranks and singular values where they are asked for.

    The number of a matrix that fails becomes the first number of the solutions.
    """
    count, rows, columns, sides = plan[0], plan[1], plan[2], plan[3]
    smaller, length, rcond = min(rows, columns), max(rows, columns), R(plan.view(np.float64)[13])
    own, right, s = np.empty(rows * columns, T), np.empty(length * sides, T), np.empty(smaller, R)
    exchanges, found = np.empty(columns, np.int64), np.empty(1, np.int64)
    work, reals, integers = np.empty(plan[4], T), np.empty(plan[5], R), np.empty(plan[6], np.int64)
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[7], rows, columns, plan[8], plan[9])
        for k in range(sides):
            start = at_b + m * plan[10] + k * plan[12]
            for i in range(rows):
                right[k * length + i] = b[start + i * plan[11]]
            for i in range(rows, length):
                right[k * length + i] = T(0)
        exchanges[:] = 0
        room = work, reals, integers
        if solve(own, rows, columns, right, length, sides, exchanges, s, rcond, found, room) > 0:
            solution[0] = T(m)
            return False
        for k in range(sides):
            for i in range(columns):
                solution[(m * sides + k) * columns + i] = right[k * length + i]
        if rank.size > 0:
            rank[m] = found[0]
        if values.size > 0:
            values[m * smaller : (m + 1) * smaller] = s
    return True
'''

REALS, INTEGERS = "\n        reals.ctypes.data,", "\n        integers.ctypes.data,"


def _text(driver: str, is_complex: bool) -> str:
    if driver == "gels":
        return FULL_RANK + LEAST_SQUARES
    rest = (REALS if is_complex else "") + (INTEGERS if driver == "gelsd" else "")
    second = "exchanges" if driver == "gelsy" else "s"
    return ANY_RANK.format(driver=driver, second=second, rest=rest) + LEAST_SQUARES


def _sizes(
    driver: str, dtype: Any, rows: int, columns: int, sides: int, rcond: float
) -> tuple[int, int, int]:
    """How many elements, real numbers and whole numbers a driver takes to work with."""
    further = () if driver == "gels" else (rcond,)
    lwork, *others = workspace(driver, dtype, rows, columns, sides, *further)
    if driver == "gelsd":
        reals, integers = others if len(others) > 1 else (0, *others)
        return lwork, reals, integers
    return lwork, 5 * max(rows, columns) if dtype.kind == "c" else 0, 0


def plan_least_squares(
    solution: TensorSpec,
    rank: TensorSpec,
    singular_values: TensorSpec,
    self: TensorSpec,
    b: TensorSpec,
    rcond: float,
    driver: str,
) -> LaunchPlan | None:
    """Plan `_linalg_lstsq`."""
    batch = solution.sizes[:-2]
    stack, sides = stack_of(self, batch), stack_of(b, batch)
    if stack is None or sides is None or not lies_by_columns(solution):
        return None
    dtype, sizes = self.dtype, (stack.rows, stack.columns, sides.columns)
    room = _sizes(driver, dtype, *sizes, rcond)
    bits = int(np.float64(rcond).view(np.int64))
    numbers = stack.count, *sizes, *room, *stack.steps, *sides.steps, bits
    text, outs = _text(driver, dtype.kind == "c"), [solution, rank, singular_values]
    plan = plan_routines((driver,), text, outs, [self, b], numbers)

    def not_solved(solution: Any, *_: Any) -> Exception:
        failed = int(solution[0].real) if batch else None
        return errors.not_converged("torch.linalg.lstsq", failed, "singular values")

    return plan and refusing(plan, not_solved)
