"""Writing at places given by index tensors; under masks in `masking.py`, reading in `indexing`.

All of these may run in place, and all are one loop: what differs is how the index and the source
are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.folded import merged_stride, sizes_around
from torchgen_out._runtime.kernels.cpu.folding import broadcast, copy_parts
from torchgen_out._runtime.kernels.cpu.indexing import places
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import made_apart, on_copies, planned, specs_in
from torchgen_out._runtime.kernels.cpu.scatter.masking import masked_scatter
from torchgen_out._runtime.kernels.cpu.scatter.scatter_loops import (
    AMAX,
    AMIN,
    COPY,
    PROD,
    SUM,
    are_within,
    average,
    average_slices,
    merge_places,
    scatter_lanes,
)
from torchgen_out._runtime.kernels.cpu.small import INT64, WORDS, as_words, entry_for
from torchgen_out._runtime.kernels.plan import (
    LaunchPlan,
    TensorSpec,
    element_places,
    expanded_strides,
)

Array = Any
Refuse = Callable[[Array], Exception]
"""Makes the error of indices one of which is outside."""

REDUCE = {
    "sum": SUM, "mean": SUM, "prod": PROD, "amax": AMAX, "max": AMAX, "amin": AMIN, "min": AMIN
}  # fmt: skip
OF_BOOLEANS = {SUM: AMAX, PROD: AMIN}
"""A sum of booleans is true when one of them is, a product when all are."""


class Walk(NamedTuple):
    """How out (outer, size, inner), an index and a source are walked together.

    step: from slice to slice of out; index, source: strides along (outer, count, inner). tables:
    if strides will not do, the places in out along outer and inner, and those in the source along
    all three. least: the smallest valid index.
    """

    outer: int
    count: int
    size: int
    inner: int
    step: int
    index: tuple[int, int, int]
    source: tuple[int, int, int]
    tables: tuple[Array, ...] = ()
    least: int = 0

    def geometry(self, how: int, numel: int) -> Array:
        """As the loop reads it. numel: of the index."""
        numbers = self.count, self.size, self.inner, self.step, *self.index, *self.source
        head = np.array([*numbers, how, self.least, numel, self.outer], np.int64)
        return np.concatenate([head, *self.tables])

    @property
    def is_of_slices(self) -> bool:
        """Whether the index says the same of all of a slice."""
        return self.index == OF_SLICES and not self.tables

    @property
    def counting(self) -> Walk:
        """The walk that counts how often places are named: slices, if these are."""
        return self._replace(outer=1, inner=1, step=1) if self.is_of_slices else self

    def counted_of(self, numel: int) -> tuple[int, int, int]:
        """The sizes of out, of whose middle dim each place has a count."""
        return (self.outer, self.size, self.inner) if self.is_of_slices else (1, numel, 1)


OF_SLICES = 0, 1, 0
"""The strides of an index vector that names slices."""
ONE = 0, 0, 0
"""The strides of a source of one element for all places."""


def walk_elements(
    sizes: tuple[int, ...], dim: int, index: tuple[int, ...], src: tuple[int, ...] | None
) -> Walk:
    """An index with an element for each of the source's; it may cover a part of both. src: the
    source's sizes, None for a number."""
    sizes, index = sizes or (1,), index or (1,)
    if 0 in index:  # of any number of dims
        index = src = (0,) * len(sizes)
    src = None if src is None else src or (1,)
    dim %= len(sizes)
    outer, count, inner = sizes_around(index, dim)
    strides = count * inner, inner, 1
    others = sizes[:dim] + sizes[dim + 1 :]
    if others == index[:dim] + index[dim + 1 :] and src in (None, index):
        return Walk(
            outer, count, sizes[dim], inner, inner, strides, ONE if src is None else strides
        )
    own = shapes.contiguous_strides(sizes)
    given = (0,) * len(index) if src is None else shapes.contiguous_strides(src)
    tables = [
        element_places((index[part], steps[part]))
        for steps, parts in ((own, (0, 2)), (given, (0, 1, 2)))
        for part in [(slice(dim), slice(dim, dim + 1), slice(dim + 1, None))[i] for i in parts]
    ]
    return Walk(outer, count, sizes[dim], inner, own[dim], strides, ONE, tuple(tables))


def walk_slices(sizes: tuple[int, ...], dim: int, count: int, has_source: bool = True) -> Walk:
    """An index vector that names slices; as many slices in the source."""
    outer, size, inner = sizes_around(sizes, dim)
    source = (count * inner, inner, 1) if has_source else ONE
    return Walk(outer, count, size, inner, inner, OF_SLICES, source)


def plan_writing(
    dtype: Any, index: TensorSpec, walk: Walk, how: int, refuse: Refuse, value: Any = None
) -> LaunchPlan:
    """The plan that copies self and has the elements of a source, or one value, join it.

    value: a number, None for a source of the dtype, or a `TensorSpec` for one of another.
    """
    return LaunchPlan(_make_run(dtype, index, walk, how, refuse, value), None)


def _make_run(
    dtype: Any, index: TensorSpec, walk: Walk, how: int, refuse: Refuse, value: Any
) -> Callable[..., None]:
    casts = value.__class__ is TensorSpec
    value = None if casts else value
    word = dtype
    if dtype == np.bool_:
        word, how = WORDS[1], OF_BOOLEANS.get(how, how)
    elif how == COPY:
        word = as_words(TensorSpec(dtype, (), ())).dtype
    entry, check = _entries(word)
    numel, lanes = index.numel, walk.outer * walk.inner
    geometry, work = walk.geometry(how, numel), lanes * walk.count
    parts = max(walk.outer, lanes // threads.LEAST_RUN)
    number = None if value is None else np.asarray(value).astype(dtype).reshape(1).view(word)

    is_short = max(work, walk.outer * walk.size * walk.inner) < 2 * threads.GRAIN

    def run_short(out: Array, self: Array, slots: Array, src: Array, *given: Any) -> None:
        if not entry(0, lanes, True, out, self, slots, src, *given[:-1], geometry):
            raise refuse(slots[given[1] : given[1] + numel].reshape(index.sizes))

    def run_number(out: Array, self: Array, slots: Array, *given: Any) -> None:
        if not entry(0, lanes, True, out, self, slots, number, *given[:-1], 0, geometry):
            raise refuse(slots[given[1] : given[1] + numel].reshape(index.sizes))

    def run(out: Array, self: Array, slots: Array, *given: Any) -> None:
        if number is None:
            src, at, at_slots, at_src, _ = given
            if src.dtype != dtype:  # a number given as a tensor
                src, at_src = src[at_src:].astype(dtype), 0
            src = src.view(word)
        else:
            (at, at_slots, _), src, at_src = given, number, 0
        if slots.dtype != INT64:
            slots, at_slots = slots[at_slots : at_slots + numel].astype(np.int64), 0
        target, old = out.view(word), self.view(word)
        arrays = target, old, slots, src, at, at_slots, at_src, geometry
        if is_short:
            fine = entry(0, lanes, True, *arrays)
        else:
            bounds = slots, at_slots, walk.least, walk.size
            fine = threads.run_ranges(check, numel, numel, *bounds)
            if fine:
                if out.ctypes.data != self.ctypes.data + at * self.itemsize:
                    copy_parts((target, old[at : at + out.size]))
                threads.run_ranges(entry, lanes, min(work, parts * threads.GRAIN), False, *arrays)
        if not fine:
            raise refuse(slots[at_slots : at_slots + numel].reshape(index.sizes))

    if word == dtype and index.dtype == INT64 and is_short and not casts:
        return run_short if number is None else run_number
    return run


@cache
def _entries(word: Any) -> tuple[Any, Any]:
    """The compiled loop for words of a dtype, and that which looks at indices."""
    arrays = word, word, INT64, word
    entry = entry_for(scatter_lanes, word, int, int, bool, *arrays, int, int, int, INT64)
    return entry, are_within.entry_point((int, int, INT64, int, int, int))


# An index with an element for each of the source's.


def _bad_element(self: TensorSpec, dim: int) -> Refuse:
    size = self.sizes[dim] if self.sizes else 1
    return lambda slots: places.bad_scatter_index(slots, dim, size)


@planned(any_strides=True)
def scatter_reduce(
    result: TensorSpec,
    self: TensorSpec,
    dim: int,
    index: TensorSpec,
    src: TensorSpec,
    reduce: str,
    include_self: bool = True,
) -> LaunchPlan:
    """Combine `src` into places along `dim` by sum, prod, mean, amax or amin."""
    vector = _vector_of(self, dim, index, src)
    if vector is not None:  # slices are put in place, of which the index says the same throughout
        walk = walk_slices(self.sizes, dim, vector.numel)
        alone = walk_slices(self.sizes, dim, vector.numel, has_source=False)
        index = vector
    else:
        walk = walk_elements(self.sizes, dim, index.sizes, src.sizes)
        alone = walk_elements(self.sizes, dim, index.sizes, None)
    refuse = _bad_element(self, dim)
    plan = _plan_reduce(self, index, (walk, alone), reduce, include_self, refuse)
    return on_copies(plan, 1, [self, index, src])


def _vector_of(self: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec) -> TensorSpec | None:
    """An index that is the same for all elements of each slice, as one element for each: repeated
    along other dims, as `index.view(-1, 1).expand_as(src)`. None for others."""
    if len(self.sizes) < 2 or index.sizes != src.sizes or not index.numel:
        return None
    dim %= len(self.sizes)
    for other, (size, stride) in enumerate(zip(index.sizes, index.strides, strict=True)):
        if other != dim and (size != self.sizes[other] or (stride and size > 1)):
            return None
    return TensorSpec(index.dtype, (index.sizes[dim],), (index.strides[dim],))


def _plan_reduce(
    self: TensorSpec,
    index: TensorSpec,
    walks: tuple[Walk, Walk],
    reduce: str,
    include_self: bool,
    refuse: Refuse,
) -> LaunchPlan:
    """walks: with the source, and with one number for all places."""
    own, numel = self.dtype, self.numel
    combine = plan_writing(own, index, walks[0], REDUCE[reduce], refuse)
    if include_self and reduce != "mean":
        return combine
    start = plan_writing(own, index, walks[1], COPY, refuse, _identity(reduce, own))
    count = plan_writing(INT64, index, walks[1].counting, SUM, refuse, 1)
    _, size, _ = counted = walks[1].counted_of(numel)
    divide = _divider(own, counted) if reduce == "mean" else None

    def run(out: Array, a: Array, slots: Array, src: Array, *offsets: Any) -> None:
        at, at_slots, at_src, _ = offsets
        if not include_self:
            start.run(out, a, slots, at, at_slots, None)
            a, at = out, 0
        combine.run(out, a, slots, src, at, at_slots, at_src, None)
        if divide is not None:
            counts = np.empty(size, np.int64)
            counts.fill(include_self)
            count.run(counts, counts, slots, 0, at_slots, None)
            divide(out, counts)

    return LaunchPlan(run, None)


def _divider(dtype: Any, sizes: tuple[int, int, int]) -> Callable[[Array, Array], Any]:
    """What divides sums by the numbers of their terms, of which there is one for all along the
    first and the last dim; integers downwards, as PyTorch does."""
    outer, count, inner = sizes
    rows, numel, is_flat = outer * count, prod(sizes), outer == inner == 1
    if dtype.name not in ("float32", "float64"):
        divide = np.divide if dtype.kind in "fc" else np.floor_divide

        def divided(out: Array, counts: Array) -> None:
            sums = out[:numel].reshape(sizes)
            divide(sums, np.maximum(counts, 1)[:, None], out=sums, casting="unsafe")

        return divided
    given: tuple[Any, ...] = () if is_flat else (inner,)
    divider, ints = (average, ()) if is_flat else (average_slices, (int,))
    entry = entry_for(divider, dtype, int, int, dtype, INT64, *ints)
    if numel < 2 * threads.GRAIN:
        return lambda out, counts: entry(0, rows, out, counts, *given)
    return lambda out, counts: threads.run_ranges(entry, rows, numel, out, counts, *given)


def _identity(reduce: str, dtype: Any) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    lowest = reduce in ("amax", "max")
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    if dtype == np.bool_:
        return not lowest
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


# An index vector that names slices.


@planned()
def index_reduce(
    result: TensorSpec,
    self: TensorSpec,
    dim: int,
    index: TensorSpec,
    source: TensorSpec,
    reduce: str,
    include_self: bool = True,
) -> LaunchPlan:
    """Combine the slices of `source` into the slices that `index` names."""
    walks = (
        walk_slices(self.sizes, dim, index.numel),
        walk_slices(self.sizes, dim, index.numel, has_source=False),
    )
    refuse = lambda slots: errors.index_out_of_range_in_self()  # noqa: E731
    return _plan_reduce(self, index, walks, reduce, include_self, refuse)


@planned(any_order=True, any_strides=True)
def index_fill(
    result: TensorSpec, self: TensorSpec, dim: int, index: TensorSpec, value: Any
) -> LaunchPlan:
    """Fill the slices that `index` names, dims in the order in which the result has them."""
    dim, is_dense = dim % max(len(self.sizes), 1), shapes.is_dense(*result[1:3])
    made = result if is_dense else result._replace(strides=shapes.contiguous_strides(result.sizes))
    order = made.memory_order
    turned = self.permuted(order)
    walk = walk_slices(
        turned.sizes, order.index(dim) if order else 0, index.numel, has_source=False
    )
    refuse = _bad_place(dim, walk.size)
    is_alike = value.__class__ is TensorSpec and value.dtype == self.dtype
    given = None if is_alike else value
    if walk.size and not self.numel:
        return NOTHING
    plan = plan_writing(self.dtype, index, from_end(walk), COPY, refuse, given)
    operands = [turned, *specs_in([index, value])]
    plan = on_copies(plan, 1, operands)
    return plan if is_dense else made_apart(plan, result)


def from_end(walk: Walk) -> Walk:
    """The walk with negative indices counted from the end."""
    return walk._replace(least=-walk.size)


def _bad_place(dim: int, size: int) -> Refuse:
    return lambda slots: errors.index_out_of_bounds(
        places.first_outside(slots, -size, size), dim, size
    )


# Index tensors and masks over several dims.


@planned()
def index_put(
    result: TensorSpec,
    self: TensorSpec,
    indices: Sequence[TensorSpec | None],
    values: TensorSpec,
    accumulate: bool = False,
) -> LaunchPlan:
    """out[indices] = values, or += with every repeated place counted."""
    given = [index for index in indices if index is not None]
    first = next((dim for dim, index in enumerate(indices) if index is not None), 0)
    are_neighbours = given and list(indices[first : first + len(given)]) == given
    if not are_neighbours or any(_needs_arrays(index) for index in given):
        return _plan_put_any(self, indices, values, accumulate)
    indexed = _indexed(self.sizes, first, given)
    if not any(map(places.is_mask, given)):
        return _plan_put(self.dtype, indexed, values, accumulate)
    plan = _plan_put_masked(self.dtype, indexed, values, accumulate)
    return plan if accumulate else _plan_put_in_turn(result, self, indices, values, plan)


class _Indexed(NamedTuple):
    """Neighbouring indices, masks merged with the dims that they cover, which are one then.

    sizes: with these dims merged. first: the dim of the first index. dims: those that the indices
    had before.
    """

    sizes: tuple[int, ...]
    first: int
    dims: tuple[int, ...]
    indices: tuple[TensorSpec, ...]


def _needs_arrays(index: TensorSpec) -> bool:
    """Whether an index is a mask of no dim, which is beside the others, or of a wrong dtype."""
    return not (index.sizes if places.is_mask(index) else places.are_numbers(index))


def _indexed(sizes: tuple[int, ...], first: int, given: Sequence[TensorSpec]) -> _Indexed:
    """Raises: IndexError for too many indices, and masks that do not fit."""
    merged, dims, dim = list(sizes[:first]), [], first
    for index in given:
        dims.append(dim)
        taken = 1
        if places.is_mask(index):
            shapes.check_mask(sizes, index.sizes, dim)
            taken = len(index.sizes)
        merged.append(prod(sizes[dim : dim + taken]))
        dim += taken
    if dim > len(sizes):
        raise errors.too_many_indices(len(sizes), dim)
    return _Indexed((*merged, *sizes[dim:]), first, tuple(dims), tuple(given))


def _plan_put(dtype: Any, indexed: _Indexed, values: TensorSpec, accumulate: bool) -> LaunchPlan:
    """The plan where all indices are numbers."""
    sizes, first, dims, given = indexed
    shapes_given = [index.sizes for index in given]
    try:
        shape = shapes.broadcast_shapes(*shapes_given)
    except RuntimeError:
        raise errors.indices_do_not_broadcast(shapes_given) from None
    walk = _walk_places(sizes, first, len(given), shape, values)
    if walk.size and not walk.outer * walk.inner:  # there is nothing that an index is outside of
        return NOTHING
    how, refuse = SUM if accumulate else COPY, _bad_place(dims[0], sizes[first])
    if len(given) == 1:
        return plan_writing(dtype, given[0], from_end(walk), how, refuse)
    plan = plan_writing(dtype, TensorSpec(INT64, (prod(shape),), (1,)), walk, how, refuse)
    merged = _merger(indexed, shape)

    def run(out: Array, a: Array, *args: Any) -> None:
        *slots, src = args[: len(given) + 1]
        at, *at_slots, at_src, _ = args[len(given) + 1 :]
        plan.run(out, a, merged(slots, at_slots), src, at, 0, at_src, None)

    return LaunchPlan(run, None)


COUNTS_KEPT = 64
"""Plans under masks, for as many numbers of places, that a call's plan remembers."""


def _plan_put_masked(
    dtype: Any, indexed: _Indexed, values: TensorSpec, accumulate: bool
) -> LaunchPlan:
    """The plan where masks are among the indices: each is the places where it is true."""
    given = indexed.indices
    count = len(given)
    masked = [(n, each.numel) for n, each in enumerate(given) if places.is_mask(each)]

    @lru_cache(maxsize=COUNTS_KEPT)
    def plan_of(*found: int) -> LaunchPlan:
        vectors = list(given)
        for (n, _), places_found in zip(masked, found, strict=True):
            vectors[n] = TensorSpec(INT64, (places_found,), (1,))
        return _plan_put(dtype, indexed._replace(indices=tuple(vectors)), values, accumulate)

    def run(*args: Any) -> None:
        args, found = list(args), []
        for n, numel in masked:
            slot, at = n + 2, n + count + 4
            flags, start = args[slot], args[at]
            if flags.size != numel:
                flags = flags[start : start + numel]
            args[slot], args[at] = flags.nonzero()[0], 0
            found.append(args[slot].size)
        plan_of(*found).run(*args)

    return LaunchPlan(run, None)


def _plan_put_in_turn(
    result: TensorSpec,
    self: TensorSpec,
    indices: Sequence[TensorSpec | None],
    values: TensorSpec,
    others: LaunchPlan,
) -> LaunchPlan:
    """The plan that writes values one after the other where a mask is true, if they are as many.

    others: the plan for everything else.
    """
    mask = indices[0]
    is_whole = mask is not None and mask.dtype.kind == "b" and mask.sizes == self.sizes
    if not is_whole or len(values.sizes) != 1 or not self.numel or values.dtype != self.dtype:
        return others
    plan, numel = masked_scatter.plan(result, self, mask, values), self.numel

    def run(*args: Any) -> None:
        flags, at = args[2], args[5]
        is_in_turn = np.count_nonzero(flags[at : at + numel]) == values.numel
        found = plan if is_in_turn else others
        found.run(*args[:-1], found.params)

    return LaunchPlan(run, None)


def _walk_places(
    sizes: tuple[int, ...], first: int, indexed: int, shape: tuple[int, ...], values: TensorSpec
) -> Walk:
    """The walk over places of `shape` in some merged dims, and the values broadcast to them.

    Raises: RuntimeError if they do not broadcast.
    """
    behind = sizes[first + indexed :]
    full = (*sizes[:first], *shape, *behind)
    try:
        fits = shapes.broadcast_shapes(values.sizes, full) == full
    except RuntimeError:
        fits = False
    if not fits:
        raise errors.values_do_not_broadcast(values.sizes, full)
    steps = expanded_strides((values.sizes, shapes.contiguous_strides(values.sizes)), full)
    parts = slice(first), slice(first, first + len(shape)), slice(first + len(shape), None)
    outer, count, inner = (prod(full[part]) for part in parts)
    size = prod(sizes[first : first + indexed])
    walk = Walk(outer, count, size, inner, inner, (0, 1, 0), ONE)
    source = [merged_stride(full[part], steps[part]) for part in parts]
    if None not in source:
        return walk._replace(source=tuple(source))
    own = np.arange(outer) * size * inner, np.arange(inner)
    tables = [element_places((full[part], steps[part])) for part in parts]
    return walk._replace(tables=(*own, *tables))


def _merger(indexed: _Indexed, shape: tuple[int, ...]) -> Callable[..., Array]:
    """What makes places in the merged dims. Raises: IndexError for one outside."""
    sizes, first, dims, given = indexed
    merge = merge_places.entry_point((INT64, INT64, int, bool))
    numel = prod(shape)
    parts = []
    for k, each in enumerate(given):
        take = None
        if each.sizes != shape:
            take = element_places((shape, expanded_strides((each.sizes, each.strides), shape)))
        parts.append((k, each.numel, each.dtype != INT64, take, sizes[first + k]))

    def merged(slots: Sequence[Array], starts: Sequence[int]) -> Array:
        linear = np.empty(numel, np.int64)
        for k, count, is_other, take, size in parts:
            index = slots[k]
            if index.size != count:
                index = index[starts[k] : starts[k] + count]
            if take is not None:
                index = index[take]
            if is_other:
                index = index.astype(np.int64)
            if not merge(linear, index, size, k == 0):
                raise _bad_place(dims[k], size)(index)
        return linear

    return merged


def _plan_put_any(
    self: TensorSpec, indices: Sequence[TensorSpec | None], values: TensorSpec, accumulate: bool
) -> LaunchPlan:
    """Index tensors and masks that do not stand together, masks of no dim, and wrong ones."""
    count, numel = 2 + sum(index is not None for index in indices), self.numel

    def run(out: Array, *args: Any) -> None:
        offsets = args[count:]
        specs = [self, *[index for index in indices if index is not None], values]
        triples = zip(args, offsets, specs, strict=False)
        old, *slots, src = [
            flat[at : at + each.numel].reshape(each.sizes) for flat, at, each in triples
        ]
        target, given = out[:numel].reshape(self.sizes), iter(slots)
        plain = places.plain_indices(
            self.sizes, [None if index is None else next(given) for index in indices]
        )
        _put_apart(target, old, plain, src, accumulate)

    return LaunchPlan(run, None)


def _put_apart(
    out: Array, self: Array, plain: list[Array | None], values: Array, accumulate: bool
) -> None:
    """Write by NumPy's own indexing."""
    where = places.numpy_index(out.shape, plain)
    shape = np.broadcast_to(np.zeros((), np.uint8), out.shape)[where].shape
    try:
        given = broadcast(values, shape)
    except ValueError:
        raise errors.values_do_not_broadcast(values.shape, shape) from None
    if out.ctypes.data != self.ctypes.data:
        copy_parts((out, self))
    if not accumulate:
        out[where] = given
    else:
        with np.errstate(all="ignore"):
            np.add.at(out, where, given)
