"""Gradients of lookups in tables, row by row and by bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.autograd.sparse.structure import with_pattern
from torchgen_out._runtime.core.dtype import int64
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def embedding_backward(
    grad: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    """The table's gradient: sparse with an entry for each index, or dense.

    Raises: RuntimeError for sparse gradients scaled by frequencies.
    """
    if not sparse:
        given = indices, num_weights, padding_idx, scale_grad_by_freq
        dense: Tensor = ops.embedding_dense_backward(grad, *given)
        return dense
    return _rows(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


def _rows(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """A sparse tensor of the rows that indices name, the padding left out."""
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    width = grad.shape[-1]
    flat, rows = indices.reshape((-1,)), grad.reshape((indices.numel(), width))
    if padding_idx >= 0:
        kept = flat.ne(padding_idx).nonzero().select(1, 0)
        flat, rows = flat.index_select(0, kept), rows.index_select(0, kept)
    pattern = Pattern(flat.to(int64).unsqueeze(0), False)
    return with_pattern((num_weights, width), pattern, rows)


def embedding_dense_double_backward(
    grad: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """Look up the rows, as the forward does; none for the padding."""
    flat = indices.reshape((-1,))
    rows = grad.index_select(0, flat)
    if scale_grad_by_freq:
        rows = rows / ops.bincount(flat).index_select(0, flat).unsqueeze(-1)
    rows = rows.masked_fill((flat == padding_idx).unsqueeze(-1), 0)
    return rows.reshape((*indices.shape, grad.shape[-1]))


def embedding_bag_backward(
    grad: Tensor,
    weight: Any,
    indices: Tensor,
    offsets: Any,
    per_sample_weights: Any,
    is_mean: bool,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
    bag_sizes: Any,
    mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of the table and of the weights of samples: what every index hands on.

    Shape: grad (bags, columns), indices (n).
    """
    order = ops.arange(indices.numel(), device=indices.device)
    bags = ops.searchsorted(offsets.to(order.dtype), order, right=True) - 1
    shares = grad / bag_sizes.clamp(min=1).unsqueeze(1) if is_mean else grad
    each = shares.index_select(0, bags)
    of_weight = of_samples = None
    if mask[1] and per_sample_weights is not None:
        of_samples = (each * weight.index_select(0, indices)).sum(-1)
        if padding_idx >= 0:
            of_samples = of_samples.masked_fill(indices == padding_idx, 0)
    if mask[0]:
        if per_sample_weights is not None:
            each = each * per_sample_weights.unsqueeze(1)
        given = indices, weight.shape[0], padding_idx, scale_grad_by_freq, sparse
        of_weight = embedding_backward(each, *given)
    return of_weight, of_samples


def embedding_bag_max_backward(grad: Tensor, shape: Sequence[int], max_indices: Any) -> Tensor:
    """The gradient of the table: each element of a bag hands its own to the row it came from."""
    if not shape[0]:
        return grad.new_zeros(shape)  # the bags are empty
    found = grad.masked_fill(max_indices < 0, 0)
    return grad.new_zeros(shape).scatter_add(0, max_indices.clamp(min=0), found)
