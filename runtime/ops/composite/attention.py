"""Attention with public operators: for gradients of gradients, and for what has no kernel."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops


def attention_steps(query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool) -> Any:
    """softmax(scale * query key^T + mask) value over (batch, time, heads, size).

    A query that the mask leaves no key gives 0.
    """
    scores = (query * scale).transpose(1, 2) @ key.permute(0, 2, 3, 1)
    if causal:
        allowed = ops.ones(scores.shape[-2:], dtype=dtypes.bool, device=query.device).tril()
        scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    weights = ops.softmax(scores, -1) if mask is None else safe_softmax(scores + mask)
    return (weights @ value.transpose(1, 2)).transpose(1, 2)


def safe_softmax(scores: Any) -> Any:
    """The softmax of the last dim, 0 in rows that hold nothing but -inf."""
    is_empty = (scores == float("-inf")).all(-1, keepdim=True)
    return ops.softmax(scores.masked_fill(is_empty, 0), -1).masked_fill(is_empty, 0)
