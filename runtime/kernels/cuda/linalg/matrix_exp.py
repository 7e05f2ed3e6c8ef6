"""Exponentials of matrices: Taylor's polynomial of a matrix scaled down, squared as often.

All of a batch take the same products, which are the library's; a polynomial needs no solution of a
system, of which each matrix would have its own. Each matrix has its own number of squarings: more
than are needed would cost digits.
"""

from __future__ import annotations

from math import factorial

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, in_opmath

POWERS = 4
"""Powers of the matrix that are made; the polynomial of degree POWERS**2 is one of the last."""
LARGEST_NORM = {4: 2.0, 8: 0.75}
"""Up to here the term of degree 17 is below the precision of reals of so many bytes:
norm**16 / 17! < 2**-24, or 2**-53."""


@direct
def linalg_matrix_exp(queue: Queue, out: Array, self: Array) -> None:
    """Write the exponentials of matrices. Waits for their norms."""
    if out.numel:
        in_opmath(queue, _exponentials, [out], [self])


def _exponentials(queue: Queue, out: Array, x: Array) -> None:
    x = contiguous(queue, x)
    n = x.sizes[-1]
    count = x.numel // (n * n)
    squarings, scaled = _scaled(queue, x.reshaped(count, n, n))
    found = _polynomial(queue, scaled)
    for done in range(max(queue.read(squarings))):
        square = queue.empty(found.sizes, found.dtype)
        multiply(queue, square, found, found)
        numbers = (found.numel, n * n, done)
        run_elements(queue, take_squares, found.numel, found, square, squarings, *numbers)
    queue.copy(out, found.reshaped(*out.sizes))


def _scaled(queue: Queue, x: Array) -> tuple[Array, Array]:
    """How often each matrix is halved, and the matrices then."""
    count, n, _ = x.sizes
    real = x.dtype.to_real()
    sums, scales = queue.empty((count, n), real), queue.empty((count,), real)
    squarings, scaled = queue.empty((count,), dtypes.int32), queue.empty(x.sizes, x.dtype)
    run_elements(queue, sum_columns, count * n, x, sums, count * n, n)
    bound = LARGEST_NORM[real.itemsize]
    operands = (sums, scales, squarings)
    run_elements(queue, choose_scales, count, *operands, count, n, BOUND=bound)
    run_elements(queue, scale_down, x.numel, scaled, x, scales, x.numel, n * n)
    return squarings, scaled


def _polynomial(queue: Queue, x: Array) -> Array:
    """The sum of x^k / k! up to degree 16, by Horner's rule in x^4."""
    powers = [x]
    for _ in range(1, POWERS):
        powers.append(queue.empty(x.sizes, x.dtype))
        multiply(queue, powers[-1], powers[-2], x)
    *lower, last = powers
    total = queue.empty(x.sizes, x.dtype)
    degree = POWERS * POWERS
    queue.apply(times, total, [last], [1 / factorial(degree)])
    for first in range(degree - POWERS, -1, -POWERS):
        part, shape = queue.empty(x.sizes, x.dtype), (x.numel, x.sizes[-1])
        factors = [1 / factorial(first + k) for k in range(POWERS)]
        run_elements(queue, combine_powers, x.numel, part, *lower, *shape, *factors)
        if first + POWERS < degree:
            multiply(queue, part, total, last, 1, 1, part)
        else:
            queue.apply(plus, part, [part, total])
        total = part
    return total


def times(x, factor):
    """An element times a number."""
    return x * factor


def plus(x, y):
    """The sum of two elements."""
    return x + y


@device_kernel("X* Y*", "I I")
def sum_columns(x, sums, count, n):
    """A thread owns columns at the distance of the grid: the sum of magnitudes in each."""
    i = I(cuda.grid(1))
    while i < count:
        matrix = divided(i, n)
        at = I(matrix * n * n + (i - matrix * n))
        total = Y(0)
        for _ in range(n):
            total = Y(total + Y(abs(x[at])))
            at = I(at + n)
        sums[i] = total
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* int32*", "I I")
def choose_scales(sums, scales, squarings, count, n):
    """A thread owns matrices at the distance of the grid: halvings until the greatest sum of a
    column, a norm, is small. None of what is not finite."""
    i = I(cuda.grid(1))
    while i < count:
        norm = T(0)
        for j in range(n):
            own = sums[I(i * n + j)]
            norm = own if (own > norm) | (own != own) else norm
        halvings = np.int32(0)
        scale = T(1)
        while norm > T(BOUND) and norm < T(np.inf):
            norm = T(norm * T(0.5))
            scale = T(scale * T(0.5))
            halvings = np.int32(halvings + 1)
        scales[i] = scale
        squarings[i] = halvings
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* Y*", "I I")
def scale_down(out, x, scales, numel, size):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < numel:
        out[i] = T(x[i] * scales[divided(i, size)])
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* X*", "I I R R R R")
def combine_powers(out, x, square, cube, numel, n, c0, c1, c2, c3):
    """A thread owns elements at the distance of the grid: c0 + c1 x + c2 x^2 + c3 x^3."""
    i = I(cuda.grid(1))
    while i < numel:
        row = divided(i, n)
        total = T(T(x[i] * c1) + T(T(square[i] * c2) + T(cube[i] * c3)))
        if i - row * n == row - divided(row, n) * n:
            total = T(total + c0)
        out[i] = total
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* int32*", "I I I")
def take_squares(x, square, squarings, numel, size, done):
    """A thread owns elements at the distance of the grid, and takes those of matrices that are to
    be squared more often than was done."""
    i = I(cuda.grid(1))
    while i < numel:
        if squarings[divided(i, size)] > done:
            x[i] = square[i]
        i = I(i + cuda.gridsize(1))
