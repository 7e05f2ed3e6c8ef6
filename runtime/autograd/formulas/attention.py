"""Gradients of attention."""

from __future__ import annotations

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.rerun import Gradients, by_steps
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    logsumexp: Tensor,
    scale: float,
    causal: bool,
) -> Gradients:
    """The gradients of query, key and value."""
    if grad_mode.is_enabled():
        inputs = [query, key, value]
        return by_steps(lambda: ops._attention_steps(*inputs, mask, scale, causal), inputs, [grad])
    found: Gradients = ops._attention_backward(
        grad, query, key, value, mask, logsumexp, scale, causal
    )
    return found
