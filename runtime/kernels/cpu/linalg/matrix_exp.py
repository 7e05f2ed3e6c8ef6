"""Exponentials of matrices: Taylor's polynomial of a matrix scaled down, squared as often.

The polynomial of degree s^2 is one of degree s in x^s, with polynomials of degree s - 1 for
coefficients (M. Paterson, L. Stockmeyer, "On the number of nonscalar multiplications necessary to
evaluate polynomials", 1973): 2, 4 or 6 products, by the norm.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.linalg.lapack import scipy_linalg
from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import plan_routines, stack_of
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any

REAL = """\
@inner
def exponential(x):
    return math.exp(x)


@inner
def multiply(out, a, b, n):
    at, left, right = out.ctypes.data, a.ctypes.data, b.ctypes.data
    gemm(ROW_MAJOR, PLAIN, PLAIN, n, n, n, R(1), left, n, right, n, R(0), at, n)


"""

COMPLEX = '''\
@inner
def exponential(x):
    return T(complex(math.cos(x.imag), math.sin(x.imag)) * math.exp(x.real))


@inner
def multiply(out, a, b, n):
    """BLAS is told complex factors by their addresses."""
    factors = np.zeros(2, T)
    factors[0] = T(1)
    one, zero = factors.ctypes.data, factors.ctypes.data + factors.itemsize
    at, left, right = out.ctypes.data, a.ctypes.data, b.ctypes.data
    gemm(ROW_MAJOR, PLAIN, PLAIN, n, n, n, one, left, n, right, n, zero, at, n)


'''

BOUNDS = {4: (0.05, 0.8, 2.0), 8: (3e-4, 0.09, 0.75)}
"""The norms up to which a degree of 4, 9 and 16 will do for reals of so many bytes: with d the
degree, norm**d / (d + 1)! < 2**-24, or 2**-53."""

CONSTANTS = """\
ROW_MAJOR, PLAIN = np.int32(101), np.int32(111)
SMALL, MIDDLE, LARGEST = {bounds}


"""

EXPONENTIAL = '''\
@inner
def norm_of(x, n):
    """The greatest sum of magnitudes in a column; NaN if there is one."""
    norm = R(0)
    for j in range(n):
        total = R(0)
        for i in range(n):
            total += abs(x[i * n + j])
        if total > norm or total != total:
            norm = total
    return norm


@entry
def kernel(out, a, at, plan):
    count, n, size = plan[0], plan[1], plan[1] * plan[1]
    powers, total, other = np.empty(4 * size, T), np.empty(size, T), np.empty(size, T)
    inverses = np.empty(17, np.float64)  # of the factorials
    inverses[0] = 1.0
    for k in range(1, 17):
        inverses[k] = inverses[k - 1] / k
    x = powers[:size]
    for m in range(count):
        copy_matrix(x, 0, a, at + m * plan[2], n, n, plan[4], plan[3])
        if n == 1:
            out[m] = exponential(x[0])
            continue
        norm, scale, halvings = norm_of(x, n), R(1), 0
        while norm > LARGEST and norm < np.inf:
            norm *= R(0.5)
            scale *= R(0.5)
            halvings += 1
        order = 2 if norm <= SMALL else (3 if norm <= MIDDLE else 4)
        for i in range(size):
            x[i] *= scale
        for k in range(1, order):
            before = powers[(k - 1) * size : k * size]
            multiply(powers[k * size : (k + 1) * size], before, x, n)
        highest = powers[(order - 1) * size : order * size]
        for i in range(size):
            total[i] = highest[i] * R(inverses[order * order])
        for step in range(order):
            first = order * (order - 1 - step)
            if step == 0:
                other[:] = total
            else:
                multiply(other, total, highest, n)
            for k in range(1, order):
                power, factor = powers[(k - 1) * size : k * size], R(inverses[first + k])
                for i in range(size):
                    other[i] += power[i] * factor
            for i in range(n):
                other[i * n + i] += R(inverses[first])
            total, other = other, total
        for step in range(halvings):
            multiply(other, total, total, n)
            total, other = other, total
        out[m * size : (m + 1) * size] = total
'''


def plan_matrix_exp(out: TensorSpec, self: TensorSpec) -> LaunchPlan | None:
    """Plan `linalg_matrix_exp`."""
    stack = stack_of(self)
    if stack is None:
        return None
    real = self.dtype.type(0).real.dtype
    limits = ", ".join(f"np.{real.name}({each})" for each in BOUNDS[real.itemsize])
    functions = COMPLEX if self.dtype.kind == "c" else REAL
    text = CONSTANTS.format(bounds=limits) + functions + EXPONENTIAL
    numbers = stack.count, stack.rows, *stack.steps
    return plan_routines(("gemm",), text, [out], [self], numbers)


@or_arrays(plan_matrix_exp)
def linalg_matrix_exp(out: Array, self: Array) -> None:
    """Write the exponentials of matrices."""
    if out.size:
        out[...] = scipy_linalg().expm(self)
