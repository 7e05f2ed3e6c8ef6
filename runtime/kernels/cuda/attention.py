"""Attention: two batched products around a softmax, and their gradients.

Arrays are (batch, time, heads, size); heads are read and written in place through permuted views.
16-bit floats are computed in float32 throughout, and results rounded once.
"""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from runtime.kernels.cuda.products import multiply
from runtime.kernels.cuda.queue import Array, Queue, contiguous, in_opmath, permuted
from runtime.kernels.cuda.softmax import softmax, softmax_backward_data
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
    weights: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    causal: bool,
) -> None:
    """Write softmax(scale * query key^T + mask) value, and the softmax."""
    in_opmath(queue, _attention, (output, weights), (query, key, value, mask), scale, causal)


def _attention(
    queue: Queue,
    output: Array,
    weights: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    causal: bool,
) -> None:
    multiply(queue, weights, _heads(query), _turned(_heads(key)))
    spread = None if mask is None else contiguous(queue, mask.expanded(weights.sizes))
    numbers = (weights.numel, *weights.sizes[2:], scale)
    flags = {"HAS_MASK": mask is not None, "CAUSAL": bool(causal)}
    run_elements(queue, mask_scores, weights.numel, weights, spread, *numbers, **flags)
    softmax(queue, weights, weights, -1, None)
    multiply(queue, _heads(output), weights, _heads(value))


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


def attention_backward(
    queue: Queue,
    grad_query: Array,
    grad_key: Array,
    grad_value: Array,
    grad_output: Array,
    query: Array,
    key: Array,
    value: Array,
    weights: Array,
    scale: float,
) -> None:
    """Write the gradients of query, key and value."""
    outs = (grad_query, grad_key, grad_value)
    in_opmath(queue, _backward, outs, (grad_output, query, key, value, weights), scale)


def _backward(
    queue: Queue,
    grad_query: Array,
    grad_key: Array,
    grad_value: Array,
    grad_output: Array,
    query: Array,
    key: Array,
    value: Array,
    weights: Array,
    scale: float,
) -> None:
    grad = _heads(grad_output)
    multiply(queue, _heads(grad_value), _turned(weights), grad)
    scores = queue.empty(weights.sizes, weights.dtype)
    multiply(queue, scores, grad, _turned(_heads(value)))
    softmax_backward_data(queue, scores, scores, weights, -1, None)
    numbers = (scores.numel, *scores.sizes[2:], scale)
    flags = {"HAS_MASK": False, "CAUSAL": False}
    run_elements(queue, mask_scores, scores.numel, scores, None, *numbers, **flags)
    multiply(queue, _heads(grad_query), scores, _heads(key))
    multiply(queue, _heads(grad_key), _turned(scores), _heads(query))
