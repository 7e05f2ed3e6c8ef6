"""Tensors of compressed rows or columns from their parts, checked."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import compressed as patterns
from torchgen_out._runtime.autograd.sparse import structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import CompressedPattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import sparse_tensors

_WORDS = {
    layouts.sparse_csr: ("crow_indices", "col_indices", "row", "ncols"),
    layouts.sparse_csc: ("ccol_indices", "row_indices", "column", "nrows"),
    layouts.sparse_bsr: ("crow_indices", "col_indices", "row", "ncols"),
    layouts.sparse_bsc: ("ccol_indices", "row_indices", "column", "nrows"),
}
"""What errors call the parts of each layout."""
_BLOCKED = (layouts.sparse_bsr, layouts.sparse_bsc)
_BY_ROWS = (layouts.sparse_csr, layouts.sparse_bsr)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    layout: layout,
    dtype: dtype | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a tensor of compressed rows or columns, of entries or blocks, as `layout` says.

    compressed_indices: (*batch, lines + 1), where each line's entries begin, and the end.
    plain_indices: (*batch, entries), the place of each in its line. values: (*batch, entries,
    *dense sizes), of blocks (*batch, entries, rows, columns, *dense sizes); gradients flow to them.
    size: by default the least that holds the indices. check_invariants: whether indices are looked
    at; by default on the host.

    **Raises** RuntimeError where the parts contradict each other.
    """
    if layout not in _WORDS:
        raise RuntimeError(f"expected a compressed layout, but got layout {layout}")
    given = sparse_tensors.as_part(values, dtype, device)
    parts = [
        sparse_tensors.as_part(each, None, given.device)
        for each in (compressed_indices, plain_indices)
    ]
    compressed, plain = parts
    _check_dtypes(layout, compressed, plain)
    blocks = _blocksize(layout, compressed, given)
    checks = sparse_tensors.wants_checks(compressed, check_invariants)
    sizes = _sizes(layout, compressed, plain, given, blocks, size)
    _check_shapes(layout, compressed, plain, given, blocks, sizes)
    if checks:
        _check_indices(layout, compressed, plain, blocks, sizes)
    pattern = CompressedPattern(layout, ops.detach(compressed), ops.detach(plain), blocks)
    return sparse_tensors.finish(structure.with_pattern(sizes, pattern, given), requires_grad)


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any
) -> Tensor:
    """Return a CSR tensor: compressed rows; options as of `sparse_compressed_tensor`.

    **Example** `torch.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [1.0, 2.0, 3.0], (2, 3))`
    """
    return _of(
        "sparse_csr_tensor", layouts.sparse_csr, crow_indices, col_indices, values, size, options
    )


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any
) -> Tensor:
    """Return a CSC tensor: compressed columns; options as of `sparse_compressed_tensor`."""
    return _of(
        "sparse_csc_tensor", layouts.sparse_csc, ccol_indices, row_indices, values, size, options
    )


def sparse_bsr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any
) -> Tensor:
    """Return a BSR tensor: compressed rows of blocks; options as of `sparse_compressed_tensor`."""
    return _of(
        "sparse_bsr_tensor", layouts.sparse_bsr, crow_indices, col_indices, values, size, options
    )


def sparse_bsc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any
) -> Tensor:
    """Return a BSC tensor: compressed columns of blocks; options as of
    `sparse_compressed_tensor`."""
    return _of(
        "sparse_bsc_tensor", layouts.sparse_bsc, ccol_indices, row_indices, values, size, options
    )


def _of(
    name: str, own: layout, compressed: Any, plain: Any, values: Any, size: Any, options: Any
) -> Tensor:
    said = options.pop("layout", None)
    if said not in (None, own):
        raise RuntimeError(f"{name} expected layout {own}, got {said}")
    return sparse_compressed_tensor(compressed, plain, values, size, layout=own, **options)


def _check_dtypes(own: layout, compressed: Tensor, plain: Tensor) -> None:
    first, second, *_ = _WORDS[own]
    if compressed.dtype is not plain.dtype:
        names = [errors.scalar_type_name(each.dtype) for each in (compressed, plain)]
        raise RuntimeError(
            f"{first} and {second} must have the same dtype, but got {names[0]} and {names[1]}, "
            "respectively"
        )
    if compressed.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(
            f"{first} and {second} must be of dtype int32 or int64, got {compressed.dtype}"
        )


def _blocksize(own: layout, compressed: Tensor, values: Tensor) -> tuple[int, int] | None:
    if own not in _BLOCKED:
        return None
    first = compressed.ndim
    if values.ndim < first + 2:
        raise RuntimeError(
            f"values must have dimensionality > sum of batch and block dimensionalities "
            f"(={first - 1} + 2), but got {values.ndim}"
        )
    return values._sizes[first], values._sizes[first + 1]


def _sizes(
    own: layout, compressed: Tensor, plain: Tensor, values: Tensor, blocks: Any, size: Any
) -> Size:
    """The tensor's sizes, given or the least."""
    if size is not None:
        return Size(size)
    if not compressed.ndim or not plain.ndim:
        raise RuntimeError("indices of compressed tensors have at least one dim")
    lines = compressed._sizes[-1] - 1
    across = int(plain.max()) + 1 if plain.numel() else 0
    height, width = blocks or (1, 1)
    rows, columns = (lines, across) if own in _BY_ROWS else (across, lines)
    dense = values._sizes[compressed.ndim + (2 if blocks else 0) :]
    return Size((*compressed._sizes[:-1], rows * height, columns * width, *dense))


def _check_shapes(
    own: layout, compressed: Tensor, plain: Tensor, values: Tensor, blocks: Any, sizes: Size
) -> None:
    """Raise RuntimeError for numbers of dims, lines and entries that do not fit."""
    first, second, line, _ = _WORDS[own]
    if not compressed.ndim or plain.ndim != compressed.ndim:
        raise RuntimeError(
            f"{first} and {second} dimensionalities must be equal but got {compressed.ndim} and "
            f"{plain.ndim}, respectively"
        )
    batch, base = compressed.ndim - 1, 2 if blocks else 0
    dense = values.ndim - batch - 1 - base
    if len(sizes) != batch + 2 + dense or dense < 0:
        raise RuntimeError(
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
            f"(={batch} + 2 + {dense}) but got {len(sizes)}"
        )
    for each in (compressed, plain, values):
        if each._sizes[:batch] != sizes[:batch]:
            raise RuntimeError(
                f"all batch dimensions must be equal to those of the tensor's "
                f"{list(sizes[:batch])}, got {list(each._sizes[:batch])}"
            )
    lines = sizes[batch if own in _BY_ROWS else batch + 1]
    extent = (blocks or (1, 1))[0 if own in _BY_ROWS else 1]
    if compressed._sizes[-1] != lines // extent + 1:
        raise RuntimeError(
            f"{first}.shape[-1] must be equal to the number of {line}s + 1 (={lines // extent + 1}"
            f"), but got {compressed._sizes[-1]}"
        )
    if plain._sizes[-1] != values._sizes[batch]:
        raise RuntimeError(
            f"{second}.shape[-1] must be equal to nnz (={values._sizes[batch]}) as defined by "
            f"values.shape[{batch}], but got {plain._sizes[-1]}"
        )
    if values._sizes[batch + 1 + base :] != sizes[batch + 2 :]:
        raise errors.values_size(sizes[batch + 2 :], values._sizes[batch + 1 + base :])
    for number, extent in zip(sizes[batch : batch + 2], blocks or (), strict=False):
        if extent < 1 or number % extent:
            raise RuntimeError(f"tensor shape[{batch}:] must be divisible by blocksize {blocks}")


def _check_indices(
    own: layout, compressed: Tensor, plain: Tensor, blocks: Any, sizes: Size
) -> None:
    """Raise RuntimeError for indices that no matrix has."""
    first, second, _, others = _WORDS[own]
    batch = compressed.ndim - 1
    across = sizes[batch + 1 if own in _BY_ROWS else batch]
    across //= (blocks or (1, 1))[1 if own in _BY_ROWS else 0]
    moved, short, crossed, long, outside, unordered = patterns.faults(compressed, plain, across)
    if moved:
        raise errors.compressed_invariant(f"{first}[..., 0] == 0")
    if short:
        raise errors.compressed_invariant(f"{first}[..., -1] == nnz")
    if crossed or long:
        raise errors.compressed_invariant(f"0 <= {first}[..., 1:] - {first}[..., :-1] <= {others}")
    if outside:
        raise errors.compressed_invariant(f"0 <= {second} < {others}")
    if unordered:
        raise errors.compressed_invariant(
            f"{second}[..., {first}[..., i - 1]:{first}[..., i]] for all lines i are sorted and "
            "distinct along the last dimension values"
        )
