"""How statements see operands that are scanned along a dim."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.index import View
from torchgen_out._runtime.kernels.common.indexing import around, one_by_one


def cumulative(out: Any, self: Any, dim: int, dtype: Any = None) -> dict[str, View]:
    """A result for each element."""
    return one_by_one(around(dim, out=out, self=self), rank=2)


def logcumsumexp(out: Any, self: Any, dim: int) -> dict[str, View]:
    """The same of costly steps, which are worth vectors of a few columns."""
    return around(dim, out=out, self=self)


def cummaxmin(values: Any, indices: Any, self: Any, dim: int) -> dict[str, View]:
    """A value and its place for each element."""
    return one_by_one(around(dim, values=values, indices=indices, self=self), rank=2)
