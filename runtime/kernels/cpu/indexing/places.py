"""Index tensors made plain: bounds checked, masks turned into numbers, several into one.

An indexing expression over neighbouring dims is one `take` along the merged dim. `linear_places`
finds that form, or says that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import as_int64
from torchgen_out._runtime.kernels.cpu.scatter.scatter_loops import merge_places
from torchgen_out._runtime.kernels.plan import TensorSpec

Array = Any
MASKS = np.dtype(np.bool_), np.dtype(np.uint8)
NUMBERS = np.dtype(np.int64), np.dtype(np.int32)


def check_range(index: Array, size: int, error: Any) -> None:
    """Raise `error(index)` for the first index outside [0, size)."""
    flat = as_int64(index).reshape(-1)
    if not _all_below(flat, np.uint64(size)):
        raise error(first_outside(flat, 0, size))


@kernel
def _all_below(index, size):
    """Whether all are in [0, size): as unsigned numbers, negative ones are large."""
    outside = False
    for i in range(index.size):
        outside |= np.uint64(index[i]) >= size
    return not outside


def first_outside(index: Array, low: int, high: int) -> int:
    """The first index outside [low, high); there is one."""
    return int(index[(index < low) | (index >= high)].reshape(-1)[0])


def bad_scatter_index(index: Array, dim: int, size: int) -> RuntimeError:
    """The error of `gather` and `scatter` for the first index outside [0, size)."""
    bad = first_outside(index, 0, size)
    return errors.scatter_index_out_of_bounds(bad, dim % max(index.ndim, 1), size)


def nonnegative(index: Array, dim: int, size: int) -> Array:
    """Return int64 indices counted from the front, contiguous.

    Raises: IndexError if one is outside [-size, size).
    """
    index = as_int64(index).reshape(index.shape)
    counted = np.empty_like(index)
    if not merge_places(counted.reshape(-1), index.reshape(-1), size, True):
        raise errors.index_out_of_bounds(first_outside(index, -size, size), dim, size)
    return counted


def is_mask(index: Array | TensorSpec) -> bool:
    """Whether an index says of each place whether it is wanted."""
    return index.dtype in MASKS


def are_numbers(index: Array | TensorSpec) -> bool:
    """Whether an index has the numbers of places."""
    return index.dtype in NUMBERS


def plain_indices(shape: Sequence[int], indices: Sequence[Array | None]) -> list[Array | None]:
    """Return one entry per indexed dim: None, or integers, all of one shape.

    A mask of k dims becomes k index vectors: one without dims chooses everything beside others.
    Raises: IndexError for no or too many indices, wrong dtypes, masks that do not fit.
    """
    plain: list[Array | None] = []
    for index in indices:
        if index is None:
            plain.append(None)
        elif are_numbers(index):
            plain.append(index)
        elif is_mask(index):
            plain += _of_mask(shape, index, len(plain))
        else:
            raise errors.index_dtype()
    if all(index is None for index in plain):
        raise errors.no_index()
    if len(plain) > len(shape):
        raise errors.too_many_indices(len(shape), len(plain))
    plain = _broadcast(plain)
    sizes = [size for size, index in zip(shape, plain, strict=False) if index is not None]
    if 0 in shape and 0 not in sizes:  # there is nothing that an index is outside of
        return [None if index is None else np.zeros_like(index) for index in plain]
    return plain


def _of_mask(shape: Sequence[int], mask: Array, first: int) -> list[Array]:
    shapes.check_mask(shape, mask.shape, first)
    return list(np.nonzero(mask)) if mask.ndim else []


def _broadcast(indices: list[Array | None]) -> list[Array | None]:
    given = [index for index in indices if index is not None]
    if len(given) == 1 or len({index.shape for index in given}) == 1:
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
    Raises: IndexError for a place outside.
    """
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    first, stop = dims[0], dims[-1] + 1
    if stop - first != len(dims):
        return None
    place = np.empty(indices[first].shape, np.int64)
    flat = place.reshape(-1)
    for dim in dims:
        index, size = as_int64(indices[dim]).reshape(-1), shape[dim]
        if not merge_places(flat, index, size, dim == first):
            raise errors.index_out_of_bounds(first_outside(index, -size, size), dim, size)
    return first, stop, place


def result_shape(shape: Sequence[int], first: int, stop: int, place: Array) -> tuple[int, ...]:
    """The shape of the elements that `place` names in the merged dims [first, stop)."""
    return (*shape[:first], *place.shape, *shape[stop:])


def result_order(self: Array, indices: list[Array | None]) -> list[int]:
    """The result's dims as they lie in memory, outermost first: as self's, then as the indices'.

    indices: as `plain_indices` returns them.
    """
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    given = [indices[dim] for dim in dims]
    kept = [dim for dim in range(self.ndim) if dim not in dims]
    before = dims[0] if dims[-1] - dims[0] + 1 == len(dims) else 0

    def around(own: Sequence[int], chosen: Sequence[int]) -> tuple[int, ...]:
        own = [own[dim] for dim in kept]
        return (*own[:before], *chosen, *own[before:])

    sizes = around(self.shape, given[0].shape)
    nothing = [0] * max(self.ndim, given[0].ndim)
    strides = [around(nothing, each.strides) for each in given]
    laid = (around(self.strides, nothing[: given[0].ndim]), *strides)
    return list(shapes.joint_order(sizes, laid))


def merged(array: Array, first: int, stop: int) -> Array:
    """Return a contiguous array as (outer, merged dims, inner)."""
    shape = array.shape
    return array.reshape(prod(shape[:first]), prod(shape[first:stop]), prod(shape[stop:]))


def numpy_index(shape: Sequence[int], indices: list[Array | None]) -> tuple[Any, ...]:
    """The same expression for NumPy, which places the result's dims by the same rule.

    Raises: IndexError for a place outside.
    """
    return tuple(
        slice(None) if index is None else nonnegative(index, dim, shape[dim])
        for dim, index in enumerate(indices)
    )
