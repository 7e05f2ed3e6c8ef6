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


def put_slice(self: Any, sizes: Any, dim: int, start: int) -> Any:
    """Slices of all samples, among zeros."""
    sides = Sides(self)
    dim = shapes.normalize_dim(dim, len(sizes)) + 1
    return sides.batch(ops._put_slice(sides.values[0], [sides.size, *sizes], dim, start))


def trace(self: Any) -> Any:
    """The sum of the diagonal."""
    return self.diagonal().sum()


def greatest(self: Any) -> Any:
    """The greatest element."""
    return self.reshape(-1).amax(0)


def least(self: Any) -> Any:
    """The least element."""
    return self.reshape(-1).amin(0)


def median(self: Any) -> Any:
    """The median of all elements."""
    return self.reshape(-1).median(0)[0]


def nanmedian(self: Any) -> Any:
    """The median of all elements that are not NaN."""
    return self.reshape(-1).nanmedian(0)[0]


def one_hot(self: Any, num_classes: int = -1) -> Any:
    """Rows with a one; without a number of classes each sample has its own, or raises."""
    if num_classes < 0:
        return _by_loop("one_hot", self, num_classes)
    sides = Sides(self)
    return sides.batch(ops.one_hot(sides.values[0], num_classes))


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


def searchsorted(
    sorted_sequence: Any,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Where values belong in sorted rows: of one sequence per sample, all its values are a row."""
    sides = Sides(sorted_sequence, self, sorter)
    how: dict[str, Any] = {"out_int32": out_int32, "right": right, "side": side}
    if sides.held == [False, True, False] and sorted_sequence.ndim == 1:
        return sides.batch(ops.searchsorted(sorted_sequence, sides.values[1], sorter=sorter, **how))
    rows = self if isinstance(self, Tensor) else sorted_sequence.new_tensor(self)
    if sorted_sequence.ndim == 1:
        rows = rows.reshape(-1)
    sides = Sides(sorted_sequence, rows, sorter)
    order = None if sorter is None else sides.whole(2)
    made = sides.batch(ops.searchsorted(sides.whole(0), sides.whole(1), sorter=order, **how))
    return made.reshape(self.shape if isinstance(self, Tensor) else [])


def isin(
    elements: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Whether elements are among others, which all samples share or not."""
    sides = Sides(elements, test_elements)
    if not sides.held[1]:
        return sides.batch(ops.isin(sides.values[0], test_elements, invert=invert))
    given = elements.unsqueeze(-1) if isinstance(elements, Tensor) else elements
    found = (test_elements.reshape(-1) == given).any(-1)
    return ~found if invert else found


def take(self: Any, index: Any) -> Any:
    """Elements by their places in the flattened tensor."""
    return ops.index(self.reshape(-1), [index])


def index_select(self: Any, dim: int, index: Any) -> Any:
    """Slices along a dim; each sample may choose its own."""
    sides = Sides(self, index)
    if not self.ndim or index.ndim != 1:
        return _by_loop("index_select", self, dim, index)
    dim = shapes.normalize_dim(dim, self.ndim)
    if not sides.held[1]:
        return sides.batch(ops.index_select(sides.values[0], dim + 1, index))
    return ops.index(self, [*[None] * dim, index])


def index(self: Any, indices: Any) -> Any:
    """`self[indices]`: with the number of the sample as one index more, where samples differ."""
    places = [each for each in indices if each is not None]
    present = [i for i, each in enumerate(indices) if each is not None]
    is_block = present == list(range(present[0], present[-1] + 1))
    if any(each.dtype.name == "bool" for each in places):
        return _by_loop("index.Tensor", self, indices)
    sides = Sides(self, *places)
    if is_block and not any(sides.held[1:]):
        return sides.batch(ops.index(sides.values[0], [None, *indices]))
    ndim = max(each.ndim for each in places)
    if present[0] or not is_block:  # indexed dims first; the result's go where PyTorch has them
        made = ops.index(self.movedim(present, list(range(len(present)))), places)
        at = present[0] if is_block else 0
        return made.movedim(list(range(ndim)), list(range(at, at + ndim)))
    return sides.batch(ops.index(sides.whole(0), numbered(sides, places)))


def numbered(sides: Sides, indices: Any) -> list[Any]:
    """Indices of a sample, which are `sides` from the second on, with its number in front."""
    ndim = max(each.ndim for each in indices)
    number = ops.arange(sides.size, device=indices[0].device).reshape([-1, *[1] * ndim])
    pairs = zip(sides.values[1:], sides.held[1:], strict=True)
    return [number, *[_padded(value, ndim) if held else value for value, held in pairs]]


def _padded(samples: Tensor, ndim: int) -> Any:
    """Samples with dims of size 1 in front, as many as make them of `ndim` dims."""
    missing = ndim + 1 - samples.ndim
    return ops.reshape(samples, [samples.shape[0], *[1] * missing, *samples.shape[1:]])


def _by_loop(name: str, *args: Any) -> Any:
    given = Given(operators[name].calls, args)
    return given.result(one_by_one(given))


def written(given: Given) -> Any:
    """Write at indices, `index_put`: with the number of the sample as one index more."""
    self, indices, values = given.original[:3]
    places = [each for each in indices if each is not None]
    present = [i for i, each in enumerate(indices) if each is not None]
    is_block = present == list(range(present[0], present[-1] + 1))
    differ = any(given.held[1])
    if not is_block or any(each.dtype.name == "bool" for each in places):
        return one_by_one(given)
    missing = max(each.ndim for each in places) + self.ndim - len(places) - values.ndim
    if (differ and present[0]) or missing < 0:
        return one_by_one(given)
    args = list(given.args)
    args[0] = given.expanded(0)
    args[1] = numbered(Sides(self, *places), places) if differ else [None, *indices]
    if given.held[2]:
        args[2] = _padded(args[2], values.ndim + missing)
    return given.call(args)
