"""Bodies of operators that answer a question in Python."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.factories import creation_like


def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is a real floating-point one."""
    return self.dtype.is_floating_point


def is_complex(self: Tensor) -> bool:
    """Whether the dtype is complex."""
    return self.dtype.is_complex


def isreal(self: Tensor) -> Tensor:
    """Which elements have no imaginary part."""
    if self.dtype.is_complex:
        return self.imag == 0
    return creation_like.ones_like(self, dtypes.bool)


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return self.dtype.is_signed


def is_nonzero(self: Tensor) -> bool:
    """Whether the only element is not zero."""
    return bool(self)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the sizes are equal."""
    return self._sizes == other._sizes


def numel(self: Tensor) -> int:
    """The number of elements."""
    return self.numel()
