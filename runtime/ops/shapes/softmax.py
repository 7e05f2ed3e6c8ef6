"""Shapes and checks of softmax and its kin."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes

Sizes = tuple[int, ...]


def softmax(self: Any, dim: int, dtype: Any = None) -> tuple[Sizes, Any]:
    """Shape: the input's. dtype: floating; `dtype` converts the input first."""
    return _floating_result("softmax", self, dim, dtype)


def log_softmax(self: Any, dim: int, dtype: Any = None) -> tuple[Sizes, Any]:
    """Shape: the input's. dtype: floating; `dtype` converts the input first."""
    return _floating_result("log_softmax", self, dim, dtype)


def _floating_result(operator: str, self: Any, dim: int, dtype: Any) -> tuple[Sizes, Any]:
    shapes.normalize_dim(dim, self.ndim)
    result = dtype or self.dtype
    if not result.is_floating_point and self.numel():
        raise errors.dtype_not_supported(operator, result, "floating-point dtypes; pass dtype=")
    return self.shape, result


def softmax_backward_data(
    grad_output: Any, output: Any, dim: int, input_dtype: Any
) -> tuple[Sizes, Any]:
    """Shape: the output's."""
    return output.shape, output.dtype


def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> tuple[Sizes, Any]:
    """Shape: sizes without the dims of `dim`, or with 1 there. The input arrives as floating."""
    whole = not isinstance(dim, int) and not len(dim)
    dims = shapes.normalize_dims(None if whole else dim, self.ndim)
    if keepdim:
        return tuple([1 if d in dims else s for d, s in enumerate(self.shape)]), None
    return tuple([s for d, s in enumerate(self.shape) if d not in dims]), None
