"""Index tensors made plain: masks turned into numbers, negative ones counted from the end, several
made one. An index outside is noted (`faults`) and becomes -1: nothing is read or written there."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.indexing.compaction import positions
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, converted, permuted


class Indexed(NamedTuple):
    """An indexing expression over a contiguous array as one index along merged dims.

    order: the dims of the array with the indexed ones together. folded: the array around these, in
    that order. places: int64, contiguous. sizes: of what is indexed, before dims move.
    """

    order: tuple[int, ...]
    folded: Folded
    places: Array
    sizes: tuple[int, ...]


def indexed(queue: Queue, sizes: tuple[int, ...], indices: Sequence[Array | None]) -> Indexed:
    """Make an indexing expression plain.

    Raises: IndexError for too many indices, wrong dtypes, masks that do not fit.
    """
    plain = _plain(queue, sizes, indices)
    dims = [dim for dim, index in enumerate(plain) if index is not None]
    together = dims[-1] + 1 - dims[0] == len(dims)
    first = dims[0] if together else 0
    rest = [dim for dim in range(len(sizes)) if dim not in dims]
    order = (*rest[:first], *dims, *rest[first:])
    given = [index for index in plain if index is not None]
    shape = given[0].sizes
    places = queue.empty(shape, dtypes.int64)
    for number, (dim, index) in enumerate(zip(dims, given, strict=True)):
        merge_index(queue, places, index, sizes[dim], number == 0)
    outer = tuple([sizes[dim] for dim in rest[:first]])
    inner = tuple([sizes[dim] for dim in rest[first:]])
    folded = Folded(prod(outer), prod(sizes[dim] for dim in dims), prod(inner))
    return Indexed(order, folded, places, (*outer, *shape, *inner))


def _plain(
    queue: Queue, sizes: tuple[int, ...], indices: Sequence[Array | None]
) -> list[Array | None]:
    """One entry per indexed dim: None, or integers, all of one shape; a mask makes several."""
    if all(index is None for index in indices):
        raise errors.no_index()
    plain: list[Array | None] = []
    for index in indices:
        if index is None:
            plain.append(None)
        elif index.dtype.kind == "i" and index.dtype.itemsize >= 4:
            plain.append(index)
        elif index.dtype in (dtypes.bool, dtypes.uint8):
            plain += _of_mask(queue, sizes, index, len(plain))
        else:
            raise errors.index_dtype()
    if len(plain) > len(sizes):
        raise errors.too_many_indices(len(sizes), len(plain))
    given = [index.sizes for index in plain if index is not None]
    try:
        shape = shapes.broadcast_shapes(*given)
    except RuntimeError:
        raise errors.indices_do_not_broadcast(given) from None
    return [index if index is None else index.expanded(shape) for index in plain]


def _of_mask(queue: Queue, sizes: tuple[int, ...], mask: Array, first: int) -> list[Array | None]:
    for k, size in enumerate(mask.sizes):
        dim = first + k
        if dim >= len(sizes):
            raise errors.too_many_indices(len(sizes), first + mask.ndim)
        if size != sizes[dim]:
            raise errors.mask_mismatch(mask.sizes, k, sizes, dim)
    return list(coordinates(queue, positions(queue, contiguous(queue, mask)), mask.sizes))


def coordinates(queue: Queue, found: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Flat positions as a position for each dim."""
    made = []
    step = prod(sizes)
    for size in sizes:
        step //= max(size, 1)
        made.append(queue.empty((found.numel,), dtypes.int64))
        numbers = (found.numel, 1, step, max(size, 1))
        run_elements(queue, write_coordinate, found.numel, made[-1], found, *numbers)
    return made


@device_kernel("int64* int64*", "I I I I")
def write_coordinate(out, found, n, distance, step, size):
    """A thread owns positions at the distance of the grid: where they are along one dim."""
    i = I(cuda.grid(1))
    while i < n:
        along = divided(I(found[i]), step)
        out[I(i * distance)] = np.int64(along - divided(along, size) * size)
        i = I(i + cuda.gridsize(1))


def merge_index(queue: Queue, places: Array, index: Array, size: int, is_first: bool) -> None:
    """places = places * size + index, counted from the end if negative; -1 for one outside."""
    given = converted(queue, index, dtypes.int64)
    numbers = (places.numel, size)
    operands = (places, given, queue.faults)
    run_elements(queue, merge_places, places.numel, *operands, *numbers, IS_FIRST=is_first)


@device_kernel("int64* int64* int64*", "I int64")
def merge_places(places, index, faults, n, size):
    """A thread owns indices at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        k = index[i]
        if k < 0:
            k = np.int64(k + size)
        before = np.int64(0) if IS_FIRST else places[i]
        is_inside = (k >= 0) & (k < size)
        if not is_inside:
            note(faults, INDEX, index[i], size)
        is_inside = is_inside & (before >= 0)
        places[i] = np.int64(before * size + k) if is_inside else np.int64(-1)
        i = I(i + cuda.gridsize(1))


def in_order(queue: Queue, array: Array, order: Sequence[int]) -> Array:
    """The array contiguous with its dims in another order."""
    return contiguous(queue, permuted(array, order))
