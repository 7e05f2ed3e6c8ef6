"""The steps of recurrent layers: what is done per state in one time step, for `rnn.py`.

A row of gates holds those of one kind behind those of another, as many as there are states.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel


@device_kernel("X* X* X* X* X* X*", "I I")
def lstm_step(activations, next_cell, hidden, gates, product, cell, n, size):
    """A thread owns states at the distance of the grid.

    The activated gates i, f, g, o; c' = f c + i g; h' = o tanh(c').
    """
    i = I(cuda.grid(1))
    while i < n:
        at = I(i + divided(i, size) * 3 * size)
        entered = sigmoid(T(gates[at] + product[at]))
        forget = sigmoid(T(gates[at + size] + product[at + size]))
        candidate = tanh(T(gates[at + 2 * size] + product[at + 2 * size]))
        left = sigmoid(T(gates[at + 3 * size] + product[at + 3 * size]))
        new = T(forget * cell[i] + entered * candidate)
        activations[at] = entered
        activations[at + size] = forget
        activations[at + 2 * size] = candidate
        activations[at + 3 * size] = left
        next_cell[i] = new
        hidden[i] = T(left * tanh(new))
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* X* X* X* X*", "I I")
def lstm_step_backward(
    grad_gates, grad_cell, grad_hidden, grad_output, activations, cell, before, n, size
):
    """A thread owns states at the distance of the grid: the gradients of the gates before
    activation; `grad_cell` becomes that of the cell before."""
    i = I(cuda.grid(1))
    while i < n:
        at = I(i + divided(i, size) * 3 * size)
        entered, forget = activations[at], activations[at + size]
        candidate, left = activations[at + 2 * size], activations[at + 3 * size]
        arriving = T(grad_hidden[i] + grad_output[i])
        squashed = tanh(cell[i])
        carried = T(grad_cell[i] + arriving * left * (T(1) - squashed * squashed))
        grad_gates[at] = T(carried * candidate * entered * (T(1) - entered))
        grad_gates[at + size] = T(carried * before[i] * forget * (T(1) - forget))
        grad_gates[at + 2 * size] = T(carried * entered * (T(1) - candidate * candidate))
        grad_gates[at + 3 * size] = T(arriving * squashed * left * (T(1) - left))
        grad_cell[i] = T(carried * forget)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* X* X* X*", "I I")
def gru_step(activations, new, gates, product, bias, old, n, size):
    """A thread owns states at the distance of the grid.

    Gates r and z, candidate n = tanh(W x + r (U h + b)), U h + b itself; h' = n + z (h - n).
    """
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, size)
        unit = I(i - row * size)
        at = I(i + row * 2 * size)
        first = bias[unit] if HAS_BIAS else T(0)
        second = bias[unit + size] if HAS_BIAS else T(0)
        third = bias[unit + 2 * size] if HAS_BIAS else T(0)
        reset = sigmoid(T(gates[at] + T(product[at] + first)))
        update = sigmoid(T(gates[at + size] + T(product[at + size] + second)))
        kept = T(product[at + 2 * size] + third)
        candidate = tanh(T(gates[at + 2 * size] + reset * kept))
        place = I(i + row * 3 * size)
        activations[place] = reset
        activations[place + size] = update
        activations[place + 2 * size] = candidate
        activations[place + 3 * size] = kept
        new[i] = T(candidate + update * T(old[i] - candidate))
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X*", "I I")
def sum_rows(out, x, rows, count):
    """A thread owns columns at the distance of the grid."""
    j = I(cuda.grid(1))
    while j < count:
        total = T(0)
        for row in range(rows):
            total = T(total + x[row * count + j])
        out[j] = total
        j = I(j + cuda.gridsize(1))


@device_kernel("X* X* X* X* X* X*", "I I")
def gru_step_backward(
    grad_gates, grad_products, carried, grad_output, activations, before, n, size
):
    """A thread owns states at the distance of the grid: the gradients of both products; `carried`
    becomes the direct part of the state before."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, size)
        at, place = I(i + row * 2 * size), I(i + row * 3 * size)
        reset, update = activations[place], activations[place + size]
        candidate, kept = activations[place + 2 * size], activations[place + 3 * size]
        arriving = T(carried[i] + grad_output[i])
        into_update = T(arriving * T(before[i] - candidate) * update * (T(1) - update))
        new = T(arriving * (T(1) - update) * (T(1) - candidate * candidate))
        into_reset = T(new * kept * reset * (T(1) - reset))
        grad_gates[at] = into_reset
        grad_gates[at + size] = into_update
        grad_gates[at + 2 * size] = new
        grad_products[at] = into_reset
        grad_products[at + size] = into_update
        grad_products[at + 2 * size] = T(new * reset)
        carried[i] = T(arriving * update)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X*", "I")
def rnn_step(state, gates, n):
    """A thread owns states at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        value = T(state[i] + gates[i])
        if RELU:
            state[i] = T(0) if value < T(0) else value
        else:
            state[i] = tanh(value)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* X*", "I")
def rnn_step_backward(grad, grad_hidden, grad_output, state, n):
    """A thread owns states at the distance of the grid: the gradient before activation."""
    i = I(cuda.grid(1))
    while i < n:
        value = state[i]
        arriving = T(grad_hidden[i] + grad_output[i])
        if RELU:
            grad[i] = arriving if value > T(0) else T(0)
        else:
            grad[i] = T(arriving * (T(1) - value * value))
        i = I(i + cuda.gridsize(1))
