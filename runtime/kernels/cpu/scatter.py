"""Writing at places given by index tensors or under a mask; reading is in `indexing.py`.

All of these may run in place (`out is self`). What combines values (add, multiply, max, min) is in
`combining.py`, over flat places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels.build import kernel
from runtime.kernels.cpu import combining, places
from runtime.kernels.cpu.folding import (
    as_bits,
    as_int64,
    contiguous_of,
    fold,
    folded_shape,
    settle,
    start_from,
)
from runtime.kernels.cpu.indexing import within

Array = Any


def scatter(out: Array, self: Array, dim: int, index: Array, src: Array) -> None:
    """out[o, index[o, j, i], i] = src[o, j, i] around `dim`; a later write wins."""
    start_from(out, self)
    if index.size:
        _scatter_into(as_bits(out), dim, index, as_bits(_cut(src, index)), _scatter_rows)


def scatter_value(out: Array, self: Array, dim: int, index: Array, value: Any) -> None:
    """out[o, index[o, j, i], i] = value around `dim`."""
    start_from(out, self)
    if index.size:
        filler = np.full((1, 1, 1), value).astype(out.dtype)
        _scatter_into(as_bits(out), dim, index, as_bits(filler), _scatter_rows)


def scatter_add(out: Array, self: Array, dim: int, index: Array, src: Array) -> None:
    """out[o, index[o, j, i], i] += src[o, j, i] around `dim`."""
    start_from(out, self)
    if index.size:
        adder = _scatter_or_rows if out.dtype == np.bool_ else _scatter_add_rows
        _scatter_into(out, dim, index, _cut(src, index), adder)


def _cut(src: Array, index: Array) -> Array:
    """The part of `src` that `index` covers, of its shape."""
    return src[tuple(map(slice, index.shape))] if src.ndim == index.ndim else src.reshape(1)


def _scatter_into(out: Array, dim: int, index: Array, src: Array, write: Any) -> None:
    """Run a row kernel on the part of `out` that `index` can reach."""
    target = within(out, index.shape, dim)
    buffer = contiguous_of(target)
    slots = fold(as_int64(index), dim)
    values = src if src.size == 1 and src.ndim == 3 else np.ascontiguousarray(src)
    values = values.reshape(slots.shape if values.size == slots.size else (1, 1, 1))
    folded = buffer.reshape(folded_shape(buffer.shape, dim))
    if not write(folded, slots, values):
        raise places.bad_scatter_index(index, dim, folded.shape[1])
    settle(target, buffer)


@kernel
def _scatter_rows(out, index, src):
    """Write; `src` is as large as `index`, or one value for all."""
    outer, count, inner = index.shape
    size = np.uint64(out.shape[1])
    one = src.size == 1
    for o in range(outer):
        for j in range(count):
            for i in range(inner):
                k = np.uint64(index[o, j, i])
                if k >= size:
                    return False
                out[o, k, i] = src[0, 0, 0] if one else src[o, j, i]
    return True


@kernel
def _scatter_add_rows(out, index, src):
    """Add."""
    outer, count, inner = index.shape
    size = np.uint64(out.shape[1])
    for o in range(outer):
        for j in range(count):
            for i in range(inner):
                k = np.uint64(index[o, j, i])
                if k >= size:
                    return False
                out[o, k, i] += src[o, j, i]
    return True


@kernel
def _scatter_or_rows(out, index, src):
    """Add booleans."""
    outer, count, inner = index.shape
    size = np.uint64(out.shape[1])
    for o in range(outer):
        for j in range(count):
            for i in range(inner):
                k = np.uint64(index[o, j, i])
                if k >= size:
                    return False
                if src[o, j, i]:
                    out[o, k, i] = True
    return True


def scatter_combine(
    out: Array, self: Array, dim: int, index: Array, src: Array, reduce: str
) -> None:
    """Combine by `add` or `multiply`."""
    if reduce == "add":
        scatter_add(out, self, dim, index, src)
    else:
        scatter_reduce(out, self, dim, index, src, "prod", True)


def scatter_value_combine(
    out: Array, self: Array, dim: int, index: Array, value: Any, reduce: str
) -> None:
    """Combine a number by `add` or `multiply`."""
    src = np.broadcast_to(np.full((), value).astype(out.dtype), index.shape)
    scatter_combine(out, self, dim, index, src, reduce)


def scatter_reduce(
    out: Array,
    self: Array,
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    include_self: bool = True,
) -> None:
    """Combine `src` into places along `dim` by sum, prod, mean, amax or amin."""
    start_from(out, self)
    if not index.size:
        return
    buffer = contiguous_of(out)
    target = within(buffer, index.shape, dim)
    size = buffer.shape[dim] if buffer.ndim else 1
    if index.min() < 0 or index.max() >= size:
        raise places.bad_scatter_index(index, dim, size)
    flat = _flat_places(buffer.shape, target.shape, dim, index)
    values = np.ascontiguousarray(_cut(src, index)).reshape(-1)
    combining.combine(buffer.reshape(-1), flat, values, reduce, include_self)
    settle(out, buffer)


def _flat_places(shape: Sequence[int], reach: Sequence[int], dim: int, index: Array) -> Array:
    """The place in the flat array of each element of `index`, as a vector."""
    if not shape or not index.ndim:
        return as_int64(index).reshape(-1)
    dim %= len(shape)
    flat = np.zeros(index.shape, np.int64)
    step = 1
    for axis in reversed(range(len(shape))):
        if axis == dim:
            flat += index * step
        else:
            extent = (-1,) + (1,) * (len(shape) - 1 - axis)
            flat += (np.arange(index.shape[axis]) * step).reshape(extent)
        step *= shape[axis]
    return flat.reshape(-1)


def index_add(
    out: Array, self: Array, dim: int, index: Array, source: Array, alpha: Any = 1
) -> None:
    """Add alpha times the slices of `source` to the slices that `index` names."""
    start_from(out, self)
    slots = as_int64(index).reshape(-1)
    size = out.shape[dim] if out.ndim else 1
    places.check_range(slots, size, _index_add_error(out, dim))
    if not (slots.size and out.size):
        return
    buffer = contiguous_of(out)
    if alpha != 1:
        source = source * np.full((), alpha).astype(source.dtype)
    folded, values = buffer.reshape(folded_shape(out.shape, dim)), fold(source, dim)
    if out.dtype == np.bool_:
        folded[:, slots] |= values
    else:
        _add_slices(folded, slots, values)
    settle(out, buffer)


def _index_add_error(out: Array, dim: int) -> Any:
    if out.ndim < 2:
        return lambda bad: errors.index_out_of_range_in_self()
    return lambda bad: errors.scatter_index_out_of_bounds(bad, dim % out.ndim, out.shape[dim])


@kernel
def _add_slices(out, index, source):
    """out[o, index[j], :] += source[o, j, :]."""
    outer, count, inner = source.shape
    for o in range(outer):
        for j in range(count):
            k = index[j]
            for i in range(inner):
                out[o, k, i] += source[o, j, i]


def index_reduce(
    out: Array,
    self: Array,
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    include_self: bool = True,
) -> None:
    """Combine the slices of `source` into the slices that `index` names."""
    size = out.shape[dim] if out.ndim else 1
    places.check_range(index, size, lambda bad: errors.index_out_of_range_in_self())
    slots = _along(index, dim, source.shape)
    scatter_reduce(out, self, dim, slots, source, reduce, include_self)


def _along(index: Array, dim: int, shape: Sequence[int]) -> Array:
    """An index vector as an index for every element of `shape`."""
    if not shape:
        return index.reshape(())
    extent = [1] * len(shape)
    extent[dim] = -1
    return np.broadcast_to(index.reshape(extent), shape)


def index_copy(out: Array, self: Array, dim: int, index: Array, source: Array) -> None:
    """Copy the slices of `source` over the slices that `index` names."""
    start_from(out, self)
    size = out.shape[dim] if out.ndim else 1
    places.check_range(
        index,
        size,
        lambda bad: errors.slice_out_of_bounds(bad, dim % max(out.ndim, 1), size),
    )
    if not out.ndim:
        out[...] = source.reshape(())
    else:
        out[_slices(out, dim, index)] = source if source.ndim else source.reshape(-1)


def _slices(out: Array, dim: int, index: Array) -> tuple[Any, ...]:
    return (slice(None),) * (dim % out.ndim) + (index.reshape(-1),)


def index_fill(out: Array, self: Array, dim: int, index: Array, value: Any) -> None:
    """Fill the slices that `index` names."""
    start_from(out, self)
    size = out.shape[dim] if out.ndim else 1
    dim = dim % max(out.ndim, 1)
    slots = places.nonnegative(index.reshape(-1), dim, size)
    if slots.size:
        value = np.asarray(value).astype(out.dtype)
        out[_slices(out, dim, slots) if out.ndim else ...] = value


def put(out: Array, self: Array, index: Array, source: Array, accumulate: bool = False) -> None:
    """Write, or add, `source` at places of the flattened array."""
    start_from(out, self)
    if not index.size:
        return
    slots = places.nonnegative_flat(as_int64(index).reshape(-1), out.size)
    buffer = contiguous_of(out)
    values = np.ascontiguousarray(source).reshape(-1)
    combining.combine(buffer.reshape(-1), slots, values, "sum" if accumulate else "copy", True)
    settle(out, buffer)


def index_put(
    out: Array,
    self: Array,
    indices: Sequence[Array | None],
    values: Array,
    accumulate: bool = False,
) -> None:
    """out[indices] = values, or += with every repeated place counted."""
    start_from(out, self)
    plain = places.plain_indices(out.shape, indices)
    linear = places.linear_places(out.shape, plain)
    if linear is None:
        _put_apart(out, plain, values, accumulate)
        return
    first, stop, place = linear
    target = places.result_shape(out.shape, first, stop, place)
    spread = _spread(values, target)
    if not spread.size:
        return
    buffer = contiguous_of(out)
    folded = places.merged(buffer, first, stop)
    slots = place.reshape(-1)
    outer, _, inner = folded.shape
    given = spread.reshape(outer, slots.size, inner)
    if not accumulate:
        _copy_slices(as_bits(folded), slots, as_bits(np.ascontiguousarray(given)))
    elif out.dtype == np.bool_:
        folded[:, slots] |= given
    else:
        _add_slices(folded, slots, np.ascontiguousarray(given))
    settle(out, buffer)


@kernel
def _copy_slices(out, index, source):
    """out[o, index[j], :] = source[o, j, :], in order: a later slice wins."""
    outer, count, inner = source.shape
    for o in range(outer):
        for j in range(count):
            k = index[j]
            for i in range(inner):
                out[o, k, i] = source[o, j, i]


def _spread(values: Array, target: tuple[int, ...]) -> Array:
    """Broadcast values to the places indexed."""
    try:
        return np.broadcast_to(values, target)
    except ValueError:
        raise errors.values_do_not_broadcast(values.shape, target) from None


def _put_apart(out: Array, plain: list[Array | None], values: Array, accumulate: bool) -> None:
    """Indexed dims that do not stand together: NumPy's own indexing."""
    where = places.numpy_index(plain)
    given = _spread(values, np.broadcast_to(np.zeros((), np.uint8), out.shape)[where].shape)
    if not accumulate:
        out[where] = given
    elif out.dtype == np.bool_:
        out[where] |= given
    else:
        np.add.at(out, where, given)


def masked_fill(out: Array, self: Array, mask: Array, value: Any) -> None:
    """Write `value` where `mask` is true, self elsewhere."""
    filler = as_bits(np.asarray(value).astype(out.dtype).reshape(1))
    if mask.shape == self.shape == out.shape and _all_contiguous(out, self, mask):
        flat = as_bits(out).reshape(-1), as_bits(self).reshape(-1), mask.reshape(-1)
        _select(*flat, filler[0])
        return
    start_from(out, self)
    np.copyto(out, filler.view(out.dtype)[0], where=mask)


def _all_contiguous(*arrays: Array) -> bool:
    return all(array.flags.c_contiguous for array in arrays)


@kernel
def _select(out, self, mask, value):
    """A select without a branch vectorises."""
    for i in range(out.size):
        out[i] = value if mask[i] else self[i]


def masked_scatter(out: Array, self: Array, mask: Array, source: Array) -> None:
    """Write the elements of `source` in order to the places where `mask` is true."""
    start_from(out, self)
    mask = np.broadcast_to(mask, out.shape)
    count = int(np.count_nonzero(mask))
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    if count:
        out[mask] = source.reshape(-1)[:count]
