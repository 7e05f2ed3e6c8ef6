"""What only sparse tensors answer: their parts, in and out of order; other layouts."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import CompressedPattern, Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import compressed, conversion

COO = "Sparse"
"""What errors call the layout."""


def _pattern(self: Tensor, asked: str) -> Pattern:
    """The pattern of a COO tensor. Raises: RuntimeError for another layout."""
    if not structure.is_coo(self):
        raise errors.not_this_layout(asked, "sparse coordinate", self.layout)
    return structure.coo_pattern(self)


def coalesce(self: Tensor) -> Tensor:
    """Return the COO tensor with its entries in order and those of one place added.

    **Raises** RuntimeError for another layout.
    """
    _pattern(self, "coalesce")
    return structure.coalesced(self)


def is_coalesced(self: Tensor) -> bool:
    """Return whether the entries of a COO tensor are in order, each place once."""
    return _pattern(self, "is_coalesced").is_coalesced


def coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Say that the entries of a COO tensor are in order, or that they may not be."""
    pattern = _pattern(self, "_coalesced_")
    if pattern.is_coalesced is not coalesced:
        sparse.storage_of(self).pattern = Pattern(pattern.indices, coalesced)
    return self


def indices(self: Tensor) -> Tensor:
    """Return the indices of a coalesced COO tensor. Shape: (sparse dims, entries).

    **Raises** RuntimeError for entries that are not in order, or another layout.
    """
    if not _pattern(self, "indices").is_coalesced:
        raise errors.uncoalesced("indices")
    return structure.coo_pattern(self).indices


def plain_indices(self: Tensor) -> Tensor:
    """The indices of a COO tensor, in any order."""
    return _pattern(self, "_indices").indices


def values(self: Tensor) -> Tensor:
    """Return the values of a coalesced COO tensor, or of a compressed one.

    Shape: (entries, *dense sizes); of blocks (entries, rows, columns, *dense sizes).
    **Raises** RuntimeError for entries that are not in order, or a strided tensor.
    """
    if not sparse.is_sparse(self):
        raise errors.not_this_layout("values", "sparse", self.layout)
    if not structure.pattern_of(self).is_coalesced:
        raise errors.uncoalesced("values")
    return structure.values(self)


def plain_values(self: Tensor) -> Tensor:
    """The values of a COO tensor in any order, outside the graph."""
    _pattern(self, "_values")
    return sparse.storage_of(self).values


def nnz(self: Tensor) -> int:
    """How many entries there are."""
    if structure.is_compressed(self):
        return int(structure.compressed_pattern(self).plain._sizes[-1])
    return entries.count_of(_pattern(self, "_nnz"))


def sparse_dim(self: Tensor) -> int:
    """Return how many dims have indices; 0 of a strided tensor."""
    if structure.is_compressed(self):
        return 2
    return entries.sparse_dims(structure.coo_pattern(self)) if structure.is_coo(self) else 0


def dense_dim(self: Tensor) -> int:
    """Return how many dims the values have; all of a strided tensor."""
    if structure.is_compressed(self):
        pattern = structure.compressed_pattern(self)
        blocks = 2 if pattern.blocksize else 0
        given = sparse.storage_of(self).values.ndim
        return given - pattern.plain.ndim - blocks
    return self.ndim - sparse_dim(self)


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: layouts.layout | None = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """Return the elements that are not zero as a sparse tensor, COO unless `layout` names another.

    sparse_dim: how many of the first dims get indices, all by default. blocksize: rows and columns
    of a block of BSR and BSC. dense_dim: how many of the last dims are the values'.

    **Example** `torch.eye(3).to_sparse(layout=torch.sparse_csr)`
    """
    if layout in (None, layouts.sparse_coo):
        return conversion.to_sparse_coo(self, sparse_dim)
    if layout is layouts.strided:
        raise RuntimeError("to_sparse: layout must be a sparse one, got torch.strided")
    return compressed.to_layout(self, layout, blocksize, dense_dim)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """Return the tensor in compressed rows."""
    return compressed.to_layout(self, layouts.sparse_csr, None, dense_dim)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """Return the tensor in compressed columns."""
    return compressed.to_layout(self, layouts.sparse_csc, None, dense_dim)


def to_sparse_bsr(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Tensor:
    """Return the tensor in compressed rows of blocks: (rows, columns), or one number for both.

    **Raises** RuntimeError for sizes that blocks do not divide.
    """
    return compressed.to_layout(self, layouts.sparse_bsr, blocksize, dense_dim)


def to_sparse_bsc(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Tensor:
    """Return the tensor in compressed columns of blocks: (rows, columns), or one number for both.

    **Raises** RuntimeError for sizes that blocks do not divide.
    """
    return compressed.to_layout(self, layouts.sparse_bsc, blocksize, dense_dim)


def _compressed(self: Tensor, asked: str, is_by_rows: bool) -> CompressedPattern:
    """The pattern of a compressed tensor. Raises: RuntimeError for another layout."""
    what = f"sparse {'row' if is_by_rows else 'column'} compressed"
    if not structure.is_compressed(self):
        raise errors.not_this_layout(asked, what, self.layout)
    pattern = structure.compressed_pattern(self)
    if pattern.is_by_rows is not is_by_rows:
        raise errors.not_this_layout(asked, what, self.layout)
    return pattern


def crow_indices(self: Tensor) -> Tensor:
    """Return where each row begins among the entries of a CSR or BSR tensor, and the end.

    **Raises** RuntimeError for another layout.
    """
    return _compressed(self, "crow_indices", True).compressed


def col_indices(self: Tensor) -> Tensor:
    """Return the column of each entry of a CSR tensor, or block of a BSR tensor.

    **Raises** RuntimeError for another layout.
    """
    return _compressed(self, "col_indices", True).plain


def ccol_indices(self: Tensor) -> Tensor:
    """Return where each column begins among the entries of a CSC or BSC tensor, and the end.

    **Raises** RuntimeError for another layout.
    """
    return _compressed(self, "ccol_indices", False).compressed


def row_indices(self: Tensor) -> Tensor:
    """Return the row of each entry of a CSC tensor, or block of a BSC tensor.

    **Raises** RuntimeError for another layout.
    """
    return _compressed(self, "row_indices", False).plain


def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Set sizes and the numbers of dims with and without indices; entries stay.

    **Raises** RuntimeError where entries would have to go, or for other numbers of dims.
    """
    pattern = _pattern(self, "sparse_resize_")
    sizes = Size(size)
    if len(sizes) != sparse_dim + dense_dim:
        raise errors.sparse_dims_count(len(sizes), sparse_dim, dense_dim)
    if not entries.count_of(pattern):
        return _resized_empty(self, sizes, sparse_dim)
    if sparse_dim != entries.sparse_dims(pattern) or len(sizes) != self.ndim:
        raise RuntimeError(
            f"changing the number of sparse dimensions (from {entries.sparse_dims(pattern)} to "
            f"{sparse_dim}) on a non-empty sparse tensor is not supported."
        )
    for kind, first, last in (("sparse", 0, sparse_dim), ("dense", sparse_dim, len(sizes))):
        if any(new < old for new, old in zip(sizes[first:last], self._sizes[first:last])):  # noqa: B905
            raise RuntimeError(
                f"shrinking the size of {kind} dimensions (from {list(self._sizes[first:last])} "
                f"to {list(sizes[first:last])}) on a non-empty sparse tensor is not supported."
            )
    given = sparse.storage_of(self).values
    for dim in range(sparse_dim, len(sizes)):
        missing = sizes[dim] - given._sizes[dim - sparse_dim + 1]
        if missing:
            filling = list(given._sizes)
            filling[dim - sparse_dim + 1] = missing
            given = ops.cat([given, given.new_zeros(filling)], dim - sparse_dim + 1)
    _become(self, sizes, pattern, given)
    return self


def resize_as_sparse_(self: Tensor, the_template: Tensor) -> Tensor:
    """Set sizes and the numbers of dims with and without indices to those of another tensor."""
    if self._sizes == the_template._sizes and sparse_dim(self) == sparse_dim(the_template):
        return self
    wanted = sparse_dim(the_template), dense_dim(the_template)
    return sparse_resize_(self, the_template._sizes, *wanted)


def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Set sizes and the numbers of dims with and without indices, and drop all entries."""
    _pattern(self, "sparse_resize_and_clear_")
    sizes = Size(size)
    if len(sizes) != sparse_dim + dense_dim:
        raise errors.sparse_dims_count(len(sizes), sparse_dim, dense_dim)
    return _resized_empty(self, sizes, sparse_dim)


def _resized_empty(self: Tensor, sizes: Size, sparse_dim: int) -> Tensor:
    storage = sparse.storage_of(self)
    indices = structure.coo_pattern(self).indices.new_zeros((sparse_dim, 0))
    given = storage.values.new_zeros((0, *sizes[sparse_dim:]))
    _become(self, sizes, Pattern(indices, True), given)
    return self


def _become(self: Tensor, sizes: Size, pattern: Pattern, given: Tensor) -> None:
    made = sparse.build_sparse(sizes, pattern, given)
    sparse.storage_of(self).take(sparse.storage_of(made))
    self._sizes, self._strides = made._sizes, made._strides
    self._key = made._key | self._key & (keys.GRAD | keys.OVERRIDES)
