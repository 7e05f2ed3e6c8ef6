"""Dims of COO tensors exchanged, added, dropped and cut: the same entries under other indices.

Nothing is viewed: indices are new, and values are shared where all of them stay.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import compressed


def permute(self: Tensor, dims: Sequence[int]) -> Tensor:
    """Dims in another order; those with indices stay in front."""
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {self.ndim} is not "
            f"equal to len(dims) = {len(dims)}"
        )
    order = [shapes.normalize_dim(dim, self.ndim) for dim in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if structure.is_compressed(self):
        moved = [dim for dim, source in enumerate(order) if dim != source]
        if len(moved) not in (0, 2):
            raise errors.no_rule_for_layout("permute", self.layout, "of more than two dims")
        return compressed.transposed(self, *(moved or (0, 0)))
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    lead, rest = order[:count], order[count:]
    for each in lead:
        if each >= count:
            raise errors.mixed_dims("permute", each, order.index(each), count)
    is_same = lead == sorted(lead)
    if rest != sorted(rest):
        given = given.permute([0, *[each - count + 1 for each in rest]])
    if not is_same:
        is_apart = pattern.is_coalesced
        rows = [pattern.row(each) for each in lead]
        pattern = entries.Rows(rows, entries.count_of(pattern) < 2, is_apart)
    return structure.with_pattern([self._sizes[each] for each in order], pattern, given)


def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dims exchanged."""
    dim0, dim1 = (shapes.normalize_dim(each, self.ndim) for each in (dim0, dim1))
    order = list(range(self.ndim))
    if order:
        order[dim0], order[dim1] = dim1, dim0
    return permute(self, order)


def t(self: Tensor) -> Tensor:
    """A matrix transposed; a vector as it is."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return transpose(self, 0, 1) if self.ndim == 2 else transpose(self, 0, 0)


def reverse_dims(self: Tensor) -> Tensor:
    """The dims in reverse order."""
    return permute(self, range(self.ndim)[::-1])


def matrix_transpose(self: Tensor) -> Tensor:
    """The last two dims exchanged. Raises: RuntimeError for fewer."""
    if self.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A dim of size 1: with indices, all zero, if it stands beside or before one with indices."""
    dim = shapes.normalize_dim(dim, self.ndim + 1)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    sizes = [*self._sizes[:dim], 1, *self._sizes[dim:]]
    if dim > count:
        return structure.with_pattern(sizes, pattern, given.unsqueeze(dim - count + 1))
    rows = [pattern.row(each) for each in range(count)]
    rows.insert(dim, pattern.indices.new_zeros((entries.count_of(pattern),)))
    return structure.with_pattern(sizes, Pattern(ops.stack(rows), pattern.is_coalesced), given)


def squeeze(self: Tensor) -> Tensor:
    """All dims of size 1 dropped."""
    return squeeze_dims(self, range(self.ndim))


def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    """A dim dropped if its size is 1."""
    return squeeze_dims(self, [dim])


def squeeze_dims(self: Tensor, dim: Sequence[int]) -> Tensor:
    """Those of some dims dropped whose size is 1."""
    dropped = {shapes.normalize_dim(each, self.ndim) for each in dim}
    dropped = {each for each in dropped if self._sizes[each] == 1}
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    for each in sorted(dropped, reverse=True):
        if each >= count:
            given = given.squeeze(each - count + 1)
    kept = [each for each in range(count) if each not in dropped]
    sizes = [size for each, size in enumerate(self._sizes) if each not in dropped]
    rows = (
        ops.stack([pattern.row(each) for each in kept])
        if kept
        else (pattern.indices.new_zeros((0, entries.count_of(pattern))))
    )
    return structure.with_pattern(sizes, Pattern(rows, pattern.is_coalesced), given)


def select(self: Tensor, dim: int, index: int) -> Tensor:
    """One slice, without its dim; dense if no dim with indices is left."""
    if not self.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = shapes.normalize_dim(dim, self.ndim)
    size = self._sizes[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size "
            f"{list(self._sizes)} at dimension {dim}"
        )
    index %= size
    if structure.is_compressed(self):
        found = compressed.select(self, dim, index)
        if found is not None:
            return found
        self = structure.coalesced(structure.as_coo(self))
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    sizes = [*self._sizes[:dim], *self._sizes[dim + 1 :]]
    if dim >= count:
        return structure.with_pattern(sizes, pattern, given.select(dim - count + 1, index))
    chosen = pattern.row(dim).eq(index).nonzero().select(1, 0)
    given = given.index_select(0, chosen)
    if count == 1:
        return given.sum(0).to(given.dtype)
    kept = [each for each in range(count) if each != dim]
    rows = [pattern.row(each).index_select(0, chosen) for each in kept]
    return structure.with_pattern(sizes, _ordered(ops.stack(rows), pattern.is_coalesced), given)


def _ordered(indices: Tensor, is_ordered: bool) -> Pattern:
    """A pattern of indices that are in order by where they come from, or fewer than two."""
    return Pattern(indices, is_ordered or indices._sizes[1] < 2)


def slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Every `step`-th slice from `start` to `end`."""
    dim = shapes.normalize_dim(dim, self.ndim)
    if step < 1:
        raise RuntimeError("slice step must be positive")
    size = self._sizes[dim]
    first, last, _ = builtins.slice(start, end).indices(size)
    length = max(0, -((first - last) // step))
    if structure.is_compressed(self):
        self = structure.as_coo(self)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    sizes = [*self._sizes[:dim], length, *self._sizes[dim + 1 :]]
    if dim >= count:
        inner = dim - count + 1
        return structure.with_pattern(
            sizes, pattern, ops.slice(given, inner, first, max(first, last), step)
        )
    own = pattern.row(dim) - first
    is_inside = own.ge(0).logical_and(own.lt(last - first))
    if step > 1:
        is_inside = is_inside.logical_and(own.remainder(step).eq(0))
    chosen = is_inside.nonzero().select(1, 0)
    rows = [pattern.row(each) for each in range(count)]
    rows[dim] = own if step == 1 else ops.div(own, step, rounding_mode="floor")
    indices = ops.stack(rows).index_select(1, chosen)
    kept = _ordered(indices, pattern.is_coalesced)
    return structure.with_pattern(sizes, kept, given.index_select(0, chosen))


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` slices from `start` on."""
    size = self._sizes[shapes.normalize_dim(dim, self.ndim)]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [-{size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice(self, dim, start, start + length)


def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along a dim."""
    dim = shapes.normalize_dim(dim, self.ndim)
    return tuple([select(self, dim, index) for index in range(self._sizes[dim])])


def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices that `index` names, in its order.

    Raises: IndexError for one outside; RuntimeError if index is no vector of integers.
    """
    dim = shapes.normalize_dim(dim, self.ndim)
    if index.ndim > 1 or index.dtype.kind not in "iu":
        raise RuntimeError("index_select(): expected a vector of integers as index")
    index, size = index.reshape((-1,)), self._sizes[dim]
    if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < size:
        raise IndexError(f"index_select(): index out of range of dim {dim} with size {size}")
    if structure.is_compressed(self):
        self = structure.as_coo(self)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    sizes = [*self._sizes[:dim], index.numel(), *self._sizes[dim + 1 :]]
    if dim >= count:
        return structure.with_pattern(sizes, pattern, given.index_select(dim - count + 1, index))
    which, places = _entries_of(pattern.row(dim).contiguous(), index, size)
    rows = [
        places if each == dim else pattern.row(each).index_select(0, which) for each in range(count)
    ]
    made = _ordered(ops.stack(rows), pattern.is_coalesced and dim == 0)
    return structure.with_pattern(sizes, made, given.index_select(0, which))


def _entries_of(own: Tensor, index: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The entries of the slices named, in this order, and the place of each one's slice."""
    ascending, order = own.sort(stable=True)
    index = index.to(own.dtype)
    first = ops.searchsorted(ascending, index)
    lengths = ops.searchsorted(ascending, index, right=True) - first
    places = ops.repeat_interleave(lengths)
    begins = first - (lengths.cumsum(0) - lengths)
    at = ops.arange(places.numel(), device=own.device) + begins.index_select(0, places)
    return order.index_select(0, at), places


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one behind the other along a new dim."""
    dim = shapes.normalize_dim(dim, tensors[0].ndim + 1)
    if any(not structure.is_coo(each) for each in tensors):
        return cat(tensors, 0)  # which says what is wrong
    return cat([unsqueeze(each, dim) for each in tensors], dim)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one behind the other along a dim.

    Raises: RuntimeError for a strided one among them, or sizes that do not fit.
    """
    if any(not structure.is_coo(each) for each in tensors):
        raise RuntimeError(
            "Concatenating sparse tensors, but a dense tensor was found, or one of "
            "compressed rows; convert them with .to_sparse()"
        )
    first = tensors[0]
    dim = shapes.normalize_dim(dim, first.ndim)
    patterns = [structure.coo_pattern(each) for each in tensors]
    count = entries.sparse_dims(patterns[0])
    for each, pattern in zip(tensors, patterns, strict=True):
        others = [(a, b) for i, (a, b) in enumerate(zip(each._sizes, first._sizes)) if i != dim]  # noqa: B905
        if each.ndim != first.ndim or any(a != b for a, b in others):
            raise errors.different_shapes("cat", first._sizes, each._sizes)
        if entries.sparse_dims(pattern) != count:
            raise RuntimeError("cat: all tensors must have as many dims with indices")
    dtype = first.dtype
    for each in tensors[1:]:
        dtype = promotion.promote_types(dtype, each.dtype)
    given = [structure.values(each).to(dtype) for each in tensors]
    sizes = list(first._sizes)
    sizes[dim] = sum(each._sizes[dim] for each in tensors)
    if dim >= count:
        return _side_by_side(tensors, patterns, given, sizes, dim - count + 1)
    rows, before = [], 0
    for each, pattern in zip(tensors, patterns, strict=True):
        shift = pattern.indices.new_zeros((count, 1))
        shift.select(0, dim).fill_(before)
        rows.append(pattern.indices + shift)
        before += each._sizes[dim]
    is_ordered = dim == 0 and all(pattern.is_coalesced for pattern in patterns)
    return structure.with_pattern(sizes, _ordered(ops.cat(rows, 1), is_ordered), ops.cat(given))


def _side_by_side(
    tensors: Any, patterns: list[Pattern], given: list[Tensor], sizes: Any, inner: int
) -> Tensor:
    """Values widened along one of their dims, each tensor's entries with zeros beside them."""
    wide, before = [], 0
    for each in given:
        total, own = sizes[len(sizes) - given[0].ndim + inner], each._sizes[inner]
        parts = []
        for length in (before, None, total - before - own):
            shape = list(each._sizes)
            if length is not None:
                shape[inner] = length
            parts.append(each if length is None else each.new_zeros(shape))
        wide.append(ops.cat(parts, inner))
        before += own
    indices = ops.cat([pattern.indices for pattern in patterns], 1)
    return structure.with_pattern(sizes, Pattern(indices, False), ops.cat(wide))
