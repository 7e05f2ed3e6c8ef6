"""Attention: two batched products of the library around a softmax, and their gradients.

Arrays are (batch, time, heads, size); the heads of all samples are one batch of matrices, read
where they lie if they follow each other. 16-bit floats are multiplied as they are, by tensor cores,
and added up in float32; scores and softmax are float32, and the weights are rounded before they are
multiplied.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct, turned
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, converted, permuted
from torchgen_out._runtime.kernels.cuda.softmax import softmax


@direct
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
    scores = _scores(queue, query, key, mask, output, scale, causal)
    softmax.logsumexp(queue, logsumexp, scores, -1, False)
    run_elements(queue, mark_empty_rows, logsumexp.numel, logsumexp, logsumexp.numel)
    weights = _weights(queue, scores, logsumexp, value.dtype)
    _multiply_into(queue, output, weights, value)


@direct
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
    scores = _scores(queue, query, key, mask, grad_output, scale, causal)
    weights = _weights(queue, scores, contiguous(queue, logsumexp), scores.dtype)
    seen = converted(queue, weights, grad.dtype)
    _multiply_into(queue, grad_value, turned(seen), grad)
    slopes = queue.empty(scores.sizes, scores.dtype)
    multiply(queue, slopes, grad, turned(value))
    softmax.softmax_backward_data(queue, slopes, slopes, weights, -1)
    queue.apply(times, slopes, [slopes], [scale])
    slopes = converted(queue, slopes, grad.dtype)
    _multiply_into(queue, grad_query, slopes, key)
    _multiply_into(queue, grad_key, turned(slopes), query)


def times(x, factor):
    """An element times a number."""
    return x * factor


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


def _scores(
    queue: Queue,
    query: Array,
    key: Array,
    mask: Array | None,
    output: Array,
    scale: float,
    causal: bool,
) -> Array:
    """scale * query key^T + mask, (batch * heads, length, columns); -inf where nothing is seen.

    output: whose batch and heads these are.
    """
    count, length, columns = *query.sizes[:2], key.sizes[1]
    scores = queue.empty((count, length, columns), query.dtype.opmath)
    multiply(queue, scores, query, turned(key))
    heads = output.sizes[2]
    spread = None if mask is None else mask.expanded((output.sizes[0], heads, length, columns))
    steps = (0, 0, 0, 0) if spread is None else spread.strides
    numbers = (scores.numel, heads, length, columns, *steps, scale)
    flags = {"HAS_MASK": mask is not None, "CAUSAL": bool(causal)}
    run_elements(queue, mask_scores, scores.numel, scores, spread, *numbers, **flags)
    return scores


def _weights(queue: Queue, scores: Array, logsumexp: Array, dtype: dtypes.dtype) -> Array:
    """The softmax of the scores: in their place if they have the dtype that is wanted."""
    made = scores if scores.dtype is dtype else queue.empty(scores.sizes, dtype)
    numbers = (scores.numel, scores.sizes[2])
    run_elements(queue, weigh_scores, scores.numel, made, scores, logsumexp, *numbers)
    return made


@device_kernel("X* Y*", "I I I I I I I I T")
def mask_scores(
    scores, mask, n, heads, length, columns, to_sample, to_head, to_row, to_column, scale
):  # fmt: skip
    """A thread owns elements at the distance of the grid. The mask lies anywhere."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, columns)
        column = I(i - row * columns)
        head = divided(row, length)
        time = I(row - head * length)
        score = T(scores[i] * scale)
        if CAUSAL and column > time:
            score = T(-np.inf)
        if HAS_MASK:
            sample = divided(head, heads)
            at = I(sample * to_sample + (head - sample * heads) * to_head)
            score = T(score + load_Y(mask[I(at + time * to_row + column * to_column)]))
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


@device_kernel("X* Y* Z*", "I I")
def weigh_scores(weights, scores, logsumexp, n, columns):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        exponent = T(load_Y(scores[i]) - load_Z(logsumexp[divided(i, columns)]))
        weights[i] = store_X(exp(exponent))
        i = I(i + cuda.gridsize(1))
