"""Attention: softmax(q k^T / sqrt(d)) v, with one head and with several."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from runtime.dispatch import ops
from runtime.nn.functional.random_zeros import dropout


def _as_addend(mask: Any, dtype: Any) -> Any:
    """A mask to add to scores: a boolean one becomes 0 where True and -inf where False."""
    if mask.dtype is not torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(
        mask.logical_not(), -math.inf
    )


def _causal(rows: int, columns: int, device: Any) -> Any:
    """True on and below the diagonal."""
    return torch.ones((rows, columns), dtype=torch.bool, device=device).tril()


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key^T * scale + mask) @ value.

    Shape: (*, L, E), (*, S, E), (*, S, V) -> (*, L, V). A boolean mask is True where attention is
    allowed, any other is added; `is_causal` allows the past only. scale: 1 / sqrt(E) by default.
    """
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        attn_mask = _causal(query.size(-2), key.size(-2), query.device)
    scores = (query * scale) @ key.transpose(-2, -1)
    if attn_mask is not None:
        scores = scores + _as_addend(attn_mask, query.dtype)
    weights = ops.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return weights @ value


def _project(query: Any, key: Any, value: Any, weights: Any, biases: Any) -> tuple[Any, Any, Any]:
    """The three projections; one matrix product where the three inputs are one tensor."""
    if query is key and key is value and not isinstance(weights, tuple):
        return ops.linear(query, weights, biases).chunk(3, -1)
    each = weights if isinstance(weights, tuple) else weights.chunk(3)
    bias = (None, None, None) if biases is None else biases.chunk(3)
    inputs = (query, key, value)
    return tuple(  # type: ignore[return-value]
        ops.linear(x, w, b) for x, w, b in zip(inputs, each, bias, strict=True)
    )


def _split_heads(x: Any, batch: int, heads: int) -> Any:
    """(L, N, E) -> (N, heads, L, E / heads)."""
    return x.reshape((x.size(0), batch, heads, -1)).permute((1, 2, 0, 3))


def _merged_mask(
    attn_mask: Any, key_padding_mask: Any, batch: int, heads: int, shape: Any, dtype: Any
) -> Any:
    """Both masks as one addend (N or 1, heads or 1, L or 1, S); True means masked out in both."""
    mask = None
    if attn_mask is not None:
        length, columns = shape
        expected = (length, columns) if attn_mask.dim() == 2 else (batch * heads, length, columns)
        if tuple(attn_mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {tuple(attn_mask.shape)}, but "
                f"should be {expected}."
            )
        mask = _forbidding(attn_mask, dtype)
        if mask.dim() == 2:
            mask = mask.unsqueeze(0).unsqueeze(0)
        else:
            mask = mask.reshape((batch, heads, length, columns))
    if key_padding_mask is not None:
        padding = _forbidding(key_padding_mask, dtype).unsqueeze(1).unsqueeze(1)
        mask = padding if mask is None else mask + padding
    return mask


def _forbidding(mask: Any, dtype: Any) -> Any:
    return _as_addend(mask.logical_not(), dtype) if mask.dtype is torch.bool else mask


def _lengthened(mask: Any, columns: int) -> Any:
    """A mask with `columns` more columns, in which nothing is masked out."""
    if mask is None:
        return None
    return torch.cat([mask, mask.new_zeros((*mask.shape[:-1], columns))], -1)


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention with several heads; returns the output and the weights (None if not needed).

    Shape: query (L, N, E) or (L, E), key and value (S, N, E) -> (L, N, E). Masks are True, or
    -inf, where attention is forbidden.
    """
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, embed = query.shape
    if embed != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed}"
        )
    if embed % num_heads:
        raise AssertionError(f"embed_dim {embed} not divisible by num_heads {num_heads}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    weights = in_proj_weight
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    q, k, v = _project(query, key, value, weights, in_proj_bias)
    added = int(bias_k is not None)
    if bias_k is not None:
        k = torch.cat([k, bias_k.repeat((1, batch, 1))])
        v = torch.cat([v, bias_v.repeat((1, batch, 1))])
    q = _split_heads(q, batch, num_heads)
    k = _split_heads(k, batch, num_heads) if static_k is None else _static(static_k, q)
    v = _split_heads(v, batch, num_heads) if static_v is None else _static(static_v, q)
    if add_zero_attn:
        added += 1
        zeros = (batch, num_heads, 1, k.size(-1))
        k = torch.cat([k, k.new_zeros(zeros)], 2)
        v = torch.cat([v, v.new_zeros(zeros)], 2)
    shape = (length, k.size(2) - added)
    mask = _merged_mask(attn_mask, key_padding_mask, batch, num_heads, shape, q.dtype)
    if added:
        mask = _lengthened(mask, added)
    scores = (q * (1 / math.sqrt(q.size(-1)))) @ k.transpose(-2, -1)
    attention = ops.softmax(scores if mask is None else scores + mask, -1)
    dropped = dropout(attention, dropout_p) if training and dropout_p > 0.0 else attention
    output = (dropped @ v).permute((2, 0, 1, 3)).reshape((length * batch, embed))
    output = ops.linear(output, out_proj_weight, out_proj_bias).view((length, batch, -1))
    if not need_weights:
        return (output if batched else output.squeeze(1)), None
    if average_attn_weights:
        dropped = dropped.mean(1)
    return (output, dropped) if batched else (output.squeeze(1), dropped.squeeze(0))


def _static(given: Any, q: Any) -> Any:
    """(N * heads, S, E / heads) -> (N, heads, S, E / heads)."""
    return given.reshape((q.size(0), q.size(1), *given.shape[1:]))
