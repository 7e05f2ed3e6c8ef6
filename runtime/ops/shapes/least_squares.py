"""Shapes and checks of least squares and pseudo-inverses."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.ops.shapes.factorisations import by_columns, check_matrices

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _linalg_lstsq(self: Any, b: Any, rcond: float, driver: str) -> Any:
    """Shape: (*A, m, n), (*B, m, k) -> (*batch, n, k), (*batch), (*batch, min(m, n)); or empty."""
    name = "torch.linalg.lstsq"
    check_matrices(name, self, "input")
    if self.dtype is not b.dtype:
        raise errors.operand_dtypes_differ(name, self.dtype, b.dtype)
    if self.shape[-2] != b.shape[-2]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size(-2), "
            f"got {self.shape[-2]} and {b.shape[-2]}"
        )
    if driver not in DRIVERS:
        raise errors.unknown_word(name, "driver", driver, ", ".join(DRIVERS))
    batch = shapes.broadcast_shapes(self.shape[:-2], b.shape[:-2])
    smaller = min(self.shape[-2:])
    has_values = driver in ("gelsd", "gelss")
    return (
        by_columns((*batch, self.shape[-1], b.shape[-1]), self.dtype),
        ((0,) if driver == "gels" else batch, dtypes.int64),
        ((*batch, smaller) if has_values else (0,), self.dtype.to_real()),
    )


def _linalg_pinv(self: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """Shape: (*B, m, n) -> (*B, n, m)."""
    if self.ndim < 2:
        raise errors.matrix_expected("linalg.pinv", "A", self.ndim)
    *batch, rows, columns = self.shape
    if hermitian and rows != columns:
        raise errors.square_expected("linalg.pinv", "A", self.shape)
    shapes.broadcast_shapes(batch, atol.shape, rtol.shape)
    return (*batch, columns, rows), self.dtype
