"""Reductions of sparse tensors: over entries, and over some dims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import compressed, views


def sum(
    self: Tensor, dim: Any = None, keepdim: bool = False, dtype: dtypes.dtype | None = None
) -> Tensor:
    """Sums over dims: a dense tensor if all dims with indices are summed over, else sparse."""
    if structure.is_compressed(self):
        return _of_compressed(self, dim, keepdim, dtype)
    wanted = dtype or (dtypes.int64 if self.dtype.kind in "biu" else self.dtype)
    given = structure.values(self).to(wanted)
    dims = _dims(dim, self.ndim)
    if len(dims) == self.ndim:
        total = given.sum()
        return total.reshape([1] * self.ndim) if keepdim else total
    pattern = structure.coo_pattern(self)
    count = entries.sparse_dims(pattern)
    inside = [each - count + 1 for each in dims if each >= count]
    given = given.sum(inside) if inside else given
    kept = [each for each in range(count) if each not in dims]
    if not kept:
        total = given.sum(0)
        for each in dims if keepdim else ():
            total = total.unsqueeze(each)
        return total
    sizes = [size for each, size in enumerate(self._sizes) if each not in dims]
    rows = ops.stack([pattern.indices.select(0, each) for each in kept])
    is_ordered = len(kept) == count and pattern.is_coalesced
    made = structure.with_pattern(sizes, Pattern(rows, is_ordered), given)
    made = structure.coalesced(made) if len(kept) < count else made
    for each in dims if keepdim else ():
        made = views.unsqueeze(made, each)
    return made


def _of_compressed(self: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    if dim is None or len(_dims(dim, self.ndim)) == self.ndim:
        total = structure.values(self).sum(dtype=dtype)
        return total.reshape([1] * self.ndim) if keepdim else total
    found = sum(structure.coalesced(structure.as_coo(self)), dim, keepdim, dtype)
    return compressed.like(found, self) if keepdim else found


def _dims(dim: Any, ndim: int) -> list[int]:
    """The dims meant, ascending; all for None and none."""
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return list(range(ndim))
    given = dim if isinstance(dim, Sequence) else [dim]
    found = sorted(shapes.normalize_dim(each, ndim) for each in given)
    for one, two in pairwise(found):
        if one == two:
            raise errors.dim_repeated(one)
    return found


def any(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element is not zero.

    Raises: NotImplementedError for some of the dims.
    """
    if dim is not None and len(_dims(dim, self.ndim)) < self.ndim:
        raise errors.no_rule_for_layout("any", self.layout, "of some dims")
    merged = structure.coalesced(self) if structure.is_coo(self) else self
    return structure.values(merged).any()


def vector_norm(
    self: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The norm of all elements: of those that are stored, as others add nothing.

    Raises: NotImplementedError for some of the dims, or an order that counts zeros.
    """
    if dim is not None and len(_dims(dim, self.ndim)) < self.ndim:
        raise errors.no_rule_for_layout("norm", self.layout, "of some dims")
    if ord < 0:
        raise errors.no_rule_for_layout("norm", self.layout, f"an order of {ord} counts zeros")
    merged = structure.coalesced(self) if structure.is_coo(self) else self
    given = structure.values(merged).reshape((-1,))
    return ops.linalg_vector_norm(given, ord, dtype=dtype)
