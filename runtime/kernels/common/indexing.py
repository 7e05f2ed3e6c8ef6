"""How statements see operands that are read at places along a dim."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import REFUSAL, Order, Refusal, View


def around(dim: int, **arrays: Any) -> dict[str, View]:
    """Arrays with `dim` last but one: before it what `...` stands for, behind it one dim.

    All have the same sizes, except at `dim`. What is behind it is one dim in all of them, or its
    dims but the last stand among those before. A `dim` of one element everywhere lies anywhere: all
    others are behind it, if one stride walks them.
    """
    steps = {name: _step_around(dim, each) for name, each in arrays.items()}
    if None not in steps.values():
        return {
            name: View((1, prod(each.sizes)), (1, steps[name])) for name, each in arrays.items()
        }
    steps = {name: _step_behind(dim, each) for name, each in arrays.items()}
    if None in steps.values():
        steps = dict.fromkeys(steps)
    return {name: _around(dim, each, steps[name]) for name, each in arrays.items()}


def _step_around(dim: int, array: Any) -> int | None:
    """The stride that walks all elements, of which one lies along `dim`."""
    if not array.sizes or array.sizes[dim] != 1 or 0 in array.sizes:
        return None
    return merged_stride(array.sizes, array.strides)


def _step_behind(dim: int, array: Any) -> int | None:
    first = dim % max(len(array.sizes), 1) + 1
    return merged_stride(array.sizes[first:], array.strides[first:])


def _around(dim: int, array: Any, step: int | None) -> View:
    sizes, strides = tuple(array.sizes) or (1,), tuple(array.strides) or (1,)
    dim %= len(sizes)
    first, middle = dim + 1, len(sizes) - 1
    if step is not None:
        return View(
            (*sizes[:first], prod(sizes[first:])),
            (*strides[:first], step),
        )
    order = [*range(dim), *range(first, middle), dim, middle]
    return View(tuple([sizes[i] for i in order]), tuple([strides[i] for i in order]))


FEW_COLUMNS, LONG_COLUMN = 5, 8
"""Columns side by side up to which each is searched, or scanned, by itself, and how many times as
long as all of them are wide it is at least: for the largest element 2 of 20,000 take 23 us, not
131, 5 of them 55, not 131, 8 of 300 in each of 32 matrices would take 68 and not 58."""


def one_by_one(views: dict[str, View], rank: int) -> dict[str, View]:
    """What `around` gives with a few long columns among what `...` stands for.

    rank: of how many dims statements see a result; `self` has two.
    """
    count, width = views["self"].sizes[-2:]
    if not 1 < width <= FEW_COLUMNS or count < LONG_COLUMN * width:
        return views
    apart = {}
    for name, view in views.items():
        sizes, strides = view.sizes, view.strides
        behind = -2 if name == "self" else -rank
        apart[name] = View(
            (*sizes[:behind], sizes[-1], *sizes[behind:-1], 1),
            (*strides[:behind], strides[-1], *strides[behind:-1], 1),
        )
    return apart


def index_select(out: Any, self: Any, dim: int, index: Any) -> dict[str, View]:
    """Slices at places of a vector."""
    count, steps = index.numel, index.strides or (1,)
    return {"index": View((count,), steps), **around(dim, out=out, self=self)}


def read_slices(out: Any, self: Any, dim: int, index: Any) -> dict[str, View | Refusal]:
    """The same, of a refusal of its own."""
    size, position = self.sizes[dim] if self.sizes else 1, dim % max(len(self.sizes), 1)
    refusal = Refusal("index", _outside_counted(position, size))
    return {REFUSAL: refusal, **index_select(out, self, dim, index)}


def _outside_counted(dim: int, size: int) -> Callable[[Any], Exception]:
    """The error for the first of some indices, negative ones too, that is not in a dim."""

    def error(index: Any) -> Exception:
        bad = int(index[(index < -size) | (index >= size)].reshape(-1)[0])
        return errors.index_out_of_bounds(bad, dim, size)

    return error


def take(out: Any, self: Any, index: Any) -> dict[str, View | Refusal | Order]:
    """Elements at places of the flattened tensor."""
    step = merged_stride(self.sizes, self.strides)
    if step is None:
        return {"self": Order(tuple(range(len(self.sizes))), "index")}
    return {REFUSAL: Refusal("index", _outside_flat(self.numel)), "self": flat(self, step)}


def flat(array: Any, step: int) -> View:
    """All elements along one dim."""
    return View((array.numel,), (step,))


def _outside_flat(count: int) -> Callable[[Any], Exception]:
    def error(index: Any) -> Exception:
        bad = int(index[(index < -count) | (index >= count)].reshape(-1)[0])
        return errors.flat_index_out_of_range(bad, count)

    return error


def gather(
    out: Any, self: Any, dim: int, index: Any, sparse_grad: bool = False
) -> dict[str, View | Refusal]:
    """Elements at places along a dim; self is cut down to the sizes of `index` in all others."""
    position, size = dim % max(len(self.sizes), 1), 1
    if self.sizes:
        size = self.sizes[position]
        reached = (*index.sizes[:position], size, *index.sizes[position + 1 :])
        self = self._replace(sizes=reached)
    index = index._replace(sizes=out.sizes, strides=index.strides[: len(out.sizes)])
    refusal = Refusal("index", outside(position, size))
    return {REFUSAL: refusal, **around(dim, out=out, self=self, index=index)}


def index_add(
    out: Any, self: Any, dim: int, index: Any, source: Any, alpha: Any = 1
) -> dict[str, View | Refusal]:
    """Slices at places of a vector that are added to."""
    size = self.sizes[dim] if len(self.sizes) > 1 else 0

    def error(bad: Any) -> Exception:
        if not size:
            return errors.index_out_of_range_in_self()
        return outside(dim % len(self.sizes), size)(bad)

    if len(self.sizes) > 1 and not self.numel:
        return _no_slices(out, self, dim, index, source)
    return _slices(out, self, dim, index, source, error)


def combine_slices(
    out: Any, self: Any, dim: int, index: Any, source: Any, reduce: str
) -> dict[str, View | Refusal]:
    """Slices at places of a vector with which others are combined."""
    return index_add(out, self, dim, index, source)


def put_slices(
    out: Any, self: Any, dim: int, index: Any, values: Any, accumulate: bool
) -> dict[str, View | Refusal]:
    """Slices at places of a vector, counted from the end if negative, that are replaced or added
    to."""
    size, position = self.sizes[dim] if self.sizes else 1, dim % max(len(self.sizes), 1)
    given = _slices(out, self, dim, index, values, _outside_counted(position, size))
    given["values"] = given.pop("source")
    return given


def index_copy(out: Any, self: Any, dim: int, index: Any, source: Any) -> dict[str, View | Refusal]:
    """Slices at places of a vector that are replaced."""
    size = self.sizes[dim] if self.sizes else 1

    def error(bad: Any) -> Exception:
        first = int(bad[(bad < 0) | (bad >= size)][0])
        return errors.slice_out_of_bounds(first, dim % max(len(self.sizes), 1), size)

    if size and not self.numel:
        return _no_slices(out, self, dim, index, source)
    return _slices(out, self, dim, index, source, error)


def _slices(
    out: Any, self: Any, dim: int, index: Any, source: Any, error: Callable[[Any], Exception]
) -> dict[str, View | Refusal]:
    if not source.sizes:
        source = View((1,) * max(len(self.sizes), 1), (1,) * max(len(self.sizes), 1))
    views = around(dim, out=out, self=self, source=source)
    vector = View((index.numel,), index.strides or (1,))
    return {REFUSAL: Refusal("index", error), "index": vector, **views}


def _no_slices(out: Any, self: Any, dim: int, index: Any, source: Any) -> dict[str, View | Refusal]:
    """A tensor without elements: there is nothing that an index is outside of."""
    dim %= len(self.sizes)
    views = around(dim, out=out, self=self)
    sizes = (*out.sizes[:dim], 0, *out.sizes[dim + 1 :])
    nothing = around(dim, source=View(sizes, (1,) * len(sizes)))
    return {"index": View((0,), (1,)), **views, **nothing}


def put(
    out: Any, self: Any, index: Any, source: Any, accumulate: bool = False
) -> dict[str, View | Refusal | Order]:
    """Elements at places of the flattened tensor that are replaced, or added to."""
    given = {"out": out, "self": self, "index": index, "source": source}
    steps = {name: merged_stride(each.sizes, each.strides) for name, each in given.items()}
    hidden = [name for name, step in steps.items() if step is None]
    if hidden:
        counted = ("out", "self") if out.strides == self.strides else ()  # both, or neither
        return {
            name: Order(tuple(range(len(given[name].sizes))), "index" if name in counted else "")
            for name in hidden
        }
    refusal = Refusal("index", _outside_flat(self.numel))
    return {REFUSAL: refusal, **{n: flat(each, steps[n]) for n, each in given.items()}}


def scatter(
    out: Any, self: Any, dim: int, index: Any, src: Any, reduce: str = ""
) -> dict[str, View | Refusal]:
    """Elements at places along a dim; of all but self, what `index` covers."""
    return _scattered(out, self, dim, index, src=src)


def scatter_value(
    out: Any, self: Any, dim: int, index: Any, value: Any, reduce: str = ""
) -> dict[str, View | Refusal]:
    """The same of one number."""
    return _scattered(out, self, dim, index)


def _scattered(
    out: Any, self: Any, dim: int, index: Any, **given: Any
) -> dict[str, View | Refusal]:
    ndim = max(len(self.sizes), 1)
    position = dim % ndim
    sizes, covered = (tuple(each.sizes) or (1,) for each in (self, index))
    reached = *covered[:position], sizes[position], *covered[position + 1 :]
    if 0 in covered:  # of any number of dims
        covered, reached = (*sizes[:position], 0, *sizes[position + 1 :]), sizes
        index = View(covered, (0,) * ndim)
        given = dict.fromkeys(given, index)
    cut = {name: View(covered, tuple(each.strides) or (1,)) for name, each in given.items()}
    cut["index"] = View(covered, tuple(index.strides) or (1,))
    cut |= {
        name: View(reached, tuple(each.strides) or (1,))
        for name, each in (("out", out), ("self", self))
    }
    return {REFUSAL: Refusal("index", outside(position, sizes[position])), **around(dim, **cut)}


def outside(dim: int, size: int) -> Callable[[Any], Exception]:
    """The error for the first of some indices that is not in a dim."""

    def error(index: Any) -> Exception:
        bad = int(index[(index < 0) | (index >= size)][0])
        return errors.scatter_index_out_of_bounds(bad, dim, size)

    return error
