"""Recurrent networks layer by layer: each whole in one operator, or step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.rnn import gru_step, lstm_step, relu_step, tanh_step

_STEPS = {"RNN_TANH": tanh_step, "RNN_RELU": relu_step, "GRU": gru_step}


class Weights(NamedTuple):
    """The parameters of one layer in one direction; biases and projection may be None."""

    weight_ih: Any
    weight_hh: Any
    bias_ih: Any
    bias_hh: Any
    weight_hr: Any


def run_layers(
    mode: str,
    weights: list[Weights],
    values: Any,
    counts: list[int] | None,
    states: tuple[Any, ...],
    directions: int,
    dropout: float,
) -> tuple[Any, list[Any]]:
    """Run all layers, with dropout between them.

    `weights` are those of each layer and direction, `values` (time, batch, features); with `counts`
    they are packed, so many rows per time step. Each of `states` (h, or h and c) is
    (layers * directions, batch, size). Returns the outputs in the form of `values`, and the last
    states.
    """
    finals: list[list[Any]] = [[] for _ in states]
    is_whole = (
        counts is None
        and not _is_sooner_by_steps(mode, values)
        and weights[0].weight_hr is None
        and not _widens(mode, states[0])
    )
    run = run_whole if is_whole else run_by_steps
    for start in range(0, len(weights), directions):
        if start and dropout:
            values = torch.nn.functional.dropout(values, dropout, True)
        outputs = []
        for direction in range(directions):
            row = start + direction
            first = [state[row] for state in states]
            output, last = run(mode, weights[row], values, counts, first, direction == 1)
            outputs.append(output)
            for final, state in zip(finals, last, strict=True):
                final.append(state)
        values = outputs[0] if directions == 1 else torch.cat(outputs, -1)
    return values, [torch.stack(final) for final in finals]


def _is_sooner_by_steps(mode: str, values: Any) -> bool:
    """Whether there is one step, which repays no copy of the weights in the order of its products.

    A GRU's step is six nodes where it is recorded; under autocast a layer has another dtype.
    """
    if values.size(0) != 1 or (mode == "GRU" and torch.is_grad_enabled()):
        return False
    return not torch.is_autocast_enabled(values.device.type)


def _widens(mode: str, state: Any) -> bool:
    """Whether steps keep a state of more bits beside products under autocast, as on CPUs."""
    kind = state.device.type
    if mode != "GRU" or kind != "cpu" or not torch.is_autocast_enabled(kind):
        return False
    return state.dtype is not torch.get_autocast_dtype(kind)


def run_whole(
    mode: str, weights: Weights, values: Any, counts: object, first: list[Any], backward: bool
) -> tuple[Any, list[Any]]:
    """Run all time steps of (time, batch, features) in one operator."""
    bias = weights.bias_ih
    if mode != "GRU" and bias is not None:
        bias = bias + weights.bias_hh
    gates = ops.linear(values, weights.weight_ih, bias)
    if mode == "LSTM":
        output, cell, _, _ = ops._lstm_layer(gates, weights.weight_hh, *first, backward)
        return output, [output.select(0, 0 if backward else -1), cell]
    if mode == "GRU":
        hidden = first[0]
        output, _ = ops._gru_layer(gates, weights.weight_hh, weights.bias_hh, hidden, backward)
    else:
        relu = mode == "RNN_RELU"
        output = ops._rnn_layer(gates, weights.weight_hh, first[0], relu, backward)
    return output, [output.select(0, 0 if backward else -1)]


def run_by_steps(
    mode: str,
    weights: Weights,
    values: Any,
    counts: list[int] | None,
    first: list[Any],
    backward: bool,
) -> tuple[Any, list[Any]]:
    """Run step by step; sequences may end (or, backward, begin) on the way."""
    projected = ops.linear(values, weights.weight_ih, weights.bias_ih)
    steps = projected.unbind(0) if counts is None else projected.split(counts)
    order = range(len(steps) - 1, -1, -1) if backward else range(len(steps))
    state = [each[: steps[order[0]].size(0)] for each in first] if backward else first
    ended: list[list[Any]] = []
    outputs: list[Any] = [None] * len(steps)
    for time in order:
        count, have = steps[time].size(0), state[0].size(0)
        if count < have:  # the shortest sequences have ended
            ended.append([each[count:] for each in state])
            state = [each[:count] for each in state]
        elif count > have:  # more sequences begin, seen from their end
            state = [
                torch.cat([each, start[have:count]])
                for each, start in zip(state, first, strict=True)
            ]
        product = ops.linear(state[0], weights.weight_hh, weights.bias_hh)
        state = _step(mode, steps[time], product, state, weights.weight_hr)
        outputs[time] = state[0]
    for rest in reversed(ended):
        state = [torch.cat(pair) for pair in zip(state, rest, strict=True)]
    return (torch.stack(outputs) if counts is None else torch.cat(outputs)), state


def _step(mode: str, from_input: Any, product: Any, state: list[Any], weight_hr: Any) -> list[Any]:
    if mode == "LSTM":
        hidden, cell = lstm_step(from_input, product, state[1])
        return [hidden if weight_hr is None else ops.linear(hidden, weight_hr), cell]
    return [_STEPS[mode](from_input, product, state[0])]
