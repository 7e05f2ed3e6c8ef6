"""Connectionist temporal classification: the likelihood of labels under all their alignments.

A block owns a sequence: its threads own states and go through time together. The formulas are the
CPU's, where the states and ways are explained.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.faults import TARGET, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, in_opmath


@in_opmath(outs=2)
def ctc_loss(
    queue: Queue,
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
    """Write minus the log-likelihoods and alpha."""
    queue.fill(log_alpha, -float("inf"))
    integers = targets, starts, input_lengths, target_lengths
    operands = (loss, log_alpha, log_probs, *integers, queue.faults)
    sizes = (*log_probs.sizes[1:], *log_alpha.sizes[1:])
    run(queue, follow_forward, loss.numel, *operands, *sizes, blank)


@in_opmath(outs=1)
def ctc_loss_backward(
    queue: Queue,
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
    integers = targets, starts, input_lengths, target_lengths
    log_beta = queue.empty(log_alpha.sizes, log_alpha.dtype)
    sizes = (*out.sizes[1:], *log_alpha.sizes[1:])
    given = (log_beta, log_probs, *integers)
    run(queue, follow_backward, loss.numel, *given, *sizes, blank)
    rows = out.sizes[0] * out.sizes[1]
    operands = (out, grad_output, loss, log_alpha, *given)
    numbers = (rows, *sizes, blank, int(zero_infinity))
    run_elements(queue, join_gradients, rows, *operands, *numbers)


@device_function
def label_at(targets, start, s, blank, classes):
    """The label of a state: blanks stand at even places. One that is no class counts as blank."""
    label = targets[start + s // 2] if s % 2 == 1 else np.int64(blank)
    return I(label) if (label >= 0) & (label < classes) else I(blank)


@device_function
def joined(stay, step, skip):
    """log(exp(stay) + exp(step) + exp(skip))."""
    largest = stay if stay > step else step
    largest = largest if largest > skip else skip
    if largest == T(-np.inf):
        return largest
    total = T(exp(T(stay - largest)) + exp(T(step - largest)) + exp(T(skip - largest)))
    return T(log(total) + largest)


@device_kernel("X* X* X* int64* int64* int64* int64* int64*", "I I I I I")
def follow_forward(
    loss, log_alpha, log_probs, targets, starts, times, counts, faults, batch, classes, longest,
    width, blank,
):  # fmt: skip
    """A block owns a sequence, its threads every THREADS-th state of it: alpha, time by time."""
    n = I(cuda.blockIdx.x)
    states, time, start = I(2 * counts[n] + 1), I(times[n]), starts[n]
    none = T(-np.inf)
    for t in range(time):
        row = I((n * longest + t) * width)
        s = I(cuda.threadIdx.x)
        while s < states:
            label = label_at(targets, start, s, blank, classes)
            if s % 2 == 1 and label != targets[start + s // 2]:
                note(faults, TARGET, targets[start + s // 2], classes)
            ways = T(0) if s < 2 else none
            if t > 0:
                before = I(row - width)
                step = load_X(log_alpha[before + s - 1]) if s >= 1 else none
                skip = none
                if s >= 2 and label != label_at(targets, start, s - 2, blank, classes):
                    skip = load_X(log_alpha[before + s - 2])
                ways = joined(load_X(log_alpha[before + s]), step, skip)
            emitted = load_X(log_probs[I((t * batch + n) * classes + label)])
            log_alpha[row + s] = store_X(T(ways + emitted))
            s = I(s + cuda.blockDim.x)
        cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        if time == 0:
            loss[n] = store_X(T(0)) if states == 1 else store_X(T(np.inf))
        else:
            end = I((n * longest + time - 1) * width + states - 1)
            before_end = load_X(log_alpha[end - 1]) if states > 1 else none
            loss[n] = store_X(T(-joined(load_X(log_alpha[end]), before_end, none)))


@device_kernel("X* X* int64* int64* int64* int64*", "I I I I I")
def follow_backward(
    log_beta, log_probs, targets, starts, times, counts, batch, classes, longest, width, blank
):
    """A block owns a sequence, its threads every THREADS-th state of it: beta, from the end."""
    n = I(cuda.blockIdx.x)
    states, time, start = I(2 * counts[n] + 1), I(times[n]), starts[n]
    none = T(-np.inf)
    for turn in range(time):
        t = I(time - 1 - turn)
        row = I((n * longest + t) * width)
        s = I(cuda.threadIdx.x)
        while s < states:
            label = label_at(targets, start, s, blank, classes)
            ways = T(0) if s >= states - 2 else none
            if turn > 0:
                behind = I(row + width)
                step = load_X(log_beta[behind + s + 1]) if s + 1 < states else none
                skip = none
                if s + 2 < states and label != label_at(targets, start, s + 2, blank, classes):
                    skip = load_X(log_beta[behind + s + 2])
                ways = joined(load_X(log_beta[behind + s]), step, skip)
            emitted = load_X(log_probs[I((t * batch + n) * classes + label)])
            log_beta[row + s] = store_X(T(ways + emitted))
            s = I(s + cuda.blockDim.x)
        cuda.syncthreads()


@device_kernel("X* X* X* X* X* X* int64* int64* int64* int64*", "I I I I I I I")
def join_gradients(
    out, grad, loss, log_alpha, log_beta, log_probs, targets, starts, times, counts, rows, batch,
    classes, longest, width, blank, zero_infinity,
):  # fmt: skip
    """A thread owns rows of classes (t, n) at the distance of the grid: a label's probability less
    that of all ways through it."""
    item = I(cuda.grid(1))
    while item < rows:
        t = divided(item, batch)
        n = I(item - t * batch)
        factor, total = load_X(grad[n]), load_X(loss[n])
        is_left_out = (t >= times[n]) | ((zero_infinity != 0) & (total == T(np.inf)))
        for c in range(classes):
            at = I(item * classes + c)
            part = T(0) if is_left_out else T(factor * exp(load_X(log_probs[at])))
            out[at] = store_X(part)
        states = I(0) if is_left_out else I(2 * counts[n] + 1)
        for s in range(states):
            at = I(item * classes + label_at(targets, starts[n], s, blank, classes))
            place = I((n * longest + t) * width + s)
            way = T(load_X(log_alpha[place]) + load_X(log_beta[place]) + total)
            share = T(factor * exp(T(way - load_X(log_probs[at]))))
            out[at] = store_X(T(load_X(out[at]) - share))
        item = I(item + cuda.gridsize(1))
