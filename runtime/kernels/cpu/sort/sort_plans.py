"""Plans of `sort`, `topk` and order statistics of a few elements, mostly of float32.

Each element becomes a number of 64 bits whose upper half orders as the element does and whose lower
half is its place. These numbers are sorted row by row, and what is asked for is read off: two
compiled loops around one call of NumPy's vectorised sort, whatever the dim and the strides.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.folded import sizes_around, strides_around
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import gatherer
from torchgen_out._runtime.kernels.cpu.small import is_small
from torchgen_out._runtime.kernels.cpu.sort.top import HEAP_SHARE, top_of_rows
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
SMALL = 1 << 14
NARROW, LANES = 9, 16  # rows of so few elements are sorted side by side, so many at once
LONG, LONG_SHARE = 4096, 256  # of longer rows, less than this part is found faster by a scan
LONGEST = 256  # the longest row that is sorted for a few of its elements; of others these are apart
MOST_COMPARED = 32  # elements of a row compared each with each
FLOAT32, FLOAT64, INT64, UINT64 = map(np.dtype, ("float32", "float64", "int64", "uint64"))
WHOLE = tuple(map(np.dtype, ("int64", "int32", "int16", "int8", "uint8")))

KTH, MEDIAN, NANMEDIAN = 0, 1, 2  # which element an order statistic asks for


def plan_ordered(
    values: TensorSpec,
    indices: TensorSpec,
    self: TensorSpec,
    k: int | None,
    dim: int,
    descending: bool,
) -> LaunchPlan | None:
    """Plan sorting, which is always stable, or the first k of short rows."""
    if k is None:
        if not values.is_contiguous:  # its dims in the order in which they lie
            order = values.memory_order
            self, dim = self.permuted(order), order.index(dim % len(order))
        return _plan_first(self, sizes_around(self.sizes, dim)[1], dim, descending)
    size = sizes_around(self.sizes, dim)[1]
    if not k or (size > LONG and k * LONG_SHARE <= size):
        return None
    return _plan_first(self, k, dim, descending)


def plan_order_statistic(
    values: TensorSpec,
    indices: TensorSpec | None,
    self: TensorSpec,
    k: int | None,
    dim: int | None,
    keepdim: bool,
    skips_nan: bool,
) -> LaunchPlan | None:
    """Plan an order statistic along a dim, or of all elements."""
    which, place = (NANMEDIAN if skips_nan else MEDIAN, 0) if k is None else (KTH, k - 1)
    if dim is None:
        if not self.is_contiguous:
            return None
        self, dim = TensorSpec(self.dtype, (prod(self.sizes),), (1,)), 0
    found = _plan_one(self, dim, which, place)
    return found if found is None or indices is not None else _without_places(found)


def _without_places(plan: LaunchPlan) -> LaunchPlan:
    """The plan of a single value whose place nobody asks for."""
    run_one, indices = plan.run, np.empty(1, np.int64)

    def run(value: Array, self: Array, at: int, wanted: Any) -> None:
        run_one(value, indices, self, at, wanted)

    return LaunchPlan(run, plan.params)


def plan_mode(
    values: TensorSpec, indices: TensorSpec, self: TensorSpec, dim: int = -1, keepdim: bool = False
) -> LaunchPlan | None:
    """Plan `mode`, of short rows of whole numbers by comparing each with each."""
    if (alone := _plan_alone(self, dim)) is not None:
        return alone
    shape = sizes_around(self.sizes, dim)
    if self.dtype == INT64 and shape[1] <= MOST_COMPARED and is_small(values, self):
        results = [out(i, shape[0], shape[2]) for i in range(2)]
        views = *results, operand(0, *shape)
        return plan_loop(most_frequent, [values, indices], [self], *views)
    walk = _walk(self, dim)
    if walk is None:
        return None
    take = take_most_frequent.entry_point((FLOAT32, INT64, UINT64, FLOAT32, *(int,) * 7))
    return LaunchPlan(_make_run(walk, False, take), ())


Walk = tuple[int, ...]
"""Sizes before, at and behind the dim, then the strides of self there."""


def _walk(self: TensorSpec, dim: int, dtypes: Container[Any] = (FLOAT32,)) -> Walk | None:
    if self.dtype not in dtypes or not 0 < prod(self.sizes) <= SMALL:
        return None
    shape, strides = sizes_around(self.sizes, dim), strides_around(self.sizes, self.strides, dim)
    return None if strides is None else (*shape, *strides)


def _plan_first(self: TensorSpec, count: int, dim: int, descending: bool) -> LaunchPlan | None:
    """The plan for the first `count` of each row in order."""
    dtype = self.dtype
    if (alone := _plan_alone(self, dim)) is not None:
        return alone
    walk = _walk(self, dim, (*WHOLE, FLOAT32, FLOAT64))
    if walk is None:
        return None
    take = take_first.entry_point((dtype, INT64, UINT64, dtype, *(int,) * 8))
    make = _make_run if dtype == FLOAT32 else partial(_make_run_of, dtype)
    return LaunchPlan(make(walk, descending, take, count), (count,))


def _plan_alone(self: TensorSpec, dim: int) -> LaunchPlan | None:
    """The plan for rows of one element, which is all that is asked for; None of other rows."""
    numel, gather = self.numel, gatherer(self)
    if not numel or sizes_around(self.sizes, dim)[1] != 1:
        return None

    def run(values: Array, indices: Array, self: Array, at: int, wanted: Any) -> None:
        values[:numel] = gather(self, at)
        indices[:numel] = 0

    return LaunchPlan(run, ())


def _plan_one(self: TensorSpec, dim: int, which: int, place: int) -> LaunchPlan | None:
    """The plan for one element of each row."""
    if (alone := _plan_alone(self, dim)) is not None:
        return alone
    walk = _walk(self, dim)
    if walk is None:
        return None
    take = take_one.entry_point((FLOAT32, INT64, UINT64, FLOAT32, *(int,) * 9))
    return LaunchPlan(_make_run(walk, False, take), (which, place))


def _make_run(
    walk: Walk, descending: bool, take: Callable[..., Any], count: int = SMALL
) -> Callable[..., None]:
    """Sort the rows, or the first `count` of each, then have `take` read off the results, by the
    numbers of the plan."""
    pack = pack_rows.entry_point((UINT64, FLOAT32, *(int,) * 8))
    outer, size, inner = walk[:3]
    rows, flip = outer * inner, 0xFFFFFFFF if descending else 0
    put_in_order = _make_order(rows, size, count)

    def run(values: Array, indices: Array, self: Array, at: int, wanted: Any) -> None:
        keys = np.empty(rows * size, np.uint64)
        pack(keys, self, at, *walk, flip)
        put_in_order(keys)
        take(values, indices, keys, self, at, *walk, *wanted)

    return run


def _make_order(rows: int, size: int, count: int) -> Callable[[Array], None]:
    """What sorts the first `count` elements of rows, and others where that takes no longer."""
    if size <= NARROW and rows >= LANES:
        return partial(sort_side_by_side.entry_point((int, int, UINT64)), rows, size)
    if size <= LONGEST or 2 * count > size:
        return lambda keys: (keys if rows == 1 else keys.reshape(rows, size)).sort()

    def put_apart(keys: Array) -> None:
        lines = keys.reshape(rows, size)
        lines.partition(count - 1)
        lines[:, :count].sort()

    return put_apart


def _make_run_of(
    dtype: Any, walk: Walk, descending: bool, take: Callable[..., Any], count: int
) -> Callable[..., None]:
    """The same of whole numbers, which mostly lie within a range of 32 bits, and of float64."""
    numbers = UINT64, dtype, *(int,) * 8
    pack = pack_whole.entry_point(numbers) if dtype in WHOLE else None
    order = (order_floats if dtype == FLOAT64 else order_whole).entry_point(numbers)
    outer, size, inner = walk[:3]
    rows, flip = outer * inner, 0xFFFFFFFF if descending else 0
    put_in_order = _make_order(rows, size, count)
    is_dense = inner == 1 and walk[4] == 1 and (rows == 1 or walk[3] == size)
    is_scanned = is_dense and count * HEAP_SHARE <= size

    def run(values: Array, indices: Array, self: Array, at: int, wanted: Any) -> None:
        keys = np.empty(rows * size, np.uint64)
        if pack is not None and pack(keys, self, at, *walk, flip):
            put_in_order(keys)
        elif is_scanned:
            lines = self[at : at + rows * size].reshape(rows, size)
            results = (each[: rows * count].reshape(rows, count) for each in (values, indices))
            top_of_rows(*results, lines, descending)
            return
        else:
            order(keys, self, at, *walk, descending)
            lines = keys.reshape(rows, size)
            places = lines.argsort(axis=1)  # a stable one takes several times as long
            settle_ties(places, lines, *np.empty((2, size), np.int64))
            keys = places.reshape(-1).view(np.uint64)
        take(values, indices, keys, self, at, *walk, *wanted)

    return run


@kernel
def sort_side_by_side(rows, size, keys):
    """Sort rows of few keys, LANES of them at once: as elements are compared whatever they are,
    nothing branches. With the last rows, some are sorted again."""
    lines = np.empty(NARROW * LANES, np.uint64)
    step = np.uint64(LANES)
    for first in range(0, rows, LANES):
        begin = min(first, rows - LANES) * size
        some = keys[begin : begin + LANES * size]
        for k in range(size):
            for lane in range(LANES):
                lines[np.uint64(k * LANES + lane)] = some[np.uint64(lane * size + k)]
        for end in range(size - 1, 0, -1):
            for k in range(end):
                at = np.uint64(k * LANES)
                for lane in range(np.uint64(LANES)):
                    low, high = lines[at + lane], lines[at + lane + step]
                    lines[at + lane] = low if low < high else high
                    lines[at + lane + step] = high if low < high else low
        for lane in range(LANES):
            for k in range(size):
                some[np.uint64(lane * size + k)] = lines[np.uint64(k * LANES + lane)]


@kernel
def settle_ties(order, rows, run_of, begins):
    """Put the places of equal neighbours into ascending order; NaN equals NaN here.

    run_of, begins: room for a row. Nothing is sorted: the places are counted out to their runs.
    (An array's `sort` takes memory, and a kernel that does so is compiled in every process.)
    """
    count = rows.shape[1]
    for row in range(rows.shape[0]):
        # 1. Look for a tie.
        last = 1
        while last < count and _differ(rows, order, row, last):
            last += 1
        if last >= count:
            continue
        # 2. Number the runs of equal values, and note where they begin.
        run = 0
        begins[0] = 0
        run_of[order[row, 0]] = 0
        for i in range(1, count):
            if _differ(rows, order, row, i):
                run += 1
                begins[run] = i
            run_of[order[row, i]] = run
        # 3. Give the places, as they ascend, to their runs.
        for i in range(count):
            run = run_of[i]
            order[row, begins[run]] = i
            begins[run] += 1


@kernel
def _differ(rows, order, row, i):
    """Whether value i of the sorted row is another than the one before it."""
    before, value = rows[row, order[row, i - 1]], rows[row, order[row, i]]
    return value != before and (value == value or before == before)


@kernel
def pack_whole(keys, self, at, outer, size, inner, outer_step, step, inner_step, flip):
    """As pack_rows, of whole numbers, counted from the least of a row; False if they lie too far
    apart."""
    mask, upper = np.uint64(flip), np.uint64(32)
    for o in range(outer):
        for i in range(inner):
            row = o * inner + i
            start = at + o * outer_step + i * inner_step
            target = keys[row * size : (row + 1) * size]
            source = self[start : start + (size - 1) * step + 1]
            least = np.int64(source[0])
            greatest = least
            if step == 1:
                for j in range(size):
                    value = np.int64(source[j])
                    least, greatest = min(least, value), max(greatest, value)
            else:
                for j in range(size):
                    value = np.int64(source[j * step])
                    least, greatest = min(least, value), max(greatest, value)
            if (np.uint64(greatest) - np.uint64(least)) >> upper:
                return False
            if step == 1:
                for j in range(size):
                    key = (np.uint64(np.int64(source[j])) - np.uint64(least)) ^ mask
                    target[j] = (key << upper) | np.uint64(j)
            else:
                for j in range(size):
                    key = (np.uint64(np.int64(source[j * step])) - np.uint64(least)) ^ mask
                    target[j] = (key << upper) | np.uint64(j)
    return True


@kernel
def order_whole(keys, self, at, outer, size, inner, outer_step, step, inner_step, descending):
    """Numbers of 64 bits without a sign that order as whole numbers do, or the other way round."""
    rising, falling = np.uint64(0x8000000000000000), np.uint64(0x7FFFFFFFFFFFFFFF)
    mask = falling if descending else rising
    for row in range(outer * inner):
        start = at + row // inner * outer_step + row % inner * inner_step
        for j in range(size):
            keys[row * size + j] = np.uint64(np.int64(self[start + j * step])) ^ mask


@kernel
def order_floats(keys, self, at, outer, size, inner, outer_step, step, inner_step, descending):
    """The same of float64: NaN last, -0 as 0."""
    bits = self.view(np.uint64)
    top, ones = np.uint64(0x8000000000000000), np.uint64(0xFFFFFFFFFFFFFFFF)
    for row in range(outer * inner):
        start = at + row // inner * outer_step + row % inner * inner_step
        for j in range(size):
            k = start + j * step
            key = bits[k] ^ (ones if bits[k] >> np.uint64(63) else top)
            key = top if self[k] == 0 else key
            key = ones if self[k] != self[k] else key
            keys[row * size + j] = key ^ ones if descending else key


@kernel
def float_key(value, bits):
    """A number of 32 bits that orders as the float of these bits does: NaN last, -0 as 0."""
    key = bits ^ (np.uint32(0xFFFFFFFF) if bits >> np.uint32(31) else np.uint32(0x80000000))
    key = np.uint32(0x80000000) if value == 0 else key
    return np.uint32(0xFFFFFFFF) if value != value else key


@kernel
def pack_rows(keys, self, at, outer, size, inner, outer_step, step, inner_step, flip):
    """Upper half: the key, turned round by `flip`; lower half: the place in the row."""
    bits = self.view(np.uint32)
    mask = np.uint64(flip)
    for o in range(outer):
        for i in range(inner):
            row = o * inner + i
            start = at + o * outer_step + i * inner_step
            target = keys[row * size : (row + 1) * size]
            if step == 1:
                source, words = self[start : start + size], bits[start : start + size]
                for j in range(size):
                    key = np.uint64(float_key(source[j], words[j])) ^ mask
                    target[j] = (key << np.uint64(32)) | np.uint64(j)
            else:
                for j in range(size):
                    k = start + j * step
                    key = np.uint64(float_key(self[k], bits[k])) ^ mask
                    target[j] = (key << np.uint64(32)) | np.uint64(j)


@kernel
def take_first(
    values, indices, keys, self, at, outer, size, inner, outer_step, step, inner_step, count
):
    """The first `count` elements of each row, and their places."""
    for o in range(outer):
        for i in range(inner):
            row = o * inner + i
            start, target = at + o * outer_step + i * inner_step, o * count * inner + i
            ordered = keys[row * size : row * size + count]
            for j in range(count):
                place = np.int64(ordered[j] & np.uint64(0xFFFFFFFF))
                values[target + j * inner] = self[start + place * step]
                indices[target + j * inner] = place


@kernel
def take_one(
    values, indices, keys, self, at, outer, size, inner, outer_step, step, inner_step, which, place
):
    """The element of each row at a place in the order, and where an equal one stands first."""
    upper = np.uint64(32)
    for o in range(outer):
        for i in range(inner):
            row = o * inner + i
            ordered = keys[row * size : (row + 1) * size]
            n = place
            if which != KTH:
                numbers = size
                while numbers > 0 and ordered[numbers - 1] >> upper == np.uint64(0xFFFFFFFF):
                    numbers -= 1
                # Behind the numbers stands the first NaN, if there is one.
                n = (max(numbers, 1) - 1) // 2
                n = numbers if which == MEDIAN and numbers < size else n
            while n > 0 and ordered[n - 1] >> upper == ordered[n] >> upper:
                n -= 1
            first = np.int64(ordered[n] & np.uint64(0xFFFFFFFF))
            start = at + o * outer_step + i * inner_step
            values[row] = self[start + first * step]
            indices[row] = first


@kernel
def take_most_frequent(
    values, indices, keys, self, at, outer, size, inner, outer_step, step, inner_step
):
    """The last place of the first longest run of equal elements; NaN is equal to nothing."""
    upper = np.uint64(32)
    for row in range(outer * inner):
        ordered = keys[row * size : (row + 1) * size]
        longest, length, n = 0, 0, 0
        for i in range(size):
            length += 1
            key = ordered[i] >> upper
            ends = i + 1 == size or key != ordered[i + 1] >> upper
            if ends or key == np.uint64(0xFFFFFFFF):
                if length > longest:
                    longest, n = length, i
                length = 0
        place = np.int64(ordered[n] & np.uint64(0xFFFFFFFF))
        start = at + row // inner * outer_step + row % inner * inner_step
        values[row] = self[start + place * step]
        indices[row] = place


@kernel
def most_frequent(values, indices, self):
    """The smallest of the most frequent whole numbers of each line, and its last place."""
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            most = 0
            for j in range(self.shape[1]):
                value, count, last = self[o, j, i], 0, j
                for k in range(self.shape[1]):
                    is_equal = self[o, k, i] == value
                    count += is_equal
                    last = k if is_equal else last
                if count > most or (count == most and value < values[o, i]):
                    most, values[o, i], indices[o, i] = count, value, last
