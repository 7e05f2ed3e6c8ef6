"""Sums, means and maxima of bags of a table's rows."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.embedding import MAX, MEAN
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted


def embedding_bag(
    queue: Queue,
    out: Array,
    bag_sizes: Array,
    max_indices: Array,
    weight: Array,
    indices: Array,
    offsets: Array,
    per_sample_weights: Array | None,
    mode: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool = False,
) -> None:
    """Write the bags' results, how many rows each has, and for maxima the row of every column."""
    flat = converted(queue, indices, dtypes.int64)
    starts = converted(queue, offsets, dtypes.int64)
    operands = (out, weight, per_sample_weights, bag_sizes, max_indices, flat, starts, queue.faults)
    numbers = (out.numel, offsets.numel, flat.numel, weight.sizes[0], weight.sizes[1], padding_idx)
    given = {"MODE": mode, "HAS_FACTORS": per_sample_weights is not None}
    run_elements(queue, fold_bags, out.numel, *operands, *numbers, **given)


@device_kernel("X* X* X* int64* int64* int64* int64* int64*", "I I I int64 I int64")
def fold_bags(
    out, weight, factors, bag_sizes, max_indices, indices, starts, faults, n, bags, count, rows,
    columns, padding_idx,
):  # fmt: skip
    """A thread owns results at the distance of the grid: the fold of a column of a bag's rows."""
    item = I(cuda.grid(1))
    while item < n:
        b = divided(item, columns)
        column = I(item - b * columns)
        end = np.int64(starts[b + 1]) if b + 1 < bags else np.int64(count)
        total, size, chosen = T(0), np.int64(0), np.int64(-1)
        if (starts[b] < 0) | (end > count):
            note(faults, INDEX, end, count)
            end = starts[b]
        for k in range(starts[b], end):
            place = indices[k]
            is_row = (place >= 0) & (place < rows)
            if not is_row:
                note(faults, INDEX, place, rows)
            if is_row and place != padding_idx:
                value = load_X(weight[I(I(place) * columns + column)])
                if HAS_FACTORS:
                    value = T(value * load_X(factors[k]))
                if MODE == MAX:
                    if (size == 0) | (value > total) | (value != value):
                        total, chosen = value, place
                else:
                    total = T(total + value)
                size = np.int64(size + 1)
        if MODE == MEAN and size > 0:
            total = T(total / T(size))
        out[item] = store_X(total)
        if MODE == MAX:
            max_indices[item] = chosen
        if column == 0:
            bag_sizes[b] = size
        item = I(item + cuda.gridsize(1))
