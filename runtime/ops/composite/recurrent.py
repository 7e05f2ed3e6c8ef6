"""Recurrent layers step by step, with public operators: for gradients of gradients."""

from __future__ import annotations

from typing import Any

from runtime.dispatch import ops


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
