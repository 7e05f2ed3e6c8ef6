"""Shapes and checks of products over the entries of sparse matrices."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.sparse import WORD_BITS

Answer = tuple[tuple[int, ...], Any]


FOLDS = ("sum", "amax", "amin")
"""What may join the products of a row."""


def spmm(
    offsets: Any, others: Any, values: Any, mat: Any, order: Any = None, reduce: str = "sum"
) -> Answer:
    """Shape: (rows + 1), (entries), (entries), (columns, width) -> (rows, width).

    Raises: RuntimeError for other dims or numbers of entries, or another `reduce`, which for
    complex numbers is the sum.
    """
    folds = FOLDS[:1] if values.dtype.is_complex else FOLDS
    if reduce not in folds:
        raise RuntimeError(f"_spmm: expected reduce to be one of {folds}, got {reduce!r}")
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
    return (sizes, dtype), (sizes, index_dtype(others.shape[0]))


def index_dtype(count: int) -> Any:
    """The dtype of what counts up to a number: half the memory, where that is enough."""
    return dtypes.int32 if count < LARGEST else dtypes.int64


def spmm_chosen(
    offsets: Any, others: Any, values: Any, mat: Any, chosen: Any, order: Any
) -> Answer:
    """As `spmm`; `chosen` has the shape of `mat`.

    Raises: RuntimeError for other dims or numbers of entries.
    """
    if chosen.shape != mat.shape or order.shape != others.shape:
        raise RuntimeError(
            "_spmm_chosen: expected a choice for each element of 'mat' and an order of all entries"
        )
    return spmm(offsets, others, values, mat, order)


def group(keys: Any, count: int) -> tuple[Answer, Answer]:
    """Shape: (n) of int64 -> (count + 1), (n).

    Raises: RuntimeError for other dims or dtypes.
    """
    if keys.ndim != 1 or keys.dtype is not dtypes.int64 or count < 0:
        raise RuntimeError(
            f"_group: expected a vector of int64, got {keys.ndim} dims of {keys.dtype}"
        )
    return ((count + 1,), dtypes.int64), (tuple(keys.shape), dtypes.int64)


def turn(offsets: Any, others: Any, carried: Any, count: int) -> tuple[Answer, Answer, Answer]:
    """Shape: (rows + 1), (n) of int64 or int32, (n) of int32 -> (count + 1), (n), (n).

    Raises: RuntimeError for other dims or dtypes, or too many rows or entries.
    """
    if offsets.ndim != 1 or others.ndim != 1 or not offsets.shape[0] or count < 0:
        raise RuntimeError("_turn: expected vectors of offsets, at least one, and of columns")
    index = offsets.dtype
    if index is not others.dtype or index not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("_turn: expected offsets and columns of int64, or both of int32")
    if carried.shape != others.shape or carried.dtype is not dtypes.int32:
        raise RuntimeError("_turn: expected an int32 that each entry carries")
    if max(others.shape[0], offsets.shape[0]) >= LARGEST:
        raise RuntimeError(f"_turn: expected fewer than {LARGEST} rows and entries")
    entries = tuple(others.shape)
    return ((count + 1,), index), (entries, index), (entries, dtypes.int32)


LARGEST = 2**31
"""Indices and entries that two of make an int64."""


def merge(
    lines: Any, others: Any, count: int, across: int
) -> tuple[Answer, Answer, Answer, Answer]:
    """Shape: (n), (n) of int64 -> (2, n), (n), (n), (1).

    Raises: RuntimeError for other dims or dtypes, or too many entries or places.
    """
    if lines.ndim != 1 or lines.shape != others.shape:
        raise RuntimeError("_merge: expected vectors of lines and others of one length")
    if lines.dtype is not dtypes.int64 or others.dtype is not dtypes.int64:
        raise RuntimeError("_merge: expected int64 indices")
    if max(across, count, lines.shape[0]) >= LARGEST or min(across, count) < 0:
        raise RuntimeError(f"_merge: expected fewer than {LARGEST} places and entries")
    entries = tuple(lines.shape), dtypes.int64
    return ((2, *lines.shape), dtypes.int64), entries, entries, ((1,), dtypes.int64)


def merge_values(
    lines: Any, others: Any, values: Any, count: int, across: int
) -> tuple[Answer, Answer, Answer]:
    """Shape: (n), (n) of int64, (n) -> (2, n), (n), (1).

    Raises: RuntimeError for other dims or dtypes, or too many entries or places.
    """
    if lines.ndim != 1 or not lines.shape == others.shape == values.shape:
        raise RuntimeError("_merge_values: expected vectors of one length")
    if lines.dtype is not dtypes.int64 or others.dtype is not dtypes.int64:
        raise RuntimeError("_merge_values: expected int64 indices")
    if values.dtype not in (dtypes.float32, dtypes.int32):
        raise RuntimeError(f"_merge_values: expected values of 32 bits, got {values.dtype}")
    sizes = count, across
    bits = sum(size.bit_length() for size in sizes) + 32
    if max(*sizes, lines.shape[0]) >= LARGEST or min(sizes) < 0 or bits > WORD_BITS:
        raise RuntimeError("_merge_values: expected fewer places and entries")
    entries = tuple(lines.shape)
    return ((2, *entries), dtypes.int64), (entries, values.dtype), ((1,), dtypes.int64)


def line_faults(compressed: Any, plain: Any, across: int) -> Answer:
    """Shape: (*batch, lines + 1), (*batch, entries) -> (6).

    Raises: RuntimeError for other dims or dtypes.
    """
    if compressed.ndim < 1 or compressed.shape[:-1] != plain.shape[:-1] or not compressed.shape[-1]:
        raise RuntimeError("_line_faults: expected lines of equal batches, and an edge")
    if compressed.dtype is not plain.dtype:
        raise RuntimeError("_line_faults: expected indices of one dtype")
    return (6,), dtypes.int64
