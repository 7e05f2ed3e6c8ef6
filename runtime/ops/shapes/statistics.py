"""Shapes and checks of variance and standard deviation."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.user_warnings import warn

Sizes = tuple[int, ...]


def var(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Sizes, Any]:
    """Shape: sizes without the dims of `dim`, or with 1 there. dtype: real."""
    return _moment("var", "std and var", self, dim, correction, keepdim)


def std(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Sizes, Any]:
    """Shape: sizes without the dims of `dim`, or with 1 there. dtype: real."""
    return _moment("std", "std and var", self, dim, correction, keepdim)


def var_mean(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Any, Any]:
    """As var, and the mean, which keeps a complex dtype."""
    sizes, dtype = _moment("var_mean", "var_mean", self, dim, correction, keepdim)
    return (sizes, dtype), (sizes, self.dtype)


def std_mean(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Any, Any]:
    """As std, and the mean, which keeps a complex dtype."""
    sizes, dtype = _moment("std_mean", "std_mean", self, dim, correction, keepdim)
    return (sizes, dtype), (sizes, self.dtype)


def _moment(
    name: str, shown: str, self: Any, dim: Any, correction: Any, keepdim: bool
) -> tuple[Sizes, Any]:
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"{shown} only support floating point and complex dtypes")
    whole = dim is None or (not isinstance(dim, int) and not len(dim))
    dims = shapes.normalize_dims(None if whole else dim, self.ndim)
    count = prod(self.shape[d] for d in dims if d < self.ndim)
    sizes = [size for d, size in enumerate(self.shape) if keepdim or d not in dims]
    if keepdim:
        sizes = [1 if d in dims else size for d, size in enumerate(sizes)]
    if not prod(sizes) or count <= (1 if correction is None else correction):
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
        )
    return tuple(sizes), self.dtype.to_real()
