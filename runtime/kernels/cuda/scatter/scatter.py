"""Writing at places given by index tensors; reading is in `reading.py`.

All of these may run in place (`out` is self). What combines values goes through `placing`, which
sorts by place: sums of floats do not depend on which thread comes first. Where places come twice
and values only replace each other, any of them may win, as in PyTorch. A place outside is left out
and noted (`faults`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.folded import Folded, sizes_around
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.indexing.places import in_order, indexed, plain_places
from torchgen_out._runtime.kernels.cuda.indexing.reading import within
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, converted, permuted
from torchgen_out._runtime.kernels.cuda.scatter.combining import (
    COMBINE,
    combine_at_places,
    plus,
)


def start_from(queue: Queue, out: Array, self: Array) -> None:
    """Begin with the elements of self, unless it is `out`."""
    if out.address != self.address:
        queue.copy(out, self)


def number_array(queue: Queue, value: Any, dtype: dtypes.dtype) -> Array:
    """A number, or a 0-d array, as an array of one element."""
    made = queue.empty((), dtype)
    if isinstance(value, Array):
        queue.copy(made, value)
    else:
        queue.fill(made, value)
    return made


def _cut(queue: Queue, src: Array, index: Array) -> Array:
    """The part of `src` that `index` covers, contiguous."""
    if src.ndim == index.ndim:
        for dim, size in enumerate(index.sizes):
            src = src.narrowed(dim, 0, size)
    return contiguous(queue, src)


def _flat_places(queue: Queue, buffer: Array, dim: int, index: Array) -> Array:
    """The place in a contiguous array of each element of an index, -1 for one outside."""
    given = converted(queue, index, dtypes.int64)
    places = queue.empty((index.numel,), dtypes.int64)
    size = buffer.sizes[dim] if buffer.ndim else 1
    folded = sizes_around(index.sizes, dim)
    numbers = (index.numel, folded.count, size, folded.inner)
    run_elements(queue, write_places, index.numel, places, given, queue.faults, *numbers)
    return places


@device_kernel("int64* int64* int64*", "I I I I")
def write_places(places, index, faults, n, count, size, inner):
    """A thread owns indices at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, inner)
        o = divided(row, count)
        k = index[item]
        is_inside = (k >= 0) & (k < size)
        if not is_inside:
            note(faults, INDEX, k, size)
        at = np.int64((o * size + k) * inner + (item - row * inner))
        places[item] = at if is_inside else np.int64(-1)
        item = I(item + cuda.gridsize(1))


@device_kernel("X* X* int64*", "I I I I")
def write_elements(out, src, places, n, count, size, inner):
    """out[o, places[j], i] = src[o, j, i]: a thread owns elements of src at the distance of the
    grid. IS_NUMBER: src is one for all."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, inner)
        o = divided(row, count)
        k = places[row - o * count]
        if (k >= 0) & (k < size):
            at = I((o * size + I(k)) * inner + (item - row * inner))
            out[at] = src[0] if IS_NUMBER else src[item]
        item = I(item + cuda.gridsize(1))


def write_slices(
    queue: Queue, out: Array, src: Array, places: Array, folded: Folded, is_number: bool = False
) -> None:
    """out[o, places[j], i] = src[o, j, i]; out as `folded` says, all contiguous; none outside."""
    n = folded.outer * places.numel * folded.inner
    numbers = (n, places.numel, folded.count, folded.inner)
    operands = (out.moved(), src.moved(), places)
    run_elements(queue, write_elements, n, *operands, *numbers, IS_NUMBER=is_number)


# -- combining ----------------------------------------------------------------------------------


def scatter_reduce(
    queue: Queue,
    out: Array,
    self: Array,
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    include_self: bool = True,
) -> None:
    """Combine `src` into places along `dim` by sum, prod, mean, amax or amin."""
    start_from(queue, out, self)
    if not index.numel:
        return
    target = within(out, index.sizes, dim)
    buffer = contiguous(queue, target)
    places = _flat_places(queue, buffer, dim, index)
    values = _cut(queue, src, index)
    folded = Folded(1, buffer.numel, 1)
    is_mean = reduce == "mean"
    combine = COMBINE[reduce]
    combine_at_places(queue, buffer, places, values, folded, combine, include_self, is_mean)
    if buffer is not target:
        queue.copy(target, buffer)


def index_reduce(
    queue: Queue,
    out: Array,
    self: Array,
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    include_self: bool = True,
) -> None:
    """Combine the slices of `source` into the slices that `index` names."""
    start_from(queue, out, self)
    folded = sizes_around(out.sizes, dim)
    places = plain_places(queue, index, folded.count)
    is_mean = reduce == "mean"
    combine = COMBINE[reduce]
    combine_at_places(queue, out, places, source, folded, combine, include_self, is_mean)


# -- replacing ----------------------------------------------------------------------------------


def index_fill(queue: Queue, out: Array, self: Array, dim: int, index: Array, value: Any) -> None:
    """Fill the slices that `index` names."""
    start_from(queue, out, self)
    folded = sizes_around(out.sizes, dim)
    places = plain_places(queue, index, folded.count, wraps=True)
    write_slices(queue, out, number_array(queue, value, out.dtype), places, folded, True)


def _write_or_add(
    queue: Queue, out: Array, values: Array, places: Array, folded: Folded, accumulate: bool
) -> None:
    if accumulate:
        combine_at_places(queue, out, places, values, folded, plus)
    else:
        write_slices(queue, out, values, places, folded)


def index_put(
    queue: Queue,
    out: Array,
    self: Array,
    indices: Sequence[Array | None],
    values: Array,
    accumulate: bool = False,
) -> None:
    """out[indices] = values, or += with every repeated place counted."""
    start_from(queue, out, self)
    plan = indexed(queue, out.sizes, indices)
    try:
        spread = contiguous(queue, _spread(values, plan.sizes))
    except RuntimeError:
        raise errors.values_do_not_broadcast(values.sizes, plan.sizes) from None
    if not spread.numel:
        return
    target = permuted(out, plan.order)
    buffer = in_order(queue, out, plan.order)
    _write_or_add(queue, buffer, spread, plan.places, plan.folded, accumulate)
    if buffer.address != out.address:
        queue.copy(target, buffer)


def _spread(values: Array, sizes: tuple[int, ...]) -> Array:
    """Values broadcast to the places indexed.

    Raises: RuntimeError if they do not broadcast.
    """
    while values.ndim > len(sizes) and values.sizes[0] == 1:
        values = values.at(0, values.sizes[1:], values.strides[1:])
    if tuple(shapes.broadcast_shapes(values.sizes, sizes)) != tuple(sizes):
        raise RuntimeError("not what is indexed")
    return values.expanded(sizes)
