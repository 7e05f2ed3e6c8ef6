"""Tensors in compressed rows and columns, made of dense ones and of entries; transposed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.sparse import compressed, entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.sparse import CompressedPattern, Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import conversion

TRANSPOSED = {
    layouts.sparse_csr: layouts.sparse_csc,
    layouts.sparse_csc: layouts.sparse_csr,
    layouts.sparse_bsr: layouts.sparse_bsc,
    layouts.sparse_bsc: layouts.sparse_bsr,
}
BLOCKED = (layouts.sparse_bsr, layouts.sparse_bsc)
BY_ROWS = (layouts.sparse_csr, layouts.sparse_bsr)


def to_layout(
    self: Tensor, layout: layouts.layout, blocksize: Any = None, dense_dim: int | None = None
) -> Tensor:
    """A tensor of any layout in compressed rows or columns; indices of compressed ones keep their
    dtype.

    Raises: RuntimeError for fewer than two dims, a block size where there are no blocks or none
    where there are, sizes that blocks do not divide, or batches of different numbers of entries.
    """
    blocks, index = _checked_blocks(layout, blocksize), dtypes.int64
    if structure.is_compressed(self):
        own = structure.compressed_pattern(self)
        if own.layout is layout and own.blocksize == blocks:
            return self
        if own.blocksize is blocks is None and own.plain.ndim == 1:
            return _turned(self, layout)
        index = own.plain.dtype
    if sparse.is_sparse(self):
        entries_of = structure.coalesced(structure.as_coo(self))
        dense = entries_of.ndim - entries.sparse_dims(structure.coo_pattern(entries_of))
    else:
        dense = dense_dim or 0
        _check_dims(self, dense)
        entries_of = conversion.to_sparse_coo(self, self.ndim - dense)
    _check_dims(entries_of, dense)
    made = _of_entries(entries_of, layout, blocks)
    return made if index is dtypes.int64 else _indexed_by(made, index)


def _indexed_by(self: Tensor, index: dtypes.dtype) -> Tensor:
    """The tensor with indices of another dtype."""
    pattern = structure.compressed_pattern(self)
    made = pattern.over(*[part.to(index) for part in pattern.parts])
    return structure.with_pattern(self._sizes, made, structure.values(self))


def _turned(self: Tensor, layout: layouts.layout) -> Tensor:
    """A matrix in compressed rows in compressed columns, or the other way round."""
    pattern, given = structure.compressed_pattern(self), structure.values(self)
    count = self._sizes[1 if pattern.is_by_rows else 0]
    offsets, others = pattern.parts
    is_recorded = given._key & keys.GRAD and grad_mode.state.enabled
    if given.ndim == 1 and given.dtype in CARRIED and not is_recorded:
        carried = ops.view(ops.detach(given), dtypes.int32)
        begins, plain, turned = ops._turn(offsets, others, carried, count)
        values = ops.view(turned, given.dtype)
    else:
        begins, plain, order = ops._turn(offsets, others, numbers_of(others), count)
        values = given.index_select(0, order)
    made = CompressedPattern(layout, begins, plain)
    return structure.with_pattern(self._sizes, made, values)


CARRIED = (dtypes.float32, dtypes.int32)
"""Values that entries carry with them; others are read in the order of the entries."""


def numbers_of(entries: Tensor) -> Tensor:
    """The numbers of entries, which carried with them become their order."""
    return ops.arange(entries._sizes[0], dtype=dtypes.int32, device=entries.device)


def _checked_blocks(layout: layouts.layout, blocksize: Any) -> tuple[int, int] | None:
    if layout not in BLOCKED:
        if blocksize is not None:
            raise RuntimeError(f"to_sparse: blocksize is for blocks, but layout is {layout}")
        return None
    if blocksize.__class__ is int:
        blocksize = blocksize, blocksize
    if blocksize.__class__ is bool:
        raise TypeError("to_sparse: 'blocksize' must be numbers, not bool")
    if blocksize is None or len(blocksize) != 2:
        raise RuntimeError(f"to_sparse: {layout} needs a blocksize of two numbers")
    height, width = blocksize
    if height < 1 or width < 1:
        raise RuntimeError(f"blocksize needs to be positive, got {tuple(blocksize)}")
    return int(height), int(width)


def _check_dims(self: Tensor, dense: int) -> None:
    if self.ndim - dense < 2:
        raise RuntimeError(
            "to_sparse: expected a tensor of at least two dims beside the dense ones, got "
            f"{self.ndim} dims and {dense} dense ones"
        )


def _of_entries(self: Tensor, layout: layouts.layout, blocks: tuple[int, int] | None) -> Tensor:
    """Entries in order as compressed rows or columns."""
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    lead = list(self._sizes[:count])
    if blocks is not None:
        pattern, given = _in_blocks(pattern, given, lead, blocks)
        lead[-2], lead[-1] = lead[-2] // blocks[0], lead[-1] // blocks[1]
    if layout not in BY_ROWS:
        order = _by_columns(pattern, lead)
        given = given.index_select(0, order)
        pattern = Pattern(pattern.indices.index_select(1, order), False)
    made = _compress(pattern, lead, layout, blocks)
    folded = given.reshape((*made.plain._sizes, *given._sizes[1:]))
    return structure.with_pattern(self._sizes, made, folded)


def _by_columns(pattern: Pattern, sizes: Sequence[int]) -> Tensor:
    """The order in which entries stand by columns."""
    *batch, rows, columns = (pattern.row(dim) for dim in range(len(sizes)))
    swapped = entries.Rows([*batch, columns, rows], False)
    return entries.ascending(swapped, [*sizes[:-2], sizes[-1], sizes[-2]])


def _in_blocks(
    pattern: Pattern, given: Tensor, sizes: Sequence[int], blocks: tuple[int, int]
) -> tuple[Pattern, Tensor]:
    """The blocks that hold entries, in order, and their values."""
    height, width = blocks
    if sizes[-2] % height or sizes[-1] % width:
        raise RuntimeError(
            f"tensor sparse size ({sizes[-2]},{sizes[-1]}) must be divisible by given blocksize "
            f"({height},{width})"
        )
    *batch, rows, columns = (pattern.row(dim) for dim in range(len(sizes)))
    down = ops.div(rows, height, rounding_mode="floor")
    across = ops.div(columns, width, rounding_mode="floor")
    listed = entries.Rows([*batch, down, across], False)
    merged = entries.merge(listed, [*sizes[:-2], sizes[-2] // height, sizes[-1] // width])
    shape = (entries.count_of(merged.pattern), height, width, *given._sizes[1:])
    places = (merged.sources, rows.remainder(height), columns.remainder(width))
    return merged.pattern, given.new_zeros(shape).index_put(places, given)


def _compress(
    pattern: Pattern, sizes: Sequence[int], layout: layouts.layout, blocks: Any
) -> CompressedPattern:
    """The compressed form of entries that stand in its order."""
    batch, dim = list(sizes[:-2]), -2 if layout in BY_ROWS else -1
    lines, several = sizes[dim], prod(batch)
    count = len(sizes)
    lead = pattern.row(count + dim)
    plain = pattern.row(count - 3 - dim).contiguous()
    if batch:
        outer = Pattern(pattern.indices.narrow(0, 0, count - 2), False)
        lead = entries.positions(outer, batch) * lines + lead
    edges = ops.arange(several * lines + 1, device=lead.device)
    offsets = ops.searchsorted(lead.contiguous(), edges)
    if batch:
        offsets, plain = _apart(offsets, plain, batch, lines)
    made = CompressedPattern(layout, offsets, plain, blocks)
    if not batch and blocks is None:
        made.known["units"] = pattern
    return made


def _apart(
    offsets: Tensor, plain: Tensor, batch: Sequence[int], lines: int
) -> tuple[Tensor, Tensor]:
    """Offsets that begin anew in each matrix of a batch.

    Raises: RuntimeError if they have different numbers of entries.
    """
    several = prod(batch)
    first = ops.arange(several, device=offsets.device).mul(lines)
    places = first.unsqueeze(1) + ops.arange(lines + 1, device=offsets.device)
    own = offsets.index_select(0, places.reshape((-1,))).reshape(places._sizes)
    own = own - offsets.index_select(0, first).unsqueeze(1)
    count = plain.numel() // max(several, 1)
    if several and not own.select(1, lines).eq(count).all():
        raise RuntimeError(
            "Expect the same number of specified elements per batch in each matrix of the batch."
        )
    return own.reshape((*batch, lines + 1)), plain.reshape((*batch, count))


def transposed(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """A matrix, or a batch, with rows and columns exchanged: the same numbers by columns.

    Raises: NotImplementedError for other dims.
    """
    pattern, given = structure.compressed_pattern(self), structure.values(self)
    count = compressed.batch_dims(pattern)
    if dim0 == dim1:
        return structure.with_values(self, ops.alias(given))
    if {dim0, dim1} != {count, count + 1}:
        raise errors.no_rule_for_layout("transpose", self.layout, "of other dims than the matrix'")
    known = pattern.known.get("transposed")
    if known is None:
        blocks = pattern.blocksize and pattern.blocksize[::-1]
        layout = TRANSPOSED[pattern.layout]
        known = CompressedPattern(layout, pattern.compressed, pattern.plain, blocks)
        pattern.known["transposed"] = known
    if pattern.blocksize:
        given = given.transpose(count + 1, count + 2).contiguous()
    sizes = list(self._sizes)
    sizes[count], sizes[count + 1] = sizes[count + 1], sizes[count]
    return structure.with_pattern(sizes, known, given)


def like(result: Tensor, model: Tensor) -> Tensor:
    """A result in the layout of an operand."""
    if not structure.is_compressed(model) or structure.is_dense(result):
        return result
    blocks = structure.compressed_pattern(model).blocksize
    return to_layout(result, model.layout, blocks)


def select(self: Tensor, dim: int, index: int) -> Tensor | None:
    """A matrix, or matrices, of a batch; None for a row or column, which is no matrix."""
    pattern, given = structure.compressed_pattern(self), structure.values(self)
    if dim >= compressed.batch_dims(pattern):
        return None
    parts = [part.select(dim, index) for part in pattern.parts]
    sizes = [*self._sizes[:dim], *self._sizes[dim + 1 :]]
    return structure.with_pattern(sizes, pattern.over(*parts), given.select(dim, index))
