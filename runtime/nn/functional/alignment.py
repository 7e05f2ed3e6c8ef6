"""Connectionist temporal classification: the likelihood of labels under all alignments."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch


def _as_list(lengths: Any) -> list[int]:
    return lengths.tolist() if isinstance(lengths, torch.Tensor) else [int(n) for n in lengths]


def _labels_of(targets: Any, lengths: list[int]) -> list[list[int]]:
    """The labels of every sequence, from (N, S) or from one row with all of them."""
    if targets.dim() == 2:
        return [row[:length] for row, length in zip(targets.tolist(), lengths, strict=True)]
    flat, labels, start = targets.tolist(), [], 0
    for length in lengths:
        labels.append(flat[start : start + length])
        start += length
    return labels


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

    Shape: log_probs (T, N, C) or (T, C), targets (N, S), or (sum of lengths).
    **Source** Graves et al., 2006: the forward recursion in log space, over all sequences at once.
    """
    batched = log_probs.dim() == 3
    probs = log_probs if batched else log_probs.unsqueeze(1)
    times, counts = (
        _as_list(input_lengths if batched else [int(input_lengths)]),
        _as_list(target_lengths if batched else [int(target_lengths)]),
    )
    labels = _labels_of(targets if batched else targets.reshape(-1), counts)
    if max(times) > probs.size(0):
        raise RuntimeError("Expected input_lengths to have value at most " + str(probs.size(0)))
    losses = _losses(probs, labels, times, blank)
    if zero_infinity:
        losses = torch.where(losses == math.inf, torch.zeros_like(losses), losses)
    if reduction == "mean":
        lengths = torch.tensor([max(n, 1) for n in counts], dtype=losses.dtype)
        return (losses / lengths.to(losses.device)).mean()
    if reduction == "sum":
        return losses.sum()
    return losses if batched else losses.squeeze(0)


def _losses(probs: Any, labels: list[list[int]], times: list[int], blank: int) -> Any:
    """The loss of every sequence: alpha[t, s] over the labels with blanks between them."""
    width = 2 * max(len(each) for each in labels) + 1
    padded, skips = [], []
    for each in labels:
        spread = [blank]
        for label in each:
            spread += [label, blank]
        spread += [blank] * (width - len(spread))
        padded.append(spread)
        skips.append([s > 1 and spread[s] not in (blank, spread[s - 2]) for s in range(width)])
    options = {"device": probs.device}
    index = torch.tensor(padded, dtype=torch.int64, **options)
    skip = torch.tensor(skips, **options)
    least = torch.full((len(labels), 1), -1e30, dtype=probs.dtype, **options)
    emitted = probs.gather(2, index.unsqueeze(0).expand(probs.size(0), *index.shape))
    first = torch.arange(width, **options) < 2
    alpha = torch.where(first, emitted[0], least)
    running = torch.tensor(times, **options).unsqueeze(1)
    for time in range(1, max(times)):
        one = torch.cat([least, alpha[:, :-1]], 1)
        two = torch.cat([least, least, alpha[:, :-2]], 1)
        ways = torch.stack([alpha, one, torch.where(skip, two, least)])
        alpha = torch.where(running > time, ways.logsumexp(0) + emitted[time], alpha)
    ends = torch.tensor([[2 * len(each)] for each in labels], dtype=torch.int64, **options)
    last = alpha.gather(1, ends)
    before = torch.where(ends > 0, alpha.gather(1, (ends - 1).clamp_min(0)), least)
    loss = -torch.cat([last, before], 1).logsumexp(1)
    return torch.where(loss > 1e29, torch.full_like(loss, math.inf), loss)
