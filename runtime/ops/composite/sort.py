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
        moved, back = _first(self, dim)
        found = ops.unique_dim(moved, 0 if back else dim, sorted, return_inverse, return_counts)
        found = (found[0].movedim(0, back), *found[1:]) if back else found
    return _asked(found, return_inverse, return_counts)


def unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal neighbours, likewise."""
    moved, back = (self, 0) if dim is None else _first(self, dim)
    found = ops._unique_consecutive(moved, return_inverse, return_counts, 0 if back else dim)
    found = (found[0].movedim(0, back), *found[1:]) if back else found
    return _asked(found, return_inverse, return_counts)


def _first(self: Any, dim: int) -> tuple[Any, int]:
    """The tensor with `dim` in front, as slices are laid out, and where it was; else it and 0."""
    if not -self.ndim <= dim < self.ndim or dim % self.ndim == 0:
        return self, 0
    return self.movedim(dim, 0), dim % self.ndim


def _asked(found: Any, inverse: bool, counts: bool) -> Any:
    if not (inverse or counts):
        return found[0]
    return tuple([found[0]] + [found[1]] * inverse + [found[2]] * counts)
