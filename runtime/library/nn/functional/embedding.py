"""Lookups and sliding blocks: embedding, embedding_bag, unfold, fold."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import number
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.nn.per_dim import _pair


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` at the indices `input`.

    The row `padding_idx` gets no gradient. With `max_norm` the rows that are looked up are first
    scaled in place to at most that norm.
    """
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
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
    number.check_float(max_norm, "embedding_renorm_(): argument 'max_norm' (position 3)")
    number.check_float(norm_type, "embedding_renorm_(): argument 'norm_type' (position 4)")
    with torch.no_grad():
        used = torch.unique(input.reshape(-1))
        rows = weight.index_select(0, used)
        norms = torch.linalg.vector_norm(rows, norm_type, -1, keepdim=True)
        scale = torch.where(norms > max_norm, max_norm / (norms + 1e-7), torch.ones_like(norms))
        weight.index_copy_(0, used, rows * scale)


BAG_MODES = {"sum": 0, "mean": 1, "max": 2}


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
    `padding_idx` does not count; an empty bag gives zeros. With `include_last_offset` the last
    of the offsets is where the last bag ends.
    """
    if mode not in BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    _check_samples(per_sample_weights, input, mode)
    starts = _bag_starts(input, offsets)
    flat = input.reshape(-1)
    if flat.dtype is not starts.dtype:
        common = torch.promote_types(flat.dtype, starts.dtype)
        flat, starts = flat.to(common), starts.to(common)
    if max_norm is not None:
        _limit_rows(weight, flat, max_norm, norm_type)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if include_last_offset and not starts.numel():
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    padding = _padding_row(padding_idx, weight.size(0))
    if mode == "max":
        found = ops._embedding_bag_max(weight, flat, starts, padding)[0]
    else:
        how = mode == "mean", padding, scale_grad_by_freq, sparse
        found = ops._embedding_bag(weight, flat, starts, factors, *how)[0]
    # The last offset begins a bag, too: of what stands behind the last bag that is wanted.
    return found[:-1] if include_last_offset and offsets is not None else found


def _check_samples(per_sample_weights: Any, input: Any, mode: str) -> None:
    if per_sample_weights is None:
        return
    if per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )


def _padding_row(padding_idx: int | None, rows: int) -> int:
    """`padding_idx` counted from the front; -1 for none."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, "
            f"but got {padding_idx}"
        )
    return padding_idx % rows


def _bag_starts(input: Any, offsets: Any) -> Any:
    """Where every bag begins among all indices."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        count, length = input.shape
        if not length:
            return ops.zeros(count, dtype=torch.int64, device=input.device)
        return ops.arange(0, count * length, length, device=input.device)
    if input.dim() != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return offsets


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sliding blocks as columns. Shape: (N, C, H, W) -> (N, C * kernel size, blocks)."""
    return ops.im2col(
        input,
        _both("kernel_size", kernel_size),
        _both("dilation", dilation),
        _both("padding", padding),
        _both("stride", stride),
    )


def _both(name: str, value: Any) -> Any:
    """The same number for both dims, or one for each."""
    given = _pair(value)
    if len(given) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(given)}")
    return given


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """The sum of blocks at their places. Shape: (N, C * kernel size, blocks) -> (N, C, H, W)."""
    return ops.col2im(
        input,
        _both("output_size", output_size),
        _both("kernel_size", kernel_size),
        _both("dilation", dilation),
        _both("padding", padding),
        _both("stride", stride),
    )
