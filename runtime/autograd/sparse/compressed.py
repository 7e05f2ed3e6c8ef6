"""Compressed rows and columns (CSR, CSC), and blocks of them (BSR, BSC), as entries.

COO is the hub: what is not said of a compressed layout goes by way of entries, whose indices are
derived once and remembered by the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.sparse import CompressedPattern, Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

Sizes = Sequence[int]


def batch_dims(pattern: CompressedPattern) -> int:
    """How many dims stand before the matrices'."""
    return pattern.plain.ndim - 1


def check_indices(pattern: CompressedPattern, across: int) -> None:
    """Raise RuntimeError for indices that are no places: kernels would not notice.

    Constructors check them, unless they are told not to. across: how many plain indices there are.
    """
    compressed, plain = pattern.parts
    moved, short, crossed, _, outside, _ = faults(compressed, plain, across)
    if moved:
        raise errors.compressed_invariant("compressed_indices[..., 0] == 0")
    if short:
        raise errors.compressed_invariant(f"compressed_indices[..., -1] == {plain._sizes[-1]}")
    if crossed:
        raise errors.compressed_invariant("0 <= compressed_indices[..., 1:] - [..., :-1]")
    if outside:
        raise errors.compressed_invariant(f"0 <= plain_indices < {across}")


def faults(compressed: Tensor, plain: Tensor, across: int) -> list[int]:
    """Which rules of compressed indices are broken, as `_line_faults` lists them."""
    if not compressed.numel():
        return [0] * 6
    found: list[int] = ops._line_faults(compressed, plain, across).tolist()
    return found


def of_units(pattern: CompressedPattern, sizes: Sizes) -> Pattern:
    """Where the stored units - entries, or blocks counted as such - are, in the values' order."""
    known = pattern.known.get("units")
    if known is None:
        known = pattern.known["units"] = _of_units(pattern, sizes)
    found: Pattern = known
    return found


def _of_units(pattern: CompressedPattern, sizes: Sizes) -> Pattern:
    count = batch_dims(pattern)
    compressed = pattern.compressed.to(dtypes.int64)
    plain = pattern.plain.to(dtypes.int64).reshape((-1,))
    lines = compressed._sizes[-1] - 1
    which = ops.repeat_interleave(compressed.diff().reshape((-1,)))
    lead = which.remainder(lines) if count else which
    rows = [lead, plain] if pattern.is_by_rows else [plain, lead]
    if count:
        batch = ops.div(which, lines, rounding_mode="floor")
        indices = entries.indices_at(batch, sizes[:count])
        return Pattern(ops.cat([indices, ops.stack(rows)]), pattern.is_by_rows)
    return Pattern(ops.stack(rows), pattern.is_by_rows)


def of_entries(pattern: CompressedPattern, sizes: Sizes) -> Pattern:
    """Where each number is, block by block, in the values' order."""
    units = of_units(pattern, sizes)
    if pattern.blocksize is None:
        return units
    known = pattern.known.get("entries")
    if known is None:
        known = pattern.known["entries"] = _spread(units, pattern.blocksize)
    found: Pattern = known
    return found


def _spread(units: Pattern, blocksize: tuple[int, int]) -> Pattern:
    """The entries of blocks of some size."""
    *batch, row, column = (units.row(dim) for dim in range(units.indices._sizes[0]))
    count, (height, width) = entries.count_of(units), blocksize
    shape = (count, height, width)
    on = units.indices.device
    down = ops.arange(height, device=on).reshape((1, height, 1))
    across = ops.arange(width, device=on).reshape((1, 1, width))
    parts = [each.reshape((count, 1, 1)) for each in batch]
    parts.append(row.reshape((count, 1, 1)) * height + down)
    parts.append(column.reshape((count, 1, 1)) * width + across)
    spread = [each.expand(shape).reshape((-1,)) for each in parts]
    return Pattern(ops.stack(spread), False)


def flat_values(pattern: CompressedPattern, values: Tensor) -> Tensor:
    """Values with one dim of entries in front, then their dense dims."""
    dims = batch_dims(pattern) + 1 + (2 if pattern.blocksize else 0)
    return values if dims == 1 else values.reshape((-1, *values._sizes[dims:]))


def folded_values(pattern: CompressedPattern, flat: Tensor) -> Tensor:
    """The inverse of `flat_values`."""
    shape = (*pattern.plain._sizes, *(pattern.blocksize or ()), *flat._sizes[1:])
    return flat if len(shape) == flat.ndim else flat.reshape(shape)


__all__ = ["batch_dims", "flat_values", "folded_values", "of_entries", "of_units", "prod"]
