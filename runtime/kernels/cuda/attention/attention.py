"""Attention: two batched products of the library around a softmax, and their gradients.

Arrays are (batch, time, heads, size); the heads of all samples are one batch of matrices, read
where they lie if they follow each other. 16-bit floats are multiplied as they are, by tensor cores,
and added up in float32; scores and softmax are float32, and the weights are rounded before they are
multiplied. What becomes of a row of scores is one launch.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct_in_any_order, turned
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, converted, permuted
from torchgen_out._runtime.kernels.cuda.rows import (
    WARPS,
    first_row,
    greatest,
    greatest_of_group,
    group_for,
    lane_of_row,
    row_step,
    run_rows,
    sum_of_group,
)


@direct_in_any_order
def attention(
    queue: Queue,
    output: Array,
    logsumexp: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    causal: bool,
) -> None:
    """Write softmax(scale * query key^T + mask) value, and the logarithms of the rows' sums.

    A row that sees nothing gives 0, and its logarithm is inf.
    """
    query, key, value = (_stacked(queue, each) for each in (query, key, value))
    scores = _scores(queue, query, key)
    weights = scores
    if scores.dtype is not value.dtype:
        weights = queue.empty(scores.sizes, value.dtype)
    _weigh(queue, weights, scores, mask, logsumexp, output.sizes[2], scale, causal, True)
    _multiply_into(queue, output, weights, value)


@direct_in_any_order
def attention_backward(
    queue: Queue,
    grad_query: Array,
    grad_key: Array,
    grad_value: Array,
    grad_output: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    logsumexp: Array,
    scale: float,
    causal: bool,
) -> None:
    """Write the gradients of query, key and value."""
    arrays = (grad_output, query, key, value)
    grad, query, key, value = (_stacked(queue, each) for each in arrays)
    weights, sums = _scores(queue, query, key), contiguous(queue, logsumexp)
    _weigh(queue, weights, weights, mask, sums, grad_output.sizes[2], scale, causal, False)
    seen = converted(queue, weights, grad.dtype)
    _multiply_into(queue, grad_value, turned(seen), grad)
    upstream = _scores(queue, grad, value)
    slopes = queue.empty(weights.sizes, grad.dtype)
    folded = Folded(weights.numel // max(weights.sizes[2], 1), weights.sizes[2], 1)
    group, numbers = group_for(queue, folded), (*folded[:2], scale)
    run_rows(queue, slope_rows, folded.outer, group, upstream, weights, slopes, *numbers)
    _multiply_into(queue, grad_query, slopes, key)
    _multiply_into(queue, grad_key, turned(slopes), query)


# -- heads of all samples as one batch ----------------------------------------------------------


def _stacked(queue: Queue, x: Array) -> Array:
    """(batch, time, heads, size) as (batch * heads, time, size), copied if no step leads from each
    head to the next."""
    heads = permuted(x, (0, 2, 1, 3))
    merged = _merged(heads)
    if merged is None:
        merged = _merged(contiguous(queue, heads))
    assert merged is not None
    return merged


def _merged(x: Array) -> Array | None:
    """The first two dims as one, if one step goes through both."""
    batch, heads, *matrix = x.sizes
    if batch > 1 and heads > 1 and x.strides[0] != heads * x.strides[1]:
        return None
    return x.at(0, (batch * heads, *matrix), (x.strides[heads > 1], *x.strides[2:]))


def _multiply_into(queue: Queue, out: Array, a: Array, b: Array) -> None:
    """Write a product of batches of heads to (batch, time, heads, size)."""
    heads = permuted(out, (0, 2, 1, 3))
    merged = _merged(heads)
    if merged is not None:
        multiply(queue, merged, a, b)
        return
    made = queue.empty(heads.sizes, out.dtype)
    multiply(queue, made.reshaped(a.sizes[0], *heads.sizes[2:]), a, b)
    queue.copy(heads, made)


# -- scores and weights -------------------------------------------------------------------------


def _scores(queue: Queue, query: Array, key: Array) -> Array:
    """query key^T. Shape: (batch * heads, length, columns)."""
    sizes = (*query.sizes[:2], key.sizes[1])
    scores = queue.empty(sizes, query.dtype.opmath)
    multiply(queue, scores, query, turned(key))
    return scores


def _weigh(
    queue: Queue,
    weights: Array,
    scores: Array,
    mask: Array | None,
    logsumexp: Array,
    heads: int,
    scale: float,
    causal: bool,
    makes_sums: bool,
) -> None:
    """Write the softmax of scale * scores + mask, which may take the place of the scores.

    makes_sums: whether `logsumexp` is written, or given. What is not seen has the score -inf.
    """
    count, length, columns = scores.sizes
    sizes = (count // heads if heads else 0, heads, length, columns)
    spread = None if mask is None else mask.expanded(sizes)
    steps = (0, 0, 0, 0) if spread is None else spread.strides
    folded = Folded(count * length, columns, 1)
    operands = (scores, spread, weights, logsumexp)
    numbers = (folded.outer, columns, heads, length, *steps, scale)
    flags = {"HAS_MASK": mask is not None, "CAUSAL": bool(causal), "MAKES_SUMS": makes_sums}
    group = group_for(queue, folded)
    run_rows(queue, weigh_rows, folded.outer, group, *operands, *numbers, **flags)


@device_kernel("X* Y* Z* Q*", "I I I I I I I I T")
def weigh_rows(
    scores, mask, weights, logsumexp, rows, columns, heads, length, to_sample, to_head, to_row,
    to_column, scale,
):  # fmt: skip
    """A group of threads owns a row; lane t takes elements t, t + GROUP ... The mask lies anywhere.

    Of a row that sees nothing the logarithm of the sum is inf: less that, every score has the
    weight 0.
    """
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        head = divided(row, length)
        time = I(row - head * length)
        sample = divided(head, heads)
        masked = I(sample * to_sample + (head - sample * heads) * to_head + time * to_row)
        base = I(row * columns)
        # 1. The scores, and the greatest of them.
        top = T(-np.inf)
        j = lane
        while j < columns:
            score = T(scores[base + j] * scale)
            if CAUSAL and j > time:
                score = T(-np.inf)
            if HAS_MASK:
                score = T(score + load_Y(mask[I(masked + j * to_column)]))
            scores[base + j] = score
            top = greatest(top, score)
            j = I(j + GROUP)
        if MAKES_SUMS:
            top = greatest_of_group(top, shared)
            if abs(top) == T(np.inf):
                top = T(0)
            # 2. The sum of exponentials.
            total = T(0)
            j = lane
            while j < columns:
                total = T(total + exp(T(scores[base + j] - top)))
                j = I(j + GROUP)
            whole = T(log(sum_of_group(total, shared)) + top)
            whole = T(np.inf) if whole == T(-np.inf) else whole
            if lane == 0:
                logsumexp[row] = store_Q(whole)
        else:
            whole = load_Q(logsumexp[row])
        # 3. The weights.
        j = lane
        while j < columns:
            weights[base + j] = store_Z(exp(T(scores[base + j] - whole)))
            j = I(j + GROUP)
        row = I(row + row_step())


@device_kernel("X* X* Y*", "I I T")
def slope_rows(upstream, weights, slopes, rows, columns, scale):
    """A group of threads owns a row: the gradient of its scores before they were scaled."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = I(row * columns)
        # 1. The sum over the row.
        total = T(0)
        j = lane
        while j < columns:
            total = T(total + upstream[base + j] * weights[base + j])
            j = I(j + GROUP)
        total = sum_of_group(total, shared)
        # 2. The results.
        j = lane
        while j < columns:
            distance = T(upstream[base + j] - total)
            slopes[base + j] = store_Y(T(T(weights[base + j] * distance) * scale))
            j = I(j + GROUP)
        row = I(row + row_step())
