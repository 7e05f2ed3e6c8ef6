"""Connectionist temporal classification: the likelihood of labels under all their alignments.

The labels of a sequence stand with blanks around them, 2 * labels + 1 states. alpha[t, s] is the
logarithm of the probability of all ways into state s up to time t, beta[t, s] that of all ways out
of it; both count what is emitted at t. A way stays, goes on, or skips a blank between two different
labels. Rows of all states are vectors: a state sees those before it in a row with two more in
front. Mirrored in `runtime.kernels.cuda.loss.ctc_loss`.

Source: A. Graves et al., "Connectionist temporal classification" (2006).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.typed import typed

Array = Any

WORK = 60
"""How much more a state costs than an element of element-wise work."""


def ctc_loss(
    loss: Array,
    log_alpha: Array,
    log_probs: Array,
    targets: Array,
    starts: Array,
    input_lengths: Array,
    target_lengths: Array,
    longest: int,
    blank: int,
    zero_infinity: bool,
) -> None:
    """Write minus the log-likelihoods and alpha. **Raises** IndexError if a label is no class."""
    integers = _integers(targets, starts, input_lengths, target_lengths)
    if loss.size:
        arrays = contiguous(log_probs), *integers
        loop = follow_forward.of(log_probs.dtype)
        work = WORK * log_alpha.size
        if not threads.run_ranges(loop, loss.size, work, loss, log_alpha, *arrays, blank):
            raise _bad_label(*integers, log_probs.shape[2])


def _bad_label(labels: Array, begins: Array, _: Array, counts: Array, classes: int) -> Exception:
    """The error of the first label that is no class; what pads labels may be any number."""
    for begin, count in zip(begins.tolist(), counts.tolist(), strict=True):
        used = labels[begin : begin + count]
        bad = used[(used < 0) | (used >= classes)]
        if bad.size:
            return errors.target_out_of_bounds(bad[0])
    raise AssertionError("all labels are classes")


def ctc_loss_backward(
    out: Array,
    grad_output: Array,
    log_probs: Array,
    targets: Array,
    starts: Array,
    input_lengths: Array,
    target_lengths: Array,
    loss: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool,
) -> None:
    """Write the gradient of log-probabilities that are the logarithm of a softmax."""
    if not out.size:
        return
    arrays = (
        *(contiguous(each) for each in (grad_output, loss, log_alpha, log_probs)),
        *_integers(targets, starts, input_lengths, target_lengths),
    )
    made = np.empty(out.shape, out.dtype)
    loop = follow_backward.of(out.dtype)
    work = WORK * log_alpha.size
    threads.run_ranges(loop, loss.size, work, made, *arrays, blank, zero_infinity)
    out[...] = made


def _integers(*arrays: Array) -> list[Array]:
    return [np.ascontiguousarray(each, np.int64) for each in arrays]


@typed
def spread_labels(labels, skips, targets, start, blank):
    """Labels with blanks between them, and whether a way may skip from s to s + 2.

    Shape: labels (states), skips (states), of at least 2 * targets + 1.
    """
    for s in range(labels.size):
        labels[s] = targets[start + s // 2] if s % 2 == 1 else blank
    for s in range(labels.size):
        skips[s] = s + 2 < labels.size and labels[s] != labels[min(s + 2, labels.size - 1)]


@typed
def most_states(counts):
    """How many states the longest of some sequences of labels has, with blanks around them."""
    most = np.int64(1)
    for n in range(counts.size):
        most = max(most, 2 * counts[n] + 1)
    return most


@typed
def join_ways(row, before, skips, emitted):
    """row[s] = log(sum of ways from s, s - 1, s - 2) + emitted[s]. before: two places longer."""
    none = T(-np.inf)
    for s in range(row.size):
        skip = before[s] if skips[s] else none
        largest = max(max(before[s + 2], before[s + 1]), skip)
        base = largest if largest > none else T(0)
        total = exp(before[s + 2] - base) + exp(before[s + 1] - base) + exp(skip - base)
        row[s] = (log(total) + base if largest > none else none) + emitted[s]


@typed
def log_add(a, b):
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high + log1p(exp(low - high)) if low > T(-np.inf) else high


@typed
def follow_forward(first, last, loss, log_alpha, log_probs, targets, starts, times, counts, blank):
    """Sequences one by one: alpha from the first time to the last, and the loss at the end. False
    if a label is no class.
    """
    none, most = T(-np.inf), most_states(counts)
    all_labels, all_skips = np.empty(most, np.int64), np.empty(most + 2, np.bool_)
    all_before, all_emitted = np.empty(most + 2, loss.dtype), np.empty(most, loss.dtype)
    for n in range(first, last):
        states, time = 2 * counts[n] + 1, times[n]
        labels, skips = all_labels[:states], all_skips[: states + 2]
        before, emitted = all_before[: states + 2], all_emitted[:states]
        skips[:2], before[:] = False, none
        for k in range(starts[n], starts[n] + counts[n]):
            if targets[k] < 0 or targets[k] >= log_probs.shape[2]:
                return False
        spread_labels(labels, skips[2:], targets, starts[n], blank)
        log_alpha[n] = none
        for t in range(time):
            for s in range(states):
                emitted[s] = log_probs[t, n, labels[s]]
            row = log_alpha[n, t, :states]
            if t == 0:
                row[: min(2, states)] = emitted[: min(2, states)]
            else:
                join_ways(row, before, skips, emitted)
            before[2:] = row
        if time == 0:
            loss[n] = T(0) if states == 1 else T(np.inf)
        elif states == 1:
            loss[n] = -before[2]
        else:
            loss[n] = -log_add(before[states + 1], before[states])
    return True


@typed
def follow_backward(
    first, last, out, grad, loss, log_alpha, log_probs, targets, starts, times, counts, blank,
    zero_infinity,
):  # fmt: skip
    """Sequences one by one: beta from the last time to the first. Reversed, its ways are alpha's.

    A label's gradient is its probability less that of all ways through it, given the labels.
    """
    none, most = T(-np.inf), most_states(counts)
    all_labels, all_skips = np.empty(most, np.int64), np.empty((2, most), np.bool_)
    all_before, rows = np.empty(most + 2, out.dtype), np.empty((2, most), out.dtype)
    for n in range(first, last):
        states, time, factor, total = 2 * counts[n] + 1, times[n], grad[n], loss[n]
        labels, skips, turned = all_labels[:states], all_skips[0, :states], all_skips[1, :states]
        before, row, emitted = all_before[: states + 2], rows[0, :states], rows[1, :states]
        before[:] = none
        spread_labels(labels, skips, targets, starts[n], blank)
        for s in range(states):
            turned[s] = skips[states - 1 - s]
        is_left_out = zero_infinity and total == T(np.inf)
        out[0 if is_left_out else time :, n] = T(0)
        for t in range(-1 if is_left_out else time - 1, -1, -1):
            for s in range(states):
                emitted[s] = log_probs[t, n, labels[states - 1 - s]]
            if t == time - 1:
                row[:] = none
                row[: min(2, states)] = emitted[: min(2, states)]
            else:
                join_ways(row, before, turned, emitted)
            before[2:] = row
            alpha, target = log_alpha[n, t], out[t, n]
            for c in range(target.size):
                target[c] = factor * exp(log_probs[t, n, c])
            for s in range(states):
                way = alpha[states - 1 - s] + row[s] + total - emitted[s]
                emitted[s] = factor * exp(way)
            for s in range(states):
                target[labels[states - 1 - s]] -= emitted[s]
