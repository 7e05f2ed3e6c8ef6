"""Between layouts: dense tensors as sparse ones and back, masks, casts, copies."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core import tensor as tensors
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def to_dense(
    self: Tensor, dtype: dtypes.dtype | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """The elements, zero where there is no entry; a dense tensor itself.

    masked_grad: whether only entries get a gradient (the default); else it is dense.
    """
    if sparse.is_sparse(self):
        self = _scattered(self) if masked_grad in (None, True) else Unmasked.apply(self)
    return self if dtype is None else self.to(dtype)


def _scattered(self: Tensor) -> Tensor:
    self = structure.as_coo(self)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    dims, sizes = entries.sparse_dims(pattern), tuple(self._sizes)
    if not dims:
        return given.sum(0)
    flat = given.new_zeros((prod(sizes[:dims]), *sizes[dims:]))
    where = entries.positions(pattern, sizes)
    if given.dtype is dtypes.bool:
        return flat.index_put((where,), given, accumulate=True).reshape(self._sizes)
    return flat.index_add(0, where, given).reshape(self._sizes)


class Unmasked(Function):
    """Sparse tensor -> dense, with a dense gradient: elements without entries count."""

    @staticmethod
    def forward(ctx: Any, self: Tensor) -> Tensor:
        """Put the values in their places."""
        return _scattered(self)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """As it is, and sparse."""
        return to_sparse_coo(grad)


def to_sparse_coo(self: Tensor, sparse_dim: int | None = None) -> Tensor:
    """The elements that are not zero, as entries with indices of the first `sparse_dim` dims."""
    if sparse.is_sparse(self):
        return _as_coo_of(self, sparse_dim)
    dims = self.ndim if sparse_dim is None else sparse_dim
    if not 0 <= dims <= self.ndim or (self.ndim and not dims):
        raise errors.sparse_dim_range(self.ndim, dims)
    held = ops.detach(self).ne(0)
    if dims < self.ndim:
        held = held.flatten(dims).any(-1)
    indices = held.nonzero().t().contiguous() if dims else _scalar_index(self)
    pattern = Pattern(indices, True)
    given = entries.gather(self, pattern, self._sizes) if dims else self.reshape((1,))
    return structure.with_pattern(self._sizes, pattern, given)


def _scalar_index(self: Tensor) -> Tensor:
    return ops.zeros((0, 1), dtype=dtypes.int64, device=self.device)


def _as_coo_of(self: Tensor, sparse_dim: int | None) -> Tensor:
    found = structure.coalesced(structure.as_coo(self)) if structure.is_compressed(self) else self
    own = entries.sparse_dims(structure.coo_pattern(found))
    if sparse_dim is not None and sparse_dim != own:
        raise RuntimeError(
            "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
            "!=self.sparse_dim() is not supported"
        )
    return found


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of a tensor where `mask` has entries, as a tensor with these entries."""
    if not sparse.is_sparse(mask):
        raise errors.not_this_layout("sparse_mask", "sparse mask", mask.layout)
    if self._sizes != mask._sizes:
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(self._sizes)} but mask has size {list(mask._sizes)}"
        )
    pattern = structure.pattern_of(mask)
    given = structure.values_at(self, self._sizes, pattern)
    return structure.with_pattern(self._sizes, pattern, given)


def alias(self: Tensor, *args: Any) -> Tensor:
    """Another tensor over the same entries, recorded."""
    return structure.with_values(self, ops.alias(structure.values(self)))


def detach(self: Tensor) -> Tensor:
    """Another tensor over the same entries, outside the graph."""
    return tensors.alias(self, self._sizes, self._strides, self._offset)


def clone(self: Tensor, memory_format: Any = None) -> Tensor:
    """A copy of indices and values."""
    pattern = structure.pattern_of(self)
    copied = pattern.over(*[part.clone() for part in pattern.parts])
    return structure.with_pattern(self._sizes, copied, structure.values(self).clone())


def to_copy(self: Tensor, dtype: Any = None, *rest: Any) -> Tensor:
    """A copy in another dtype."""
    pattern = structure.pattern_of(self)
    copied = pattern.over(*[part.clone() for part in pattern.parts])
    given = ops._to_copy(structure.values(self), dtype=dtype)
    return structure.with_pattern(self._sizes, copied, given)


def move(self: Tensor, device: Any, non_blocking: bool) -> Tensor:
    """A copy on another device, recorded."""
    pattern = structure.pattern_of(self)
    moved = pattern.over(*[part.to(device, non_blocking=non_blocking) for part in pattern.parts])
    given = structure.values(self).to(device, non_blocking=non_blocking)
    return structure.with_pattern(self._sizes, moved, given)


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """What `self` holds after a copy: the entries of `src`, in the dtype and on the device of
    `self`.

    Raises: RuntimeError if one of the two is dense, or the sizes differ.
    """
    if not (sparse.is_sparse(self) and sparse.is_sparse(src)) or self.layout is not src.layout:
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{self.layout} and src type = {src.layout}"
        )
    if self._sizes != src._sizes:
        raise errors.different_shapes("copy_", self._sizes, src._sizes)
    return to_copy(src.to(self.device), self.dtype)


def zero_(self: Tensor) -> Tensor:
    """What `self` holds afterwards: no entries."""
    return no_entries(self)


def fill_(self: Tensor, value: Any) -> Tensor:
    """What a compressed `self` holds afterwards: one value in all entries."""
    number = value.item() if isinstance(value, Tensor) else value
    return structure.with_values(self, ops.full_like(structure.values(self), number))


def normal_(self: Tensor, mean: float = 0, std: float = 1, generator: Any = None) -> Tensor:
    """What a compressed `self` holds afterwards: normal numbers in all entries."""
    drawn = ops.empty_like(structure.values(self)).normal_(mean, std, generator=generator)
    return structure.with_values(self, drawn)


def no_entries(self: Tensor) -> Tensor:
    """A tensor of the sizes and layout of a sparse one without entries."""
    given = sparse.storage_of(self).values
    if structure.is_coo(self):
        indices = structure.coo_pattern(self).indices
        empty = Pattern(indices.new_zeros((indices._sizes[0], 0)), True)
        return sparse.build_sparse(self._sizes, empty, given.new_zeros((0, *given._sizes[1:])))
    pattern = structure.compressed_pattern(self)
    plain = pattern.plain.new_zeros((*pattern.plain._sizes[:-1], 0))
    batch = plain.ndim - 1
    kept = given.new_zeros((*given._sizes[:batch], 0, *given._sizes[batch + 1 :]))
    return sparse.build_sparse(
        self._sizes, pattern.over(ops.zeros_like(pattern.compressed), plain), kept
    )
