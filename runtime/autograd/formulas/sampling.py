"""Gradients of reading images at points of a grid."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.rerun import Gradients, by_steps
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def grid_sampler_backward(grad: Tensor, input: Tensor, grid: Tensor, *modes: Any) -> Gradients:
    """The gradients of images and of the points at which they are read."""
    if grad_mode.is_enabled():
        inputs = [input, grid]
        return by_steps(lambda: ops._grid_sampler_steps(*inputs, *modes), inputs, [grad])
    mask = [input.requires_grad, grid.requires_grad]
    of_input, of_grid = ops._grid_sampler_backward(grad, input, grid, *modes, mask)
    return of_input if mask[0] else None, of_grid if mask[1] else None
