"""Reading at places given by index tensors; writing is in `scatter.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cpu.folding import as_bits, contiguous
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans, places
from torchgen_out._runtime.kernels.cpu.indexing.reading_loops import (
    select_lines,
)
from torchgen_out._runtime.kernels.cpu.planned import (
    PlannedKernel,
    on_copies,
    or_arrays,
    planned,
    view_of,
)
from torchgen_out._runtime.kernels.cpu.small import INT64, as_words, entry_for, over_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import TypedKernel

Array = Any

SCATTERED = 3
"""How much more an element costs that is read by itself than one that is copied with others."""


def plan_reading(
    loop: TypedKernel,
    result: TensorSpec,
    index: TensorSpec,
    lines: int,
    numbers: tuple[int, ...],
    refuse: Any,
) -> LaunchPlan:
    """The plan of loop(start, stop, out, self, index, at, at_index, *numbers) over `lines`.

    refuse: makes the error of indices of which one is outside.
    """
    entry, work = _entry(loop, as_words(result).dtype, len(numbers)), SCATTERED * result.numel

    def run(*args: Any) -> None:
        if not entry(0, lines, *args[:-1], *numbers):
            raise refuse(args[2][args[4] :][: index.numel])

    def run_parts(target: Array, a: Array, slots: Array, at: int, start: int, _: Any) -> None:
        if slots.dtype != INT64:
            slots, start = slots[start : start + index.numel].astype(np.int64), 0
        if not threads.run_ranges(entry, lines, work, target, a, slots, at, start, *numbers):
            raise refuse(slots[start : start + index.numel])

    is_short = work < 2 * threads.GRAIN and index.dtype == INT64
    return over_words(LaunchPlan(run if is_short else run_parts, None), result)


@cache
def _entry(loop: TypedKernel, word: Any, numbers: int) -> Any:
    return entry_for(loop, word, int, int, word, word, INT64, *(int,) * (2 + numbers))


@planned(any_strides=True)
def slices(result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec) -> LaunchPlan:
    """Write slices by their numbers; a few of an operand with gaps by NumPy, without a copy."""
    outer, size, inner = sizes_around(self.sizes, dim)
    count = index.numel
    refuse = lambda slots: errors.index_out_of_range_in_self()  # noqa: E731
    if not self.is_contiguous and 4 * count < size:
        return LaunchPlan(_take_by_numpy(result, self, dim, index), None)
    lines = outer if inner == 1 else outer * count
    plan = plan_reading(select_lines, result, index, lines, (count, size, inner), refuse)
    return on_copies(plan, 1, [self, index])


def _take_by_numpy(result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec) -> Any:
    def run(out: Array, a: Array, b: Array, at: int, at_index: int, params: Any) -> None:
        source, slots = view_of(a, at, self), view_of(b, at_index, index).reshape(-1)
        places.check_range(slots, source.shape[dim], lambda _: errors.index_out_of_range_in_self())
        before = (slice(None),) * (dim % source.ndim)
        out.reshape(result.sizes)[...] = source[(*before, slots)].reshape(result.sizes)

    return run


@kernel
def _gather_row(out, index, self):
    """One row is read at all places. False for a place outside."""
    size = np.uint64(self.size)
    for j in range(index.size):
        k = np.uint64(index[j])
        if k >= size:
            return False
        out[j] = self[k]
    return True


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """Return self[indices] as a new array, whose dims lie as self's and the indices' do."""
    if len(indices) == 1 and _is_full_mask(self, indices[0]):
        return _compress(self, indices[0])
    plain = places.plain_indices(self.shape, indices)
    if self.flags.c_contiguous and all(i is None or i.flags.c_contiguous for i in plain):
        return _read(self, plain)
    order = places.result_order(self, plain)
    if order == sorted(order):
        return contiguous(_read(self, plain))
    if len(order) == self.ndim and sum(index is not None for index in plain) == 1:
        plain += [None] * (self.ndim - len(plain))  # dims of the result are those of self
        found = _read(self.transpose(order), [plain[dim] for dim in order])
        return found.transpose(np.argsort(order))
    found = _read(self, plain).transpose(order)
    return contiguous(found).transpose(np.argsort(order))


def _read(self: Array, plain: list[Array | None]) -> Array:
    """The same, row by row. plain: as `places.plain_indices` returns them."""
    linear = places.linear_places(self.shape, plain)
    if linear is None:
        return self[places.numpy_index(self.shape, plain)]
    first, stop, place = linear
    shape = places.result_shape(self.shape, first, stop, place)
    if stop - first == 1:
        out = np.empty(shape, self.dtype)
        if out.size:
            sizes = *shape[:first], place.size, *shape[first + place.ndim :]
            slices(out.reshape(sizes), self, first, place.reshape(-1))
        return out
    if not self.flags.c_contiguous:
        return self[places.numpy_index(self.shape, plain)]
    merged = places.merged(self, first, stop)
    if not place.size or not merged.size:
        return np.empty(shape, self.dtype)
    if merged.shape[0] == merged.shape[2] == 1:
        out = np.empty(shape, self.dtype)
        _take_flat(out, self, place)
        return out
    return merged.take(place.reshape(-1), axis=1, mode="clip").reshape(shape)


def _is_full_mask(self: Array, mask: Array | None) -> bool:
    return (
        mask is not None
        and mask.dtype in (np.bool_, np.uint8)
        and mask.shape == self.shape
        and mask.ndim > 0
    )


def _take_flat(out: Array, self: Array, place: Array) -> None:
    """The elements at valid places of the flattened array. out, place: contiguous."""
    if out.size:
        arrays = as_bits(out).reshape(-1), place.reshape(-1)
        threads.run_rows(_gather_row, arrays, as_bits(contiguous(self)).reshape(-1))


@or_arrays(listing_plans.plan_masked_select, results=0, any_order=True)
def masked_select(self: Array, mask: Array) -> Array:
    """Return the elements where `mask` is true, in row-major order."""
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if self.shape != mask.shape:
        mask, self = _broadcast_pair(mask, self)
    return _compress(self, mask)


def _compress(self: Array, mask: Array) -> Array:
    """The elements under a mask of the same shape."""
    count = int(np.count_nonzero(mask))
    out = np.empty(count, self.dtype)
    flags = contiguous(mask).reshape(-1).view(np.uint8)
    if count:
        _pack(as_bits(out), as_bits(contiguous(self).reshape(-1)), flags)
    return out


@kernel
def _pack(out, self, mask):
    """Write every element and step on after those wanted: no branch to mispredict."""
    place = 0
    last = out.size - 1
    for i in range(self.size):
        out[place if place < last else last] = self[i]
        place += 1 if mask[i] else 0
        if place > last:
            break


def _broadcast_pair(mask: Array, self: Array) -> tuple[Array, Array]:
    ndim = max(mask.ndim, self.ndim)
    a, b = ((1,) * (ndim - x.ndim) + x.shape for x in (mask, self))
    for dim in reversed(range(ndim)):
        if a[dim] != b[dim] and a[dim] != 1 and b[dim] != 1:
            raise errors.broadcast_mismatch(a[dim], b[dim], dim)
    return tuple(np.broadcast_arrays(mask, self))


nonzero = PlannedKernel(listing_plans.plan_nonzero, results=0)

repeat_interleave = PlannedKernel(listing_plans.plan_repeat_interleave, results=0)

one_hot = PlannedKernel(listing_plans.plan_one_hot, results=0)
