"""Where the dims that a reduction folds lie: what its loops need to know of a geometry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.dispatch.operator import Reduction
from torchgen_out._runtime.kernels.common.reduction import ReductionSpec

ELEMENTS_PER_ROW = 32
"""Elements in whose time a row is begun and ended."""


class DimPlan:
    """Where the reduced dims lie.

    sizes, strides, numel: the result's. count: elements per result. width: the length of the
    dense run behind the reduced dims; 1 when they are innermost, 0 when they are scattered and
    the tensor must be copied with its dims in `order`, reduced ones last. work: elements read.
    effort: the same, and for rows what it takes to begin and end them.
    """

    __slots__ = (
        "count",
        "effort",
        "input_sizes",
        "is_scalar",
        "numel",
        "order",
        "reduced",
        "sizes",
        "strides",
        "width",
        "work",
    )

    def __init__(self, sizes: Size, reduced: tuple[int, ...], keepdim: bool) -> None:
        kept = [dim for dim in range(len(sizes)) if dim not in reduced]
        self.input_sizes, self.reduced = sizes, reduced
        self.order = (*kept, *reduced)
        self.count = 1
        for dim in reduced:
            self.count *= sizes[dim]
        if keepdim:
            result = [1 if dim in reduced else size for dim, size in enumerate(sizes)]
        else:
            result = [sizes[dim] for dim in kept]
        self.sizes = Size(result)
        self.strides = shapes.contiguous_strides(self.sizes)
        self.numel = shapes.numel(self.sizes)
        self.is_scalar = not self.sizes
        self.work = self.numel * self.count
        self.width = _width(sizes, kept, [dim for dim in reduced if sizes[dim] != 1])
        rows = self.numel if self.work and self.width == 1 else 0
        self.effort = self.work + ELEMENTS_PER_ROW * rows

    def check_not_empty(self, name: str, dim: Any) -> None:
        """Raises: RuntimeError, with dims IndexError, if there is nothing to start from."""
        if self.count:
            return
        if dim is None or dim == ():
            raise errors.empty_extremum(name)
        empty = next(d for d in self.reduced if self.input_sizes[d] == 0)
        raise errors.empty_reduction_dim(name, empty)


def _width(sizes: Size, kept: Sequence[int], folded: Sequence[int]) -> int:
    """`DimPlan.width`; dims of one element lie anywhere. folded: the reduced dims without these."""
    if not folded:
        return prod(sizes)
    if any(folded[0] < dim < folded[-1] and sizes[dim] != 1 for dim in kept):
        return 0
    return prod(sizes[dim] for dim in kept if dim > folded[-1])


@lru_cache(maxsize=1024)
def plan_dims(sizes: Size, dim: Any, keepdim: bool) -> DimPlan:
    """Plan a reduction.

    Raises: IndexError or RuntimeError if dims are out of range or named twice.
    """
    if dim is None or dim == ():
        reduced = tuple(range(len(sizes)))
    else:
        reduced = tuple(sorted(shapes.normalize_dims(dim, max(len(sizes), 1))))
        if not sizes:
            reduced = ()
    return DimPlan(sizes, reduced, bool(keepdim))


@lru_cache(maxsize=1024)
def plan_memory(sizes: Size, strides: tuple[int, ...], dim: Any) -> DimPlan | None:
    """The plan for memory that is dense with its dims in another order, walked in that order.

    None if it is not dense, if what is folded is scattered in it, or if the results would come in
    another order than they should.
    """
    order = sorted(range(len(sizes)), key=lambda d: -strides[d])
    dense_sizes = Size([sizes[d] for d in order])
    if not shapes.is_contiguous(dense_sizes, tuple([strides[d] for d in order])):
        return None
    reduced = plan_dims(sizes, dim, False).reduced
    kept = [d for d in order if d not in reduced]
    found = plan_dims(dense_sizes, tuple([order.index(d) for d in reduced]), False)
    return found if found.width and kept == sorted(kept) else None


class Strided(NamedTuple):
    """Runs of memory to fold, where a tensor is not dense: rows, or columns.

    (n) rows of `width` elements lie `step` apart, matrices of them `outer` apart. over_rows:
    whether the rows are folded, into `width` results of each matrix; else each row is folded to one
    number. along: how far apart the elements of a row lie.
    """

    over_rows: bool
    n: int
    width: int
    step: int
    outer: int
    along: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """What the loop takes."""
        return self[1:5] if self.over_rows else self[1:]


@lru_cache(maxsize=1024)
def plan_strided(sizes: Size, strides: tuple[int, ...], reduced: tuple[int, ...]) -> Strided | None:
    """How to fold memory that lies in the order of its dims, with gaps, in one piece: the dims that
    are kept, of which there are two at most, or one, around those that are folded."""
    kept = _runs(sizes, strides, [dim for dim in range(len(sizes)) if dim not in reduced])
    folded = _runs(sizes, strides, reduced)
    if len(folded) != 1 or len(kept) > 2:
        return None
    (_, outer), (last, gap) = ((1, 0), (1, 0), *kept)[-2:]
    n, step = folded[0]
    if gap == 1:
        return Strided(True, n, last, step, outer, 1)
    is_inside = step == 1 or step < gap or not kept
    return Strided(False, last, n, gap, outer, step) if is_inside else None


def last_run(sizes: Size, strides: tuple[int, ...]) -> tuple[int, ...]:
    """The last dims that one stride walks."""
    first = len(sizes) - 1
    while first and strides[first - 1] == sizes[first] * strides[first]:
        first -= 1
    return tuple(range(first, len(sizes)))


def _runs(
    sizes: Sequence[int], strides: Sequence[int], dims: Iterable[int]
) -> list[tuple[int, int]]:
    """(size, stride) of dims in turn, as few as possible."""
    found: list[tuple[int, int]] = []
    for dim in dims:
        size, stride = sizes[dim], strides[dim]
        if size == 1:
            continue
        if found and found[-1][1] == size * stride:
            found[-1] = found[-1][0] * size, stride
        else:
            found.append((size, stride))
    return found


def reduction_types(
    rule: str, own: dtypes.dtype, requested: dtypes.dtype | None
) -> tuple[dtypes.dtype, dtypes.dtype]:
    """(dtype elements are read as, dtype of the result)."""
    if requested is not None:
        return requested, requested
    if rule == "bool_to_long":
        lifted = dtypes.int64 if own.kind in "bi" else own
        return lifted, lifted
    if rule == "always_bool" and own is dtypes.uint8:
        return own, own  # PyTorch keeps uint8, its bool of old, for any and all
    return promotion.element_types(rule, [(own, promotion.DIMENSIONED)])


def reduction_spec(
    operator: Reduction, own: dtypes.dtype, requested: dtypes.dtype | None, scalars: int
) -> ReductionSpec:
    """What loops fold, for the dtype of the elements and one that is asked for, or None.

    Raises: NotImplementedError for a dtype outside the operator's set.
    """
    compute, result = reduction_types(operator.promotion, own, requested)
    if compute.name not in operator.dtypes:
        accepted = ", ".join(d.name for d in dtypes.ALL if d.name in operator.dtypes)
        raise errors.dtype_not_supported(operator.base_name, compute, accepted)
    read = acc = compute.acc if operator.parts[0] else compute.opmath
    if operator.promotion == "always_bool":
        read, acc = compute.opmath, dtypes.bool
    return ReductionSpec(operator.base_name, operator.parts, own, result, read, acc, scalars)
