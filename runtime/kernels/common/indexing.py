"""How statements see operands that are read at places along a dim."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import REFUSAL, Refusal, View


def around(dim: int, **arrays: Any) -> dict[str, View]:
    """Arrays with `dim` last but one: before it what `...` stands for, behind it one dim.

    All have the same sizes, except at `dim`. What is behind it is one dim in all of them, or its
    dims but the last stand among those before.
    """
    steps = {name: _step_behind(dim, each) for name, each in arrays.items()}
    if None in steps.values():
        steps = dict.fromkeys(steps)
    return {name: _around(dim, each, steps[name]) for name, each in arrays.items()}


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


def index_select(out: Any, self: Any, dim: int, index: Any) -> dict[str, View]:
    """Slices at places of a vector."""
    count, steps = index.numel, index.strides or (1,)
    return {"index": View((count,), steps), **around(dim, out=out, self=self)}


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


def outside(dim: int, size: int) -> Callable[[Any], Exception]:
    """The error for the first of some indices that is not in a dim."""

    def error(index: Any) -> Exception:
        bad = int(index[(index < 0) | (index >= size)][0])
        return errors.scatter_index_out_of_bounds(bad, dim, size)

    return error
