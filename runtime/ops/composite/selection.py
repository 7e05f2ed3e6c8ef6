"""Composites over reductions that pick or count."""

from __future__ import annotations

from typing import Any

from runtime import errors
from runtime.core import shape as shapes
from runtime.dispatch import ops


def aminmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the greatest. **Raises** RuntimeError or IndexError where there is none."""
    if dim is None:
        if not self.numel():
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                "no identity."
            )
        return ops.amin(self, (), keepdim), ops.amax(self, (), keepdim)
    axis = shapes.normalize_dim(dim, self.ndim)
    if self.ndim and not self.shape[axis]:
        raise errors.empty_reduction_dim("aminmax", axis)
    return ops.amin(self, dim, keepdim), ops.amax(self, dim, keepdim)


def count_nonzero(self: Any, dim: Any = None) -> Any:
    """The number of elements that are not zero."""
    return (self != 0).sum() if dim is None else (self != 0).sum(dim)
