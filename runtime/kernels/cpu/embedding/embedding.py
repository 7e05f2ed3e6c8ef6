"""Rows of a table by their indices, and their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.folding import (
    as_int64,
    buffer_of,
    settle,
)
from torchgen_out._runtime.kernels.cpu.indexing import places

Array = Any


def embedding_dense_backward(
    out: Array,
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> None:
    """Add each row of `grad_output` to the row of `out` that its index names.

    Raises: IndexError for an index that is no row.
    """
    places.check_range(indices, num_weights, lambda bad: errors.index_out_of_range_in_self())
    buffer = buffer_of(out)
    fill(buffer, 0)
    index = as_int64(indices).reshape(-1)
    rows = np.ascontiguousarray(grad_output).reshape(index.size, out.shape[1])
    counts = np.bincount(index, minlength=num_weights) if scale_grad_by_freq else index[:0]
    if index.size:
        arrays = buffer, rows, index, padding_idx, counts
        threads.run_ranges(_add_rows, rows.shape[1], rows.size, *arrays)
    settle(out, buffer)


@kernel
def _add_rows(start, stop, out, rows, index, padding_idx, counts):
    """out[index[n]] += rows[n] in columns start to stop, divided by the index's count where counts
    are given."""
    for n in range(index.size):
        k = index[n]
        if k == padding_idx:
            continue
        target, row = out[k, start:stop], rows[n, start:stop]
        if counts.size:
            for i in range(row.size):
                target[i] += row[i] / counts[k]
        else:
            for i in range(row.size):
                target[i] += row[i]
