"""Backward formulas of layers with a fused kernel: attention and recurrent layers.

The usual pass has one fused kernel per layer. Under create_graph the layer is run again step by
step, and differentiated with a graph of its own: that gives every higher order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.autograd import api, grad_mode
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

Gradients = tuple[Any, ...]


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
        return _by_steps(lambda: ops._lstm_steps(*inputs, reverse), inputs, grads)
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
        return _by_steps(lambda: ops._gru_steps(*inputs, reverse), inputs, [grad_output])
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
        return _by_steps(lambda: ops._rnn_steps(*inputs, relu, reverse), inputs, [grad])
    found: Gradients = ops._rnn_layer_backward(grad, result, weight_hh, hidden, relu, reverse)
    return found


def attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    logsumexp: Tensor,
    scale: float,
    causal: bool,
) -> Gradients:
    """The gradients of query, key and value."""
    if grad_mode.is_enabled():
        inputs = [query, key, value]
        return _by_steps(lambda: ops._attention_steps(*inputs, mask, scale, causal), inputs, [grad])
    found: Gradients = ops._attention_backward(
        grad, query, key, value, mask, logsumexp, scale, causal
    )
    return found


def _by_steps(
    run: Callable[[], Any], inputs: Sequence[Tensor | None], grads: list[Tensor]
) -> Gradients:
    """The gradients of what `run` computes, recorded themselves; None where none is needed."""
    wanted = [x for x in inputs if x is not None and x.requires_grad]  # type: ignore[attr-defined]
    outputs = run()
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    found = iter(api.grad(outputs, wanted, grads, create_graph=True, allow_unused=True))
    return tuple(
        next(found) if x is not None and x.requires_grad else None  # type: ignore[attr-defined]
        for x in inputs
    )


def through(
    function: Callable[..., Any], inputs: Sequence[Tensor], grads: list[Tensor]
) -> Gradients:
    """The gradients of inputs through `function`, run once more; recorded if somebody records."""
    if grad_mode.is_enabled():
        return _by_steps(lambda: function(*inputs), inputs, grads)
    with grad_mode.enable_grad():
        leaves: list[Any] = [ops.detach(x).requires_grad_(x.requires_grad) for x in inputs]  # type: ignore[attr-defined]
        wanted = [x for x in leaves if x.requires_grad]
        found = iter(api.grad([function(*leaves)], wanted, grads, allow_unused=True))
    return tuple(next(found) if x.requires_grad else None for x in leaves)


def grid_sampler_backward(grad: Tensor, input: Tensor, grid: Tensor, *modes: Any) -> Gradients:
    """The gradients of images and of the points at which they are read."""
    wants_input, wants_grid = input.requires_grad, grid.requires_grad  # type: ignore[attr-defined]
    if grad_mode.is_enabled():
        inputs = [input, grid]
        return _by_steps(lambda: ops._grid_sampler_steps(*inputs, *modes), inputs, [grad])
    of_input = of_grid = None
    if wants_input:
        of_input = ops._grid_sampler_input_backward(grad, input.shape, grid, *modes)
    if wants_grid:
        of_grid = ops._grid_sampler_grid_backward(grad, input, grid, *modes)
    return of_input, of_grid
