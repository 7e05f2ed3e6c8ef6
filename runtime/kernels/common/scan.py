"""How statements see operands that are scanned along a dim."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.index import View
from torchgen_out._runtime.kernels.common.indexing import around


def cumulative(out: Any, self: Any, dim: int, dtype: Any = None) -> dict[str, View]:
    """A result for each element."""
    return around(dim, out=out, self=self)


def cummaxmin(values: Any, indices: Any, self: Any, dim: int) -> dict[str, View]:
    """A value and its place for each element."""
    return around(dim, values=values, indices=indices, self=self)
