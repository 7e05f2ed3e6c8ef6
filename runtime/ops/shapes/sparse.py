"""Shapes and checks of products over the entries of sparse matrices."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes

Answer = tuple[tuple[int, ...], Any]


def spmm(offsets: Any, others: Any, values: Any, mat: Any, order: Any = None) -> Answer:
    """Shape: (rows + 1), (entries), (entries), (columns, width) -> (rows, width).

    Raises: RuntimeError for other dims or numbers of entries.
    """
    for name, each in (("offsets", offsets), ("others", others), ("values", values)):
        if each.ndim != 1:
            raise RuntimeError(f"_spmm: expected '{name}' of one dim, got {each.ndim}")
    if mat.ndim != 2:
        raise errors.expected_matrix("mat")
    if values.shape[0] != others.shape[0] or not offsets.shape[0]:
        raise RuntimeError(
            f"_spmm: expected as many values as entries, got {values.shape[0]} and "
            f"{others.shape[0]}, and offsets of at least one element"
        )
    return (offsets.shape[0] - 1, mat.shape[1]), values.dtype


def spmm_extreme(
    offsets: Any, others: Any, values: Any, mat: Any, is_max: bool, order: Any = None
) -> tuple[Answer, Answer]:
    """As `spmm`; the entries of the products, too."""
    sizes, dtype = spmm(offsets, others, values, mat, order)
    return (sizes, dtype), (sizes, dtypes.int64)


def group(keys: Any, count: int) -> tuple[Answer, Answer]:
    """Shape: (n) of int64 -> (count + 1), (n).

    Raises: RuntimeError for other dims or dtypes.
    """
    if keys.ndim != 1 or keys.dtype is not dtypes.int64 or count < 0:
        raise RuntimeError(
            f"_group: expected a vector of int64, got {keys.ndim} dims of {keys.dtype}"
        )
    return ((count + 1,), dtypes.int64), (tuple(keys.shape), dtypes.int64)


def sampled_products(rows: Any, columns: Any, left: Any, right: Any) -> Answer:
    """Shape: (entries), (entries), (rows, width), (columns, width) -> (entries).

    Raises: RuntimeError for other dims or widths.
    """
    if rows.ndim != 1 or rows.shape != columns.shape:
        raise RuntimeError("_sampled_products: expected vectors of rows and columns of one length")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise RuntimeError("_sampled_products: expected matrices of one width")
    return tuple(rows.shape), left.dtype
