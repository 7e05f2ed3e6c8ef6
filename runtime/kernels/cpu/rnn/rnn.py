"""Recurrent layers on the CPU: per time step one matrix product and one pass over the gates.

All arrays are (time, batch, gates or state). The forward kernels keep the activated gates; the
backward kernels walk the other way and leave the weights' gradients to one large product at the
end. The loops over time are compiled (`recurrent_loops`), for rows of the batch that are shared
among the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.matmul import tiled
from torchgen_out._runtime.kernels.cpu.matmul.tiled import Layout, Packed, Task
from torchgen_out._runtime.kernels.cpu.rnn import rnn_loops as loops
from torchgen_out._runtime.kernels.typed import TypedKernel

Array = Any


def _by_gate(array: Array, count: int) -> Array:
    """(..., gates * size) as (..., gates, size)."""
    return array.reshape(*array.shape[:-1], count, array.shape[-1] // count)


def _run(kernel: TypedKernel, times: int, weight: Array, states: Array, *args: Any) -> None:
    """A layer's kernel for all rows of the states, each time a product with the weight."""
    rows = len(states)
    work = times * rows * weight.size // tiled.PRODUCTS_PER_ELEMENT
    threads.run_ranges(loops.compiled(kernel, states.dtype), rows, work, *args)


def _fresh(states: Array) -> Array:
    """A contiguous copy: of one type for compiled loops, wherever the states come from."""
    return np.array(states, order="C")


def _weight_gradient(
    out: Array, grad_gates: Array, output: Array, hidden: Array, reverse: bool
) -> None:
    """The products of all gates' gradients with the states before them."""
    gates, size = grad_gates.shape[2], output.shape[2]
    first = -1 if reverse else 0
    flat, dense, output = out.reshape(-1), contiguous(hidden), contiguous(output)
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
    tiled.multiply(task, out, left.reshape(-1), right.reshape(-1), before)


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
    gates = contiguous(gates)
    arriving = _by_gate(np.empty(gates.shape[1:], gates.dtype), 4)
    results = output, last_cell, cells, _by_gate(activations, 4), arriving
    given = gates, Packed(weight_hh.T).panels, _fresh(hidden), _fresh(cell), int(reverse)
    _run(loops.lstm_rows, len(gates), weight_hh, hidden, *results, *given)


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
    grad_hidden[...] = 0
    grad_cell[...] = grad_last_cell
    results = _by_gate(grad_gates, 4), grad_hidden, grad_cell
    kept = contiguous(grad_output), _by_gate(activations, 4), cells
    given = Packed(weight_hh).panels, _fresh(cell), int(reverse)
    _run(loops.lstm_rows_backward, len(output), weight_hh, cell, *results, *kept, *given)
    _weight_gradient(grad_weight, grad_gates, output, hidden, reverse)


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
    bias = np.zeros(gates.shape[2], gates.dtype) if bias_hh is None else _fresh(bias_hh)
    product = _by_gate(np.empty(gates.shape[1:], gates.dtype), 3)
    results = output, _by_gate(activations, 4), product
    given = _by_gate(contiguous(gates), 3), Packed(weight_hh.T).panels
    first = bias.reshape(3, -1), _fresh(hidden), int(reverse)
    _run(loops.gru_rows, len(gates), weight_hh, hidden, *results, *given, *first)


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
    grad_products = np.empty_like(grad_gates)
    grad_hidden[...] = 0
    results = _by_gate(grad_gates, 3), _by_gate(grad_products, 3), grad_hidden
    kept = contiguous(grad_output), _by_gate(activations, 4), output
    given = Packed(weight_hh).panels, _fresh(hidden), int(reverse)
    _run(loops.gru_rows_backward, len(output), weight_hh, hidden, *results, *kept, *given)
    _weight_gradient(grad_weight, grad_products, output, hidden, reverse)
    grad_bias[...] = grad_products.reshape(-1, grad_products.shape[2]).sum(0)


# -- RNN ----------------------------------------------------------------------------------------


def rnn_layer(
    output: Array, gates: Array, weight_hh: Array, hidden: Array, relu: bool, reverse: bool
) -> None:
    """Run h' = tanh(W x + U h), or relu, over all time steps."""
    gates, panels = contiguous(gates), Packed(weight_hh.T).panels
    given = gates, panels, _fresh(hidden), int(relu), int(reverse)
    _run(loops.rnn_rows, len(gates), weight_hh, hidden, output, *given)


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
    grad_hidden[...] = 0
    results = grad_gates, grad_hidden, contiguous(grad_output)
    given = output, Packed(weight_hh).panels, int(relu), int(reverse)
    _run(loops.rnn_rows_backward, len(output), weight_hh, hidden, *results, *given)
    _weight_gradient(grad_weight, grad_gates, output, hidden, reverse)
