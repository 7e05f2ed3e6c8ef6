"""Attention: two batched products around a softmax, and their gradients.

Arrays are (batch, time, heads, size); heads are read and written in place through permuted views.
16-bit floats are computed in float32 throughout, and results rounded once.
"""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from runtime.kernels.cuda import softmax
from runtime.kernels.cuda.products import multiply
from runtime.kernels.cuda.queue import Array, Queue, contiguous, in_opmath, permuted
from runtime.kernels.cuda.typed import device_kernel, run_elements


def _heads(array: Array) -> Array:
    """(batch, time, heads, size) as (batch, heads, time, size)."""
    return permuted(array, (0, 2, 1, 3))


def _turned(array: Array) -> Array:
    """The last two dims swapped."""
    return permuted(array, (0, 1, 3, 2))


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
    outs, arrays = (output, logsumexp), (query, key, value, mask)
    in_opmath(queue, _attention, outs, arrays, scale, causal)


def _attention(
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
    scores = _scores(queue, query, key, mask, scale, causal)
    softmax.logsumexp(queue, logsumexp, scores, -1, False)
    run_elements(queue, mark_empty_rows, logsumexp.numel, logsumexp, logsumexp.numel)
    _weigh(queue, scores, logsumexp)
    multiply(queue, _heads(output), scores, _heads(value))


def _scores(
    queue: Queue, query: Array, key: Array, mask: Array | None, scale: float, causal: bool
) -> Array:
    """scale * query key^T + mask, (batch, heads, length, columns); -inf where nothing is seen."""
    sizes = (query.sizes[0], query.sizes[2], query.sizes[1], key.sizes[1])
    scores = queue.empty(sizes, query.dtype)
    multiply(queue, scores, _heads(query), _turned(_heads(key)))
    spread = None if mask is None else contiguous(queue, mask.expanded(sizes))
    _scale(queue, scores, spread, scale, causal)
    return scores


def _scale(
    queue: Queue, scores: Array, mask: Array | None, scale: float, causal: bool = False
) -> None:
    numbers = (scores.numel, *scores.sizes[2:], scale)
    flags = {"HAS_MASK": mask is not None, "CAUSAL": bool(causal)}
    run_elements(queue, mask_scores, scores.numel, scores, mask, *numbers, **flags)


def _weigh(queue: Queue, scores: Array, logsumexp: Array) -> None:
    """Make the softmax of the scores."""
    numbers = (scores.numel, scores.sizes[3])
    run_elements(queue, weigh_scores, scores.numel, scores, logsumexp, *numbers)


@device_kernel("X* X*", "I I I T")
def mask_scores(scores, mask, n, length, columns, scale):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, columns)
        time = I(row - divided(row, length) * length)
        score = T(scores[i] * scale)
        if CAUSAL and i - row * columns > time:
            score = T(-np.inf)
        if HAS_MASK:
            score = T(score + mask[i])
        scores[i] = score
        i = I(i + cuda.gridsize(1))


@device_kernel("X*", "I")
def mark_empty_rows(logsumexp, n):
    """A thread owns rows at the distance of the grid. Less inf, every score has the weight 0."""
    i = I(cuda.grid(1))
    while i < n:
        if logsumexp[i] == T(-np.inf):
            logsumexp[i] = T(np.inf)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X*", "I I")
def weigh_scores(scores, logsumexp, n, columns):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        scores[i] = exp(T(scores[i] - logsumexp[divided(i, columns)]))
        i = I(i + cuda.gridsize(1))


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
    outs = (grad_query, grad_key, grad_value)
    arrays = (grad_output, query, key, value, mask, logsumexp)
    in_opmath(queue, _backward, outs, arrays, scale, causal)


def _backward(
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
    grad = _heads(grad_output)
    weights = _scores(queue, query, key, mask, scale, causal)
    _weigh(queue, weights, contiguous(queue, logsumexp))
    multiply(queue, _heads(grad_value), _turned(weights), grad)
    scores = queue.empty(weights.sizes, weights.dtype)
    multiply(queue, scores, grad, _turned(_heads(value)))
    softmax.softmax_backward_data(queue, scores, scores, weights, -1, None)
    _scale(queue, scores, None, scale)
    multiply(queue, _heads(grad_query), scores, _heads(key))
    multiply(queue, _heads(grad_key), _turned(scores), _heads(query))
