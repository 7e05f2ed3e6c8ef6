"""Distances between all pairs of rows."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.dispatch import calls, ops

IF_MANY = "use_mm_for_euclid_dist_if_necessary"
BY_PRODUCTS = {IF_MANY: None, "use_mm_for_euclid_dist": True, "donot_use_mm_for_euclid_dist": False}
"""Whether Euclidean distances are found from products of rows; None: if there are MANY rows."""
MANY = 26


def cdist(x1: Any, x2: Any, p: float = 2, compute_mode: str = IF_MANY) -> Any:
    """Shape: (*B, n, m), (*B, k, m) -> (*B, n, k), the p-norm of each difference of rows."""
    if compute_mode not in BY_PRODUCTS:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if x1.ndim < 2 or x2.ndim < 2:
        which = "X1" if x1.ndim < 2 else "X2"
        ndim = x1.ndim if x1.ndim < 2 else x2.ndim
        raise RuntimeError(f"cdist only supports at least 2D tensors, {which} got: {ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    by_products = BY_PRODUCTS[compute_mode]
    if by_products is None:
        by_products = max(x1.shape[-2], x2.shape[-2]) >= MANY
    if p == 2 and by_products:
        return _euclidean(x1, x2)
    if p == inf:
        return ops._cdist_inf(x1, x2) if x1.shape[-1] else _no_distances(x1, x2)
    if p == 0:
        return ops.linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)
    if p == 1:
        return ops._cdist_one(x1, x2)
    return ops._cdist_two(x1, x2) if p == 2 else ops._cdist_power(x1, x2, p)


def _no_distances(x1: Any, x2: Any) -> Any:
    """Between rows without elements."""
    return x1.sum(-1).unsqueeze(-1) + x2.sum(-1).unsqueeze(-2)


def _euclidean(x1: Any, x2: Any) -> Any:
    """|a - b| = sqrt(|a|^2 + |b|^2 - 2 ab), by a product of matrices. It has no gradient at 0."""
    squares = [x.square().sum(-1) for x in (x1, x2)]
    products = x1.matmul(x2.mT)
    return ops._euclidean(products, squares[0].unsqueeze(-1), squares[1].unsqueeze(-2))


def pdist(self: Any, p: float = 2) -> Any:
    """Shape: (n, m) -> (n * (n - 1) / 2), the distances above the diagonal, row by row."""
    if len(self._sizes) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    n, _ = self._sizes
    is_kept = n <= MOST_ROWS_KEPT and not self._key & keys.NOT_HERE
    rows, columns = _kept_pairs(n) if is_kept else _pairs(n, self.device)
    if p == 2:
        call = calls._pair_distances
        return call[self._key, rows._key, columns._key](self, rows, columns)
    difference = self.index_select(0, rows) - self.index_select(0, columns)
    return ops.linalg_vector_norm(difference, p, -1)


MOST_ROWS_KEPT = 64
"""Up to how many rows their pairs are remembered."""


def _pairs(n: int, device: Any) -> Any:
    """The numbers of the rows of each pair."""
    return ops.triu_indices(n, n, 1, device=device).unbind(0)


@lru_cache(maxsize=MOST_ROWS_KEPT)
def _kept_pairs(n: int) -> Any:
    return tuple([each.contiguous() for each in _pairs(n, devices.cpu)])
