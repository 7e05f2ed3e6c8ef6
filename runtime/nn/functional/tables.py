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
