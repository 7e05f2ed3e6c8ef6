"""Plans of triangular systems of complex matrices: a loop for a few rows, BLAS for others."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import plan_routines, stack_of
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

TRIANGLES = '''\
FEW = 8
UPPER_PART, LOWER_PART, NOT_UNIT, UNIT = 121, 122, 131, 132
LEFT, PLAIN = np.int32(141), np.int32(111)


@inner
def solve_few(triangle, upper, unit, x):
    """x = triangle^-1 x for one column."""
    n = x.size
    for step in range(n):
        j = n - 1 - step if upper else step
        column, value = triangle[j * n : (j + 1) * n], x[j]
        if not unit:
            value = value / column[j] if column[j] != 0 else value * np.inf
            x[j] = value
        first, last = (0, j) if upper else (j + 1, n)
        for i in range(first, last):
            x[i] -= column[i] * value


@entry
def kernel(x, triangles, b, at, at_b, plan):
    """T x = b by columns; x lies so where it is the transposed result, else it is written by rows.

    plan: count, rows, columns, upper, unit, whether x lies by columns, steps of both operands.
    """
    count, n, columns = plan[0], rows_in(plan), columns_in(plan)
    upper, unit, is_turned = plan[3], plan[4], plan[5]
    size, one = n * columns, np.ones(1, T)
    triangle, apart = np.empty(n * n, T), np.empty(0 if is_turned else size, T)
    for m in range(count):
        if m == 0 or plan[6] != 0:
            copy_matrix(triangle, 0, triangles, at + m * plan[6], n, n, plan[7], plan[8])
        own = x[m * size : (m + 1) * size] if is_turned else apart
        copy_matrix(own, 0, b, at_b + m * plan[9], n, columns, plan[10], plan[11])
        if n <= FEW:
            for k in range(columns):
                solve_few(triangle, upper != 0, unit != 0, own[k * n : (k + 1) * n])
        else:
            part, diagonal = UPPER_PART if upper else LOWER_PART, UNIT if unit else NOT_UNIT
            trsm(
                COLUMNS,
                LEFT,
                np.int32(part),
                PLAIN,
                np.int32(diagonal),
                n,
                columns,
                one.ctypes.data,
                triangle.ctypes.data,
                n,
                own.ctypes.data,
                n,
            )
        if not is_turned:
            copy_matrix(x, m * size, own, 0, columns, n, n, 1)
'''


def plan_solve_triangular(
    x: TensorSpec, self: TensorSpec, B: TensorSpec, upper: bool, left: bool, unitriangular: bool
) -> LaunchPlan | None:
    """Plan `linalg_solve_triangular`; X A = B is A^T X^T = B^T."""
    batch = x.sizes[:-2]
    triangles, sides = stack_of(self, batch), stack_of(B, batch)
    if triangles is None or sides is None or not x.is_contiguous:
        return None
    if not left:
        triangles, sides = triangles.turned, sides.turned
    flags = upper == left, unitriangular, not left
    sizes = sides.count, sides.rows, sides.columns
    numbers = *sizes, *flags, *triangles.steps, *sides.steps
    places = {"rows_in": 1, "columns_in": 2}
    return plan_routines(("trsm",), TRIANGLES, [x], [self, B], numbers, sizes=places)
