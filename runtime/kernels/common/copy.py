"""What copies of every backend warn of, and as what views they see their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.kernels.common.index import View


def warn_of_discarding() -> None:
    """Warn that a cast leaves out imaginary parts."""
    warn("Casting complex values to real discards the imaginary part", UserWarning)


def flip(out: Any, self: Any, dims: Sequence[int]) -> dict[str, View]:
    """Self from its last element on along each of `dims`."""
    strides, offset = list(self.strides), 0
    for dim in dims if self.sizes else ():
        offset += (self.sizes[dim] - 1) * strides[dim]
        strides[dim] = -strides[dim]
    return {"self": View(tuple(self.sizes), tuple(strides), offset)}
