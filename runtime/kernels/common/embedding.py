"""How statements see tables and the rows that indices name."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import REFUSAL, Refusal, View


def dense_backward(
    out: Any, grad_output: Any, indices: Any, num_weights: int, padding_idx: int, by_frequency: bool
) -> dict[str, View | Refusal | int] | None:
    """Indices as a vector, and a row for each of them."""
    steps = [
        merged_stride(indices.sizes, indices.strides),
        merged_stride(grad_output.sizes[:-1], grad_output.strides[:-1]),
    ]
    if None in steps:
        return None
    count, width = prod(indices.sizes), grad_output.sizes[-1]
    return {
        REFUSAL: Refusal("indices", lambda bad: errors.index_out_of_range_in_self()),
        "counted": num_weights if by_frequency else 0,
        "out": View(out.sizes, out.strides),
        "indices": View((count,), (steps[0],)),
        "grad_output": View((count, width), (steps[1], grad_output.strides[-1])),
    }
