"""Attention on the CPU: two batched products around a softmax, and their gradients.

Arrays are (batch, time, heads, size); heads are read and written in place through transposed
views, which BLAS takes as strides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.kernels.cpu.softmax import softmax_backward_rows, softmax_rows

Array = Any


def _heads(array: Array) -> Array:
    """(batch, time, heads, size) as (batch, heads, time, size)."""
    return array.transpose(0, 2, 1, 3)


def _turned(array: Array) -> Array:
    """The last two dims swapped."""
    return array.swapaxes(-2, -1)


def _rows(array: Array) -> Array:
    return array.reshape(-1, array.shape[-1])


def attention(
    output: Array,
    weights: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    causal: bool,
) -> None:
    """Write softmax(scale * query key^T + mask) value, and the softmax."""
    np.matmul(_heads(query) * query.dtype.type(scale), _turned(_heads(key)), out=weights)
    if causal:
        allowed = np.tri(*weights.shape[-2:], dtype=bool)
        weights[..., ~allowed] = -np.inf
    if mask is not None:
        weights += mask
    softmax_rows(_rows(weights), _rows(weights))
    np.matmul(weights, _heads(value), out=_heads(output))


def attention_backward(
    grad_query: Array,
    grad_key: Array,
    grad_value: Array,
    grad_output: Array,
    query: Array,
    key: Array,
    value: Array,
    weights: Array,
    scale: float,
) -> None:
    """Write the gradients of query, key and value."""
    grad = _heads(grad_output)
    np.matmul(_turned(weights), grad, out=_heads(grad_value))
    scores = np.empty_like(weights)
    np.matmul(grad, _turned(_heads(value)), out=scores)
    softmax_backward_rows(_rows(scores), _rows(scores), _rows(weights))
    scores *= scores.dtype.type(scale)
    np.matmul(scores, _heads(key), out=_heads(grad_query))
    np.matmul(_turned(scores), _heads(query), out=_heads(grad_key))
