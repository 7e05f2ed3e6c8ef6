"""A small language model whose matrices are split among processes, beside the same model whole.

    python -m torchgen_out.distributed.run --nproc-per-node=2 \\
        examples/distributed/tensor_parallel.py

A pair of linear layers is split by columns, then by rows, so that one sum suffices; the
table of embeddings is split by tokens. The sums are differentiable collectives.
Source: Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
Parallelism", 2019.
"""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
import torchgen_out.distributed as dist
from torchgen_out import nn
from torchgen_out.distributed.nn import functional as collectives

TOKENS, WIDTH, LENGTH = 64, 32, 16


class Copied(torch.autograd.Function):
    """What all ranks have already: forward as it is, backward the sum of what they make of it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class Summed(torch.autograd.Function):
    """The sum of all ranks' parts; its gradient is the same on all, and goes to each as it is."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        total = x.detach().clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class ColumnParallelLinear(nn.Module):
    """The rows of `weight` that make this rank's part of the results."""

    def __init__(self, whole: nn.Linear) -> None:
        super().__init__()
        rank, size = dist.get_rank(), dist.get_world_size()
        self.weight = nn.Parameter(whole.weight.detach().chunk(size)[rank].clone())
        self.bias = nn.Parameter(whole.bias.detach().chunk(size)[rank].clone())

    def forward(self, x: Any) -> Any:
        return nn.functional.linear(Copied.apply(x), self.weight, self.bias)


class RowParallelLinear(nn.Module):
    """The columns of `weight` that take this rank's part of the inputs; results are summed."""

    def __init__(self, whole: nn.Linear) -> None:
        super().__init__()
        rank, size = dist.get_rank(), dist.get_world_size()
        self.weight = nn.Parameter(whole.weight.detach().chunk(size, 1)[rank].clone())
        self.bias = nn.Parameter(whole.bias.detach().clone())

    def forward(self, x: Any) -> Any:
        return Summed.apply(nn.functional.linear(x, self.weight)) + self.bias


class ParallelEmbedding(nn.Module):
    """The rows of this rank's tokens; others' are zero, and the sum has all."""

    def __init__(self, whole: nn.Embedding) -> None:
        super().__init__()
        rank, size = dist.get_rank(), dist.get_world_size()
        self.weight = nn.Parameter(whole.weight.detach().chunk(size)[rank].clone())
        self.first = rank * self.weight.shape[0]

    def forward(self, tokens: Any) -> Any:
        own = tokens - self.first
        is_own = (own >= 0) & (own < self.weight.shape[0])
        rows = nn.functional.embedding(own.clamp(0, self.weight.shape[0] - 1), self.weight)
        return Summed.apply(rows * is_own.unsqueeze(-1))


class Model(nn.Module):
    """Tokens, an attention over those before, a pair of linear layers, tokens again."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS)

    def split(self) -> None:
        """Keep this rank's part of the large matrices."""
        self.tokens = ParallelEmbedding(self.tokens)
        self.wide, self.narrow = ColumnParallelLinear(self.wide), RowParallelLinear(self.narrow)

    def forward(self, tokens: Any) -> Any:
        x = self.tokens(tokens)
        q, k, v = self.attention(x).chunk(3, -1)
        x = x + nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.narrow(nn.functional.gelu(self.wide(x)))
        return self.head(x)


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    whole = Model()
    torch.manual_seed(0)
    parts = Model()
    parts.split()
    optimizers = [torch.optim.SGD(model.parameters(), 0.5) for model in (whole, parts)]
    text = torch.arange(8 * (LENGTH + 1)).reshape(8, -1) ** 2 % TOKENS
    for step in range(10):
        losses = []
        for model, optimizer in zip((whole, parts), optimizers, strict=True):
            logits = model(text[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        torch.testing.assert_close(losses[1], losses[0], rtol=1e-4, atol=1e-5)
        if dist.get_rank() == 0 and step % 5 == 4:
            print(f"step {step + 1}: split {losses[1].item():.5f}, whole {losses[0].item():.5f}")
    rows = torch.cat(collectives.all_gather(parts.wide.weight))
    torch.testing.assert_close(rows, whole.wide.weight, rtol=1e-3, atol=1e-4)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
