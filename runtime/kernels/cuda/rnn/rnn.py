"""Recurrent layers: per time step one matrix product and one kernel over the gates.

All arrays are (time, batch, gates or state). The forward kernels keep the activated gates; the
backward kernels walk the other way and leave the weights' gradients to one large product at the
end. What is done per state is in `rnn_steps.py`. 16-bit floats are computed in float32
throughout, and results rounded once.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import run_elements
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import batched, direct
from torchgen_out._runtime.kernels.cuda.direct import turned as transposed
from torchgen_out._runtime.kernels.cuda.matmul import matrix_plans
from torchgen_out._runtime.kernels.cuda.queue import Array, in_opmath
from torchgen_out._runtime.kernels.cuda.rnn.rnn_steps import (
    gru_step,
    gru_step_backward,
    lstm_step,
    lstm_step_backward,
    rnn_step,
    rnn_step_backward,
    sum_rows,
)


def _times(count: int, reverse: bool) -> range:
    return range(count - 1, -1, -1) if reverse else range(count)


def _at(array: Array, time: int) -> Array:
    """The slice of a time step."""
    return array.at(time * array.strides[0], array.sizes[1:], array.strides[1:])


def multiply(queue: Queue, out: Array, a: Array, b: Array, accumulate: bool = False) -> None:
    """out = a @ b, or out += a @ b."""
    batch, left, right = map(batched, (out, a, b))
    if accumulate:
        matrix_plans.multiply(queue, batch, left, right, 1, 1, batch)
    else:
        matrix_plans.multiply(queue, batch, left, right)


def _previous(states: Array, first: Array, time: int, reverse: bool) -> Array:
    """The state before a time step."""
    before = time + 1 if reverse else time - 1
    return _at(states, before) if 0 <= before < states.sizes[0] else first


def _weight_gradient(
    queue: Queue, out: Array, grad_gates: Array, output: Array, hidden: Array, reverse: bool
) -> None:
    """The products of all gates' gradients with the states before them."""
    time, batch, gates = grad_gates.sizes
    size = output.sizes[2]
    multiply(queue, out, transposed(_at(grad_gates, time - 1 if reverse else 0)), hidden)
    if time > 1:
        later = grad_gates.narrowed(0, 0 if reverse else 1, time - 1)
        before = output.narrowed(0, 1 if reverse else 0, time - 1)
        rows = (time - 1) * batch
        multiply(
            queue, out, transposed(later.reshaped(rows, gates)), before.reshaped(rows, size), True
        )


# -- LSTM ---------------------------------------------------------------------------------------


@direct
@in_opmath(outs=4)
def lstm_layer(
    queue: Queue,
    output: Array,
    last_cell: Array,
    cells: Array,
    activations: Array,
    gates: Array,
    weight: Array,
    hidden: Array,
    cell: Array,
    reverse: bool,
) -> None:
    """Run an LSTM over all time steps; `gates` are the inputs' products with the weights."""
    product = queue.empty(gates.sizes[1:], gates.dtype)
    for time in _times(gates.sizes[0], reverse):
        multiply(queue, product, hidden, transposed(weight))
        made = [_at(each, time) for each in (activations, cells, output)]
        operands = (*made, _at(gates, time), product, cell)
        run_elements(queue, lstm_step, cell.numel, *operands, cell.numel, cell.sizes[1])
        cell, hidden = made[1], made[2]
    queue.copy(last_cell, cell)


@direct
@in_opmath(outs=4)
def lstm_layer_backward(
    queue: Queue,
    grad_gates: Array,
    grad_weight: Array,
    grad_hidden: Array,
    grad_cell: Array,
    grad_output: Array,
    grad_last_cell: Array,
    activations: Array,
    cells: Array,
    output: Array,
    weight: Array,
    hidden: Array,
    cell: Array,
    reverse: bool,
) -> None:
    """The gradients of gates, weight and first states."""
    n, size = cell.numel, cell.sizes[1]
    queue.fill(grad_hidden, 0)
    queue.copy(grad_cell, grad_last_cell)
    for time in _times(output.sizes[0], not reverse):
        before = _previous(cells, cell, time, reverse)
        grad = _at(grad_gates, time)
        states = (_at(activations, time), _at(cells, time), before)
        operands = (grad, grad_cell, grad_hidden, _at(grad_output, time), *states)
        run_elements(queue, lstm_step_backward, n, *operands, n, size)
        multiply(queue, grad_hidden, grad, weight)
    _weight_gradient(queue, grad_weight, grad_gates, output, hidden, reverse)


# -- GRU ----------------------------------------------------------------------------------------


@direct
@in_opmath(outs=2)
def gru_layer(
    queue: Queue,
    output: Array,
    activations: Array,
    gates: Array,
    weight: Array,
    bias: Array | None,
    hidden: Array,
    reverse: bool,
) -> None:
    """Run a GRU over all time steps; keeps r, z, n and the candidate's product U h + b."""
    product = queue.empty(gates.sizes[1:], gates.dtype)
    n, size = hidden.numel, hidden.sizes[1]
    for time in _times(gates.sizes[0], reverse):
        multiply(queue, product, hidden, transposed(weight))
        made = (_at(activations, time), _at(output, time))
        operands = (*made, _at(gates, time), product, bias, hidden)
        run_elements(queue, gru_step, n, *operands, n, size, HAS_BIAS=bias is not None)
        hidden = made[1]


@direct
@in_opmath(outs=4)
def gru_layer_backward(
    queue: Queue,
    grad_gates: Array,
    grad_weight: Array,
    grad_bias: Array,
    grad_hidden: Array,
    grad_output: Array,
    activations: Array,
    output: Array,
    weight: Array,
    hidden: Array,
    reverse: bool,
) -> None:
    """The gradients of gates, weight, bias and first state."""
    n, size = hidden.numel, hidden.sizes[1]
    grad_products = queue.empty(grad_gates.sizes, grad_gates.dtype)
    queue.fill(grad_hidden, 0)
    for time in _times(output.sizes[0], not reverse):
        before = _previous(output, hidden, time, reverse)
        made = (_at(grad_gates, time), _at(grad_products, time), grad_hidden)
        operands = (*made, _at(grad_output, time), _at(activations, time), before)
        run_elements(queue, gru_step_backward, n, *operands, n, size)
        multiply(queue, grad_hidden, made[1], weight, True)
    _weight_gradient(queue, grad_weight, grad_products, output, hidden, reverse)
    rows = grad_products.numel // (3 * size)
    run_elements(queue, sum_rows, 3 * size, grad_bias, grad_products, rows, 3 * size)


# -- RNN ----------------------------------------------------------------------------------------


@direct
@in_opmath(outs=1)
def rnn_layer(
    queue: Queue,
    output: Array,
    gates: Array,
    weight: Array,
    hidden: Array,
    relu: bool,
    reverse: bool,
) -> None:
    """Run h' = tanh(W x + U h), or relu, over all time steps."""
    n = hidden.numel
    for time in _times(gates.sizes[0], reverse):
        state = _at(output, time)
        multiply(queue, state, hidden, transposed(weight))
        run_elements(queue, rnn_step, n, state, _at(gates, time), n, RELU=relu)
        hidden = state


@direct
@in_opmath(outs=3)
def rnn_layer_backward(
    queue: Queue,
    grad_gates: Array,
    grad_weight: Array,
    grad_hidden: Array,
    grad_output: Array,
    output: Array,
    weight: Array,
    hidden: Array,
    relu: bool,
    reverse: bool,
) -> None:
    """The gradients of gates, weight and first state."""
    n = hidden.numel
    queue.fill(grad_hidden, 0)
    for time in _times(output.sizes[0], not reverse):
        grad = _at(grad_gates, time)
        operands = (grad, grad_hidden, _at(grad_output, time), _at(output, time))
        run_elements(queue, rnn_step_backward, n, *operands, n, RELU=relu)
        multiply(queue, grad_hidden, grad, weight)
    _weight_gradient(queue, grad_weight, grad_gates, output, hidden, reverse)
