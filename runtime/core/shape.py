"""Arithmetic of sizes, strides and dims; knows no tensor. Strides are counted in elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod as numel
from operator import index as _as_index
from typing import SupportsIndex, TypeAlias, cast

from torchgen_out._runtime import errors

__all__ = [
    "broadcast_shapes",
    "broadcast_strides",
    "channels_last_strides",
    "contiguous_strides",
    "dense_strides",
    "infer_size",
    "is_channels_last",
    "is_contiguous",
    "is_dense",
    "lies_as",
    "normalize_dim",
    "normalize_dims",
    "numel",
    "same_order",
    "view_strides",
]


MOST_DIMS_TO_CHOOSE_FROM = 64


def normalize_dim(dim: int, ndim: int) -> int:
    """Return `dim` counted from the front; a 0-d tensor is taken as having one dim.

    Raises: IndexError if dim is out of range.
    """
    if 0 <= dim < ndim:
        return dim
    bound = ndim or 1
    if -bound <= dim < bound:
        return dim + bound if dim < 0 else dim
    raise errors.dim_out_of_range(dim, ndim)


def normalize_dims(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return distinct dims counted from the front, in the order given; None means all dims.

    Raises: IndexError if a dim is out of range, RuntimeError if one is named twice, or if there
    are more than 64, which PyTorch counts in bits.
    """
    if dims is None:
        return tuple(range(ndim))
    if ndim > MOST_DIMS_TO_CHOOSE_FROM:
        raise errors.too_many_dims()
    if not isinstance(dims, (tuple, list)):
        return (normalize_dim(_as_index(cast(SupportsIndex, dims)), ndim),)
    found = tuple([normalize_dim(dim, ndim) for dim in dims])
    if len(set(found)) != len(found):
        raise errors.dim_repeated(next(dim for dim in found if found.count(dim) > 1))
    return found


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape to which all `shapes` broadcast.

    Shape: aligned at the last dim; sizes are equal or 1.
    Raises: RuntimeError if two sizes differ and neither is 1.
    """
    if not shapes:
        return ()
    result = tuple(shapes[0])
    for shape in shapes[1:]:
        if tuple(shape) != result:
            result = _broadcast_pair(result, tuple(shape))
    return result


@lru_cache(maxsize=4096)
def _broadcast_pair(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    ndim = max(len(a), len(b))
    padded_a = (1,) * (ndim - len(a)) + a
    padded_b = (1,) * (ndim - len(b)) + b
    result = []
    for dim in reversed(range(ndim)):
        size_a, size_b = padded_a[dim], padded_b[dim]
        if size_a != size_b and size_a != 1 and size_b != 1:
            raise errors.broadcast_mismatch(size_a, size_b, dim)
        result.append(size_b if size_a == 1 else size_a)
    return tuple(result[::-1])


def broadcast_strides(
    sizes: Sequence[int], strides: Sequence[int], shape: Sequence[int]
) -> tuple[int, ...]:
    """Return the strides with which a tensor of `sizes` is read as `shape`: 0 where it repeats.

    `sizes` must broadcast to `shape`; that is the caller's to know.
    """
    missing = len(shape) - len(sizes)
    own = [
        0 if size == 1 and wanted != 1 else stride
        for size, stride, wanted in zip(sizes, strides, shape[missing:], strict=True)
    ]
    return (0,) * missing + tuple(own)


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a row-major tensor; a size of 0 counts as 1, as in PyTorch."""
    known = list(sizes)  # a Size's own indexing runs in Python
    strides, step, dim = [1] * len(known), 1, len(known) - 1
    while dim > 0:
        step *= known[dim] or 1
        dim -= 1
        strides[dim] = step
    return tuple(strides)


MOST_ELEMENTS = (1 << 63) - 1
"""What a size, a stride and a number of elements may be: compiled loops count in int64."""
LARGEST_ITEM = 16
MOST_STORED = MOST_ELEMENTS // LARGEST_ITEM
"""The elements that memory can have, whatever their dtype."""


def check_countable(sizes: Sequence[int], most: int = MOST_ELEMENTS) -> None:
    """Raise RuntimeError if sizes multiply to more than can be counted; 0 counts as 1, as in
    strides."""
    if numel([size or 1 for size in sizes]) > most:
        raise errors.too_many_elements(sizes)


def check_storable(sizes: Sequence[int]) -> None:
    """Raise RuntimeError if no memory has so many elements, whatever their dtype."""
    check_countable(sizes, MOST_STORED)


def extent_of(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements lie from the first one to the last, both included.

    Raises: RuntimeError for negative sizes or strides, or an extent that memory cannot have.
    """
    if any(size < 0 for size in sizes) or any(step < 0 for step in strides):
        raise errors.invalid_geometry(sizes, strides)
    if 0 in sizes:
        return 0
    extent = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True)) + 1
    if extent * LARGEST_ITEM > MOST_ELEMENTS:
        raise errors.invalid_geometry(sizes, strides)
    return extent


kept_extent = lru_cache(maxsize=4096)(extent_of)
"""The same of geometries that are tuples: each call asks that writes where others may read."""


def is_contiguous(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements lie one after the other in row-major order.

    The stride of a dim of size 1 does not matter; a tensor without elements is contiguous.
    """
    known = list(sizes)  # a Size's own indexing runs in Python
    expected, dim = 1, len(known)
    while dim:
        dim -= 1
        size = known[dim]
        if size != 1:
            if strides[dim] != expected:
                return 0 in known
            expected *= size
    return True


def is_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements fill their memory without gap or overlap, in any order of dims."""
    if 0 in sizes:
        return True
    expected = 1
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def dense_strides(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return strides without gaps that keep the order in which `strides` lays out the dims.

    Strides that are dense already are kept. A dim of stride 0 stays at its place.
    """
    return tuple(strides) if is_dense(sizes, strides) else joint_strides(sizes, strides)


kept_dense_strides = lru_cache(maxsize=1024)(dense_strides)
"""The same of tuples, remembered."""


def joint_strides(sizes: Sequence[int], *operands: Sequence[int]) -> tuple[int, ...]:
    """Return strides without gaps of dims that lie in `joint_order`."""
    result, step = [0] * len(sizes), 1
    for dim in reversed(joint_order(tuple(sizes), tuple(map(tuple, operands)))):
        result[dim] = step
        step *= sizes[dim]
    return tuple(result)


@lru_cache(maxsize=1024)
def joint_order(sizes: tuple[int, ...], operands: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the dims, outermost first, in the order in which operands lay them out.

    operands: the strides of each. A stride of 0 tells nothing; of several operands the first one
    that tells two dims apart decides. As PyTorch's TensorIterator.
    """
    order = list(reversed(range(len(sizes))))  # innermost first
    for start in range(1, len(order)):
        moving = start
        for place in reversed(range(start)):
            outwards = _compare_order(sizes, operands, order[place], order[moving])
            if outwards < 0:
                break
            if outwards > 0:
                order[place], order[moving] = order[moving], order[place]
                moving = place
    return tuple(order[::-1])


def order_of_slices(sizes: tuple[int, ...], strides: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """Return the order of the dims of slices picked along `dim`: as the others lie.

    As PyTorch, where dims of one element before `dim` tell nothing, and of equal strides neither
    comes first.
    """
    others = [
        0 if each == dim or (each < dim and size == 1) else stride
        for each, (size, stride) in enumerate(zip(sizes, strides, strict=True))
    ]
    return joint_order((1,) * len(sizes), (tuple(others),))


def _compare_order(
    sizes: Sequence[int], operands: Sequence[Sequence[int]], inner: int, outer: int
) -> int:
    """1 if dim `inner` ought to lie outside `outer` in memory, -1 if not, 0 if nothing tells."""
    for strides in operands:
        own, other = strides[inner], strides[outer]
        if own and other:
            if own != other:
                return 1 if own > other else -1
            if sizes[inner] > sizes[outer]:
                return 1
    return 0


_CHANNELS_LAST_NDIM = {"channels_last": 4, "channels_last_3d": 5}


def channels_last_strides(sizes: Sequence[int], format_name: str) -> tuple[int, ...] | None:
    """Return the strides of a dense tensor whose dim 1 is innermost; None for another ndim."""
    if _CHANNELS_LAST_NDIM.get(format_name) != len(sizes):
        return None
    inner = contiguous_strides((sizes[0], *sizes[2:], sizes[1]))
    return (inner[0], inner[-1], *inner[1:-1])


@lru_cache(maxsize=1024)
def lies_as(sizes: tuple[int, ...], strides: tuple[int, ...], format_name: str) -> bool:
    """Tell whether a tensor lies densely with its dim 1 innermost."""
    order = channels_last_strides(sizes, format_name)
    return order is not None and same_order(sizes, strides, order)


FEWEST_CHANNELS = 8
"""Channels side by side from which on they are vectors."""


def is_channels_last(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the strides of four or five dims grow from dim 1 over the last to the first.

    They need not be dense. Where sizes of 1 leave several orders open (N111 and the like), it is
    the row-major one, unless the strides tell. As PyTorch's `suggest_memory_format`.
    """
    if len(sizes) not in (4, 5) or strides[1] == 0 or strides[-1] < strides[1]:
        return False  # the usual row-major one at once
    return _grow_from_channels(tuple(sizes), tuple(strides))


@lru_cache(maxsize=1024)
def _grow_from_channels(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the strides grow from dim 1 over the last to the first."""
    least = 0
    for dim in (1, *range(len(sizes) - 1, 1, -1), 0):
        if sizes[dim] == 0 or strides[dim] < least:
            return False
        if dim == 0 and least == strides[1]:
            return False
        least = strides[dim] * max(sizes[dim], 1)
    return True


def same_order(sizes: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    """Tell whether `strides` equal `order` wherever a size other than 1 lets a stride matter."""
    return 0 in sizes or all(
        size == 1 or stride == wanted
        for size, stride, wanted in zip(sizes, strides, order, strict=True)
    )


def infer_size(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """Return `shape` with its -1 replaced, so that it holds `count` elements.

    Raises: RuntimeError if there are several -1, other negative sizes, or the count does not fit.
    """
    inferred, known = -1, 1
    for position, size in enumerate(shape):
        if size >= 0:
            known *= size
        elif size != -1:
            raise errors.invalid_shape_dim(size, position, shape)
        elif inferred >= 0:
            raise errors.several_inferred_dims()
        else:
            inferred = position
    if inferred < 0:
        if known != count:
            raise errors.shape_invalid_for_numel(shape, count)
        return tuple(shape)
    if known == 0 and count == 0:
        raise errors.inferred_dim_ambiguous(shape)
    if known == 0 or count % known:
        raise errors.shape_invalid_for_numel(shape, count)
    return (*shape[:inferred], count // known, *shape[inferred + 1 :])


def view_strides(
    sizes: Sequence[int], strides: Sequence[int], new_sizes: Sequence[int]
) -> tuple[int, ...] | None:
    """Return strides that show the same memory as `new_sizes`, or None if there are none.

    Both shapes must hold the same number of elements. Old dims that follow each other in memory
    form chunks; each chunk must be covered exactly by consecutive new dims.
    """
    sizes, new_sizes = tuple(sizes), tuple(new_sizes)
    if 0 in sizes:
        return tuple(strides) if sizes == new_sizes else contiguous_strides(new_sizes)
    new_strides = [0] * len(new_sizes)
    new_dim = len(new_sizes) - 1
    for chunk_numel, base_stride in _memory_chunks(sizes, strides):
        covered = 1
        while new_dim >= 0 and (covered < chunk_numel or new_sizes[new_dim] == 1):
            new_strides[new_dim] = covered * base_stride
            covered *= new_sizes[new_dim]
            new_dim -= 1
        if covered != chunk_numel:
            return None
    return tuple(new_strides) if new_dim < 0 else None


def _memory_chunks(sizes: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Return (numel, stride of the last dim) of each run of mergeable dims, innermost first."""
    if not sizes:
        return [(1, 1)]
    chunks = []
    chunk_numel, base_stride = 1, strides[-1]
    for dim in range(len(sizes) - 1, -1, -1):
        chunk_numel *= sizes[dim]
        ends = dim == 0 or (sizes[dim - 1] != 1 and strides[dim - 1] != chunk_numel * base_stride)
        if ends:
            chunks.append((chunk_numel, base_stride))
            if dim:
                chunk_numel, base_stride = 1, strides[dim - 1]
    return chunks


Placed: TypeAlias = tuple[Sequence[int], Sequence[int], int]
"""Sizes, strides and storage offset."""


def partly_overlap(a: Placed, b: Placed) -> bool:
    """Return whether two dense geometries over one storage share some, but not all, elements.

    Geometries with gaps may interleave, and finding out is hard; the answer is False, as PyTorch's.
    """
    if not (is_dense(a[0], a[1]) and is_dense(b[0], b[1])):
        return False
    size_a, size_b = numel(a[0]), numel(b[0])
    if a[2] == b[2] and size_a == size_b:
        return tuple(a[0]) != tuple(b[0]) or tuple(a[1]) != tuple(b[1])
    return a[2] < b[2] + size_b and b[2] < a[2] + size_a


def overlap(a: Placed, b: Placed) -> bool:
    """Return whether two dense geometries over one storage share elements; as `partly_overlap`."""
    if not (is_dense(a[0], a[1]) and is_dense(b[0], b[1])):
        return False
    size_a, size_b = numel(a[0]), numel(b[0])
    return a[2] < b[2] + size_b and b[2] < a[2] + size_a


def repeats(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether an element stands at several places, as in an expanded tensor."""
    return 0 not in sizes and any(s == 0 and n > 1 for s, n in zip(strides, sizes, strict=True))


def check_mask(sizes: Sequence[int], mask: Sequence[int], first: int) -> None:
    """Raise IndexError unless a mask of some sizes covers the dims of a tensor from one on."""
    for k, size in enumerate(mask):
        dim = first + k
        if dim >= len(sizes):
            raise errors.too_many_indices(len(sizes), first + len(mask))
        if size != sizes[dim]:
            raise errors.mask_mismatch(mask, k, sizes, dim)
