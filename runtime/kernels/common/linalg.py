"""How the statements of products of vectors see their operands."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.index import View
from torchgen_out._runtime.kernels.common.indexing import around


def cross(out: Any, self: Any, other: Any, dim: int) -> dict[str, View]:
    """Vectors along `dim`."""
    return around(dim, out=out, self=self, other=other)
