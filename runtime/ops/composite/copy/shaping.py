"""Composites that mirror, turn, repeat and take diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.dispatch import ops


def fliplr(self: Any) -> Any:
    """Mirror dim 1. **Raises** RuntimeError below two dims."""
    if self.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip((1,))


def flipud(self: Any) -> Any:
    """Mirror dim 0. **Raises** RuntimeError for a scalar."""
    if self.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip((0,))


def rot90(self: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """Turn by k quarters from the first of `dims` to the second: a transpose, mirrored.

    **Raises** RuntimeError for too few dims or two equal ones, IndexError if out of range.
    """
    first, second = _turned_dims(len(self._sizes), tuple(dims))
    turns = k % 4
    if turns == 1:
        return self.flip((second,)).transpose(first, second)
    if turns == 2:
        return self.flip((first, second))
    if turns == 3:
        return self.flip((first,)).transpose(first, second)
    return self.clone()


@lru_cache(maxsize=256)
def _turned_dims(ndim: int, dims: tuple[int, ...]) -> tuple[int, int]:
    """The two dims, counted from 0."""
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    first, second = (shapes.normalize_dim(dim, ndim) for dim in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return first, second


def tile(self: Any, dims: Sequence[int]) -> Any:
    """Repeat; dims that are not given are taken once."""
    return self.repeat((1,) * (self.ndim - len(dims)) + tuple(dims))


def repeat_interleave(
    self: Any, repeats: Any, dim: int | None = None, output_size: int | None = None
) -> Any:
    """Take slice i repeats[i] times. **Raises** RuntimeError if the numbers do not fit."""
    if dim is None:
        self, dim = self.flatten(), 0
    size = self.size(dim)
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.ndim == 0 or repeats.shape[0] == 1:
        repeats = repeats.reshape((1,)).expand((size,))
    elif repeats.shape[0] != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.shape[0]} and input.size({dim}) = {size}"
        )
    places = (
        ops.repeat_interleave(repeats)
        if output_size is None
        else ops.repeat_interleave(repeats, output_size=output_size)
    )
    return self.index_select(dim, places)


def diag(self: Any, diagonal: int = 0) -> Any:
    """A matrix from its diagonal, or a copy of the diagonal of a matrix."""
    if self.ndim == 1:
        return self.diag_embed(diagonal)
    if self.ndim == 2:
        return self.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")
