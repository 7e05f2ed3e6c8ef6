"""Ordering along a dim: sort and top k. NaN is the greatest value.

Elements become whole numbers of the same order, whose positions are sorted digit by digit
(`radix.py`): always stable, in a number of passes that depends on the dtype alone.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, converted, permuted
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions

INFINITY = {
    "float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000,
}  # fmt: skip
"""The bits of infinity; greater ones, without the sign, are NaN."""


def _keys_of(queue: Queue, x: Array, descending: bool) -> tuple[Array, int]:
    """Whole numbers of the elements' order, and how many bits they have."""
    if x.dtype.kind == "f" and x.dtype.itemsize == 1:
        x = converted(queue, x, x.dtype.opmath)
    bits = 8 * x.dtype.itemsize
    keys = queue.empty((x.numel,), dtypes.int64 if bits == 64 else dtypes.int32)
    flags = {
        "INFINITY": INFINITY.get(x.dtype.name, 0),
        "SIGNED": x.dtype.is_signed,
        "BITS": bits,
        "ALL_BITS": (1 << min(bits, 63)) - 1,
        "MIDDLE": 1 << min(bits - 1, 62),
        "DESCENDING": descending,
    }
    run_elements(queue, write_keys, x.numel, keys, x.moved(), x.numel, **flags)
    return keys, bits


@device_kernel("Y* X*", "I")
def write_keys(keys, x, n):
    """A thread owns elements, seen as integers, at the distance of the grid. INFINITY: 0 for
    integers; else the magnitude counts down if the sign is set, zeros are equal, and so is NaN.
    Integers without a sign are moved down, to have one."""
    i = I(cuda.grid(1))
    while i < n:
        key = np.int64(x[i])
        if INFINITY != 0:
            magnitude = np.int64(key & np.int64((1 << (BITS - 1)) - 1))
            if magnitude > INFINITY:
                key = np.int64(INFINITY + 1)
            else:
                key = np.int64(-magnitude) if key < 0 else magnitude
        if not SIGNED:
            key = np.int64(key & np.int64(ALL_BITS)) if BITS < 64 else key
            key = np.int64(key ^ np.int64(-1 << 63)) if BITS == 64 else np.int64(key - MIDDLE)
        if DESCENDING:
            key = np.int64(~key)
        keys[i] = Y(key)
        i = I(i + cuda.gridsize(1))


def ordered(
    queue: Queue,
    values: Array,
    indices: Array,
    self: Array,
    k: int | None,
    dim: int,
    descending: bool,
) -> None:
    """Write the first k values in order, or all, and their places; ties in order."""
    if not values.numel:
        return
    if not self.ndim:
        values, indices, self = (each.reshaped(1) for each in (values, indices, self))
    last = dim % self.ndim
    dims = (*(each for each in range(self.ndim) if each != last), last)
    rows = contiguous(queue, permuted(self, dims))
    keys, bits = _keys_of(queue, rows, descending)
    count = self.sizes[last]
    order = sort_positions(queue, keys, bits, count, signed=True).reshaped(*rows.sizes)
    queue.copy(permuted(indices, dims), order.narrowed(self.ndim - 1, 0, values.sizes[last]))
    run_program(queue, "gather", values, self, last, indices, False)
