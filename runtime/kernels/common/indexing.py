"""How statements see operands that are read at places along a dim."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import View


def around(dim: int, **arrays: Any) -> dict[str, View]:
    """Arrays with `dim` last but one: before it what `...` stands for, behind it one dim.

    All have the same sizes, except at `dim`.
    """
    steps = [merged_stride(*_behind(dim, each)) for each in arrays.values()]
    is_merged = None not in steps
    return {name: _around(dim, each, is_merged) for name, each in arrays.items()}


def _behind(dim: int, array: Any) -> tuple[Any, Any]:
    first = dim % max(len(array.sizes), 1) + 1
    return array.sizes[first:], array.strides[first:]


def _around(dim: int, array: Any, is_merged: bool) -> View:
    if not array.sizes:
        return View((1, 1), (1, 1))
    dim %= len(array.sizes)
    sizes, strides = _behind(dim, array)
    middle = slice(0, 0 if is_merged else -1)
    width, step = (prod(sizes), merged_stride(sizes, strides)) if is_merged else _last(array)
    return View(
        (*array.sizes[:dim], *sizes[middle], array.sizes[dim], width),
        (*array.strides[:dim], *strides[middle], array.strides[dim], step or 1),
    )


def _last(array: Any) -> tuple[int, int]:
    return array.sizes[-1], array.strides[-1]


def index_select(out: Any, self: Any, dim: int, index: Any) -> dict[str, View | int]:
    """Slices at places of a vector."""
    count, steps = index.numel, index.strides or (1,)
    return {"index": View((count,), steps), **around(dim, out=out, self=self)}
