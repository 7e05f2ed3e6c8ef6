"""Plans of kernels whose results' shapes depend on the data: places and distinct values.

Their run returns what it found: pairs of a flat array and its sizes.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.planned import gatherer
from torchgen_out._runtime.kernels.cpu.small import BOOL, DTYPES, INT64, SMALL, as_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
UINT64 = np.dtype(np.uint64)
NONE = np.empty(0, np.int64)
Found = list[tuple[Any, ...]]


def plan_nonzero(self: TensorSpec) -> LaunchPlan:
    """Find the places of the elements that are not zero: a column for each dim, dense as a vector
    of its own, and a row for each element."""
    count, ndim, sizes = self.numel, len(self.sizes), np.array(self.sizes, np.int64)
    is_small = 0 < count * ndim <= FEW
    entry = list_places.entry_point((INT64, self.dtype if is_small else BOOL, INT64, int, int))

    def run(mask: Array, at: int, sizes: Array) -> Found:
        if at or mask.size != count:
            mask = mask[at : at + count]
        if mask.dtype != BOOL:
            mask = mask != 0
        found = int(np.count_nonzero(mask))
        out = np.empty(found * ndim, np.int64)
        if out.size:
            entry(out, mask, sizes, ndim, found)
        return [(out, (found, ndim), (1, found))]

    def run_few(mask: Array, at: int, sizes: Array) -> Found:
        """A few elements are not counted before."""
        out = np.empty(count * ndim, np.int64)
        given = mask if mask.size == count else mask[at : at + count]
        found = entry(out, given, sizes, ndim, count)
        return [(out[: found * ndim], (found, ndim), (1, found))]

    return LaunchPlan(run_few if is_small else run, sizes)


def plan_masked_select(self: TensorSpec, mask: TensorSpec) -> LaunchPlan:
    """Find the elements under a mask, each broadcast to the other's shape, in row-major order."""
    if mask.dtype != BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    sizes = shape.broadcast_shapes(mask.sizes, self.sizes)
    count, word = shape.numel(sizes), as_words(self).dtype
    read, read_mask = (gatherer(each.expanded(sizes)) for each in (self, mask))
    entry = pack_marked.entry_point((word, word, BOOL))

    def run(flat: Array, mask: Array, at: int, at_mask: int, params: None) -> Found:
        flat, mask = read(flat, at), read_mask(mask, at_mask)
        room = count if count <= FEW else int(np.count_nonzero(mask)) + 1
        out = np.empty(room, self.dtype)
        if word is self.dtype:
            found = entry(out, flat, mask)
        else:
            found = entry(out.view(word), flat.view(word), mask)
        return [(out[:found], (found,))]

    return LaunchPlan(run, None)


@kernel
def pack_marked(out, x, mask):
    """Write every element and step on after those wanted; returns how many there are.

    out: has room for one more than these, unless all are wanted.
    """
    found = 0
    for i in range(x.size):
        out[found] = x[i]
        found += 1 if mask[i] else 0
    return found


FEW = 1024
"""Coordinates for which there is always memory."""


@kernel
def list_places(out, mask, sizes, ndim, room):
    """Row by row of the mask: first the last coordinates, without a branch, then the others.

    out: a column of `room` elements for each dim; in the end they lie together. Returns how many
    places there are.
    """
    width = sizes[ndim - 1]
    counter, columns = np.zeros(ndim, np.int64), np.empty(width + 1, np.int64)
    place = 0
    for start in range(0, mask.size, width):
        row = mask[start : start + width]
        count = 0
        for j in range(width):
            columns[np.uint64(count)] = j
            count += 1 if row[j] != 0 else 0
        for dim in range(ndim - 1):
            part, coordinate = out[dim * room + place : dim * room + place + count], counter[dim]
            for n in range(count):
                part[n] = coordinate
        last = out[(ndim - 1) * room + place : (ndim - 1) * room + place + count]
        for n in range(count):
            last[n] = columns[n]
        place += count
        for dim in range(ndim - 2, -1, -1):
            counter[dim] += 1
            if counter[dim] < sizes[dim]:
                break
            counter[dim] = 0
    if place < room:
        for dim in range(1, ndim):
            for n in range(place):
                out[dim * place + n] = out[dim * room + n]
    return place


def plan_unique(
    self: TensorSpec, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> LaunchPlan | None:
    """Plan `unique` of dense int64 numbers, and of floats if nobody asks which of them each is."""
    count = prod(self.sizes)
    if self.dtype.kind == "f" and not return_inverse:
        return _plan_unique_sorted(self, return_counts)
    if self.dtype != INT64 or not self.is_contiguous or not 0 < count <= SMALL:
        return None
    pack = pack_places.entry_point((UINT64, INT64, int))
    list_runs = list_distinct.entry_point((*(INT64,) * 5, int))
    place_bits = max(count - 1, 1).bit_length()

    def order_of(values: Array) -> Array:
        keys = np.empty(count, np.uint64)
        if not pack(keys, values, place_bits):
            return np.argsort(values, kind="stable")
        keys.sort()
        keys &= np.uint64(2**place_bits - 1)
        return keys.view(np.int64)

    def run(a: Array, at: int, sizes: tuple[int, ...]) -> Found:
        values = a[at : at + count]
        if not return_inverse:
            values = np.sort(values)
        order = order_of(values) if return_inverse else NONE
        out, lengths = np.empty(count, np.int64), np.empty(count, np.int64)
        inverse = np.empty(count if return_inverse else 0, np.int64)
        found = list_runs(out, lengths, inverse, order, values, order.size)
        counts = lengths[:found].copy() if return_counts else NONE
        return [
            (out[:found].copy(), (found,)),
            (inverse, sizes if return_inverse else (0,)),
            (counts, counts.shape),
        ]

    return LaunchPlan(run, self.sizes)


def _plan_unique_sorted(self: TensorSpec, return_counts: bool) -> LaunchPlan | None:
    """The plan that sorts values, of which equal ones are then neighbours."""
    plan, count = plan_unique_consecutive(self, False, return_counts), self.numel
    if plan is None:
        return None

    def run(a: Array, at: int, sizes: tuple[int, ...]) -> Found:
        return plan.run(np.sort(a[at : at + count]), 0, sizes)  # type: ignore[no-any-return]

    return LaunchPlan(run, self.sizes)


@kernel
def pack_places(keys, values, place_bits):
    """Numbers that order as the values do, place below value; False if 64 bits are too few."""
    least, greatest = values[0], values[0]
    for i in range(values.size):
        least, greatest = min(least, values[i]), max(greatest, values[i])
    spread = np.uint64(greatest) - np.uint64(least)
    if spread >> np.uint64(64 - place_bits):
        return False
    for i in range(values.size):
        above = np.uint64(values[i]) - np.uint64(least)
        keys[i] = (above << np.uint64(place_bits)) | np.uint64(i)
    return True


@kernel
def list_distinct(out, lengths, inverse, order, values, ordered):
    """The distinct values, how often each stands there, and which of them each value is.

    order: the places of the values in ascending order, if `ordered`; else they ascend themselves
    and `inverse` is left out. Returns how many are distinct.
    """
    found = 0
    for n in range(values.size):
        place = np.uint64(order[n]) if ordered else np.uint64(n)
        value = values[place]
        if n == 0 or value != out[np.uint64(found - 1)]:
            out[np.uint64(found)] = value
            lengths[np.uint64(found)] = 0
            found += 1
        lengths[np.uint64(found - 1)] += 1
        if ordered:
            inverse[place] = found - 1
    return found


def plan_unique_consecutive(
    self: TensorSpec,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> LaunchPlan | None:
    """Plan `unique_consecutive` of all elements."""
    count = prod(self.sizes)
    if self.dtype not in DTYPES or not self.is_contiguous or not count or dim is not None:
        return None
    list_runs = list_runs_of_equals.entry_point((self.dtype, INT64, INT64, self.dtype))

    def run(a: Array, at: int, sizes: tuple[int, ...]) -> Found:
        values = np.empty(count + 1, a.dtype)
        inverse = np.empty(count if return_inverse else 0, np.int64)
        starts = np.empty(count + 1 if return_counts else 0, np.int64)
        found = list_runs(values, inverse, starts, a[at : at + count])
        counts = starts[1 : found + 1] - starts[:found] if return_counts else NONE
        return [
            (values[:found].copy(), (found,)),
            (inverse, sizes if return_inverse else (0,)),
            (counts, counts.shape),
        ]

    return LaunchPlan(run, self.sizes)


@kernel
def list_runs_of_equals(values, inverse, starts, self):
    """The first of each run, the run of each element, where runs begin; returns how many runs.

    Each element is written as if it began a run, and counts only if it does: nothing branches.
    values and starts have room for one more than there are; inverse and starts may be empty.
    """
    size, found = self.size, 0
    values[0] = self[0]
    for i in range(1, size):
        values[found + 1] = self[i]
        found += self[i] != self[i - 1]
    if inverse.size:
        run = 0
        inverse[0] = 0
        for i in range(1, size):
            run += self[i] != self[i - 1]
            inverse[i] = run
    if starts.size:
        run = 0
        starts[0] = 0
        for i in range(1, size):
            starts[run + 1] = i
            run += self[i] != self[i - 1]
        starts[run + 1] = size
    return found + 1


def plan_bincount(
    self: TensorSpec, weights: TensorSpec | None = None, minlength: int = 0
) -> LaunchPlan:
    """Find the number of occurrences of each integer, or the sums of their weights."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if len(self.sizes) != 1:
        raise not_countable()
    if weights is not None and weights.sizes != self.sizes:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    count = self.numel
    find, add = greatest_of.entry_point((INT64,)), count_each.entry_point((INT64, INT64))

    def run(a: Array, *others: Any) -> Found:
        at = others[0 if weights is None else 1]
        numbers = a[at : at + count].astype(np.int64, copy=False)
        greatest = find(numbers) if count else -1
        if count and greatest < 0:
            raise not_countable()
        length = greatest + 1 if greatest >= minlength else minlength
        if length > shape.MOST_STORED:
            raise errors.too_many_elements((length,))
        if weights is not None and count:
            given = others[0][others[2] : others[2] + count]
            kind = np.float32 if weights.dtype == np.float32 else np.float64
            sums = np.bincount(numbers, given, length).astype(kind, copy=False)
            return [(sums, sums.shape)]
        counts = np.zeros(length, np.int64)
        add(counts, numbers)
        return [(counts, counts.shape)]

    return LaunchPlan(run, None)


def not_countable() -> RuntimeError:
    """The error of `bincount` for what is no vector of natural numbers."""
    return RuntimeError("bincount only supports 1-d non-negative integral inputs.")


@kernel
def greatest_of(numbers):
    """The greatest number, -1 if one is negative."""
    greatest, least = numbers[0], numbers[0]
    for i in range(numbers.size):
        greatest, least = max(greatest, numbers[i]), min(least, numbers[i])
    return greatest if least >= 0 else -1


@kernel
def count_each(counts, numbers):
    """How often each number is there."""
    for i in range(numbers.size):
        counts[np.uint64(numbers[i])] += 1


def plan_repeat_interleave(repeats: TensorSpec, output_size: int | None = None) -> LaunchPlan:
    """Find index i repeats[i] times."""
    if len(repeats.sizes) != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    count, is_wide = repeats.numel, repeats.dtype == INT64
    add, fill = total_of.entry_point((INT64,)), list_repeated.entry_point((INT64, INT64))

    def run(a: Array, at: int, params: Any) -> Found:
        numbers = a if a.size == count else a[at : at + count]
        if not is_wide:
            numbers = numbers.astype(np.int64)
        total = add(numbers)
        if total < 0:
            raise errors.negative_repeats()
        if total > shape.MOST_STORED:
            raise errors.too_many_elements((total,))
        if output_size is not None and output_size != total:
            raise RuntimeError("allocated size does not match required size")
        out = np.empty(total, np.int64)
        fill(out, numbers)
        return [(out if is_wide else out.astype(repeats.dtype), (total,))]

    return LaunchPlan(run, None)


@kernel
def total_of(numbers):
    """The sum, or as much of it as is too many; -1 if a number is negative."""
    total, most = 0, np.int64(1) << 62
    for i in range(numbers.size):
        if numbers[i] < 0:
            return -1
        total = most if numbers[i] > most - total else total + numbers[i]
    return total


@kernel
def list_repeated(out, numbers):
    """Place i, numbers[i] times."""
    place = 0
    for i in range(numbers.size):
        for _ in range(numbers[i]):
            out[place] = i
            place += 1


def plan_one_hot(self: TensorSpec, num_classes: int = -1) -> LaunchPlan:
    """Find rows of zeros with a one at each class.

    Raises: RuntimeError for another dtype than int64, or classes outside [0, num_classes).
    """
    if self.dtype != INT64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    count = self.numel
    if not count and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    find = greatest_of.entry_point((INT64,))
    mark = mark_classes.entry_point((int, int, INT64, INT64, int))
    make = pool.any_size(INT64)

    def run(a: Array, at: int, sizes: tuple[int, ...]) -> Found:
        classes = a[at : at + count]
        width = class_count(find(classes), num_classes) if count else num_classes
        shape.check_storable((*sizes, width))
        out = make(count * width)
        threads.run_ranges(mark, count, out.size, out, classes, width)
        return [(out, (*sizes, width))]

    return LaunchPlan(run, self.sizes)


def class_count(greatest: int, num_classes: int) -> int:
    """How many classes there are. greatest: the greatest one, -1 if one is negative.

    Raises: RuntimeError if a class is negative or beyond `num_classes`.
    """
    if greatest < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        return greatest + 1
    if greatest >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return num_classes


MARKED = 64
"""Rows that are cleared at once: they are in the cache when they are marked."""


@kernel
def mark_classes(start, stop, out, classes, width):
    """Rows of zeros, with a one in each."""
    for first in range(start, stop, MARKED):
        end = min(first + MARKED, stop)
        for j in range(first * width, end * width):
            out[np.uint64(j)] = 0  # of an index that might be negative, this is no `memset`
        for i in range(first, end):
            out[np.uint64(i * width + classes[i])] = 1
