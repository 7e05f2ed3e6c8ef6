"""Operators over the elements that a mask lets through: `torch.masked`.

Each replaces the others by what changes nothing, 0 in a sum or minus infinity in a maximum, and
calls the plain operator. Where a mask lets nothing through, that value is the result.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.finfo import iinfo
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import reductions as sparse_reductions


def _of_entries(fold: Any, self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """A fold of a sparse tensor, over the entries that the mask lets through; it is sparse."""
    if not self.ndim and mask is not None:
        return fold(self.to_dense(), dim, keepdim, dtype, mask.to_dense()).to_sparse()
    found = sparse_reductions.over_mask(self, mask, dim, keepdim, dtype, fold.__name__)
    if found.numel() != 1 or found._nnz() or mask is None:
        return found
    nothing = ops.zeros([1] * self.ndim, dtype=self.dtype)  # one element, which is masked, too
    whole = fold(nothing, dim, keepdim, dtype, ops.zeros_like(nothing, dtype=dtypes.bool))
    return whole.to_sparse(layout=found.layout)


def sum(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The sum over `dim`, by default over all."""
    if sparse.is_sparse(self):
        return _of_entries(sum, self, dim, keepdim, dtype, mask)
    return ops.sum(_filled(self, mask, 0), _dims(dim), bool(keepdim), dtype=dtype)


def mean(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The mean over `dim`; nan of nothing. Raises: ValueError if a dtype is missing."""
    if sparse.is_sparse(self):
        return _of_entries(mean, self, dim, keepdim, dtype, mask)
    if dtype is None and not _is_inexact(self):
        raise errors.masked_mean_dtype(self.dtype)
    if mask is None:
        return ops.mean(self, _dims(dim), bool(keepdim), dtype=dtype)
    kept = _kept(self, mask)
    total = ops.sum(ops.where(kept, self, 0), _dims(dim), bool(keepdim), dtype=dtype)
    return total / kept.sum(_dims(dim), bool(keepdim))


def prod(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The product over `dim`, by default over all."""
    if sparse.is_sparse(self):
        return _of_entries(prod, self, dim, keepdim, dtype, mask)
    if dtype is None and self.dtype.kind in "bi":
        dtype = dtypes.int64
    result = _cast(_filled(self, mask, 1), dtype)
    for each in _listed(self, dim):
        result = ops.prod(result, each, True)
    if not _listed(self, dim):
        return result
    return result if keepdim else result.squeeze(_listed(self, dim))


def amax(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The largest element; the least number of the dtype if there is none."""
    if sparse.is_sparse(self):
        return _of_entries(amax, self, dim, keepdim, dtype, mask)
    self = _cast(self, dtype)
    return ops.amax(_filled(self, mask, _least(self)), _listed(self, dim), bool(keepdim))


def amin(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The smallest element; the greatest number of the dtype if there is none."""
    if sparse.is_sparse(self):
        return _of_entries(amin, self, dim, keepdim, dtype, mask)
    self = _cast(self, dtype)
    return ops.amin(_filled(self, mask, _greatest(self)), _listed(self, dim), bool(keepdim))


def argmax(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """Where the largest element stands, as a number of the input's dtype."""
    self = _cast(self, dtype)
    found = ops.argmax(_filled(self, mask, _least(self)), dim, bool(keepdim))
    return found.to(self.dtype)


def argmin(self: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """Where the smallest element stands, as a number of the input's dtype."""
    self = _cast(self, dtype)
    found = ops.argmin(_filled(self, mask, _greatest(self)), dim, bool(keepdim))
    return found.to(self.dtype)


def median(self: Any, dim: int, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """The median of what is no nan, the lower of two.

    Raises: ValueError for integers of which nothing is left in a row.
    """
    self = _cast(self, dtype)
    kept = None if mask is None else _kept(self, mask)
    if _is_inexact(self):
        return _filled(self, mask, nan).nanmedian(dim, keepdim)[0]
    if kept is None:
        return self.median(dim, keepdim)[0]
    if not kept.any(dim).all():
        raise errors.masked_median_of_nothing()
    return ops.where(kept, self.double(), nan).nanmedian(dim, keepdim)[0].to(self.dtype)


def logsumexp(self: Any, dim: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """The logarithm of the sum of exponentials, of the input's dtype; minus infinity of nothing."""
    self = _cast(self, dtype)
    return ops.logsumexp(_filled(self, mask, -inf), _listed(self, dim), keepdim).to(self.dtype)


def logaddexp(self: Any, other: Any, dtype: Any, input_mask: Any, other_mask: Any) -> Any:
    """The logarithm of the sum of two exponentials; a masked one adds nothing."""
    filled = _filled(_cast(self, dtype), input_mask, -inf)
    return ops.logaddexp(filled, _filled(_cast(other, dtype), other_mask, -inf))


def norm(self: Any, ord: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The vector norm over `dim`, by default over all."""
    ord = 2.0 if ord is None else ord
    filled = _filled(_cast(self, dtype), mask, inf if ord < 0 else 0)
    return ops.linalg_vector_norm(filled, ord, _dims(dim), bool(keepdim))


def normalize(self: Any, ord: float, dim: int, eps: float, dtype: Any, mask: Any) -> Any:
    """The elements over their norm, or over `eps` if that is larger; 0 where masked."""
    length = norm(self, ord, dim, True, dtype, mask)
    return _filled(_cast(self, dtype), mask, 0) / length.clamp_min(eps)


def var(
    self: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Any:
    """The variance over `dim`; nan of nothing.

    Raises: AssertionError if both `unbiased` and `correction` are given.
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    if dtype is None and not _is_inexact(self):
        dtype = dtypes.float32
    self, dims = _cast(self, dtype), _dims(dim)
    if mask is None:
        return ops.var(self, dims, correction=correction, keepdim=bool(keepdim)).to(self.dtype)
    kept = _kept(self, mask)
    count = kept.sum(dims, True)
    mean = ops.where(kept, self, 0).sum(dims, True) / count
    deviation = ops.where(kept, self - mean, 0)
    total = (deviation * deviation.conj()).sum(dims, bool(keepdim))
    return total / (count.reshape(total.shape) - correction).clamp_min(0).to(_real(self.dtype))


def std(
    self: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Any:
    """The standard deviation over `dim`; nan of nothing."""
    return var(self, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def softmax(self: Any, dim: int, dtype: Any, mask: Any) -> Any:
    """Probabilities; 0 where masked, nan where all of a row is."""
    self = _cast(self, dtype)
    return ops.softmax(_filled(self, mask, _least(self)), dim)


def softmin(self: Any, dim: int, dtype: Any, mask: Any) -> Any:
    """`softmax` of what is turned around."""
    return softmax(-_cast(self, dtype), dim, None, mask)


def log_softmax(self: Any, dim: int, dtype: Any, mask: Any) -> Any:
    """Logarithms of probabilities; minus infinity where masked."""
    self = _cast(self, dtype)
    return ops.log_softmax(_filled(self, mask, _least(self)), dim)


def cumsum(self: Any, dim: int, dtype: Any, mask: Any) -> Any:
    """Running sums, of the input's dtype; a masked element adds nothing."""
    return ops.cumsum(_filled(self, mask, 0), dim, dtype=dtype or self.dtype)


def cumprod(self: Any, dim: int, dtype: Any, mask: Any) -> Any:
    """Running products, of the input's dtype; a masked element changes nothing."""
    return ops.cumprod(_filled(self, mask, 1), dim, dtype=dtype or self.dtype)


def _kept(self: Any, mask: Any) -> Any:
    """The mask as truth values in the shape of self. Raises: IndexError for too many dims."""
    if mask.dim() > self.dim():
        raise errors.masked_mask_dims()
    mask = mask if mask.dtype == dtypes.bool else mask.ne(0)
    return mask.expand(self.shape)


def _filled(self: Any, mask: Any, value: Any) -> Any:
    """Self, with `value` where the mask is False; without a mask self."""
    return self if mask is None else ops.where(_kept(self, mask), self, value)


def _cast(self: Any, dtype: Any) -> Any:
    return self if dtype is None else self.to(dtype)


def _dims(dim: Any) -> Any:
    """None, which is all dims, also for an empty list."""
    return None if isinstance(dim, (tuple, list)) and not dim else dim


def _listed(self: Any, dim: Any) -> tuple[int, ...]:
    """The dims one by one."""
    dim = _dims(dim)
    if dim is None:
        return tuple(range(self.dim()))
    return (dim,) if isinstance(dim, int) else tuple(dim)


def _is_inexact(self: Tensor) -> bool:
    return self.dtype.is_floating_point or self.dtype.is_complex


def _real(dtype: Any) -> Any:
    return dtype.to_real() if dtype.is_complex else dtype


def _least(self: Any) -> Any:
    if _is_inexact(self):
        return -inf
    return False if self.dtype == dtypes.bool else iinfo(self.dtype).min


def _greatest(self: Any) -> Any:
    if _is_inexact(self):
        return inf
    return True if self.dtype == dtypes.bool else iinfo(self.dtype).max
