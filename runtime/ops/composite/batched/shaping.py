"""Gathering, filling and repeating of samples."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.operator import operators
from torchgen_out._runtime.ops.composite.batched.given import Given, Sides
from torchgen_out._runtime.ops.composite.batched.loop import one_by_one


def repeat(self: Any, repeats: Any) -> Any:
    """Copies side by side."""
    sides = Sides(self)
    value, missing = sides.values[0], len(repeats) - self.ndim
    if missing < 0:
        return ops.repeat(value.select(0, 0), repeats)
    value = ops.reshape(value, [sides.size, *[1] * missing, *self.shape])
    return sides.batch(value.repeat([1, *repeats]))


def diag_embed(self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Last dims as diagonals of matrices along two new ones."""
    sides = Sides(self)
    dims = [shapes.normalize_dim(dim, self.ndim + 1) + 1 for dim in (dim1, dim2)]
    return sides.batch(ops.diag_embed(sides.values[0], offset, *dims))


def trace(self: Any) -> Any:
    """The sum of the diagonal."""
    return self.diagonal().sum()


def greatest(self: Any) -> Any:
    """The greatest element."""
    return self.reshape(-1).amax(0)


def least(self: Any) -> Any:
    """The least element."""
    return self.reshape(-1).amin(0)


def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """A number at the places of a mask."""
    if isinstance(value, Tensor):
        return ops.where(mask, value.to(self.dtype), self)
    return ops.where(mask, ops.full([], value, dtype=self.dtype, device=self.device), self)


def fill_(self: Any, value: Any) -> Any:
    """The same number everywhere in each sample."""
    if isinstance(value, Tensor):
        return self.copy_(value.expand(self.shape))
    sides = Sides(self)
    ops.fill_(sides.values[0], value)
    return self


def bucketize(self: Any, boundaries: Any, out_int32: bool = False, right: bool = False) -> Any:
    """Where numbers lie among boundaries, which all samples share or not."""
    sides = Sides(self, boundaries)
    if sides.held[1] or not isinstance(self, Tensor):
        at = self if isinstance(self, Tensor) else boundaries.new_tensor(self)
        return ops.searchsorted(boundaries, at, out_int32=out_int32, right=right)
    return sides.batch(ops.bucketize(sides.values[0], boundaries, out_int32=out_int32, right=right))


def index(self: Any, indices: Any) -> Any:
    """`self[indices]`: with the number of the sample as one index more, where samples differ."""
    present = [i for i, each in enumerate(indices) if each is not None]
    is_block = present == list(range(present[0], present[-1] + 1))
    places = [each for each in indices if each is not None]
    if not is_block or any(each.dtype.name == "bool" for each in places):
        return _one_by_one(self, indices)
    sides = Sides(self, *places)
    if not any(sides.held[1:]):
        return sides.batch(ops.index(sides.values[0], [None, *indices]))
    if present[0]:
        return _one_by_one(self, indices)
    ndim = max(each.ndim for each in places)
    number = ops.arange(sides.size, device=self.device).reshape([-1, *[1] * ndim])
    aligned = [
        ops.reshape(value, [sides.size, *[1] * (ndim - each.ndim), *each.shape]) if held else value
        for value, held, each in zip(sides.values[1:], sides.held[1:], places, strict=True)
    ]
    return sides.batch(ops.index(sides.whole(0), [number, *aligned]))


def _one_by_one(self: Any, indices: Any) -> Any:
    given = Given(operators["index.Tensor"].calls, (self, indices))
    return given.result(one_by_one(given))
