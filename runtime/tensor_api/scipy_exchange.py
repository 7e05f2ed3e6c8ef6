"""SciPy's sparse matrices and arrays: over the same memory, in both directions."""

from __future__ import annotations

import importlib
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import structure
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.sparse import CompressedPattern, Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import from_data

_FORMATS = {
    "csr": layouts.sparse_csr,
    "csc": layouts.sparse_csc,
    "bsr": layouts.sparse_bsr,
}


def from_scipy(matrix: Any) -> Tensor:
    """Return a SciPy sparse matrix or array as a tensor of its layout, over its memory.

    CSR, CSC and BSR share indices and values, whose dtypes stay; indices out of order are sorted in
    a copy. COO shares the values. Other formats come as CSR.

    **Raises** TypeError for what is no sparse matrix.

    **Example** `torch.sparse.from_scipy(scipy.sparse.eye(3, format="csr"))`
    """
    form = getattr(matrix, "format", None)
    if form is None or not hasattr(matrix, "tocsr"):
        raise TypeError(f"from_scipy: expected a SciPy sparse matrix, got {type(matrix).__name__}")
    if form == "coo":
        return _from_coo(matrix)
    if form not in _FORMATS:
        matrix, form = matrix.tocsr(), "csr"
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    parts = [from_data.from_numpy(each) for each in (matrix.indptr, matrix.indices)]
    blocks = tuple(matrix.blocksize) if form == "bsr" else None
    pattern = CompressedPattern(_FORMATS[form], parts[0], parts[1], blocks)
    return sparse.build_sparse(tuple(matrix.shape), pattern, from_data.from_numpy(matrix.data))


def _from_coo(matrix: Any) -> Tensor:
    rows, columns = (from_data.from_numpy(each).long() for each in (matrix.row, matrix.col))
    pattern = Pattern(ops.stack([rows, columns]), False)
    return sparse.build_sparse(tuple(matrix.shape), pattern, from_data.from_numpy(matrix.data))


def to_scipy(tensor: Tensor) -> Any:
    """Return a sparse matrix as a SciPy array of its format, over its memory.

    CSR, CSC and BSR share indices and values; COO shares them, too; BSC comes as CSC.

    **Raises** RuntimeError for tensors that require grad, TypeError for others than matrices of
    numbers in host memory.
    """
    if not sparse.is_sparse(tensor) or tensor.ndim != 2 or not tensor.is_cpu:
        raise TypeError(
            "to_scipy: expected a sparse matrix in host memory, got "
            f"{tensor.layout}, {tensor.ndim} dims, on {tensor.device}"
        )
    if tensor.requires_grad:
        raise RuntimeError("to_scipy: the tensor requires grad; use tensor.detach()")
    library: Any = importlib.import_module("scipy.sparse")
    given = sparse.storage_of(tensor).values.numpy()
    if structure.is_coo(tensor):
        rows, columns = structure.coo_pattern(tensor).indices.numpy()
        return library.coo_array((given, (rows, columns)), shape=tuple(tensor.shape))
    if tensor.layout is layouts.sparse_bsc:
        return to_scipy(tensor.to_sparse_csc())
    pattern = structure.compressed_pattern(tensor)
    make = {
        layouts.sparse_csr: library.csr_array,
        layouts.sparse_csc: library.csc_array,
        layouts.sparse_bsr: library.bsr_array,
    }[tensor.layout]
    parts = given, pattern.plain.numpy(), pattern.compressed.numpy()
    return make(parts, shape=tuple(tensor.shape), copy=False)


_ = errors
