"""Gradients of recurrent layers."""

from __future__ import annotations

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.rerun import Gradients, by_steps
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def lstm_layer_backward(
    grad_output: Tensor,
    grad_last_cell: Tensor,
    gates: Tensor,
    weight_hh: Tensor,
    hidden: Tensor,
    cell: Tensor,
    reverse: bool,
    output: Tensor,
    cells: Tensor,
    activations: Tensor,
) -> Gradients:
    """The gradients of gates, weight_hh, hidden and cell."""
    if grad_mode.is_enabled():
        inputs = [gates, weight_hh, hidden, cell]
        grads = [grad_output, grad_last_cell]
        return by_steps(lambda: ops._lstm_steps(*inputs, reverse), inputs, grads)
    result: Gradients = ops._lstm_layer_backward(
        grad_output, grad_last_cell, activations, cells, output, weight_hh, hidden, cell, reverse
    )
    return result


def gru_layer_backward(
    grad_output: Tensor,
    gates: Tensor,
    weight_hh: Tensor,
    bias_hh: Tensor | None,
    hidden: Tensor,
    reverse: bool,
    output: Tensor,
    activations: Tensor,
) -> Gradients:
    """The gradients of gates, weight_hh, bias_hh and hidden."""
    if grad_mode.is_enabled():
        inputs = [gates, weight_hh, bias_hh, hidden]
        return by_steps(lambda: ops._gru_steps(*inputs, reverse), inputs, [grad_output])
    result: Gradients = ops._gru_layer_backward(
        grad_output, activations, output, weight_hh, hidden, reverse
    )
    return result


def rnn_layer_backward(
    grad: Tensor,
    gates: Tensor,
    weight_hh: Tensor,
    hidden: Tensor,
    relu: bool,
    reverse: bool,
    result: Tensor,
) -> Gradients:
    """The gradients of gates, weight_hh and hidden."""
    if grad_mode.is_enabled():
        inputs = [gates, weight_hh, hidden]
        return by_steps(lambda: ops._rnn_steps(*inputs, relu, reverse), inputs, [grad])
    found: Gradients = ops._rnn_layer_backward(grad, result, weight_hh, hidden, relu, reverse)
    return found
