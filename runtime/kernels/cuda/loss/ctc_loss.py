"""Connectionist temporal classification: the likelihood of labels under all their alignments.

A block owns a sequence: its threads own states and go through time together. The formulas are the
CPU's, where the states and ways are explained; what comes of all ways is `_ctc_gradients`.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function, device_kernel, run
from torchgen_out._runtime.kernels.cuda.faults import TARGET, note
from torchgen_out._runtime.kernels.cuda.programs import run_program
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
    _follow(queue, log_alpha, loss, log_probs, integers, blank)


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
    _follow(queue, log_beta, None, log_probs, integers, blank)
    ways = (loss, log_alpha, log_beta)
    operands = (grad_output, log_probs, *integers, *ways)
    run_program(queue, "_ctc_gradients", out, *operands, blank, zero_infinity)


def _follow(
    queue: Queue,
    log_ways: Array,
    loss: Array | None,
    log_probs: Array,
    integers: tuple[Array, ...],
    blank: int,
) -> None:
    """Write alpha and, of it, the losses; without losses beta, for which all is seen reversed."""
    operands = (log_ways, loss, log_probs, *integers, queue.faults)
    sizes = (*log_probs.sizes[1:], *log_ways.sizes[1:])
    numbers = (*sizes, blank)
    run(queue, follow, log_probs.sizes[1], *operands, *numbers, REVERSED=loss is None)


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
def follow(
    log_ways, loss, log_probs, targets, starts, times, counts, faults, batch, classes, longest,
    width, blank,
):  # fmt: skip
    """A block owns a sequence, its threads every THREADS-th state of it, time by time. REVERSED:
    from the last time and state to the first. A state's ways come from itself and those before."""
    n = I(cuda.blockIdx.x)
    states, time, start = I(2 * counts[n] + 1), I(times[n]), starts[n]
    none = T(-np.inf)
    first, step = I(n * longest * width), I(1)
    if REVERSED:
        first, step = I(first + (time - 1) * width + states - 1), I(-1)
    for t in range(time):
        at = I(time - 1 - t) if REVERSED else I(t)
        s = I(cuda.threadIdx.x)
        while s < states:
            place = I(first + step * (t * width + s))
            state = I(states - 1 - s) if REVERSED else s
            label = label_at(targets, start, state, blank, classes)
            if not REVERSED and s % 2 == 1 and label != targets[start + s // 2]:
                note(faults, TARGET, targets[start + s // 2], classes)
            ways = T(0) if s < 2 else none
            if t > 0:
                stay = I(place - step * width)
                gone = load_X(log_ways[stay - step]) if s >= 1 else none
                skip = none
                if s >= 2 and label != label_at(targets, start, state - 2 * step, blank, classes):
                    skip = load_X(log_ways[stay - 2 * step])
                ways = joined(load_X(log_ways[stay]), gone, skip)
            emitted = load_X(log_probs[I((at * batch + n) * classes + label)])
            log_ways[place] = store_X(T(ways + emitted))
            s = I(s + cuda.blockDim.x)
        cuda.syncthreads()
    if not REVERSED and cuda.threadIdx.x == 0:
        if time == 0:
            loss[n] = store_X(T(0)) if states == 1 else store_X(T(np.inf))
        else:
            end = I(first + (time - 1) * width + states - 1)
            before_end = load_X(log_ways[end - 1]) if states > 1 else none
            loss[n] = store_X(T(-joined(load_X(log_ways[end]), before_end, none)))
