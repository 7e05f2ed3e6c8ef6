"""A reduction's four parts for one signature, as the loops of every backend take them; and how
statements see what is folded along a dim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from types import FunctionType
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import Order, View
from torchgen_out._runtime.kernels.common.indexing import around, one_by_one


@dataclass(frozen=True)
class ReductionSpec:
    """The four parts for one signature.

    name: the operator's. parts: functions (identity or None, reduce, combine, project or None).
    input, output: dtypes read and written. compute: the type elements are read as. acc: the type
    of the accumulator. scalars: how many scalar arguments the parts take.
    """

    name: str
    parts: tuple[Any, Any, Any, Any]
    input: dtypes.dtype
    output: dtypes.dtype
    compute: dtypes.dtype
    acc: dtypes.dtype
    scalars: int = 0

    @property
    def folds_results(self) -> bool:
        """Whether results of as many elements each are folded as elements are: of sums and means,
        not of counts, whose sum is no count."""
        _, fold, join, project = self.parts
        if self.scalars or not self.input is self.output is self.acc:
            return False
        return _say_the_same(fold, join) and (project is None or _say_the_same(project, _quotient))

    @property
    def folds_parts(self) -> bool:
        """Whether complex numbers are folded as their real and their imaginary parts are."""
        _, fold, join, project = self.parts
        if self.scalars or not (self.input.is_complex and self.output.is_complex):
            return False
        is_sum = _say_the_same(fold, _sum) and _say_the_same(join, _sum)
        return is_sum and (project is None or _say_the_same(project, _quotient))


def _sum(acc: Any, other: Any) -> Any:
    return acc + other


def _quotient(acc: Any, count: Any) -> Any:
    return acc / count


def _say_the_same(one: FunctionType, other: FunctionType) -> bool:
    """Whether two functions compute the same, whatever their parameters' names."""
    codes = one.__code__, other.__code__
    first, second = ((c.co_code, c.co_names, c.co_consts[1:]) for c in codes)
    return first == second


def selected(out: Any, self: Any, dim: int | None, keepdim: bool) -> dict[str, View] | None:
    """One result along `dim`, or of all elements in their order."""
    if dim is not None:
        return _without_dim(dim, self, out=out)
    step = merged_stride(self.sizes, self.strides)
    if step is None:
        return None
    return {"out": View((1,), (1,)), "self": View((self.numel, 1), (step, 1))}


def value_and_index(
    values: Any, indices: Any, self: Any, dim: int, keepdim: bool
) -> dict[str, View]:
    """Two results along `dim`."""
    return _without_dim(dim, self, values=values, indices=indices)


def _without_dim(dim: int, self: Any, **results: Any) -> dict[str, View]:
    """An operand around `dim`, and results that have no such dim, or one element there."""
    ndim = len(self.sizes)
    kept = {name: _with_dim(dim % max(ndim, 1), ndim, each) for name, each in results.items()}
    views = around(dim, self=self, **kept)
    for name in results:
        own = views[name]
        views[name] = View((*own.sizes[:-2], own.sizes[-1]), (*own.strides[:-2], own.strides[-1]))
    return one_by_one(views, rank=1)


def _with_dim(dim: int, ndim: int, array: Any) -> Any:
    """A result of a reduction with the reduced dim, of one element."""
    if len(array.sizes) == ndim:
        return array
    sizes, strides = (tuple(each) for each in (array.sizes, array.strides))
    return array._replace(
        sizes=(*sizes[:dim], 1, *sizes[dim:]), strides=(*strides[:dim], 1, *strides[dim:])
    )


def logsumexp(out: Any, self: Any, dim: Any, keepdim: bool) -> dict[str, Any]:
    """One result over a list of dims."""
    return over_dims(self, dim, out=out)


def vector_norm(
    out: Any, self: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any
) -> dict[str, Any]:
    """The same; no dims are all of them."""
    return over_dims(self, dim, out=out)


def moments(out: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> dict[str, Any]:
    """One result over a list of dims, and the degrees of freedom."""
    views = over_dims(self, dim, out=out)
    return views | {"freedom": _degrees_of_freedom(self, views, correction)}


def two_moments(
    result0: Any, result1: Any, self: Any, dim: Any, correction: Any, keepdim: bool
) -> dict[str, Any]:
    """Two results over a list of dims, and the degrees of freedom."""
    views = over_dims(self, dim, result0=result0, result1=result1)
    return views | {"freedom": _degrees_of_freedom(self, views, correction)}


def _degrees_of_freedom(self: Any, views: dict[str, Any], correction: Any) -> float:
    """What the sum of squares is divided by; one is taken off where nothing else is said."""
    view = views["self"]
    count = view.sizes[-2] if isinstance(view, View) else 0
    return float(max(count - (1 if correction is None else correction), 0))


def over_dims(self: Any, dim: Any, **results: Any) -> dict[str, View | Order]:
    """An operand as [..., j, i] where j goes over all dims of `dim`, and results as [..., i].

    `dim`: a dim, a list of them, or all where there are none. Where neighbours of what stays lie
    closer than those that are folded, i goes over these; else it has one element. Those are walked
    in the order of memory; where no one stride does, they are copied to where it does.
    """
    ndim = len(self.sizes)
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(ndim))
    folded = sorted({each % ndim for each in dims}) if ndim else []
    kept = [each for each in range(ndim) if each not in folded]
    lines = sorted(zip(*_taken(self, folded), strict=True), key=lambda line: -line[1])
    sizes, strides = [size for size, _ in lines], [step for _, step in lines]
    step, count = _stride(sizes, strides), prod(sizes)
    if step is None:
        return {"self": Order((*kept, *folded))}
    sides = {name: _taken(each, kept) for name, each in results.items()}
    own = sides["self"] = _taken(self, kept)
    first = _first_of_one_dim(own[0], [strides for _, strides in sides.values()])
    width = prod(own[0][first:])
    if width == 1 or (_stride(own[0][first:], own[1][first:]) or 0) > step:
        first, width = len(kept), 1
    views: dict[str, View | Order] = {}
    for name, (sizes, strides) in sides.items():
        behind = _stride(sizes[first:], strides[first:])
        assert behind is not None  # 0 of what is expanded
        middle = ((count,), (step,)) if name == "self" else ((), ())
        views[name] = View(
            (*sizes[:first], *middle[0], width), (*strides[:first], *middle[1], behind)
        )
    return views


def _taken(array: Any, dims: Sequence[int]) -> tuple[list[int], list[int]]:
    """Sizes and strides of some dims; of all, where no others are left."""
    sizes, strides = list(array.sizes), list(array.strides)
    if len(sizes) == len(dims):
        return sizes, strides
    return [sizes[each] for each in dims], [strides[each] for each in dims]


def _first_of_one_dim(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> int:
    """The first of the last dims that all tensors walk with one stride each."""
    first = len(sizes)
    while first and all(
        _stride(sizes[first - 1 :], own[first - 1 :]) is not None for own in strides
    ):
        first -= 1
    return first


def _stride(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """The stride that walks dims as one; what has no elements needs none."""
    return merged_stride(sizes, strides)


def diagonal(out: Any, self: Any) -> dict[str, View]:
    """The main diagonal of a matrix."""
    return {"self": View((min(self.sizes),), (sum(self.strides),))}
