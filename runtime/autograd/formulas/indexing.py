"""Gradients of what reads under masks."""

from __future__ import annotations

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor


def masked_select_backward(grad: Tensor, self: Tensor, mask: Tensor) -> Tensor:
    """Put the gradient where the elements stood; the engine sums over broadcast dims."""
    sizes = shapes.broadcast_shapes(self.shape, mask.shape)
    return grad.new_zeros(sizes).masked_scatter(mask, grad)
