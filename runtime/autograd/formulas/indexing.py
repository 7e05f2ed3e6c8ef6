"""Gradients of what reads and writes under masks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def masked_select_backward(grad: Tensor, self: Tensor, mask: Tensor) -> Tensor:
    """Put the gradient where the elements stood; the engine sums over broadcast dims."""
    sizes = shapes.broadcast_shapes(self.shape, mask.shape)
    return grad.new_zeros(sizes).masked_scatter(mask, grad)


def masked_scatter_backward(grad: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Collect the gradient of what was written; the rest of the source had no influence."""
    taken = grad.masked_select(mask)
    left = math.prod(sizes) - taken.numel()
    if left:
        taken = ops.cat([taken, taken.new_zeros((left,))])
    return taken.reshape(sizes)
