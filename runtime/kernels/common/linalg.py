"""How the statements of products of vectors see their operands."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.index import View
from torchgen_out._runtime.kernels.common.indexing import around


def cross(out: Any, self: Any, other: Any, dim: int) -> dict[str, View]:
    """Vectors along `dim`, of operands that broadcast."""
    operands = {"self": self, "other": other}
    seen = {
        name: each._replace(
            sizes=tuple(out.sizes),
            strides=shapes.broadcast_strides(each.sizes, each.strides, out.sizes),
        )
        for name, each in operands.items()
    }
    return around(dim, out=out, **seen)
