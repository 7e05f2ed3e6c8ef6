"""Composites that return one tensor or several, as the flags say."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.dispatch import ops


def unique(
    self: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct values or slices, with the inverse map and the counts where asked for."""
    if dim is None:
        found = ops._unique2(self, sorted, return_inverse, return_counts)
    else:
        found = ops.unique_dim(self, dim, sorted, return_inverse, return_counts)
    return _asked(found, return_inverse, return_counts)


def unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal neighbours, likewise."""
    found = ops._unique_consecutive(self, return_inverse, return_counts, dim)
    return _asked(found, return_inverse, return_counts)


def _asked(found: Any, inverse: bool, counts: bool) -> Any:
    if not (inverse or counts):
        return found[0]
    return tuple([found[0]] + [found[1]] * inverse + [found[2]] * counts)
