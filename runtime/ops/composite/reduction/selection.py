"""Composites over reductions that pick or count."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.dispatch import calls, ops


def aminmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the greatest. **Raises** RuntimeError or IndexError where there is none."""
    if dim is None:
        if 0 in self._sizes:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                "no identity."
            )
    else:
        sizes = self._sizes
        axis = shapes.normalize_dim(dim, len(sizes))
        if not sizes:
            dim, keepdim = None, False
        elif not sizes[axis]:
            raise errors.empty_reduction_dim("aminmax", axis)
    least, greatest = calls.amin[self._key], calls.amax[self._key]
    return least(self, dim, keepdim), greatest(self, dim, keepdim)


def count_nonzero(self: Any, dim: Any = None) -> Any:
    """The number of elements that are not zero."""
    kind = self.dtype.kind
    if kind == "i":
        return ops._count_nonzero(self, dim)
    return ops.sum(self if kind == "b" else ops.ne(self, 0), dim)


def nonzero_static(self: Any, size: int, fill_value: int) -> Any:
    """The first `size` rows of `nonzero`, filled up. Raises: RuntimeError for a negative size."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    found = ops.nonzero(self)
    rows, _ = found._sizes
    return ops.constant_pad_nd(found, (0, 0, 0, size - rows), fill_value)
