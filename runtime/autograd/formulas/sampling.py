"""Gradients of reading images at points of a grid."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.rerun import Gradients, by_steps
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def grid_sampler_backward(grad: Tensor, input: Tensor, grid: Tensor, *modes: Any) -> Gradients:
    """The gradients of images and of the points at which they are read."""
    wants_input, wants_grid = input.requires_grad, grid.requires_grad
    if grad_mode.is_enabled():
        inputs = [input, grid]
        return by_steps(lambda: ops._grid_sampler_steps(*inputs, *modes), inputs, [grad])
    of_input = of_grid = None
    if wants_input:
        of_input = ops._grid_sampler_input_backward(grad, input.shape, grid, *modes)
    if wants_grid:
        of_grid = ops._grid_sampler_grid_backward(grad, input, grid, *modes)
    return of_input, of_grid
