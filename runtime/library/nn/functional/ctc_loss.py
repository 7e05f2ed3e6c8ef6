"""Connectionist temporal classification: the arguments of the loss, and its reduction."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.dispatch import ops


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Minus the log-likelihood of the targets, summed over all alignments.

    Shape: log_probs (T, N, C) or (T, C), targets (N, S), or (sum of target_lengths) one after the
    other. The gradient supposes that log_probs come from log_softmax, and is zero where
    `zero_infinity` makes a loss zero. **Source** Graves et al., 2006.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    is_batch = log_probs.dim() == 3
    probs = log_probs if is_batch else log_probs.unsqueeze(1)
    steps, batch, classes = probs.shape
    if not probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    times = _lengths("input_lengths", input_lengths, batch, steps)
    counts = _lengths("target_lengths", target_lengths, batch)
    if not is_batch and targets.dim() == 1:
        targets = targets.unsqueeze(0)
    starts = _starts(targets, counts, batch)
    integers = [torch.tensor(each, device=probs.device) for each in (starts, times, counts)]
    flat = targets.to(device=probs.device, dtype=torch.int64).reshape(-1)
    losses = ops._ctc_loss(probs, flat, *integers, max(counts, default=0), blank, zero_infinity)[0]
    if zero_infinity:
        losses = losses.masked_fill(losses == math.inf, 0)
    if reduction == "mean":
        return (losses / integers[2].clamp(min=1).to(losses.dtype)).mean()
    if reduction == "sum":
        return losses.sum()
    return losses if is_batch else losses.squeeze(0)


def _lengths(name: str, given: Any, batch: int, most: int | None = None) -> list[int]:
    """The lengths of all sequences as numbers, checked."""
    if isinstance(given, torch.Tensor):
        if given.dtype.kind != "i":
            raise RuntimeError(f"{name} must be integral")
        given = given.reshape(-1).tolist()
    lengths = [int(each) for each in given] if isinstance(given, (list, tuple)) else [int(given)]
    if len(lengths) != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    for length in lengths:
        if length < 0:
            raise errors.ctc_length(name, "least 0", length)
        if most is not None and length > most:
            raise errors.ctc_length(name, f"most {most}", length)
    return lengths


def _starts(targets: Any, counts: list[int], batch: int) -> list[int]:
    """Where the labels of every sequence begin among all of them."""
    if targets.dim() == 1:
        ends = list(accumulate(counts, initial=0))
        if ends[-1] != targets.numel():
            raise errors.ctc_targets(f"size {ends[-1]} at dimension 0", f"size {targets.numel()}")
        return ends[:-1]
    if targets.dim() != 2:
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.dim()}-dimensional tensor for 'targets'"
        )
    rows, width = targets.shape
    if rows != batch:
        raise errors.ctc_targets(f"size {batch} at dimension 0", f"size {rows}")
    longest = max(counts, default=0)
    if width < longest:
        raise errors.ctc_targets(f"size at least {longest} at dimension 1", f"size {width}")
    return [n * width for n in range(batch)]
