"""Recurrent cells, and layers step by step with public operators: for gradients of gradients."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.dispatch import ops

# One step from the input's and the state's products with the weights. Each is two or three fused
# pointwise operators between the matrix product before and the one after.


def tanh_step(from_input: Any, from_hidden: Any, hidden: Any) -> Any:
    """h' = tanh(W x + U h)."""
    return ops.tanh(from_input + from_hidden)


def relu_step(from_input: Any, from_hidden: Any, hidden: Any) -> Any:
    """h' = relu(W x + U h)."""
    return ops.relu(from_input + from_hidden)


def gru_step(from_input: Any, from_hidden: Any, hidden: Any) -> Any:
    """Gates r and z, candidate n = tanh(W x + r * U h); h' = (1 - z) n + z h."""
    size = hidden.size(-1)
    gates = from_input.narrow(-1, 0, 2 * size) + from_hidden.narrow(-1, 0, 2 * size)
    reset_gate, update_gate = gates.chunk(2, -1)
    new = from_input.narrow(-1, 2 * size, size)
    candidate = ops._gru_candidate(new, from_hidden.narrow(-1, 2 * size, size), reset_gate)
    return ops._gru_hidden(candidate, update_gate, hidden)


def lstm_step(from_input: Any, from_hidden: Any, cell: Any) -> tuple[Any, Any]:
    """c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c')."""
    gates = from_input + from_hidden
    in_gate, forget_gate, cell_gate, out_gate = gates.chunk(4, -1)
    cell = ops._lstm_cell(in_gate, forget_gate, cell_gate, cell)
    return ops._lstm_hidden(out_gate, cell), cell


# -- cells --------------------------------------------------------------------------------------


def _products(
    name: str, gates: int, input: Any, hidden: Any, weights: tuple[Any, ...]
) -> tuple[Any, Any]:
    """The input's and the state's products with the weights. **Raises** RuntimeError for sizes."""
    w_ih, w_hh, b_ih, b_hh = weights
    if not input.ndim == hidden.ndim == w_ih.ndim == w_hh.ndim == 2:
        ndims = [each.ndim for each in (input, hidden, w_ih, w_hh)]
        raise RuntimeError(f"{name}: expected input, state and weights to be 2-D, got {ndims} dims")
    if input.shape[0] != hidden.shape[0]:
        raise RuntimeError(
            f"{name}: Input batch size {input.shape[0]} doesn't match hidden0 batch size "
            f"{hidden.shape[0]}"
        )
    if input.shape[-1] != w_ih.shape[1]:
        raise RuntimeError(
            f"{name}: input has inconsistent input_size: got {input.shape[-1]} "
            f"expected {w_ih.shape[1]}"
        )
    if hidden.shape[-1] != w_hh.shape[1]:
        raise RuntimeError(
            f"{name}: hidden has inconsistent hidden_size: got {hidden.shape[-1]}, "
            f"expected {w_hh.shape[1]}"
        )
    rows = gates * hidden.shape[-1]
    for label, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.shape[0] != rows:
            raise RuntimeError(
                f"{name}: {label} first dim must be {gates} * hidden_size = {rows}, "
                f"but got {weight.shape[0]}"
            )
    return ops.linear(input, w_ih, b_ih), ops.linear(hidden, w_hh, b_hh)


def rnn_tanh_cell(input: Any, hx: Any, *weights: Any) -> Any:
    """One step of a plain recurrent layer."""
    return tanh_step(*_products("rnn_tanh_cell", 1, input, hx, weights), hx)


def rnn_relu_cell(input: Any, hx: Any, *weights: Any) -> Any:
    """One step of a plain recurrent layer with relu."""
    return relu_step(*_products("rnn_relu_cell", 1, input, hx, weights), hx)


def gru_cell(input: Any, hx: Any, *weights: Any) -> Any:
    """One step of a GRU."""
    return gru_step(*_products("gru_cell", 3, input, hx, weights), hx)


def lstm_cell(input: Any, hx: Any, *weights: Any) -> Any:
    """One step of an LSTM. **Raises** RuntimeError unless hx are two states."""
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    if hx[0].shape != hx[1].shape:
        raise RuntimeError(
            f"lstm_cell: expected states of one shape, got {list(hx[0].shape)} and "
            f"{list(hx[1].shape)}"
        )
    return lstm_step(*_products("lstm_cell", 4, input, hx[0], weights), hx[1])


# -- layers step by step ------------------------------------------------------------------------


def lstm_steps(
    gates: Any, weight_hh: Any, hidden: Any, cell: Any, reverse: bool
) -> tuple[Any, Any]:
    """The outputs and the last cell of an LSTM."""
    steps = gates.unbind(0)
    outputs: list[Any] = [None] * len(steps)
    for time in reversed(range(len(steps))) if reverse else range(len(steps)):
        pre = steps[time] + ops.linear(hidden, weight_hh)
        in_gate, forget_gate, cell_gate, out_gate = pre.chunk(4, -1)
        cell = ops._lstm_cell(in_gate, forget_gate, cell_gate, cell)
        hidden = outputs[time] = ops._lstm_hidden(out_gate, cell)
    return ops.stack(outputs), cell


def gru_steps(gates: Any, weight_hh: Any, bias_hh: Any, hidden: Any, reverse: bool) -> Any:
    """The outputs of a GRU."""
    steps, size = gates.unbind(0), hidden.size(-1)
    outputs: list[Any] = [None] * len(steps)
    for time in reversed(range(len(steps))) if reverse else range(len(steps)):
        product = ops.linear(hidden, weight_hh, bias_hh)
        pre = steps[time].narrow(-1, 0, 2 * size) + product.narrow(-1, 0, 2 * size)
        reset_gate, update_gate = pre.chunk(2, -1)
        new, from_state = (x.narrow(-1, 2 * size, size) for x in (steps[time], product))
        candidate = ops._gru_candidate(new, from_state, reset_gate)
        hidden = outputs[time] = ops._gru_hidden(candidate, update_gate, hidden)
    return ops.stack(outputs)


def rnn_steps(gates: Any, weight_hh: Any, hidden: Any, relu: bool, reverse: bool) -> Any:
    """The outputs of a plain recurrent layer."""
    steps = gates.unbind(0)
    outputs: list[Any] = [None] * len(steps)
    for time in reversed(range(len(steps))) if reverse else range(len(steps)):
        pre = steps[time] + ops.linear(hidden, weight_hh)
        hidden = outputs[time] = ops.relu(pre) if relu else ops.tanh(pre)
    return ops.stack(outputs)
