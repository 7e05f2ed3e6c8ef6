"""Shapes and checks of recurrent layers: (time, batch, gates) in, (time, batch, state) out."""

from __future__ import annotations

from typing import Any


def lstm_layer(
    gates: Any, weight_hh: Any, hidden: Any, cell: Any, reverse: bool
) -> tuple[Any, ...]:
    """Shape: output, last cell, all cells, activated gates."""
    _check("lstm", gates, weight_hh, {"hidden": hidden, "cell": cell}, 4)
    states = (*gates.shape[:2], hidden.shape[1])
    dtype = gates.dtype
    return (states, dtype), (hidden.shape, dtype), (states, dtype), (gates.shape, dtype)


def lstm_layer_backward(
    grad_output: Any,
    grad_last_cell: Any,
    activations: Any,
    cells: Any,
    output: Any,
    weight_hh: Any,
    hidden: Any,
    cell: Any,
    reverse: bool,
) -> tuple[Any, ...]:
    """Shape: of gates, weight, hidden and cell."""
    return tuple((x.shape, output.dtype) for x in (activations, weight_hh, hidden, cell))


def gru_layer(
    gates: Any, weight_hh: Any, bias_hh: Any, hidden: Any, reverse: bool
) -> tuple[Any, ...]:
    """Shape: output; the activated gates and the candidate's product."""
    _check("gru", gates, weight_hh, {"hidden": hidden}, 3)
    time, batch, _ = gates.shape
    size = hidden.shape[1]
    return ((time, batch, size), gates.dtype), ((time, batch, 4 * size), gates.dtype)


def gru_layer_backward(
    grad_output: Any,
    activations: Any,
    output: Any,
    weight_hh: Any,
    hidden: Any,
    reverse: bool,
) -> tuple[Any, ...]:
    """Shape: of gates, weight, bias and hidden."""
    dtype = output.dtype
    rows = weight_hh.shape[0]
    return (
        ((*output.shape[:2], rows), dtype),
        (weight_hh.shape, dtype),
        ((rows,), dtype),
        (hidden.shape, dtype),
    )


def rnn_layer(gates: Any, weight_hh: Any, hidden: Any, relu: bool, reverse: bool) -> Any:
    """Shape: of the gates."""
    _check("rnn", gates, weight_hh, {"hidden": hidden}, 1)
    return gates.shape, gates.dtype


def rnn_layer_backward(
    grad_output: Any,
    output: Any,
    weight_hh: Any,
    hidden: Any,
    relu: bool,
    reverse: bool,
) -> tuple[Any, ...]:
    """Shape: of gates, weight and hidden."""
    return tuple((x.shape, output.dtype) for x in (output, weight_hh, hidden))


def _check(name: str, gates: Any, weight_hh: Any, states: dict[str, Any], count: int) -> None:
    if gates.ndim != 3 or not gates.shape[0]:
        raise RuntimeError(
            f"{name}: expected gates of shape (time, batch, {count} * hidden size) with at least "
            f"one time step, got {list(gates.shape)}"
        )
    size = gates.shape[2] // count
    if tuple(weight_hh.shape) != (count * size, size):
        raise RuntimeError(
            f"{name}: expected weight_hh of shape {[count * size, size]}, "
            f"got {list(weight_hh.shape)}"
        )
    for label, state in states.items():
        if tuple(state.shape) != (gates.shape[1], size):
            raise RuntimeError(
                f"{name}: expected {label} of shape {[gates.shape[1], size]}, "
                f"got {list(state.shape)}"
            )
