"""Plans of Fourier transforms of a few points: sums over a table of the roots of unity, in float64.

SciPy's transforms take 4 us to begin, as long as some thousand products.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import Kernel, kernel
from torchgen_out._runtime.kernels.cpu.small import INT64
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

MOST_PRODUCTS = 4096
"""Numbers times points: where SciPy is as fast."""


@kernel
def turn_line(data, start, step, points, line, roots, scale):
    """One line of complex numbers in place; roots: pairs of float64, one for each point."""
    for j in range(points):
        line[j] = data[start + j * step]
    for k in range(points):
        total = 0j
        place = 0
        for j in range(points):
            total += line[j] * complex(roots[2 * place], roots[2 * place + 1])
            place += k
            if place >= points:
                place -= points
        data[start + k * step] = total * scale


@kernel
def turn_dims(data, plan, first, count, scale):
    """Transform complex numbers over `count` dims, in place.

    plan[first:]: for each dim how many slices there are, its points, the distance between two, and
    where its roots stand.
    """
    numbers, line = plan.view(np.float64), np.empty(data.size, np.complex128)
    for d in range(count):
        slices, points = plan[first + 4 * d], plan[first + 4 * d + 1]
        step, at_roots = plan[first + 4 * d + 2], plan[first + 4 * d + 3]
        roots = numbers[at_roots : at_roots + 2 * points]
        for s in range(slices):
            for i in range(step):
                factor = scale if d == count - 1 else 1.0
                turn_line(data, s * points * step + i, step, points, line, roots, factor)


@kernel
def complex_to_complex(out, x, at, plan):
    """plan: the number of dims, the scale, and the dims."""
    for i in range(out.size):
        out[i] = x[at + i]
    turn_dims(out, plan, 2, plan[0], plan.view(np.float64)[1])


@kernel
def real_to_complex(out, x, at, plan):
    """plan: the number of dims, the scale, the results in the last one, which comes first."""
    numbers, kept = plan.view(np.float64), plan[2]
    slices, points, step, at_roots = plan[3], plan[4], plan[5], plan[6]
    count, scale = plan[0] - 1, numbers[1]
    factor = 1.0 if count else scale
    half = points // 2 + 1
    for s in range(slices):
        for i in range(step):
            start, to = at + s * points * step + i, s * kept * step + i
            for k in range(half):
                real, imaginary, place = 0.0, 0.0, 0
                for j in range(points):
                    value = np.float64(x[start + j * step])
                    real += value * numbers[at_roots + 2 * place]
                    imaginary += value * numbers[at_roots + 2 * place + 1]
                    place += k
                    if place >= points:
                        place -= points
                out[to + k * step] = complex(real * factor, imaginary * factor)
            for k in range(half, kept):
                out[to + k * step] = out[to + (points - k) * step].conjugate()
    turn_dims(out, plan, 7, count, scale)


@kernel
def complex_to_real(out, x, at, plan):
    """plan: the number of dims, the scale, the points given in the last one, which comes first."""
    numbers, half = plan.view(np.float64), plan[2]
    slices, points, step, at_roots = plan[3], plan[4], plan[5], plan[6]
    scale, size = numbers[1], slices * half * step
    turned = np.empty(size, np.complex128)
    for i in range(size):
        turned[i] = x[at + i]
    turn_dims(turned, plan, 7, plan[0] - 1, 1.0)
    for s in range(slices):
        for i in range(step):
            start, to = s * half * step + i, s * points * step + i
            for j in range(points):
                total, place = turned[start].real, 0
                for k in range(1, half):
                    place += j
                    if place >= points:
                        place -= points
                    value = turned[start + k * step]
                    part = value.real * numbers[at_roots + 2 * place]
                    part -= value.imag * numbers[at_roots + 2 * place + 1]
                    total += part if 2 * k == points else 2.0 * part
                out[to + j * step] = total * scale


def plan_r2c(
    out: TensorSpec, self: TensorSpec, dim: Sequence[int], normalization: int, onesided: bool
) -> LaunchPlan | None:
    """Plan `_fft_r2c`."""
    if not dim:
        return None
    *others, last = dim
    dims = [_along(self.sizes, last), *[_along(out.sizes, d) for d in others]]
    head = [out.sizes[last]]
    return _plan(real_to_complex, out, self, dims, normalization, True, head)


def plan_c2c(
    out: TensorSpec, self: TensorSpec, dim: Sequence[int], normalization: int, forward: bool
) -> LaunchPlan | None:
    """Plan `_fft_c2c`."""
    dims = [_along(self.sizes, d) for d in dim]
    return _plan(complex_to_complex, out, self, dims, normalization, forward, [])


def plan_c2r(
    out: TensorSpec, self: TensorSpec, dim: Sequence[int], normalization: int, last_dim_size: int
) -> LaunchPlan | None:
    """Plan `_fft_c2r`."""
    if not dim or self.sizes[dim[-1]] != last_dim_size // 2 + 1:
        return None
    *others, last = dim
    dims = [_along(out.sizes, last), *[_along(self.sizes, d) for d in others]]
    head = [self.sizes[last]]
    return _plan(complex_to_real, out, self, dims, normalization, False, head)


def _along(sizes: Sequence[int], dim: int) -> tuple[int, int, int]:
    """Slices, points, and the distance between two of a dim of dense numbers."""
    dim %= len(sizes)
    return prod(sizes[:dim]), sizes[dim], prod(sizes[dim + 1 :])


def _plan(
    loop: Kernel,
    out: TensorSpec,
    self: TensorSpec,
    dims: list[tuple[int, int, int]],
    normalization: int,
    forward: bool,
    head: list[int],
) -> LaunchPlan | None:
    points = [points for _, points, _ in dims]
    numel = max(prod(out.sizes), prod(self.sizes))
    if not (dims and self.is_contiguous and 0 < numel * sum(points) <= MOST_PRODUCTS):
        return None
    scale = scale_of(points, normalization)
    numbers, roots = [len(dims), _bits(scale), *head], []
    begin = len(numbers) + 4 * len(dims)
    for slices, count, step in dims:
        numbers += [slices, count, step, begin + len(roots)]
        roots += roots_of_unity(count, forward).view(np.float64).tolist()
    entry = loop.entry_point((out.dtype, self.dtype, int, INT64))
    return LaunchPlan(entry, np.array(numbers + [_bits(each) for each in roots], np.int64))


def scale_of(points: Sequence[int], normalization: int) -> float:
    """The factor of a normalisation of a transform over dims of so many points."""
    count = prod(points)
    return (1.0, count**-0.5, 1.0 / count)[normalization]


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def roots_of_unity(points: int, forward: bool) -> Any:
    """exp(-2 pi i k / points) for each k; backward, the conjugates.

    Worked out in the first eighth of the circle, so that quarters are exact and opposites agree.
    """
    quarters, rest = np.divmod(4 * np.arange(points), points)
    is_late = 2 * rest > points
    angles = np.where(is_late, points - rest, rest) * (np.pi / (2 * points))
    first = np.cos(angles) + 1j * np.sin(angles)
    first = np.where(is_late, first.imag + 1j * first.real, first)
    found = first * np.array([1, 1j, -1, -1j])[quarters]
    return found.conj() if forward else found
