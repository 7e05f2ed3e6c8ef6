"""Reductions of sparse tensors: over entries, and over some dims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, nan, prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import compressed, conversion, views


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
    rows = ops.stack([pattern.row(each) for each in kept])
    is_ordered = len(kept) == count and pattern.is_coalesced
    made = structure.with_pattern(sizes, Pattern(rows, is_ordered), given)
    made = structure.coalesced(made) if len(kept) < count else made
    for each in dims if keepdim else ():
        made = views.unsqueeze(made, each)
    return made


def _of_compressed(self: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    if dim is None or len(_dims(dim, self.ndim)) == self.ndim:
        total = structure.values(self).sum(dtype=dtype)
        return _one_element(total, self) if keepdim else total
    found = sum(structure.coalesced(structure.as_coo(self)), dim, keepdim, dtype)
    return compressed.like(found, self) if keepdim else found


def _one_element(total: Tensor, model: Tensor) -> Tensor:
    """A total in the layout of what was summed; blocks, which may not divide it, as dense."""
    made = total.reshape([1] * model.ndim)
    is_matrix = structure.compressed_pattern(model).blocksize is None and model.ndim == 2
    return compressed.to_layout(made, model.layout) if is_matrix else made


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


def mean(
    self: Tensor, dim: Any = None, keepdim: bool = False, dtype: dtypes.dtype | None = None
) -> Tensor:
    """Sums over dims, by the number of elements: those without an entry count.

    Raises: RuntimeError for integers without a dtype.
    """
    if (dtype or self.dtype).kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype: the input, or dtype=, must be of a floating "
            "point or complex dtype"
        )
    count = prod([self._sizes[each] for each in _dims(dim, self.ndim)])
    total = sum(self, dim, keepdim, dtype)
    return total / count if count else total * nan


def any(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element is not zero; over some dims a sparse tensor of these answers."""
    merged = structure.coalesced(self) if structure.is_coo(self) else self
    counted = structure.with_values(merged, structure.values(merged).ne(0).to(dtypes.int64))
    total = sum(counted, dim, keepdim)
    return total.ne(0) if structure.is_dense(total) else total.to(dtypes.bool)


def vector_norm(
    self: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The norm of all elements, or over dims: those without an entry are zeros.

    Raises: NotImplementedError over some of the dims for a negative order.
    """
    merged = structure.coalesced(self) if structure.is_coo(self) else self
    if dim is not None and len(_dims(dim, self.ndim)) < self.ndim:
        return _norms(merged, ord, dim, keepdim, dtype)
    given = structure.values(merged).reshape((-1,))
    total = ops.linalg_vector_norm(given, ord, dtype=dtype)
    if ord < 0 and given.numel() < self.numel():
        total = ops.zeros_like(total)
    return total.reshape([1] * self.ndim) if keepdim else total


def _norms(self: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    """Norms over some of the dims."""
    if ord < 0:
        raise errors.no_rule_for_layout("norm", self.layout, f"an order of {ord} counts zeros")
    given = structure.values(self if dtype is None else self.to(dtype)).abs()
    if ord == inf:
        return extreme(structure.with_values(self, given), dim, keepdim, "amax")
    powers = given.ne(0).to(given.dtype) if ord == 0 else given.pow(ord)
    total = sum(structure.with_values(self, powers), dim, keepdim)
    return total if ord in (0, 1) else total.pow(1 / ord)


def extreme(self: Tensor, dim: Any, keepdim: bool, reduce: str) -> Tensor:
    """What is folded of the entries over some dims, as a sparse tensor.

    reduce: as `scatter_reduce` has it. Elements without an entry have no part in it.
    """
    model = self
    self = structure.coalesced(structure.as_coo(self))
    pattern, given = structure.coo_pattern(self), structure.values(self)
    dims, count = _dims(dim, self.ndim), entries.sparse_dims(pattern)
    if not count:
        return self
    for each in reversed([each - count + 1 for each in dims if each >= count]):
        given = getattr(ops, reduce)(given, each, True)
    lead = [1 if each in dims else size for each, size in enumerate(self._sizes[:count])]
    rows = [pattern.row(each) for each in range(count)]
    rows = [row.mul(0) if each in dims else row for each, row in enumerate(rows)]
    merged = entries.merge(entries.Rows(rows, False), lead)
    shape = (entries.count_of(merged.pattern), *given._sizes[1:])
    group = merged.sources.reshape((-1, *[1] * (given.ndim - 1))).expand(given._sizes)
    folded = given.new_zeros(shape).scatter_reduce(0, group, given, reduce, include_self=False)
    sizes = [1 if each in dims else size for each, size in enumerate(self._sizes)]
    made = structure.with_pattern(sizes, merged.pattern, folded)
    return compressed.like(made, model) if keepdim else views.squeeze_dims(made, dims)


def over_mask(
    self: Tensor, mask: Tensor | None, dim: Any, keepdim: Any, dtype: Any, reduce: str
) -> Tensor:
    """What is folded over the dims of the elements that a mask lets through, as a sparse tensor.

    Raises: ValueError without a mask, but for sums, which no mask is needed for.
    """
    if mask is not None:
        self = _let_through(self, mask)
    elif reduce != "sum":
        name = str(self.layout).removeprefix("torch.")
        raise ValueError(f"masked {reduce} expects explicit mask for {name} tensor input")
    if dtype is None and reduce in ("sum", "prod") and self.dtype.kind in "bi":
        dtype = dtypes.int64
    self = self if dtype is None else self.to(dtype)
    return extreme(self, dim, bool(keepdim), reduce)


def _let_through(self: Tensor, mask: Tensor) -> Tensor:
    """The elements for which a mask has a true entry, in the layout of the tensor."""
    held = conversion.to_sparse_coo(ops.expand(mask, self._sizes) if _differs(self, mask) else mask)
    held = structure.coalesced(held)
    chosen = structure.values(held).ne(0).nonzero().select(1, 0)
    pattern = Pattern(structure.coo_pattern(held).indices.index_select(1, chosen), True)
    given = structure.values_at(self, self._sizes, pattern)
    return compressed.like(structure.with_pattern(self._sizes, pattern, given), self)


def _differs(self: Tensor, mask: Tensor) -> bool:
    return self._sizes != mask._sizes
