"""Normalisation across channels in the form of PyTorch's first releases."""

from __future__ import annotations

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out.nn import functional as F


class CrossMapLRN2d(Module):
    """y = x / (k + alpha / size * sum of x^2 over the neighbouring channels)^beta.

    As in PyTorch, with which weights were trained: the neighbours are as many on both sides, so
    that an even `size` sums one channel less than it says, and the first channel stays in all later
    sums.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size + 1) // 2
        width = 2 * reach - 1
        squares = input.square()
        means = F.avg_pool3d(
            squares.unsqueeze(1), (width, 1, 1), stride=1, padding=(width // 2, 0, 0)
        )
        sums = means.squeeze(1) * width
        left = sums.size(1) - reach
        if left > 0:
            first = F.pad(squares[:, :1].expand(-1, left, -1, -1), (0, 0, 0, 0, reach, 0))
            sums = sums + first
        return input / (sums * (self.alpha / self.size) + self.k) ** self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
