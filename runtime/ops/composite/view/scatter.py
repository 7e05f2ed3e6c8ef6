"""Copies of a tensor with a part replaced: what writing into a view does, out of place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.dispatch import calls, signature
from torchgen_out._runtime.dispatch.operator import CallTable


def _with(self: Any, views: CallTable, src: Any, *args: Any) -> Any:
    """A copy of `self` in which what a view shows holds `src`. views: the view's calls."""
    if (self._key | src._key) & keys.NOT_HERE:
        self = batched.like_samples(self, src)
    copied = calls.clone[self._key](self, None)
    part = views[copied._key](copied, *args)
    if part._sizes != src._sizes:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    calls.copy_[part._key, src._key](part, src, False)
    return copied


def select_scatter(self: Any, src: Any, dim: int, index: int) -> Any:
    """A copy with `src` at `index` of `dim`."""
    return _with(self, calls.select_int, src, dim, index)


def slice_scatter(
    self: Any,
    src: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """A copy with `src` at a slice of `dim`."""
    return _with(self, calls.slice_Tensor, src, dim, start, end, step)


def diagonal_scatter(self: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy with `src` on a diagonal."""
    return _with(self, calls.diagonal, src, offset, dim1, dim2)


def as_strided_scatter(
    self: Any,
    src: Any,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Any:
    """A copy with `src` at a view of any geometry."""
    return _with(self, calls.as_strided, src, size, stride, storage_offset)


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Set the main diagonal; with `wrap` it begins again below a square, in tall matrices.

    **Raises** RuntimeError for less than two dims, or for more unless all sizes are equal.
    """
    sizes = self._sizes
    if len(sizes) == 2:
        diagonal = calls.diagonal[self._key](self, 0, 0, 1)
    elif len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    elif len(set(sizes)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    else:
        step = sum(self._strides)
        diagonal = calls.as_strided[self._key](self, (min(sizes),), (step,))
    calls.fill_[diagonal._key, signature.kind_of(fill_value)](diagonal, fill_value)
    if not wrap or len(sizes) > 2:
        return self
    rows, columns = sizes
    if rows > columns + 1:
        start = (columns + 1) * self._strides[0] + self._offset
        rest = self.as_strided((rows - columns - 1, columns), self._strides, start)
        fill_diagonal_(rest, fill_value, True)
    return self
