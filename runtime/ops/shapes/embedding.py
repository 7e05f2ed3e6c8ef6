"""Shapes and checks of lookups in tables, row by row and by bags."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.ops.shapes.indexing import INDEX_DTYPES

Answer = tuple[tuple[int, ...], dtypes.dtype]


def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Answer:
    """A row of `weight` for each index. Raises: RuntimeError for ndim or dtype."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype not in INDEX_DTYPES:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.{errors.scalar_type_name(indices.dtype)}Tensor instead "
            "(while checking arguments for embedding)"
        )
    return (*indices.shape, weight.shape[1]), weight.dtype


def embedding_dense_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Answer:
    """`num_weights` rows of the width of `grad_output`, whose other sizes are those of `indices`.

    Raises: RuntimeError for other sizes.
    """
    if tuple(grad_output.shape[:-1]) != tuple(indices.shape):
        raise RuntimeError(
            "embedding_dense_backward: expected one row of grad_output for each of indices of "
            f"shape {list(indices.shape)}, got {list(grad_output.shape)}"
        )
    return (num_weights, grad_output.shape[-1]), grad_output.dtype


def embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    per_sample_weights: Any,
    *rest: Any,
) -> tuple[Answer, Answer]:
    """Shape: (rows, columns), (n), (bags) -> (bags, columns), (bags).

    Raises: RuntimeError for dtypes.
    """
    for name, each in (("indices", indices), ("offsets", offsets)):
        if each.dtype not in INDEX_DTYPES:
            raise errors.index_dtype_of(name, each.dtype)
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {errors.scalar_type_name(weight.dtype)} does not "
            f"equal {errors.scalar_type_name(per_sample_weights.dtype)}"
        )
    sizes = (offsets.numel(), weight.shape[1])
    return (sizes, weight.dtype), (sizes[:1], dtypes.int64)


def embedding_bag_max(
    weight: Any, indices: Any, offsets: Any, padding_idx: int
) -> tuple[Answer, Answer]:
    """Shape: (rows, columns), (n), (bags) -> (bags, columns), twice.

    Raises: RuntimeError for dtypes.
    """
    result, _ = embedding_bag(weight, indices, offsets, None)
    return result, (result[0], dtypes.int64)
