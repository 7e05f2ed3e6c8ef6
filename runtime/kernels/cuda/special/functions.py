"""Numbers by their mantissa and exponent."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def frexp(queue: Queue, mantissa: Array, exponent: Array, self: Array) -> None:
    """Write numbers of magnitude in [0.5, 1) and the powers of 2 that self is of them."""
    count, results = self.numel, (mantissa, exponent)
    made = [a if a.is_contiguous else queue.empty(a.sizes, a.dtype) for a in results]
    run_elements(queue, split_numbers, count, *made, contiguous(queue, self), count)
    for result, own in zip(results, made, strict=True):
        if own is not result:
            queue.copy(result, own)


@device_kernel("X* int32* X*", "I")
def split_numbers(mantissa, exponent, x, n):
    """A thread owns elements at the distance of the grid. Zero, infinity and NaN are their own
    mantissa, with exponent 0."""
    i = I(cuda.grid(1))
    while i < n:
        value, power = math.frexp(load_X(x[i]))
        is_finite = abs(value) < math.inf
        mantissa[i] = store_X(T(value)) if is_finite else x[i]
        exponent[i] = np.int32(power) if is_finite else np.int32(0)
        i = I(i + cuda.gridsize(1))
