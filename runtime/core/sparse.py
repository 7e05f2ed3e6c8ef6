"""What a sparse tensor has in place of memory: dense tensors of its entries' indices and values.

The record is that of any tensor (`runtime.core.tensor`): its key says the layout, its storage is a
`SparseStorage`. Several tensors may share a pattern, and with it what was found out about it.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build

LAYOUTS = keys.LAYOUT_MASK << keys.LAYOUT_SHIFT
"""The bits of a key that are zero for strided tensors."""


WORD_BITS = 64 + 12
"""Bits of two indices and what is moved with them, up to which entries of a matrix are brought in
order as words: 12 may be the number of a word's bucket."""


class Pattern:
    """Where the entries of a COO tensor are.

    indices: (sparse dims, entries), int64. is_coalesced: whether they ascend, each once. known:
    what was found out about them, which is good as long as nobody writes to them.
    """

    __slots__ = ("_indices", "_known", "_version", "is_coalesced")
    layout = layouts.sparse_coo

    def __init__(self, indices: Tensor, is_coalesced: bool) -> None:
        self._indices: Tensor | None = indices
        self.is_coalesced = is_coalesced
        self._known: dict[str, Any] = {}
        self._version = indices._version

    def __reduce__(self) -> Any:
        return Pattern, (self.indices, self.is_coalesced)

    @property
    def indices(self) -> Tensor:
        """The index vectors, one a row. Shape: (sparse dims, entries)."""
        assert self._indices is not None
        return self._indices

    def row(self, dim: int) -> Tensor:
        """The index vector of one dim."""
        return self.indices.select(0, dim)

    @property
    def device(self) -> Any:
        """Where the indices are."""
        return self.indices.device

    @property
    def dims(self) -> int:
        """How many dims have indices."""
        dims, _ = self.indices._sizes
        return dims

    @property
    def count(self) -> int:
        """How many entries there are."""
        _, count = self.indices._sizes
        return count

    @property
    def known(self) -> dict[str, Any]:
        """What was found out; empty after a write to the indices."""
        version = self.indices._storage.version
        if version != self._version:
            self._known, self._version = {}, version
        return self._known

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The index tensors."""
        return (self.indices,)

    def over(self, *parts: Tensor) -> Pattern:
        """The same over copies of the index tensors."""
        return Pattern(parts[0], self.is_coalesced)


class CompressedPattern:
    """Where the entries, or blocks, of a compressed tensor are.

    compressed: where each row (of CSC and BSC column) begins among the entries, and the end.
    plain: their other index. layout: which of the four it is. blocksize: rows and columns of a
    block; None where entries are numbers.
    """

    __slots__ = ("_known", "_version", "blocksize", "compressed", "layout", "plain")
    is_coalesced = True

    def __init__(
        self,
        layout: layouts.layout,
        compressed: Tensor,
        plain: Tensor,
        blocksize: tuple[int, int] | None = None,
    ) -> None:
        self.layout = layout
        self.blocksize = blocksize
        self.compressed = compressed
        self.plain = plain
        self._known: dict[str, Any] = {}
        self._version = compressed._version + plain._version

    def __reduce__(self) -> Any:
        return CompressedPattern, (self.layout, self.compressed, self.plain, self.blocksize)

    @property
    def known(self) -> dict[str, Any]:
        """What was found out; empty after a write to the indices."""
        version = self.compressed._storage.version + self.plain._storage.version
        if version != self._version:
            self._known, self._version = {}, version
        return self._known

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The index tensors."""
        return (self.compressed, self.plain)

    def over(self, *parts: Tensor) -> CompressedPattern:
        """The same over copies of the index tensors."""
        return CompressedPattern(self.layout, parts[0], parts[1], self.blocksize)

    @property
    def is_by_rows(self) -> bool:
        """Whether rows are compressed, not columns."""
        return self.layout in (layouts.sparse_csr, layouts.sparse_bsr)


AnyPattern = Pattern | CompressedPattern


class SparseStorage(Storage):
    """The entries of a sparse tensor, and of those that share them. There is no flat memory."""

    __slots__ = ("pattern", "values")
    is_resizable = False

    def __init__(self, pattern: AnyPattern, values: Tensor) -> None:
        self.pattern = pattern
        self.values = values
        self.version = 0

    def __reduce__(self) -> Any:
        return SparseStorage, (self.pattern, self.values)

    @property
    def buffer(self) -> Any:
        """There is none.

        Raises: NotImplementedError, for code that knows strided tensors only.
        """
        raise errors.no_strided_memory(self.pattern.layout)

    def check_readable(self) -> None:
        """Raise NotImplementedError: there is no flat memory."""
        raise errors.no_strided_memory(self.pattern.layout)

    def take(self, other: SparseStorage) -> None:
        """Hold the entries of another storage from here on: a write in place."""
        self.pattern, self.values = other.pattern, other.values
        self.version += 1

    def __getitem__(self, index: Any) -> Any:
        raise errors.no_strided_memory(self.pattern.layout)

    def nbytes(self) -> int:
        """Size of indices and values in bytes."""
        return sum(part.nbytes for part in (*self.pattern.parts, self.values))

    def data_ptr(self) -> int:
        """There is none. Raises: RuntimeError."""
        raise errors.no_data_pointer()

    def is_shared(self) -> bool:
        """Whether other processes can have the entries, too."""
        return all(part._storage.is_shared() for part in (*self.pattern.parts, self.values))


def build_sparse(sizes: tuple[int, ...], pattern: AnyPattern, values: Tensor) -> Tensor:
    """A sparse tensor from its parts, outside autograd and unchecked; it shares their memory."""
    sizes = sizes if sizes.__class__ is Size else Size(sizes)
    key = values._key & (keys.DTYPE_MASK | keys.DEVICE_MASK << keys.DEVICE_SHIFT)
    key |= pattern.layout.index << keys.LAYOUT_SHIFT | (0 if sizes else keys.ZERO_DIM)
    return build(key, sizes, (0,) * len(sizes), 0, SparseStorage(pattern, values))


def is_sparse(tensor: Tensor) -> bool:
    """Whether a tensor's layout is any of the sparse ones."""
    return 0 < tensor._key & LAYOUTS < layouts.batched.index << keys.LAYOUT_SHIFT


def storage_of(tensor: Tensor) -> SparseStorage:
    """The entries of a sparse tensor."""
    storage = tensor._storage
    assert isinstance(storage, SparseStorage)
    return storage
