"""Layers whose matrices are split among the ranks of a group; `gpt.py` is built of them.

A pair of linear layers is split by columns, then by rows, so that one sum suffices; a table of
embeddings is split by tokens. The sums are differentiable collectives: the gradient of a sum over
ranks is the sum of the ranks' gradients. So each rank takes its share, 1 / ranks, of a loss that
all compute alike, and parameters that are not split have gradients that are to be summed.
Source: Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
Parallelism", 2019.
"""

from __future__ import annotations

from typing import Any

import torchgen_out.distributed as dist
from torchgen_out import nn
from torchgen_out.distributed.nn import functional as collectives


def share(whole: Any, group: Any, dim: int = 0) -> nn.Parameter:
    """This rank's part of a parameter, along a dim that the number of ranks divides."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    return nn.Parameter(whole.detach().chunk(size, dim)[rank].clone())


class ColumnParallelLinear(nn.Module):
    """The rows of `weight` that make this rank's part of the results."""

    def __init__(self, whole: nn.Linear, group: Any) -> None:
        super().__init__()
        self.weight, self.bias = share(whole.weight, group), share(whole.bias, group)

    def forward(self, x: Any) -> Any:
        return nn.functional.linear(x, self.weight, self.bias)


class RowParallelLinear(nn.Module):
    """The columns of `weight` that take this rank's part of the inputs; results are summed."""

    def __init__(self, whole: nn.Linear, group: Any) -> None:
        super().__init__()
        self.group = group
        self.weight = share(whole.weight, group, 1)
        self.bias = nn.Parameter(whole.bias.detach().clone())

    def forward(self, x: Any) -> Any:
        partial = nn.functional.linear(x, self.weight)
        return collectives.all_reduce(partial, group=self.group) + self.bias


class ParallelEmbedding(nn.Module):
    """The rows of this rank's tokens; those of others are zero, and the sum has all."""

    def __init__(self, whole: nn.Embedding, group: Any) -> None:
        super().__init__()
        self.group = group
        self.weight = share(whole.weight, group)
        self.first = dist.get_rank(group) * self.weight.shape[0]

    def forward(self, tokens: Any) -> Any:
        own = tokens - self.first
        is_own = (own >= 0) & (own < self.weight.shape[0])
        rows = nn.functional.embedding(own.clamp(0, self.weight.shape[0] - 1), self.weight)
        return collectives.all_reduce(rows * is_own.unsqueeze(-1), group=self.group)
