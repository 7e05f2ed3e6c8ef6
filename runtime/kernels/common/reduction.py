"""A reduction's four parts for one signature, as the loops of every backend take them; and how
statements see what is folded along a dim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import View
from torchgen_out._runtime.kernels.common.indexing import around


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
    return views


def _with_dim(dim: int, ndim: int, array: Any) -> Any:
    """A result of a reduction with the reduced dim, of one element."""
    if len(array.sizes) == ndim:
        return array
    sizes, strides = (tuple(each) for each in (array.sizes, array.strides))
    return array._replace(
        sizes=(*sizes[:dim], 1, *sizes[dim:]), strides=(*strides[:dim], 1, *strides[dim:])
    )
