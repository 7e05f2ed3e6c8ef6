"""Statistics: older spellings of variance, with `unbiased` for `correction`; covariances; means."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import dtype_for_out
from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.dispatch.operator import operators


def _over(name: str, self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """Call the entry that takes a correction, without a search for which of the family it is."""
    call = operators[f"{name}.correction"].calls[self._key]
    return call(self, dim, int(unbiased), keepdim)


def var_of_all(self: Any, unbiased: bool) -> Any:
    """The variance of all elements."""
    return _over("var", self, None, unbiased)


def var_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The variance over `dim`."""
    return _over("var", self, dim, unbiased, keepdim)


def std_of_all(self: Any, unbiased: bool) -> Any:
    """The standard deviation of all elements."""
    return _over("std", self, None, unbiased)


def std_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The standard deviation over `dim`."""
    return _over("std", self, dim, unbiased, keepdim)


def var_mean_of_all(self: Any, unbiased: bool) -> Any:
    """The variance and the mean of all elements."""
    return _over("var_mean", self, None, unbiased)


def var_mean_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The variance and the mean over `dim`."""
    return _over("var_mean", self, dim, unbiased, keepdim)


def std_mean_of_all(self: Any, unbiased: bool) -> Any:
    """The standard deviation and the mean of all elements."""
    return _over("std_mean", self, None, unbiased)


def std_mean_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The standard deviation and the mean over `dim`."""
    return _over("std_mean", self, dim, unbiased, keepdim)


def nansum(self: Any, dim: Any, keepdim: bool, dtype: Any, out: Any = None) -> Any:
    """The sum of the elements that are not nan: those become 0 before a cast to integers.

    Raises: NotImplementedError for complex numbers, and for a sum of floats in integers that only
    out= asks for.
    """
    own = self.dtype
    if own.kind in "bi":
        return ops.sum(self, dim, keepdim, dtype=dtype, out=out)
    wanted = dtype if out is None else dtype_for_out("nansum", out, dtype)
    if own.kind == "f" and (wanted is None or wanted.kind == "f"):
        return ops._nansum(self, dim, keepdim, dtype=dtype, out=out)
    if (out is not None and dtype is None) or own.kind == "c" or wanted.kind == "c":
        raise errors.dtype_not_supported("nansum", own if own.kind == "c" else wanted, "floats")
    return ops.sum(self.masked_fill(self.isnan(), 0), dim, keepdim, dtype=dtype, out=out)


def nanmean(self: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """The mean of the elements that are not nan. Raises: RuntimeError for integers and bool."""
    if self.dtype.kind in "bi":
        raise errors.nanmean_of_integers(self.dtype)
    if dtype is not None and dtype.kind != "f":
        raise errors.dtype_not_supported("nanmean", dtype, "floats")
    count = self.isnan().logical_not().sum(dim, keepdim)
    return ops.nansum(self, dim, keepdim, dtype=dtype) / count


# Several variables.


def cov(self: Any, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Covariances of the rows; columns are observations, repeated fweights, weighted aweights."""
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if self.dtype.kind in "iu":
        self = self.to(dtypes.default_dtype())
    rows = self.reshape((1, -1)) if self.ndim < 2 else self
    count = rows.shape[1]
    weights = _weights_of(fweights, aweights, count)
    if weights is None:
        center, norm = rows.mean(1, True) if count else rows.sum(1, True), count - correction
    else:
        total = weights.sum()
        center = (rows * weights).sum(1, True) / total
        norm = total - correction
        if aweights is not None and correction:
            norm = total - correction * (weights * aweights).sum() / total
    rows = rows - center
    weighted = rows if weights is None else rows * weights
    product = weighted.mm(rows.t().conj())
    if isinstance(norm, int):
        result = product / norm if norm > 0 else product * nan
    else:
        result = product / norm.clamp(min=0)
    return result.squeeze()


def _weights_of(fweights: Any, aweights: Any, count: int) -> Any:
    """The product of both kinds of weights, checked."""
    kinds = ("fweights", fweights, "iu", "integral"), ("aweights", aweights, "f", "floating point")
    for name, weights, kind, word in kinds:
        if weights is None:
            continue
        if weights.dtype.kind not in kind:
            raise RuntimeError(
                f"cov(): expected {name} to have {word} dtype but got {name} with "
                f"{errors.scalar_type_name(weights.dtype)} dtype"
            )
        if weights.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                f"{weights.ndim} dimensions"
            )
        if weights.numel() != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the "
                f"input but got {weights.numel()} != {count}"
            )
        if batched.any_true(weights < 0):
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is None or aweights is None:
        return fweights if aweights is None else aweights
    return fweights * aweights


def corrcoef(self: Any) -> Any:
    """Correlation coefficients of the rows."""
    if self.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    covariances = cov(self)
    if covariances.ndim == 0:
        return covariances / covariances
    deviations = covariances.diagonal().sqrt()
    if deviations.dtype.is_complex:
        deviations = deviations.real
    scaled = covariances / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    return scaled if scaled.dtype.is_complex else scaled.clamp(-1, 1)


def hash_tensor(self: Any, dim: int | Sequence[int], keepdim: bool, mode: int) -> Any:
    """The exclusive or of what lies in memory once elements have 64 bits."""
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    dims, own = [dim] if isinstance(dim, int) else list(dim or ()), self.dtype
    if not dims and not self.numel():
        raise errors.empty_extremum("hash_tensor")
    if own.is_complex:
        raise errors.dtype_not_supported("hash_tensor", own, "real numbers")
    for each in dims if self._sizes else ():
        if not self.size(each):
            raise errors.empty_reduction_dim("hash_tensor", each)
    if self._key & keys.GRAD:
        self = self.detach()
    wide = dtypes.float64 if own.is_floating_point else dtypes.int64
    if own is not wide:
        self = calls._to_copy[self._key](self, wide, None, None, None, False, None)
    bits = self if wide is dtypes.int64 else calls.view_dtype[self._key](self, dtypes.int64)
    hashed = calls._xor_sum[bits._key](bits, dims or None, keepdim)
    return calls.view_dtype[hashed._key](hashed, dtypes.uint64)
