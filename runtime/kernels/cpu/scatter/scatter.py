"""Writing at places given by index tensors or under a mask; reading is in `reading.py`.

All of these may run in place (`out is self`). What combines values by product, mean or order is
in `combining.py`, over flat places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import (
    as_bits,
    as_int64,
    broadcast,
    contiguous_of,
    copy_parts,
    fold,
    folded_shape,
    is_last,
    rows_of,
    settle,
    start_from,
)
from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.indexing.reading import within
from torchgen_out._runtime.kernels.cpu.indexing.reading_plans import SCATTERED
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.scatter import (
    combining,
    index_put_plan,
    slice_plans,
    slices,
    writing_plans,
)

Array = Any


@planned(writing_plans.plan_scatter)
def scatter(out: Array, self: Array, dim: int, index: Array, src: Array) -> None:
    """out[o, index[o, j, i], i] = src[o, j, i] around `dim`; a later write wins."""
    start_from(out, self)
    if index.size:
        src = as_bits(_cut(src, index))
        _scatter_into(as_bits(out), dim, index, src, _write_rows, slices.write)


@planned(writing_plans.plan_scatter_number)
def scatter_value(out: Array, self: Array, dim: int, index: Array, value: Any) -> None:
    """out[o, index[o, j, i], i] = value around `dim`."""
    src = broadcast(np.full((), value).astype(out.dtype), index.shape)
    scatter(out, self, dim, index, src)


@planned(writing_plans.plan_scatter_add)
def scatter_add(out: Array, self: Array, dim: int, index: Array, src: Array) -> None:
    """out[o, index[o, j, i], i] += src[o, j, i] around `dim`."""
    start_from(out, self)
    if index.size:
        _scatter_into(out, dim, index, _cut(src, index), _add_rows, slices.add)


def _cut(src: Array, index: Array) -> Array:
    """The part of `src` that `index` covers."""
    if src.shape == index.shape:
        return src
    return src[tuple(map(slice, index.shape))] if src.ndim == index.ndim else src.reshape(-1)[:1]


def _scatter_into(
    out: Array, dim: int, index: Array, src: Array, write_rows: Any, write: Any
) -> None:
    """Run a kernel on the part of `out` that `index` can reach."""
    target = within(out, index.shape, dim)
    buffer, index = contiguous_of(target), as_int64(index)
    if is_last(index, dim):
        fine = threads.run_rows(write_rows, (rows_of(buffer), rows_of(index), rows_of(src)))
    else:
        folded = buffer.reshape(folded_shape(buffer.shape, dim))
        fine = slices.run(write, index.size, folded, fold(index, dim), fold(src, dim))
    if not fine:
        raise places.bad_scatter_index(index, dim, out.shape[dim] if out.ndim else 1)
    settle(target, buffer)


@kernel
def _write_rows(out, index, src):
    """Write along the last dim, one element a row or more. False for a place outside."""
    size = np.uint64(out.shape[1])
    for row in range(index.shape[0]):
        for j in range(index.shape[1]):
            k = np.uint64(index[row, j])
            if k >= size:
                return False
            out[row, k] = src[row, j]
    return True


@kernel
def _add_rows(out, index, src):
    """Add along the last dim; a sum of booleans is true when one of them is."""
    size = np.uint64(out.shape[1])
    for row in range(index.shape[0]):
        for j in range(index.shape[1]):
            k = np.uint64(index[row, j])
            if k >= size:
                return False
            out[row, k] += src[row, j]
    return True


@planned(writing_plans.plan_scatter_combine)
def scatter_combine(
    out: Array, self: Array, dim: int, index: Array, src: Array, reduce: str
) -> None:
    """Combine by `add` or `multiply`."""
    if reduce == "add":
        scatter_add(out, self, dim, index, src)
    else:
        scatter_reduce(out, self, dim, index, src, "prod", True)


@planned(writing_plans.plan_scatter_number_combine)
def scatter_value_combine(
    out: Array, self: Array, dim: int, index: Array, value: Any, reduce: str
) -> None:
    """Combine a number by `add` or `multiply`."""
    src = broadcast(np.full((), value).astype(out.dtype), index.shape)
    scatter_combine(out, self, dim, index, src, reduce)


@planned(writing_plans.plan_scatter_reduce)
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
    target = within(out, index.shape, dim)
    buffer, slots = contiguous_of(target), fold(as_int64(index), dim)
    flat = np.empty(slots.size, np.int64)
    size = buffer.shape[dim] if buffer.ndim else 1
    if not _flat_places(flat.reshape(slots.shape), slots, size):
        raise places.bad_scatter_index(index, dim, size)
    values = np.ascontiguousarray(_cut(src, index)).reshape(-1)
    combining.combine(buffer.reshape(-1), flat, values, reduce, include_self)
    settle(target, buffer)


@kernel
def _flat_places(flat, index, size):
    """The place in the flattened array of each element of a folded index."""
    outer, count, inner = index.shape
    fine = True
    for o in range(outer):
        if inner == 1:
            for j in range(count):
                k = index[o, j, 0]
                fine &= np.uint64(k) < np.uint64(size)
                flat[o, j, 0] = o * size + k
            continue
        for j in range(count):
            for i in range(inner):
                k = index[o, j, i]
                fine &= np.uint64(k) < np.uint64(size)
                flat[o, j, i] = (o * size + k) * inner + i
    return fine


@planned(writing_plans.plan_index_add)
def index_add(
    out: Array, self: Array, dim: int, index: Array, source: Array, alpha: Any = 1
) -> None:
    """Add alpha times the slices of `source` to the slices that `index` names."""
    start_from(out, self)
    slots = as_int64(index).reshape(-1)
    places.check_range(slots, out.shape[dim] if out.ndim else 1, _index_add_error(out, dim))
    if not (slots.size and out.size):
        return
    buffer = contiguous_of(out)
    if alpha != 1:
        source = source * np.full((), alpha).astype(source.dtype)
    if is_last(out, dim):
        threads.run_rows(_add_columns, (rows_of(buffer), rows_of(source)), slots, work=SCATTERED)
    else:
        folded = buffer.reshape(folded_shape(out.shape, dim))
        slices.run(slices.add_slices, source.size, folded, fold(source, dim), slots)
    settle(out, buffer)


def _index_add_error(out: Array, dim: int) -> Any:
    if out.ndim < 2:
        return lambda bad: errors.index_out_of_range_in_self()
    return lambda bad: errors.scatter_index_out_of_bounds(bad, dim % out.ndim, out.shape[dim])


@kernel
def _add_columns(out, source, index):
    """out[o, index[j]] += source[o, j]."""
    for o in range(source.shape[0]):
        target, row = out[o], source[o]
        for j in range(index.size):
            target[np.uint64(index[j])] += row[j]


@planned(slice_plans.plan_index_reduce)
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
    return broadcast(index.reshape(extent), tuple(shape))


@planned(slice_plans.plan_index_copy)
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
        out[...] = source.reshape(-1)[-1] if source.size else out
    else:
        out[_slices(out, dim, index)] = source if source.ndim else source.reshape(-1)


def _slices(out: Array, dim: int, index: Array) -> tuple[Any, ...]:
    return (slice(None),) * (dim % out.ndim) + (index.reshape(-1),)


@planned(slice_plans.plan_index_fill)
def index_fill(out: Array, self: Array, dim: int, index: Array, value: Any) -> None:
    """Fill the slices that `index` names."""
    start_from(out, self)
    size = out.shape[dim] if out.ndim else 1
    dim = dim % max(out.ndim, 1)
    slots = places.nonnegative(index.reshape(-1), dim, size)
    if slots.size:
        value = np.asarray(value).astype(out.dtype)
        out[_slices(out, dim, slots) if out.ndim else ...] = value


@planned(slice_plans.plan_put)
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


@planned(index_put_plan.plan_index_put)
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
    spread = _spread(values, places.result_shape(out.shape, first, stop, place))
    if not spread.size:
        return
    buffer = contiguous_of(out)
    folded = places.merged(buffer, first, stop)
    slots = place.reshape(-1)
    outer, size, inner = folded.shape
    if inner == 1:
        given = _dense(spread).reshape(outer, slots.size)
        put_columns = _add_columns if accumulate else _copy_columns
        threads.run_rows(put_columns, (folded.reshape(outer, size), given), slots)
    else:
        if place.ndim == 1 and spread.strides[first] == 0:
            spread = spread[(slice(None),) * first + (slice(1),)]  # one slice for all places
        given = _dense(spread).reshape(outer, -1, inner)
        put_slices = slices.add_slices if accumulate else slices.copy_slices
        slices.run(put_slices, outer * slots.size * inner, folded, given, slots)
    settle(out, buffer)


def _dense(spread: Array) -> Array:
    """The array itself if it is contiguous, else a copy."""
    if spread.flags.c_contiguous:
        return spread
    dense = np.empty(spread.shape, spread.dtype)
    copy_parts((dense, spread))
    return dense


@kernel
def _copy_columns(out, source, index):
    """out[o, index[j]] = source[o, j], in order: a later one wins."""
    for o in range(source.shape[0]):
        target, row = out[o], source[o]
        for j in range(index.size):
            target[np.uint64(index[j])] = row[j]


def _spread(values: Array, target: tuple[int, ...]) -> Array:
    """Broadcast values to the places indexed."""
    if values.shape == target:
        return values
    try:
        return broadcast(values, target)
    except ValueError:
        raise errors.values_do_not_broadcast(values.shape, target) from None


def _put_apart(out: Array, plain: list[Array | None], values: Array, accumulate: bool) -> None:
    """Indexed dims that do not stand together: NumPy's own indexing."""
    where = places.numpy_index(out.shape, plain)
    given = _spread(values, np.broadcast_to(np.zeros((), np.uint8), out.shape)[where].shape)
    if not accumulate:
        out[where] = given
    else:
        with np.errstate(all="ignore"):
            np.add.at(out, where, given)
