"""Index tensors made plain: bounds checked, masks turned into numbers, several into one.

An indexing expression over neighbouring dims is one `take` along the merged dim. `linear_places`
finds that form, or says that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels.cpu.folding import as_int64

Array = Any


def check_range(index: Array, size: int, error: Any) -> None:
    """Raise `error(index)` for the first index outside [0, size)."""
    if index.size and (index.min() < 0 or index.max() >= size):
        outside = (index < 0) | (index >= size)
        raise error(int(index[outside].reshape(-1)[0]))


def bad_scatter_index(index: Array, dim: int, size: int) -> RuntimeError:
    """The error of `gather` and `scatter` for the first index outside [0, size)."""
    bad = index[(index < 0) | (index >= size)].reshape(-1)[0]
    return errors.scatter_index_out_of_bounds(int(bad), dim % max(index.ndim, 1), size)


def nonnegative(index: Array, dim: int, size: int) -> Array:
    """Return int64 indices counted from the front.

    Raises: IndexError if one is outside [-size, size).
    """
    index = index.astype(np.int64, copy=False)
    if not index.size:
        return index
    low = index.min()
    if low < -size or index.max() >= size:
        outside = (index < -size) | (index >= size)
        raise errors.index_out_of_bounds(int(index[outside].reshape(-1)[0]), dim, size)
    return np.where(index < 0, index + size, index) if low < 0 else index


def nonnegative_flat(index: Array, count: int) -> Array:
    """Return places in a flattened array of `count` elements, counted from the front.

    Raises: IndexError if one is outside [-count, count).
    """
    if not index.size:
        return index
    low = index.min()
    if low < -count or index.max() >= count:
        outside = (index < -count) | (index >= count)
        raise errors.flat_index_out_of_range(int(index[outside][0]), count)
    return np.where(index < 0, index + count, index) if low < 0 else index


def plain_indices(shape: Sequence[int], indices: Sequence[Array | None]) -> list[Array | None]:
    """Return one entry per indexed dim: None, or int64 indices that are checked and broadcast.

    A mask of k dims becomes k index vectors.
    Raises: IndexError for too many indices, wrong dtypes, masks that do not fit, bad places.
    """
    plain: list[Array | None] = []
    for index in indices:
        if index is None:
            plain.append(None)
        elif index.dtype in (np.bool_, np.uint8):
            plain += _of_mask(shape, index, len(plain))
        elif index.dtype in (np.int64, np.int32):
            plain.append(index)
        else:
            raise errors.index_dtype()
    if not any(index is not None for index in indices):
        raise errors.no_index()
    if len(plain) > len(shape):
        raise errors.too_many_indices(len(shape), len(plain))
    checked = [
        index if index is None else nonnegative(index, dim, shape[dim])
        for dim, index in enumerate(plain)
    ]
    return _broadcast(checked)


def _of_mask(shape: Sequence[int], mask: Array, first: int) -> list[Array]:
    for k, size in enumerate(mask.shape):
        dim = first + k
        if dim >= len(shape):
            raise errors.too_many_indices(len(shape), first + mask.ndim)
        if size != shape[dim]:
            raise errors.mask_mismatch(mask.shape, k, shape, dim)
    return list(np.nonzero(mask))


def _broadcast(indices: list[Array | None]) -> list[Array | None]:
    given = [index for index in indices if index is not None]
    if all(index.shape == given[0].shape for index in given):
        return indices
    try:
        together = iter(np.broadcast_arrays(*given))
    except ValueError:
        raise errors.indices_do_not_broadcast([index.shape for index in given]) from None
    return [index if index is None else next(together) for index in indices]


def linear_places(
    shape: Sequence[int], indices: list[Array | None]
) -> tuple[int, int, Array] | None:
    """Return (first dim, one past the last, place in the merged dims), or None.

    None if indexed dims do not stand together. indices: as `plain_indices` returns them.
    """
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    first, stop = dims[0], dims[-1] + 1
    if stop - first != len(dims):
        return None
    place = indices[first]
    for dim in range(first + 1, stop):
        place = place * shape[dim] + indices[dim]
    return first, stop, as_int64(place).reshape(np.shape(place))


def result_shape(shape: Sequence[int], first: int, stop: int, place: Array) -> tuple[int, ...]:
    """The shape of the elements that `place` names in the merged dims [first, stop)."""
    return (*shape[:first], *place.shape, *shape[stop:])


def merged(array: Array, first: int, stop: int) -> Array:
    """Return a contiguous array as (outer, merged dims, inner)."""
    shape = array.shape
    return array.reshape(prod(shape[:first]), prod(shape[first:stop]), prod(shape[stop:]))


def numpy_index(indices: list[Array | None]) -> tuple[Any, ...]:
    """The same expression for NumPy, which places the result's dims by the same rule."""
    return tuple(slice(None) if index is None else index for index in indices)
