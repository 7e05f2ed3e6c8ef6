"""Tensors inside maps as what they are made of: differentiation works on all samples at once.

Samples do not depend on each other, so the gradient of the sum of all samples' results holds the
gradient of each. What takes a gradient inside maps gives every tensor a dim for each of them.
"""

from __future__ import annotations

import torchgen_out as torch
from torchgen_out._runtime.core import batched, maps
from torchgen_out._runtime.library.transforms.vmap import all_samples

Tensor = torch.Tensor


class Maps:
    """The maps inside which a computation begins."""

    def __init__(self) -> None:
        self.sizes = [each.size for each in maps.state.entered]

    def lowered(self, tensor: Tensor) -> Tensor:
        """A tensor with a leading dim for every map."""
        for level in range(len(self.sizes), 0, -1):
            tensor = all_samples(tensor, level, self.sizes[level - 1])
        return tensor

    def lifted(self, tensor: Tensor) -> Tensor:
        """What functions inside the maps see of such a tensor."""
        for level in range(1, len(self.sizes) + 1):
            tensor = batched.batch(tensor, level)
        return tensor
