"""Reading at places given by index tensors; writing is in `scatter.py`.

Nothing waits for an index to be looked at: what one outside names is read as zero, and noted
(`faults`).
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.indexing.compaction import positions, total_of
from torchgen_out._runtime.kernels.cuda.indexing.places import (
    in_order,
    indexed,
    write_coordinate,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.reduction.selection import bounds
from torchgen_out._runtime.kernels.cuda.scan.scan import plus, scan, zero


def within(array: Array, sizes: tuple[int, ...], dim: int) -> Array:
    """Cut `array` down to `sizes` in all dims but `dim`."""
    if array.ndim == len(sizes):
        for each, size in enumerate(sizes):
            if each != dim % len(sizes) and array.sizes[each] != size:
                array = array.narrowed(each, 0, size)
    return array


def read_slices(queue: Queue, out: Array, x: Array, places: Array, folded: Folded) -> None:
    """out[o, j, i] = x[o, places[j], i]; x as `folded` says, all contiguous; zero if outside."""
    numbers = (out.numel, places.numel, folded.count, folded.inner)
    operands = (out.moved(), x.moved(), places, queue.faults)
    run_elements(queue, read_elements, out.numel, *operands, *numbers)


@device_kernel("X* X* int64* int64*", "I I I I")
def read_elements(out, x, places, faults, n, count, size, inner):
    """A thread owns elements at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, inner)
        o = divided(row, count)
        k = places[row - o * count]
        is_inside = (k >= 0) & (k < size)
        if not is_inside:
            note(faults, INDEX, k, size)
        at = I((o * size + (I(k) if is_inside else I(0))) * inner + (item - row * inner))
        out[item] = x[at] if is_inside else X(0)
        item = I(item + cuda.gridsize(1))


def index(queue: Queue, self: Array, indices: Sequence[Array | None]) -> Array:
    """Return self[indices] as a new array."""
    plan = indexed(queue, self.sizes, indices)
    out = queue.result(plan.sizes, self.dtype)
    if out.numel and self.numel:
        read_slices(queue, out, in_order(queue, self, plan.order), plan.places, plan.folded)
    return out


def masked_select(queue: Queue, self: Array, mask: Array) -> Array:
    """Return the elements where `mask` is true, in row-major order."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    sizes = shapes.broadcast_shapes(mask.sizes, self.sizes)
    found = positions(queue, contiguous(queue, mask.expanded(sizes)))
    out = queue.result(found.sizes, self.dtype)
    if out.numel:
        x = contiguous(queue, self.expanded(sizes))
        read_slices(queue, out, x, found, Folded(1, x.numel, 1))
    return out


def nonzero(queue: Queue, self: Array) -> Array:
    """Return the places of the elements that are not zero, one row each."""
    found = positions(queue, self)
    out = queue.result((found.numel, self.ndim), dtypes.int64)
    for dim, size in enumerate(self.sizes if out.numel else ()):
        column = out.at(dim, (found.numel,), (self.ndim,))
        numbers = (found.numel, self.ndim, self.strides[dim], size)
        run_elements(queue, write_coordinate, found.numel, column, found, *numbers)
    return out


def repeat_interleave(queue: Queue, repeats: Array, output_size: int | None = None) -> Array:
    """Return index i repeats[i] times."""
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.numel and bounds(queue, repeats)[0] < 0:
        raise RuntimeError("repeats can not be negative")
    ends = queue.empty(repeats.sizes, dtypes.int64)
    queue.copy(ends, repeats)
    scan(queue, ends, ends, Folded(1, ends.numel, 1), zero, plus)
    total = total_of(queue, ends)
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")
    out = queue.result((total,), repeats.dtype)
    run_elements(queue, find_runs, total, out, ends, total, ends.numel)
    return out


@device_kernel("X* int64*", "I I")
def find_runs(out, ends, n, count):
    """A thread owns elements at the distance of the grid: the first run that ends behind each."""
    i = I(cuda.grid(1))
    while i < n:
        low, high = I(0), I(count - 1)
        while low < high:
            middle = I((low + high) // 2)
            if ends[middle] > i:
                high = middle
            else:
                low = I(middle + 1)
        out[i] = store_X(T(low))
        i = I(i + cuda.gridsize(1))


def one_hot(queue: Queue, self: Array, num_classes: int = -1) -> Array:
    """Return rows of zeros with a one at each class.

    Where the number of classes is given, nothing waits: one outside is noted, its row is zero.

    Raises: RuntimeError for another dtype than int64, or if the greatest class, which is waited
    for where their number is not given, is negative.
    """
    if self.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.numel:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return queue.result((*self.sizes, num_classes), dtypes.int64)
    if num_classes == -1:
        low, high = bounds(queue, self)
        if low < 0:
            raise RuntimeError("Class values must be non-negative.")
        num_classes = high + 1
    elif num_classes < 1:
        raise RuntimeError("Class values must be smaller than num_classes.")
    out = queue.result((*self.sizes, num_classes), dtypes.int64)
    operands = out, self, queue.faults
    run_elements(queue, mark_classes, out.numel, *operands, out.numel, num_classes)
    return out


@device_kernel("int64* int64* int64*", "I I")
def mark_classes(out, labels, faults, n, classes):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, classes)
        at = i - row * classes
        label = labels[row]
        out[i] = np.int64(1) if label == at else np.int64(0)
        if (at == I(0)) & ((label < np.int64(0)) | (label >= np.int64(classes))):
            note(faults, INDEX, label, classes)
        i = I(i + cuda.gridsize(1))
