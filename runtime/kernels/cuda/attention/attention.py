"""Attention: two batched products of the library around a softmax, and their gradients.

Arrays are (batch, time, heads, size); the heads of all samples are one batch of matrices, read
where they lie if they follow each other. 16-bit floats are multiplied as they are, by tensor cores,
and added up in float32; scores and softmax are float32, and the weights are rounded before they are
multiplied. What becomes of a row of scores is a text, and one launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct_in_any_order, turned
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, permuted


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
    weights = _in_place_of(queue, scores, value.dtype)
    heads = output.sizes[2]
    results = (_by_heads(weights, heads), logsumexp)
    _run(queue, "_attention_weights", results, [scores], mask, heads, (scale, causal))
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
    scores, upstream = _scores(queue, query, key), _scores(queue, grad, value)
    weights = queue.empty(scores.sizes, grad.dtype)
    slopes = _in_place_of(queue, upstream, grad.dtype)
    heads = grad_output.sizes[2]
    results = (_by_heads(weights, heads), _by_heads(slopes, heads))
    numbers = (contiguous(queue, logsumexp), scale, causal)
    _run(queue, "_attention_slopes", results, [scores, upstream], mask, heads, numbers)
    _multiply_into(queue, grad_value, turned(weights), grad)
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


def _run(
    queue: Queue,
    name: str,
    results: Sequence[Array],
    matrices: Sequence[Array],
    mask: Array | None,
    heads: int,
    further: Sequence[Any],
) -> None:
    """Run the text of a name, over (batch, heads, length, columns). further: arguments behind."""
    given = [_by_heads(each, heads) for each in matrices]
    masks = [] if mask is None else [mask.expanded(given[0].sizes)]
    which = "with_mask" if masks else "alone"
    run_program(queue, f"{name}_{which}", *results, *given, *masks, *further)


def _by_heads(x: Array, heads: int) -> Array:
    """(batch * heads, length, columns) as (batch, heads, length, columns)."""
    return x.reshaped(x.sizes[0] // max(heads, 1), heads, *x.sizes[1:])


def _in_place_of(queue: Queue, matrices: Array, dtype: dtypes.dtype) -> Array:
    """Where a result of `_run` is written: over what it alone is made of, if of its dtype.

    It waits for a sum over the row, and of an element of its matrix then needs that one only.
    """
    return matrices if matrices.dtype is dtype else queue.empty(matrices.sizes, dtype)
