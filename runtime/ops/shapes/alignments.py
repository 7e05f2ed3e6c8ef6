"""Shapes of the loss over all alignments of labels; `nn.functional` checks its arguments."""

from __future__ import annotations

from typing import Any


def ctc_loss(log_probs: Any, targets: Any, *rest: Any) -> tuple[Any, Any]:
    """Shape: (T, N, C) -> the losses (N) and alpha (N, T, 2 * longest + 1)."""
    times, batch = log_probs.shape[:2]
    longest = rest[3]
    return ((batch,), log_probs.dtype), ((batch, times, 2 * longest + 1), log_probs.dtype)


def ctc_loss_backward(grad_output: Any, log_probs: Any, *rest: Any) -> Any:
    """Shape: that of the log-probabilities."""
    return tuple(log_probs.shape), log_probs.dtype
