"""Choosing among things: indices with the weights of each row.

Weights are not looked at on the host: a kernel notes one that is none (`faults`).
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.faults import WEIGHTS, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.random.drawing import fill
from torchgen_out._runtime.kernels.cuda.scan.scan import summed
from torchgen_out._runtime.kernels.cuda.sort.sort import sort_rows


def multinomial(
    queue: Queue, out: Array, self: Array, num_samples: int, replacement: bool, generator: Any
) -> None:
    """Write indices drawn with the weights of each row."""
    if not self.numel:
        return
    weights = converted(queue, self, dtypes.float64)
    count = self.sizes[-1]
    rows = self.numel // count
    if replacement:
        run_elements(queue, look_at_weights, self.numel, weights, queue.faults, self.numel)
        weights = summed(queue, weights, rows)
        drawn = queue.empty((out.numel,), dtypes.float64)
        fill(queue, "uniform_", drawn, 0.0, 1.0, generator)
        numbers = (out.numel, num_samples, count)
        operands = (out, weights, drawn, queue.faults)
        run_elements(queue, invert_distribution, out.numel, *operands, *numbers)
        return
    clocks = queue.empty((rows, count), dtypes.float64)
    fill(queue, "exponential_", clocks, 1.0, generator)
    run_elements(queue, divide_clocks, clocks.numel, clocks, weights, queue.faults, clocks.numel)
    places = queue.empty((rows, count), dtypes.int64)
    sort_rows(queue, None, places, clocks, descending=False)
    operands = (out, places, clocks, queue.faults)
    run_elements(queue, take_earliest, out.numel, *operands, out.numel, num_samples, count)


@device_function
def is_weight(weight):
    """Whether a number is a weight: not negative, finite."""
    return (weight >= T(0)) & (weight < T(np.inf))


@device_kernel("X* int64*", "I")
def look_at_weights(weights, faults, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        if not is_weight(weights[i]):
            note(faults, WEIGHTS, 0, 0)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* X* X* int64*", "I I I")
def invert_distribution(out, cumulative, drawn, faults, n, samples, count):
    """A thread owns draws at the distance of the grid: the first place whose sum of weights is
    above the draw, before trailing weights of zero."""
    i = I(cuda.grid(1))
    while i < n:
        base = I(divided(i, samples) * count)
        total = cumulative[base + count - 1]
        if not (total > T(0)):
            note(faults, WEIGHTS, 0, 0)
        wanted = T(drawn[i] * total)
        low, high = I(0), I(count - 1)
        while low < high:
            middle = I((low + high) // 2)
            reached = cumulative[base + middle]
            if (reached > wanted) | (reached >= total):
                high = middle
            else:
                low = I(middle + 1)
        out[i] = np.int64(low)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* int64*", "I")
def divide_clocks(clocks, weights, faults, n):
    """A thread owns elements at the distance of the grid; a weight of zero never rings."""
    i = I(cuda.grid(1))
    while i < n:
        if not is_weight(weights[i]):
            note(faults, WEIGHTS, 0, 0)
        clocks[i] = T(clocks[i] / weights[i]) if weights[i] > T(0) else T(np.inf)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64* X* int64*", "I I I")
def take_earliest(out, places, clocks, faults, n, samples, count):
    """A thread owns draws at the distance of the grid; a row whose first clock never rings has no
    weight above zero."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, samples)
        place = places[I(row * count + (i - row * samples))]
        if i == row * samples and not (clocks[I(row * count + I(place))] < T(np.inf)):
            note(faults, WEIGHTS, 0, 0)
        out[i] = place
        i = I(i + cuda.gridsize(1))
