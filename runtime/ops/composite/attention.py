"""Attention with public operators: for gradients of gradients, and for what has no kernel."""

from __future__ import annotations

from typing import Any

from runtime.core import dtype as dtypes
from runtime.dispatch import ops


def attention_steps(query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool) -> Any:
    """softmax(scale * query key^T + mask) value over (batch, time, heads, size)."""
    scores = (query * scale).transpose(1, 2) @ key.permute(0, 2, 3, 1)
    if causal:
        allowed = ops.ones(scores.shape[-2:], dtype=dtypes.bool, device=query.device).tril()
        scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    if mask is not None:
        scores = scores + mask
    return (ops.softmax(scores, -1) @ value.transpose(1, 2)).transpose(1, 2)
