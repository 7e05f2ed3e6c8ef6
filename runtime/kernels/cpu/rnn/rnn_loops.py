"""The compiled side of recurrent layers: all time steps for some rows of the batch.

The rows of a batch never meet, but in the gradients of weights: each thread takes some of them
through all time steps. Loops over one row write one array each, so that LLVM can tell reads and
writes apart.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul.tile_product import product_text
from torchgen_out._runtime.kernels.typed import TypedKernel, joint_text, typed


@cache
def compiled(kernel: TypedKernel, dtype: Any) -> Any:
    """A layer's kernel for one element type; the dispatcher, which takes arrays of any dims."""
    text = joint_text((kernel.function,), dtype.name, False, product_text(dtype))
    return getattr(build.load_text(f"{kernel.__name__}_{dtype.name}", text), kernel.__name__)


@typed
def product_of_rows(first, last, out, before, is_added, states, panels, edge):
    """out[r] = states[r] @ the matrix in panels, plus before[r] if is_added, from first to last.

    edge: see `multiply_panel`; its last line is zero.
    """
    n, k = out.size // len(out), states.size // len(states)
    old = np.int64(before.ctypes.data) + first * n * SIZE
    multiply(
        *(np.int64(out.ctypes.data) + first * n * SIZE, n, old * is_added, n, last - first, n),
        *(np.int64(states.ctypes.data) + first * k * SIZE, k, np.int64(1)),
        *(np.int64(panels.ctypes.data), k, k, np.int64(edge.ctypes.data)),
    )


@typed
def add_rows(first, last, total, added):
    """total += added."""
    for row in range(first, last):
        line, other = total[row], added[row]
        for i in range(line.size):
            line[i] += other[i]


@typed
def new_edge():
    """Room for a tile that is not written as a whole, and a line of zeros."""
    return np.zeros((ROWS + 1) * WIDTH, T)


# -- LSTM ---------------------------------------------------------------------------------------


@typed
def lstm_rows(
    first, last, output, last_cell, cells, activations, arriving, gates, panels, hidden, cell, back
):
    """Activations are (time, batch, 4, size), `arriving` is room for the gates of one time step."""
    edge = new_edge()
    for step in range(len(gates)):
        time = len(gates) - 1 - step if back else step
        product_of_rows(first, last, arriving, gates[time], 1, hidden, panels, edge)
        lstm_step(first, last, activations[time], cells[time], output[time], arriving, cell)
        hidden, cell = output[time], cells[time]
    for row in range(first, last):
        last_cell[row] = cell[row]
    return edge[0]


@typed
def lstm_step(first, last, activations, next_cell, hidden, gates, cell):
    """The activated gates i, f, g, o; c' = f c + i g; h' = o tanh(c')."""
    for row in range(first, last):
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


@typed
def lstm_rows_backward(
    first,
    last,
    grad_gates,
    grad_hidden,
    grad_cell,
    grad_output,
    activations,
    cells,
    panels,
    cell,
    back,
):
    """From the gradients of the last states to those of the first."""
    edge = new_edge()
    for step in range(len(cells)):
        time = step if back else len(cells) - 1 - step
        earlier = time + 1 if back else time - 1
        before = cells[earlier] if 0 <= earlier < len(cells) else cell
        add_rows(first, last, grad_hidden, grad_output[time])
        lstm_step_backward(
            *(first, last, grad_gates[time], grad_cell, grad_hidden),
            *(activations[time], cells[time], before),
        )
        product_of_rows(
            *(first, last, grad_hidden, grad_hidden, 0, grad_gates[time], panels, edge),
        )
    return edge[0]


@typed
def lstm_step_backward(first, last, grad_gates, grad_cell, grad_hidden, activations, cell, before):
    """The gradients of the gates before activation; `grad_cell` becomes that of the cell before."""
    one = T(1)
    for row in range(first, last):
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


@typed
def gru_rows(first, last, output, activations, product, gates, panels, bias, hidden, back):
    """Activations are (time, batch, 4, size); `product` is room for that of one time step."""
    edge = new_edge()
    for step in range(len(gates)):
        time = len(gates) - 1 - step if back else step
        product_of_rows(first, last, product, product, 0, hidden, panels, edge)
        gru_step(first, last, activations[time], output[time], gates[time], product, bias, hidden)
        hidden = output[time]
    return edge[0]


@typed
def gru_step(first, last, activations, new, gates, product, bias, old):
    """Gates r and z, candidate n = tanh(W x + r (U h + b)), U h + b itself; h' = n + z (h - n)."""
    for row in range(first, last):
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


@typed
def gru_rows_backward(
    first,
    last,
    grad_gates,
    grad_products,
    carried,
    grad_output,
    activations,
    output,
    panels,
    hidden,
    back,
):
    """From the gradient of the last state to that of the first, in `carried`."""
    edge = new_edge()
    for step in range(len(output)):
        time = step if back else len(output) - 1 - step
        earlier = time + 1 if back else time - 1
        before = output[earlier] if 0 <= earlier < len(output) else hidden
        add_rows(first, last, carried, grad_output[time])
        gru_step_backward(
            *(first, last, grad_gates[time], grad_products[time], carried),
            *(activations[time], before),
        )
        product_of_rows(first, last, carried, carried, 1, grad_products[time], panels, edge)
    return edge[0]


@typed
def gru_step_backward(first, last, grad_gates, grad_products, carried, activations, before):
    """The gradients of both products; `carried` becomes the direct part of the state before."""
    one = T(1)
    for row in range(first, last):
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


@typed
def rnn_rows(first, last, output, gates, panels, hidden, relu, back):
    """h' = tanh(W x + U h), or relu."""
    edge = new_edge()
    for step in range(len(gates)):
        time = len(gates) - 1 - step if back else step
        product_of_rows(first, last, output[time], gates[time], 1, hidden, panels, edge)
        hidden = output[time]
        for row in range(first, last):
            line = hidden[row]
            if relu:
                for i in range(line.size):
                    line[i] = T(0) if line[i] < 0 else line[i]
            else:
                for i in range(line.size):
                    line[i] = tanh(line[i])
    return edge[0]


@typed
def rnn_rows_backward(
    first, last, grad_gates, grad_hidden, grad_output, output, panels, relu, back
):
    """From the gradient of the last state to that of the first."""
    edge, one = new_edge(), T(1)
    for step in range(len(output)):
        time = step if back else len(output) - 1 - step
        add_rows(first, last, grad_hidden, grad_output[time])
        for row in range(first, last):
            grad, arriving, state = grad_gates[time, row], grad_hidden[row], output[time, row]
            if relu:
                for i in range(grad.size):
                    grad[i] = arriving[i] if state[i] > 0 else T(0)
            else:
                for i in range(grad.size):
                    grad[i] = arriving[i] * (one - state[i] * state[i])
        product_of_rows(
            *(first, last, grad_hidden, grad_hidden, 0, grad_gates[time], panels, edge),
        )
    return edge[0]
