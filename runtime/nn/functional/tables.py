"""Lookups and sliding blocks: embedding, unfold, fold."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from runtime.dispatch import ops


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` at the indices `input`.

    The row `padding_idx` gets no gradient. With `max_norm` the rows that are looked up are first
    scaled in place to at most that norm.
    """
    rows = weight.size(0)
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += rows
    if max_norm is not None:
        _limit_rows(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _limit_rows(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    with torch.no_grad():
        used = torch.unique(input.reshape(-1))
        rows = weight.index_select(0, used)
        norms = torch.linalg.vector_norm(rows, norm_type, -1, keepdim=True)
        scale = torch.where(norms > max_norm, max_norm / (norms + 1e-7), torch.ones_like(norms))
        weight.index_copy_(0, used, rows * scale)


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Sums, means or maxima of bags of rows of `weight`.

    Shape: (B, n) indices, or (n) with `offsets` at which the bags begin -> (B, dim). The row
    `padding_idx` does not count; an empty bag gives zeros.
    """
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    bags, count = _bag_numbers(input, offsets, include_last_offset)
    flat = input.reshape(-1)
    rows = embedding(flat, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    if padding_idx is not None:
        kept = (flat != padding_idx % weight.size(0)).nonzero().reshape(-1)
        rows, bags = rows.index_select(0, kept), bags.index_select(0, kept)
    result = rows.new_zeros((count, weight.size(1)))
    if mode == "max":
        places = bags.unsqueeze(1).expand_as(rows)
        return result.scatter_reduce(0, places, rows, "amax", include_self=False)
    total = result.index_add(0, bags, rows)
    if mode == "sum":
        return total
    sizes = rows.new_zeros((count,)).index_add(0, bags, rows.new_ones((rows.size(0),)))
    return total / sizes.clamp_min(1).unsqueeze(1)


def _bag_numbers(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, int]:
    """The bag of every index, and how many bags there are."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is")
        count, length = input.shape
        return torch.arange(count, device=input.device).repeat_interleave(length), count
    if input.dim() != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    starts = offsets[:-1] if include_last_offset else offsets
    places = torch.arange(input.numel(), device=input.device)
    return torch.searchsorted(starts, places, right=True) - 1, starts.numel()


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Sliding blocks as columns. Shape: (N, C, H, W) -> (N, C * kernel size, blocks)."""
    return ops.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """The sum of blocks at their places. Shape: (N, C * kernel size, blocks) -> (N, C, H, W)."""
    return ops.col2im(
        input,
        _pair(output_size),
        _pair(kernel_size),
        _pair(dilation),
        _pair(padding),
        _pair(stride),
    )
