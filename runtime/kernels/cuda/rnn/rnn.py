"""Recurrent layers: per time step one matrix product and one launch over the gates.

All arrays are (time, batch, gates or state). The forward kernels keep the activated gates; the
backward kernels walk the other way and leave the weights' gradients to one large product at the
end. What is done per state are texts, which see gates one behind the other in a row. 16-bit floats
are computed in float32 throughout, and results rounded once.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import batched, direct
from torchgen_out._runtime.kernels.cuda.direct import turned as transposed
from torchgen_out._runtime.kernels.cuda.matmul import matrix_plans
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, in_opmath


def _times(count: int, reverse: bool) -> range:
    return range(count - 1, -1, -1) if reverse else range(count)


def _at(array: Array, time: int) -> Array:
    """The slice of a time step."""
    return array.at(time * array.strides[0], array.sizes[1:], array.strides[1:])


def _gates(array: Array, time: int, size: int) -> Array:
    """The slice of a time step as (batch, gates, states)."""
    own = _at(array, time)
    return own.at(0, (own.sizes[0], own.sizes[1] // size, size), (own.strides[0], size, 1))


def _apart(array: Array) -> list[Array]:
    """The gates of (batch, gates, states), each (batch, states)."""
    sizes, strides = array.sizes[::2], array.strides[::2]
    return [array.at(k * array.strides[1], sizes, strides) for k in range(array.sizes[1])]


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
    product = queue.empty((1, *gates.sizes[1:]), gates.dtype)
    size = cell.sizes[1]
    for time in _times(gates.sizes[0], reverse):
        multiply(queue, _at(product, 0), hidden, transposed(weight))
        states = _at(cells, time), _at(output, time)
        operands = _gates(gates, time, size), _gates(product, 0, size), cell
        made = _apart(_gates(activations, time, size))
        run_program(queue, "_lstm_step", *made, *states, *operands)
        cell, hidden = states
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
    size = cell.sizes[1]
    queue.fill(grad_hidden, 0)
    carried, free = grad_last_cell, [queue.empty(cell.sizes, cell.dtype) for _ in range(2)]
    for time in _times(output.sizes[0], not reverse):
        states = _gates(activations, time, size), _at(cells, time)
        before = _previous(cells, cell, time, reverse)
        operands = (carried, grad_hidden, _at(grad_output, time), *states, before)
        carried, free = free[0], free[::-1]
        made = _apart(_gates(grad_gates, time, size))
        run_program(queue, "_lstm_step_backward", *made, carried, *operands)
        multiply(queue, grad_hidden, _at(grad_gates, time), weight)
    queue.copy(grad_cell, carried)
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
    product = queue.empty((1, *gates.sizes[1:]), gates.dtype)
    size = hidden.sizes[1]
    if bias is None:
        bias = queue.empty((3 * size,), gates.dtype)
        queue.fill(bias, 0)
    for time in _times(gates.sizes[0], reverse):
        multiply(queue, _at(product, 0), hidden, transposed(weight))
        made = *_apart(_gates(activations, time, size)), _at(output, time)
        operands = (
            _gates(gates, time, size),
            _gates(product, 0, size),
            bias.reshaped(3, size),
            hidden,
        )
        run_program(queue, "_gru_step", *made, *operands)
        hidden = _at(output, time)


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
    size = hidden.sizes[1]
    grad_products = queue.empty(grad_gates.sizes, grad_gates.dtype)
    carried, free = (queue.empty(hidden.sizes, hidden.dtype) for _ in range(2))
    queue.fill(carried, 0)
    for time in _times(output.sizes[0], not reverse):
        states = _gates(activations, time, size), _previous(output, hidden, time, reverse)
        operands = (carried, _at(grad_output, time), *states)
        carried, free = free, carried
        grads = (_gates(each, time, size) for each in (grad_gates, grad_products))
        made = [gate for each in grads for gate in _apart(each)]
        run_program(queue, "_gru_step_backward", *made, carried, *operands)
        multiply(queue, carried, _at(grad_products, time), weight, True)
    queue.copy(grad_hidden, carried)
    _weight_gradient(queue, grad_weight, grad_products, output, hidden, reverse)
    rows = grad_products.numel // max(3 * size, 1)
    run_program(queue, "_sum_of_rows", grad_bias, grad_products.reshaped(rows, 3 * size))


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
    product = queue.empty(gates.sizes[1:], gates.dtype)
    for time in _times(gates.sizes[0], reverse):
        multiply(queue, product, hidden, transposed(weight))
        hidden = _at(output, time)
        run_program(queue, "_rnn_step", hidden, _at(gates, time), product, relu)


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
    queue.fill(grad_hidden, 0)
    for time in _times(output.sizes[0], not reverse):
        grad = _at(grad_gates, time)
        operands = (grad_hidden, _at(grad_output, time), _at(output, time), relu)
        run_program(queue, "_rnn_step_backward", grad, *operands)
        multiply(queue, grad_hidden, grad, weight)
    _weight_gradient(queue, grad_weight, grad_gates, output, hidden, reverse)
