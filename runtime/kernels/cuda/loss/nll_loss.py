"""Losses over classes: negative log likelihood, and the cross entropy of rows of scores.

`reduction` is 0 for none, 1 for the weighted mean, 2 for the sum. A target that is no class raises
nothing on a device: its loss is NaN, and it has no gradient.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.faults import TARGET, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.rows import (
    THREADS,
    WARPS,
    first_row,
    greatest_of_group,
    group_for,
    lane_of_row,
    row_step,
    run_rows,
    sum_of_group,
)

NONE, MEAN, SUM = 0, 1, 2
SUMMED = 4096
"""Losses that one block sums."""


def nll_loss_forward(
    queue: Queue,
    output: Array,
    total_weight: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
) -> None:
    """Write -weight[t] * self[:, t] for each target t, or its sum or weighted mean."""
    labels = converted(queue, target, dtypes.int64)
    each, weights = _made(queue, self, labels), _made(queue, self, labels)
    classes, places = _sizes(self.sizes, labels)
    numbers = (labels.numel, classes, places, ignore_index)
    operands = (self, labels, weight, each, weights, queue.faults)
    has_weight = weight is not None
    run_elements(queue, pick_losses, labels.numel, *operands, *numbers, HAS_WEIGHT=has_weight)
    _reduce(queue, output, total_weight, each, weights, reduction)


def _sizes(scores: tuple[int, ...], labels: Array) -> tuple[int, int]:
    """(classes, places) of scores (C), (N, C) or (N, C, *P)."""
    if len(scores) == 1:
        return scores[0], 1
    return scores[1], labels.numel // max(scores[0], 1)


def _made(queue: Queue, scores: Array, labels: Array) -> Array:
    """A number in the type of computation for each label."""
    return queue.empty((labels.numel,), scores.dtype.opmath)


@device_function
def weight_of(label, weight, classes, ignore_index):
    """The weight of a target: 0 if it is to be ignored, NaN if it is no class."""
    if label == ignore_index:
        return T(0)
    if (label < 0) | (label >= classes):
        return T(np.nan)
    return load_X(weight[label]) if HAS_WEIGHT else T(1)


@device_function
def look_at_label(faults, label, classes, ignore_index):
    """Note a target that is no class."""
    if (label != ignore_index) & ((label < 0) | (label >= classes)):
        note(faults, TARGET, label, classes)


@device_kernel("X* int64* X* T* T* int64*", "I I I int64")
def pick_losses(scores, labels, weight, each, weights, faults, n, classes, places, ignore_index):
    """A thread owns labels at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        label = labels[i]
        factor = weight_of(label, weight, classes, ignore_index)
        look_at_label(faults, label, classes, ignore_index)
        is_class = (label != ignore_index) & (factor == factor)
        b = divided(i, places)
        at = I((b * classes + (I(label) if is_class else I(0))) * places + (i - b * places))
        each[i] = T(-factor * load_X(scores[at])) if is_class else factor
        weights[i] = factor
        i = I(i + cuda.gridsize(1))


def _reduce(
    queue: Queue,
    output: Array,
    total_weight: Array,
    each: Array,
    weights: Array,
    reduction: int,
) -> None:
    """Losses and weights to what is asked for: sums of sums of blocks."""
    if reduction == NONE:
        queue.copy(output.reshaped(output.numel), each)
    while True:
        blocks = max(-(-each.numel // SUMMED), 1)
        losses, counts = (queue.empty((blocks,), each.dtype) for _ in range(2))
        operands = (each, weights, losses, counts)
        run_rows(queue, sum_blocks, blocks, THREADS, *operands, blocks, each.numel)
        each, weights = losses, counts
        if blocks == 1:
            break
    operands = (output, total_weight, each, weights)
    run_elements(queue, finish_losses, 1, *operands, REDUCTION=reduction)


@device_kernel("X* X* X* X*", "I I")
def sum_blocks(each, weights, losses, counts, blocks, n):
    """A block sums a run of losses, and their weights."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    block = first_row()
    while block < blocks:
        first, second = T(0), T(0)
        i = I(block * SUMMED + lane)
        stop = I(min(block * SUMMED + SUMMED, n))
        while i < stop:
            first = T(first + each[i])
            second = T(second + weights[i])
            i = I(i + GROUP)
        first = sum_of_group(first, shared)
        second = sum_of_group(second, shared)
        if lane == 0:
            losses[block] = first
            counts[block] = second
        block = I(block + row_step())


@device_kernel("X* X* T* T*")
def finish_losses(output, total_weight, loss, count):
    """One thread writes the sum or mean, and the sum of weights."""
    if cuda.grid(1) == 0:
        total_weight[0] = store_X(count[0])
        if REDUCTION == SUM:
            output[0] = store_X(loss[0])
        if REDUCTION == MEAN:
            output[0] = store_X(T(loss[0] / count[0]) if count[0] != T(0) else T(np.nan))


@device_function
def scale_of(grad, total_weight, i):
    """What the gradient of the i-th loss is multiplied by."""
    if REDUCTION == NONE:
        return load_X(grad[i])
    if REDUCTION == SUM:
        return load_X(grad[0])
    count = load_X(total_weight[0])
    return T(load_X(grad[0]) / count) if count != T(0) else T(0)


# -- cross entropy of rows of scores: log_softmax and nll_loss at once ---------------------------


def cross_entropy_rows(
    queue: Queue,
    output: Array,
    log_probabilities: Array,
    total_weight: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> None:
    """Write the losses (or their sum or weighted mean) and the logarithms they come from."""
    labels = converted(queue, target, dtypes.int64)
    each, weights = _made(queue, self, labels), _made(queue, self, labels)
    rows, classes = self.sizes
    operands = (self, labels, weight, log_probabilities, each, weights, queue.faults)
    group = group_for(queue, Folded(rows, classes, 1))
    numbers = (rows, classes, ignore_index, label_smoothing)
    flags = {"HAS_WEIGHT": weight is not None, "IS_SMOOTHED": label_smoothing != 0}
    run_rows(queue, losses_of_rows, rows, group, *operands, *numbers, **flags)
    _reduce(queue, output, total_weight, each, weights, reduction)


@device_kernel("X* int64* X* X* T* T* int64*", "I I int64 T")
def losses_of_rows(
    x, labels, weight, logarithms, each, weights, faults, rows, classes, ignore_index, smoothing
):  # fmt: skip
    """A group of threads owns a row; lane t takes classes t, t + GROUP ..."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = I(row * classes)
        # 1. The maximum.
        top = T(-np.inf)
        j = lane
        while j < classes:
            value = load_X(x[base + j])
            top = value if (value > top) | (value != value) else top
            j = I(j + GROUP)
        top = greatest_of_group(top, shared)
        # 2. The sum of exponentials.
        total = T(0)
        j = lane
        while j < classes:
            total = T(total + exp(T(load_X(x[base + j]) - top)))
            j = I(j + GROUP)
        shift = T(log(sum_of_group(total, shared)))
        # 3. The logarithms, and the loss.
        spread = T(0)
        j = lane
        while j < classes:
            value = T(T(load_X(x[base + j]) - top) - shift)
            logarithms[base + j] = store_X(value)
            if IS_SMOOTHED:
                spread = T(spread + (load_X(weight[j]) * value if HAS_WEIGHT else value))
            j = I(j + GROUP)
        if IS_SMOOTHED:
            spread = sum_of_group(spread, shared)
        if lane == 0:
            label = labels[row]
            factor = weight_of(label, weight, classes, ignore_index)
            look_at_label(faults, label, classes, ignore_index)
            is_class = (label != ignore_index) & (factor == factor)
            score = load_X(x[base + (I(label) if is_class else I(0))])
            loss = T(-factor * T(T(score - top) - shift))
            if IS_SMOOTHED:
                loss = T(loss * T(T(1) - smoothing) - spread * T(smoothing / T(classes)))
            each[row] = loss if is_class else factor
            weights[row] = factor
        row = I(row + row_step())


def cross_entropy_rows_backward(
    queue: Queue,
    out: Array,
    grad_output: Array,
    log_probabilities: Array,
    target: Array,
    weight: Array | None,
    total_weight: Array,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> None:
    """Write weight[t] * grad * (probabilities - 1 at the target) row by row."""
    labels = converted(queue, target, dtypes.int64)
    operands = (out, grad_output, log_probabilities, labels, weight, total_weight)
    numbers = (out.numel, out.sizes[1], ignore_index)
    flags = {"HAS_WEIGHT": weight is not None, "REDUCTION": reduction}
    if label_smoothing:
        group = group_for(queue, Folded(*out.sizes, 1))
        numbers = (*out.sizes, ignore_index, label_smoothing)
        run_rows(queue, smoothed_gradients, out.sizes[0], group, *operands, *numbers, **flags)
    else:
        run_elements(queue, softmax_less_target, out.numel, *operands, *numbers, **flags)


@device_kernel("X* X* X* int64* X* X*", "I I int64")
def softmax_less_target(
    out, grad, logarithms, labels, weight, total_weight, n, classes, ignore_index
):  # fmt: skip
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, classes)
        label = labels[row]
        factor = weight_of(label, weight, classes, ignore_index)
        if (label == ignore_index) | (label < 0) | (label >= classes):
            out[i] = store_X(T(0))
        else:
            factor = T(factor * scale_of(grad, total_weight, row))
            here = T(1) if label == i - row * classes else T(0)
            out[i] = store_X(T(factor * T(exp(load_X(logarithms[i])) - here)))
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* int64* X* X*", "I I int64 T")
def smoothed_gradients(
    out, grad, logarithms, labels, weight, total_weight, rows, classes, ignore_index, smoothing
):  # fmt: skip
    """A group of threads owns a row; lane t takes classes t, t + GROUP ..."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    share = T(smoothing / T(classes))
    while row < rows:
        base = I(row * classes)
        # 1. What all classes have of the target, together.
        spread = T(0)
        j = lane
        while j < classes:
            spread = T(spread + (load_X(weight[j]) if HAS_WEIGHT else T(1)))
            j = I(j + GROUP)
        spread = T(share * sum_of_group(spread, shared))
        # 2. The gradients.
        label = labels[row]
        kept = T(T(T(1) - smoothing) * weight_of(label, weight, classes, ignore_index))
        has_gradient = (label != ignore_index) & (label >= 0) & (label < classes)
        j = lane
        while j < classes:
            wanted = T(share * load_X(weight[j])) if HAS_WEIGHT else share
            if label == j:
                wanted = T(wanted + kept)
            less = T(T(exp(load_X(logarithms[base + j])) * T(kept + spread)) - wanted)
            upstream = scale_of(grad, total_weight, row)
            out[base + j] = store_X(T(less * upstream) if has_gradient else T(0))
            j = I(j + GROUP)
        row = I(row + row_step())
