"""What activation functions refuse of their limits."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import number


def hardtanh(self: Any, min_val: Any, max_val: Any) -> None:
    """Refuse limits that exclude each other, and negative ones of unsigned integers."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if not self.dtype.is_signed and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")


def heaviside(self: Any, values: Any) -> None:
    """Refuse operands of two dtypes."""
    if self.dtype is not values.dtype:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes: got "
            f"{self.dtype} and {values.dtype}"
        )


def softshrink(self: Any, lambd: Any) -> None:
    """Refuse a `lambd` that is negative, or that the dtype does not hold."""
    limit = number.limits(self.dtype)[1]
    if not 0 <= lambd <= limit:
        raise RuntimeError(
            f"lambda must be in range [0, {limit:g}] for input dtype "
            f"{errors.scalar_type_name(self.dtype)}, but found {lambd:g}"
        )
