"""Attention: softmax(q k^T / sqrt(d)) v, with one head and with several."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torchgen_out as torch
from torchgen_out._runtime.bindings.numbers import as_float
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.nn.functional.dropout import dropout
from torchgen_out._runtime.ops.composite.attention import safe_softmax


def _as_addend(mask: Any, dtype: Any) -> Any:
    """A mask to add to scores: a boolean one becomes 0 where True and -inf where False."""
    if mask.dtype is not torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(
        mask.logical_not(), -math.inf
    )


def _attend(query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool) -> Any:
    """softmax(scale * query key^T + mask) value over (batch, time, heads, size)."""
    if mask is not None and mask.requires_grad:
        return ops._attention_steps(query, key, value, mask, scale, causal)
    return ops._attention(query, key, value, mask, scale, causal)[0]


def _usual_scale(size: int) -> float:
    """1 / sqrt(size); vectors of no elements have the product 0 on any scale."""
    return 1 / math.sqrt(size) if size else 1.0


def _check_attention(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    """**Raises** RuntimeError for dims and dtypes that do not fit."""
    dims = [x.dim() for x in (query, key, value)]
    if min(dims) < 2:
        raise RuntimeError(
            "scaled_dot_product_attention: expected query, key and value of at least 2 dims, got "
            f"{dims[0]}, {dims[1]} and {dims[2]}"
        )
    if mask is None:
        return
    if is_causal:
        raise RuntimeError(
            "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if mask.dtype not in (torch.bool, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {mask.dtype} and query.dtype: {query.dtype} instead."
        )
    if mask.dim() > max(dims):
        raise RuntimeError(
            f"scaled_dot_product_attention: expected attn_mask of at most {max(dims)} dims, "
            f"got {mask.dim()}"
        )


def _shared_heads(query: Any, x: Any) -> Any:
    """The heads of a key or value, each as often as there are heads of the query for it."""
    if min(query.dim(), x.dim()) < 3:
        raise RuntimeError("scaled_dot_product_attention: enable_gqa needs a dim of heads")
    heads, own = query.size(-3), x.size(-3)
    if own == heads:
        return x
    if not own or heads % own:
        raise RuntimeError(
            f"scaled_dot_product_attention: {heads} heads of the query do not share {own} evenly"
        )
    return x.repeat_interleave(heads // own, -3)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key^T * scale + mask) @ value.

    Shape: (*, L, E), (*, S, E), (*, S, V) -> (*, L, V). A boolean mask is True where attention is
    allowed, any other is added; `is_causal` allows the past only. scale: 1 / sqrt(E) by default.
    """
    sizes = query.shape, key.shape, value.shape
    is_alike = _are_alike(*sizes)
    if attn_mask is not None or not is_alike:
        _check_attention(query, key, value, attn_mask, is_causal)
    if scale is None:
        scale = _usual_scale(sizes[0][-1])
    elif scale.__class__ is not float:
        scale = as_float(scale, "scaled_dot_product_attention", "scale", 0)
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
        is_alike = _are_alike(query.shape, key.shape, value.shape)
    mask = None if attn_mask is None else _as_addend(attn_mask, query.dtype)
    if dropout_p == 0.0 and is_alike:
        q, k, v = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
        return _attend(q, k, v, mask, scale, is_causal).transpose(1, 2)
    if is_causal:
        shape = (query.size(-2), key.size(-2))
        allowed = torch.ones(shape, dtype=torch.bool, device=query.device).tril()
        mask = _as_addend(allowed, query.dtype)
    scores = (query * scale) @ key.transpose(-2, -1)
    weights = ops.softmax(scores, -1) if mask is None else safe_softmax(scores + mask)
    return dropout(weights, dropout_p) @ value


@lru_cache(maxsize=1024)
def _are_alike(query: Any, key: Any, value: Any) -> bool:
    """Whether all have four dims, of the same batch and heads."""
    if not len(query) == len(key) == len(value) == 4:
        return False
    (a, b, *_), (c, d, *_), (e, f, *_) = query, key, value
    return bool(a == c == e and b == d == f)


# -- several heads --------------------------------------------------------------------------------


def _project(query: Any, key: Any, value: Any, weights: Any, biases: Any, heads: int) -> list[Any]:
    """The three projections, (.., .., heads, size) each; one product where the inputs are one."""
    if query is key and key is value and not isinstance(weights, tuple):
        return list(ops.linear(query, weights, biases).unflatten(-1, (3, heads, -1)).unbind(2))
    each = weights if isinstance(weights, tuple) else weights.chunk(3)
    bias = (None, None, None) if biases is None else biases.chunk(3)
    return [
        ops.linear(x, w, b).unflatten(-1, (heads, -1))
        for x, w, b in zip((query, key, value), each, bias, strict=True)
    ]


def _forbidding(name: str, mask: Any, dtype: Any) -> Any:
    """A mask to add to scores: a boolean one becomes -inf where True."""
    if mask.dtype is not torch.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return _as_addend(mask.logical_not(), dtype) if mask.dtype is torch.bool else mask


def _merged_mask(
    attn_mask: Any, key_padding_mask: Any, batch: int, heads: int, shape: Any, dtype: Any
) -> Any:
    """Both masks as one addend (N or 1, heads or 1, L or 1, S); True means masked out in both."""
    mask = None
    if not (
        attn_mask is None or key_padding_mask is None or attn_mask.dtype is key_padding_mask.dtype
    ):
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead."
        )
    if attn_mask is not None:
        length, columns = shape
        expected = (length, columns) if attn_mask.dim() == 2 else (batch * heads, length, columns)
        if tuple(attn_mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {tuple(attn_mask.shape)}, but "
                f"should be {expected}."
            )
        mask = _forbidding("attn_mask", attn_mask, dtype)
        split = (1, 1) if mask.dim() == 2 else (batch, heads)
        mask = mask.reshape((*split, length, columns))
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, shape[1]):
            raise AssertionError(
                f"Expected key_padding_mask of shape {(batch, shape[1])} (batch, keys), but got "
                f"{tuple(key_padding_mask.shape)}."
            )
        padding = _forbidding("key_padding_mask", key_padding_mask, dtype).unsqueeze(1).unsqueeze(1)
        mask = padding if mask is None else mask + padding
    return mask


class Extras(NamedTuple):
    """What few calls of attention with several heads use."""

    bias_k: Any = None
    bias_v: Any = None
    add_zero_attn: bool = False
    static_k: Any = None
    static_v: Any = None

    def lengthen(self, key: Any, value: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Replace static keys and values, and add the further columns: biases, zeros."""
        parts = [key, value]
        for place, static in enumerate((self.static_k, self.static_v)):
            if static is not None:
                batch, _, heads, size = parts[place].shape
                parts[place] = static.reshape((batch, heads, -1, size)).transpose(1, 2)
        added = [(self.bias_k, self.bias_v)] if self.bias_k is not None else []
        added += [(None, None)] * self.add_zero_attn
        for biases in added:
            for place, bias in enumerate(biases):
                batch, _, heads, size = parts[place].shape
                shape = (batch, 1, heads, size)
                column = (
                    parts[place].new_zeros(shape)
                    if bias is None
                    else bias.reshape((1, 1, heads, size)).expand(shape)
                )
                parts[place] = torch.cat([parts[place], column], 1)
        if mask is not None and added:
            mask = torch.cat([mask, mask.new_zeros((*mask.shape[:-1], len(added)))], -1)
        return parts[0], parts[1], mask


def attend_with_heads(
    inputs: tuple[Any, Any, Any],
    batch_first: bool,
    heads: int,
    projections: tuple[Any, Any, Any, Any],
    masks: tuple[Any, Any],
    dropout_p: float,
    need_weights: bool,
    extras: Extras,
) -> tuple[Any, Any]:
    """Attention with several heads; returns the output and the weights of every head.

    `projections` are the weights (packed, or three) and bias of the input, and those of the
    output; `masks` are attn_mask and key_padding_mask.
    """
    in_weights, in_bias, out_weight, out_bias = projections
    parts = _project(*inputs, in_weights, in_bias, heads)
    if not batch_first:
        parts = [part.transpose(0, 1) for part in parts]
    query, key, value = parts
    batch, length = query.shape[:2]
    shape = (length, key.size(1) if extras.static_k is None else extras.static_k.size(1))
    mask = _merged_mask(*masks, batch, heads, shape, query.dtype)
    key, value, mask = extras.lengthen(key, value, mask)
    scale, weights = 1 / math.sqrt(query.size(-1)), None
    if need_weights or dropout_p > 0.0:
        scores = (query * scale).transpose(1, 2) @ key.permute((0, 2, 3, 1))
        weights = ops.softmax(scores if mask is None else scores + mask, -1)
        weights = dropout(weights, dropout_p)
        output = (weights @ value.transpose(1, 2)).transpose(1, 2)
    else:
        output = _attend(query, key, value, mask, scale, False)
    output = output.flatten(2)
    output = output if batch_first else output.transpose(0, 1)
    return ops.linear(output, out_weight, out_bias), weights


def _check_sizes(
    query: Any, key: Any, value: Any, embed_dim: int, num_heads: int, is_separate: bool
) -> None:
    """Raise AssertionError if embeddings, keys, values and heads do not fit each other."""
    embed = query.size(-1)
    if embed != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {embed}")
    compared = 2 if is_separate else key.dim()
    if key.shape[:compared] != value.shape[:compared]:
        raise AssertionError(
            f"key shape {tuple(key.shape)} does not match value shape {tuple(value.shape)}"
        )
    if num_heads < 1 or embed % num_heads:
        raise AssertionError(f"embed_dim {embed} not divisible by num_heads {num_heads}")


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
    batch_first: bool = False,
) -> tuple[Any, Any]:
    """Attention with several heads; returns the output and the weights (None if not needed).

    Shape: query (L, N, E) or (L, E), key and value (S, N, E) -> (L, N, E); N first with
    `batch_first`, which PyTorch's function lacks. Masks are True, or -inf, where attention is
    forbidden.
    """
    batched = query.dim() == 3
    inputs = (query, key, value)
    if not batched:
        same = query is key and key is value
        inputs = (query.unsqueeze(1),) * 3 if same else tuple(x.unsqueeze(1) for x in inputs)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        batch_first = False
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    for name, given, other in (("bias_k", bias_k, bias_v), ("bias_v", bias_v, bias_k)):
        if given is not None and other is None:
            raise AssertionError(f"{name} is set but the other bias is None")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    in_weights = in_proj_weight
    if use_separate_proj_weight:
        in_weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    output, weights = attend_with_heads(
        inputs,
        batch_first,
        num_heads,
        (in_weights, in_proj_bias, out_proj_weight, out_proj_bias),
        (attn_mask, key_padding_mask),
        dropout_p if training else 0.0,
        need_weights,
        Extras(bias_k, bias_v, add_zero_attn, static_k, static_v),
    )
    output = output if batched else output.squeeze(1)
    if not need_weights:
        return output, None
    if average_attn_weights:
        weights = weights.mean(1)
    return output, (weights if batched else weights.squeeze(0))
