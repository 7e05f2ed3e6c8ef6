"""Recurrent layers on the CPU: per time step one matrix product and one pass over the gates.

All arrays are (time, batch, gates or state). The forward kernels keep the activated gates; the
backward kernels walk the other way and leave the weights' gradients to one large product at the
end. Loops over one row write one array each, so that LLVM can tell reads and writes apart.
"""

# ruff: noqa: F821 - T, exp, sigmoid and tanh are names of the compiled text.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.kernels.cpu import tiled_products
from runtime.kernels.cpu.tiled_products import Layout, Task
from runtime.kernels.typed import typed

Array = Any
FEW_ROWS = 8  # of a batch: for fewer the weights are not laid out in panels


def _times(count: int, reverse: bool) -> range:
    return range(count - 1, -1, -1) if reverse else range(count)


def _by_gate(array: Array, count: int) -> Array:
    """(..., gates * size) as (..., gates, size)."""
    return array.reshape(*array.shape[:-1], count, -1)


def _product_with(weight: Array, rows: int) -> Callable[..., None]:
    """product(out, a, before): out = before + a @ weight, before None for nothing.

    The weights meet the states of every time step: they are laid out for that once.
    """
    if rows >= FEW_ROWS:
        return tiled_products.Packed(weight).multiply
    dense = np.ascontiguousarray(weight)

    def multiply(out: Array, a: Array, before: Array | None) -> None:
        product = np.dot(a, dense)
        if before is None:
            out[...] = product
        else:
            np.add(before, product, out=out)

    return multiply


def _weight_gradient(
    out: Array, grad_gates: Array, output: Array, hidden: Array, reverse: bool
) -> None:
    """The products of all gates' gradients with the states before them."""
    gates, size = grad_gates.shape[2], output.shape[2]
    first = -1 if reverse else 0
    flat, dense = out.reshape(-1), np.ascontiguousarray(hidden)
    _add_turned(flat, grad_gates[first], dense, None, gates, size)
    later = grad_gates[:-1] if reverse else grad_gates[1:]
    before = output[1:] if reverse else output[:-1]
    _add_turned(flat, later, before, flat, gates, size)


def _add_turned(
    out: Array, left: Array, right: Array, before: Array | None, gates: int, size: int
) -> None:
    """out = before + left^T right over all rows of both."""
    task = Task(
        *(1, (gates, size, left.size // gates), Layout(1, gates), Layout(size, 1)),
        *(Layout(size, 1), Layout(size, 1)),
    )
    tiled_products.multiply(task, out, left.reshape(-1), right.reshape(-1), before)


def _previous(states: Array, first: Array, time: int, reverse: bool) -> Array:
    """The state before a time step."""
    before = time + 1 if reverse else time - 1
    return states[before] if 0 <= before < len(states) else first


# -- LSTM ---------------------------------------------------------------------------------------


def lstm_layer(
    output: Array,
    last_cell: Array,
    cells: Array,
    activations: Array,
    gates: Array,
    weight_hh: Array,
    hidden: Array,
    cell: Array,
    reverse: bool,
) -> None:
    """Run an LSTM over all time steps; `gates` are the inputs' products with the weights."""
    add_product = _product_with(weight_hh.T, gates.shape[1])
    hidden, cell = np.ascontiguousarray(hidden), np.ascontiguousarray(cell)
    gates, arriving = np.ascontiguousarray(gates), np.empty(gates.shape[1:], gates.dtype)
    by_gate, activations = _by_gate(arriving, 4), _by_gate(activations, 4)
    for time in _times(len(gates), reverse):
        add_product(arriving, hidden, gates[time])
        lstm_step(activations[time], cells[time], output[time], by_gate, cell)
        hidden, cell = output[time], cells[time]
    last_cell[...] = cell


@typed
def lstm_step(activations, next_cell, hidden, gates, cell):
    """The activated gates i, f, g, o; c' = f c + i g; h' = o tanh(c')."""
    for row in range(next_cell.shape[0]):
        for gate in (0, 1, 3):
            active, given = activations[row, gate], gates[row, gate]
            for i in range(active.size):
                active[i] = sigmoid(given[i])
        candidate, given = activations[row, 2], gates[row, 2]
        for i in range(candidate.size):
            candidate[i] = tanh(given[i])
        entered, forget, left = activations[row, 0], activations[row, 1], activations[row, 3]
        new, old, out = next_cell[row], cell[row], hidden[row]
        for i in range(new.size):
            new[i] = forget[i] * old[i] + entered[i] * candidate[i]
        for i in range(new.size):
            out[i] = left[i] * tanh(new[i])


def lstm_layer_backward(
    grad_gates: Array,
    grad_weight: Array,
    grad_hidden: Array,
    grad_cell: Array,
    grad_output: Array,
    grad_last_cell: Array,
    activations: Array,
    cells: Array,
    output: Array,
    weight_hh: Array,
    hidden: Array,
    cell: Array,
    reverse: bool,
) -> None:
    """The gradients of gates, weight and first states."""
    multiply, cell = _product_with(weight_hh, len(cell)), np.ascontiguousarray(cell)
    grad_hidden[...] = 0
    grad_cell[...] = grad_last_cell
    by_gate, activations = _by_gate(grad_gates, 4), _by_gate(activations, 4)
    for time in _times(len(output), not reverse):
        grad_hidden += grad_output[time]
        before = _previous(cells, cell, time, reverse)
        lstm_step_backward(
            by_gate[time], grad_cell, grad_hidden, activations[time], cells[time], before
        )
        multiply(grad_hidden, grad_gates[time], None)
    _weight_gradient(grad_weight, grad_gates, output, hidden, reverse)


@typed
def lstm_step_backward(grad_gates, grad_cell, grad_hidden, activations, cell, before):
    """The gradients of the gates before activation; `grad_cell` becomes that of the cell before."""
    one = T(1)
    for row in range(cell.shape[0]):
        carried, arriving, new, old = grad_cell[row], grad_hidden[row], cell[row], before[row]
        entered, forget = activations[row, 0], activations[row, 1]
        candidate, left = activations[row, 2], activations[row, 3]
        squashed = grad_gates[row, 0]  # free until the last loop but one
        for i in range(new.size):
            squashed[i] = tanh(new[i])
        grad = grad_gates[row, 3]
        for i in range(new.size):
            grad[i] = arriving[i] * squashed[i] * left[i] * (one - left[i])
        for i in range(new.size):
            carried[i] += arriving[i] * left[i] * (one - squashed[i] * squashed[i])
        grad = grad_gates[row, 1]
        for i in range(new.size):
            grad[i] = carried[i] * old[i] * forget[i] * (one - forget[i])
        grad = grad_gates[row, 2]
        for i in range(new.size):
            grad[i] = carried[i] * entered[i] * (one - candidate[i] * candidate[i])
        grad = grad_gates[row, 0]
        for i in range(new.size):
            grad[i] = carried[i] * candidate[i] * entered[i] * (one - entered[i])
        for i in range(new.size):
            carried[i] *= forget[i]


# -- GRU ----------------------------------------------------------------------------------------


def gru_layer(
    output: Array,
    activations: Array,
    gates: Array,
    weight_hh: Array,
    bias_hh: Array | None,
    hidden: Array,
    reverse: bool,
) -> None:
    """Run a GRU over all time steps; keeps r, z, n and the candidate's product U h + b."""
    multiply, hidden = _product_with(weight_hh.T, len(hidden)), np.ascontiguousarray(hidden)
    bias = np.zeros(gates.shape[2], gates.dtype) if bias_hh is None else bias_hh
    bias = np.ascontiguousarray(bias).reshape(3, -1)
    product = np.empty(gates.shape[1:], gates.dtype)
    by_gate = _by_gate(product, 3)
    gates, activations = _by_gate(np.ascontiguousarray(gates), 3), _by_gate(activations, 4)
    for time in _times(len(gates), reverse):
        multiply(product, hidden, None)
        gru_step(activations[time], output[time], gates[time], by_gate, bias, hidden)
        hidden = output[time]


@typed
def gru_step(activations, new, gates, product, bias, old):
    """Gates r and z, candidate n = tanh(W x + r (U h + b)), U h + b itself; h' = n + z (h - n)."""
    for row in range(new.shape[0]):
        for gate in range(2):
            active, given = activations[row, gate], gates[row, gate]
            from_state, shift = product[row, gate], bias[gate]
            for i in range(active.size):
                active[i] = sigmoid(given[i] + (from_state[i] + shift[i]))
        kept, from_state, shift = activations[row, 3], product[row, 2], bias[2]
        for i in range(kept.size):
            kept[i] = from_state[i] + shift[i]
        candidate, given, reset = activations[row, 2], gates[row, 2], activations[row, 0]
        for i in range(kept.size):
            candidate[i] = tanh(given[i] + reset[i] * kept[i])
        out, before, update = new[row], old[row], activations[row, 1]
        for i in range(kept.size):
            out[i] = candidate[i] + update[i] * (before[i] - candidate[i])


def gru_layer_backward(
    grad_gates: Array,
    grad_weight: Array,
    grad_bias: Array,
    grad_hidden: Array,
    grad_output: Array,
    activations: Array,
    output: Array,
    weight_hh: Array,
    hidden: Array,
    reverse: bool,
) -> None:
    """The gradients of gates, weight, bias and first state."""
    multiply, hidden = _product_with(weight_hh, len(hidden)), np.ascontiguousarray(hidden)
    grad_products = np.empty_like(grad_gates)
    carried = np.zeros_like(hidden)
    by_gate, products = _by_gate(grad_gates, 3), _by_gate(grad_products, 3)
    activations = _by_gate(activations, 4)
    for time in _times(len(output), not reverse):
        carried += grad_output[time]
        before = _previous(output, hidden, time, reverse)
        gru_step_backward(by_gate[time], products[time], carried, activations[time], before)
        multiply(carried, grad_products[time], carried)
    grad_hidden[...] = carried
    _weight_gradient(grad_weight, grad_products, output, hidden, reverse)
    grad_bias[...] = grad_products.reshape(-1, grad_products.shape[2]).sum(0)


@typed
def gru_step_backward(grad_gates, grad_products, carried, activations, before):
    """The gradients of both products; `carried` becomes the direct part of the state before."""
    one = T(1)
    for row in range(before.shape[0]):
        arriving, old = carried[row], before[row]
        reset, update = activations[row, 0], activations[row, 1]
        candidate, kept = activations[row, 2], activations[row, 3]
        grad = grad_gates[row, 1]
        for i in range(old.size):
            grad[i] = arriving[i] * (old[i] - candidate[i]) * update[i] * (one - update[i])
        new = grad_gates[row, 2]
        for i in range(old.size):
            new[i] = arriving[i] * (one - update[i]) * (one - candidate[i] * candidate[i])
        grad = grad_gates[row, 0]
        for i in range(old.size):
            grad[i] = new[i] * kept[i] * reset[i] * (one - reset[i])
        for gate in range(2):
            same, grad = grad_products[row, gate], grad_gates[row, gate]
            for i in range(old.size):
                same[i] = grad[i]
        scaled = grad_products[row, 2]
        for i in range(old.size):
            scaled[i] = new[i] * reset[i]
        for i in range(old.size):
            arriving[i] *= update[i]


# -- RNN ----------------------------------------------------------------------------------------


def rnn_layer(
    output: Array, gates: Array, weight_hh: Array, hidden: Array, relu: bool, reverse: bool
) -> None:
    """Run h' = tanh(W x + U h), or relu, over all time steps."""
    add_product = _product_with(weight_hh.T, len(hidden))
    hidden, gates = np.ascontiguousarray(hidden), np.ascontiguousarray(gates)
    for time in _times(len(gates), reverse):
        state = output[time]
        add_product(state, hidden, gates[time])
        if relu:
            np.maximum(state, 0, out=state)
        else:
            tanh_in_place(state.reshape(-1))
        hidden = state


@typed
def tanh_in_place(values):
    """tanh of every element."""
    for i in range(values.size):
        values[i] = tanh(values[i])


def rnn_layer_backward(
    grad_gates: Array,
    grad_weight: Array,
    grad_hidden: Array,
    grad_output: Array,
    output: Array,
    weight_hh: Array,
    hidden: Array,
    relu: bool,
    reverse: bool,
) -> None:
    """The gradients of gates, weight and first state."""
    multiply = _product_with(weight_hh, len(hidden))
    grad_hidden[...] = 0
    for time in _times(len(output), not reverse):
        state, grad = output[time], grad_gates[time]
        grad_hidden += grad_output[time]
        slope = state > 0 if relu else 1 - state * state
        np.multiply(grad_hidden, slope, out=grad)
        multiply(grad_hidden, grad, None)
    _weight_gradient(grad_weight, grad_gates, output, hidden, reverse)
