"""Composites of the sort family: what the flags ask for; and what follows from sorted rows, for
backends that have no kernel for it."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.finfo import iinfo
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def unique(
    self: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct values or slices, with the inverse map and the counts where asked for."""
    if dim is None:
        found = ops._unique2(self, sorted, return_inverse, return_counts)
    else:
        moved, back = _first(self, dim)
        found = ops.unique_dim(moved, 0 if back else dim, sorted, return_inverse, return_counts)
        found = (found[0].movedim(0, back), *found[1:]) if back else found
    return _asked(found, return_inverse, return_counts)


def unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal neighbours, likewise."""
    moved, back = (self, 0) if dim is None else _first(self, dim)
    found = ops._unique_consecutive(moved, return_inverse, return_counts, 0 if back else dim)
    found = (found[0].movedim(0, back), *found[1:]) if back else found
    return _asked(found, return_inverse, return_counts)


def _first(self: Any, dim: int) -> tuple[Any, int]:
    """The tensor with `dim` in front, as slices are laid out, and where it was; else it and 0."""
    if not -self.ndim <= dim < self.ndim or dim % self.ndim == 0:
        return self, 0
    return self.movedim(dim, 0), dim % self.ndim


def _asked(found: Any, inverse: bool, counts: bool) -> Any:
    if not (inverse or counts):
        return found[0]
    return tuple([found[0]] + [found[1]] * inverse + [found[2]] * counts)


# -- distinct values ----------------------------------------------------------------------------


def distinct(
    self: Any,
    dim: int | None,
    sorted: bool,
    neighbours: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Any:
    """Return the distinct values, or slices along `dim`; which of them each is; how many are equal.

    neighbours: equal ones that stand apart are two; else all are sorted, slices element by element,
    the last first: for short slices. What is not asked for has no elements. Every NaN is distinct.
    """
    rows = self.reshape((-1,)) if dim is None else _slices(self, dim)
    order = None if neighbours else _ordered(rows)
    rows = rows if order is None else rows.index_select(0, order)
    begins = _begins_of_runs(rows)
    starts = begins.nonzero().squeeze(-1)
    inverse = counts = starts.new_empty((0,))
    if return_inverse:
        inverse = begins.cumsum(0) - 1
        inverse = inverse if order is None else ops.scatter(order, 0, order, inverse)
        inverse = inverse.reshape(self.shape if dim is None else (-1,))
    if return_counts:
        counts = ops.cat([starts, starts.new_full((1,), rows.shape[0])]).diff()
    found = rows.index_select(0, starts)
    if dim is None:
        return found, inverse, counts
    rest = [size for each, size in enumerate(self.shape) if each != dim % self.ndim]
    return found.reshape((-1, *rest)).movedim(0, dim).contiguous(), inverse, counts


def _slices(self: Any, dim: int) -> Any:
    """The slices along `dim` as rows.

    Raises: IndexError for dim, RuntimeError where another dim has size 0.
    """
    if not self.ndim:
        raise errors.dim_of_scalar(dim)
    if not -self.ndim <= dim < self.ndim:
        raise errors.dim_out_of_range(dim, self.ndim)
    count = self.shape[dim]
    if not self.numel() and (count or sum(size == 0 for size in self.shape) > 1):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return self.movedim(dim, 0).reshape((count, self.numel() // count if count else 0))


def _ordered(rows: Any) -> Any:
    """The order of elements; of rows by one element after the other, the last first."""
    order = None
    for column in reversed(rows.unbind(1)) if rows.ndim > 1 else (rows,):
        key = column if order is None else column.index_select(0, order)
        places = ops.sort(key, 0)[1]
        order = places if order is None else order.index_select(0, places)
    return ops.arange(rows.shape[0], device=rows.device) if order is None else order


def _begins_of_runs(rows: Any) -> Any:
    """Where a row, or an element, differs from the one before, or is the first."""
    differs = _differing(rows, 0)
    if differs.ndim > 1:
        differs = differs.any(1)
    return ops.cat([differs.new_ones((min(rows.shape[0], 1),)), differs])


def _differing(x: Any, dim: int) -> Any:
    """Whether each element but the first along `dim` differs from the one before, as NaN does."""
    count = max(x.shape[dim] - 1, 0)
    return x.narrow(dim, x.shape[dim] - count, count) != x.narrow(dim, 0, count)


# -- order statistics ---------------------------------------------------------------------------


def order_statistic(
    values: Any,
    indices: Any,
    self: Any,
    k: int | None,
    dim: int | None,
    keepdim: bool,
    skips_nan: bool,
) -> None:
    """Write the k-th smallest value (from 1) and its first place; without k the lower median.

    The first NaN is a median, unless they are skipped. Without a dim it is one of all elements:
    NaN, or the least integer, if there are none.
    """
    if dim is None and not self.numel():
        values.fill_(float("nan") if self.dtype.is_floating_point else iinfo(self.dtype).min)
    if not values.numel() or not self.numel():
        return
    rows, dim = (self.reshape((-1,)), 0) if dim is None or not self.ndim else (self, dim)
    ordered, order = ops.sort(rows, dim)
    value = ordered.gather(dim, _rank(ordered, k, dim, skips_nan))
    values.copy_(value.reshape(values.shape))
    if indices is not None:
        is_equal = ordered == value
        if self.dtype.is_floating_point:
            is_equal = is_equal | (ordered.isnan() & value.isnan())
        first = is_equal.to(dtypes.uint8).argmax(dim, keepdim=True)
        indices.copy_(order.gather(dim, first).reshape(indices.shape))


def _rank(ordered: Any, k: int | None, dim: int, skips_nan: bool) -> Any:
    """The rank of the k-th value, from 0, or of the median, in each sorted row."""
    count = ordered.shape[dim]
    sizes = list(ordered.shape)
    sizes[dim] = 1
    middle = ops.full(sizes, (count - 1) // 2 if k is None else k - 1, device=ordered.device)
    if k is not None or not ordered.dtype.is_floating_point:
        return middle
    numbers = count - ordered.isnan().sum(dim, keepdim=True)
    if skips_nan:
        return (numbers - 1).clamp(min=0) // 2
    return ops.where(numbers < count, numbers, middle)


def mode(values: Any, indices: Any, self: Any, dim: int = -1, keepdim: bool = False) -> None:
    """Write the most frequent value, the smallest of several, and its last place."""
    if not values.numel():
        return
    rows = self if self.ndim else self.reshape((1,))
    ordered, order = ops.sort(rows, dim)
    count = rows.shape[dim]
    steps = [count if each == dim % rows.ndim else 1 for each in range(rows.ndim)]
    places = ops.arange(count, device=rows.device).reshape(steps)
    begins = ops.where(_differing(ordered, dim), places.narrow(dim, 1, count - 1), 0)
    begins = ops.cat([ops.zeros_like(order.narrow(dim, 0, 1)), begins], dim).cummax(dim)[0]
    best = (places - begins).argmax(dim, keepdim=True)
    values.copy_(ordered.gather(dim, best).reshape(values.shape))
    indices.copy_(order.gather(dim, best).reshape(indices.shape))


# -- membership ---------------------------------------------------------------------------------


def isin(
    out: Any, elements: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> None:
    """Write whether each element is among the test elements, or is not: by search in sorted ones.

    A number is compared as `eq` does. NaN is no member, not even of itself.
    """
    compare = ops.ne if invert else ops.eq
    if not isinstance(test_elements, Tensor):
        out.copy_(compare(elements, test_elements))
    elif not isinstance(elements, Tensor):
        out.copy_((test_elements == elements).any() != invert)
    elif not test_elements.numel():
        out.fill_(invert)
    else:
        elements, tests = _in_common(elements, test_elements)
        ordered = ops.sort(tests.reshape((-1,)), 0)[0]
        places = ops.searchsorted(ordered, elements).clamp(max=ordered.shape[0] - 1)
        out.copy_(compare(ops.take(ordered, places), elements))


def _in_common(*tensors: Any) -> list[Any]:
    """Tensors in their dtype if it is one; else in float64, or int64 where there are no floats."""
    if len({each.dtype for each in tensors}) == 1:
        return list(tensors)
    is_float = any(each.dtype.is_floating_point for each in tensors)
    return [each.to(dtypes.float64 if is_float else dtypes.int64) for each in tensors]
