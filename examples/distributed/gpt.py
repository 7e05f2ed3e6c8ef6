"""A small language model split by data and by tensor, beside the same model whole.

    python -m torchgen_out.distributed.run --nproc-per-node=4 examples/distributed/gpt.py
    mpiexec -n 4 python examples/distributed/gpt.py --backend mpi

Neighbouring ranks share a model: each has some of the attention's heads, of the hidden units and of
the tokens (`--tensor` of them; `tensor_parallel.py` has the layers). Those models are replicas for
DistributedDataParallel. Every rank trains the whole model beside it, and compares losses and
parameters.
"""

from __future__ import annotations

import argparse
from typing import Any

from tensor_parallel import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear

import torchgen_out as torch
import torchgen_out.distributed as dist
from torchgen_out import nn
from torchgen_out.distributed.nn import functional as collectives

TOKENS, WIDTH, HEADS, LENGTH, BATCH, STEPS = 64, 32, 4, 16, 8, 10


class Attention(nn.Module):
    """Every token looks at those before it. A part of it has whole heads."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = [nn.Linear(WIDTH, WIDTH) for _ in range(4)]

    def split(self, group: Any) -> None:
        for name in ("q", "k", "v"):
            setattr(self, name, ColumnParallelLinear(getattr(self, name), group))
        self.out = RowParallelLinear(self.out, group)

    def forward(self, x: Any) -> Any:
        heads = [
            each(x).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
            for each in (self.q, self.k, self.v)
        ]
        found = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(found.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention, then a pair of linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.attention = Attention()
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def split(self, group: Any) -> None:
        self.attention.split(group)
        self.wide = ColumnParallelLinear(self.wide, group)
        self.narrow = RowParallelLinear(self.narrow, group)

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norms[0](x))
        return x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x))))


class GPT(nn.Module):
    """Tokens and places, two blocks, tokens again."""

    def __init__(self) -> None:
        super().__init__()
        self.group: Any = None
        self.tokens, self.places = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS)

    def split(self, group: Any) -> GPT:
        """Keep this rank's part of all matrices."""
        self.group = group
        self.tokens = ParallelEmbedding(self.tokens, group)
        for block in self.blocks:
            block.split(group)
        self.head = ColumnParallelLinear(self.head, group)
        return self

    def forward(self, tokens: Any) -> Any:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        logits = self.head(self.norm(self.blocks(x)))
        if self.group is None:
            return logits
        return torch.cat(collectives.all_gather(logits, self.group), -1)


def model() -> GPT:
    torch.manual_seed(0)
    return GPT()


def loss_of(network: nn.Module, text: Any) -> Any:
    logits = network(text[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())


def is_split(name: str) -> bool:
    """Whether ranks have different parts of a parameter, by its name."""
    split = ("tokens.", "attention.q.", "attention.k.", "attention.v.", "wide.", "head.")
    return any(each in name for each in split) or name.endswith(("out.weight", "narrow.weight"))


def sum_shared(network: nn.Module, group: Any) -> None:
    """Sum the gradients of the parameters that all ranks of a model have."""
    for name, parameter in network.named_parameters():
        if not is_split(name):
            dist.all_reduce(parameter.grad, group=group)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--tensor", type=int, default=2, help="ranks that share a model")
    arguments = parser.parse_args()
    dist.init_process_group(arguments.backend)
    mesh = dist.init_device_mesh(
        "cpu", (dist.get_world_size() // arguments.tensor, arguments.tensor),
        mesh_dim_names=("data", "tensor"),
    )  # fmt: skip
    tensor, data = mesh.get_group("tensor"), mesh.get_group("data")
    whole, parts = model(), model().split(tensor)
    replica = nn.parallel.DistributedDataParallel(parts, process_group=data)
    optimizers = [torch.optim.AdamW(each.parameters(), 1e-2) for each in (whole, parts)]
    text = torch.arange(BATCH * (LENGTH + 1)).reshape(BATCH, -1) ** 2 % TOKENS
    own = text.chunk(mesh.size(0))[mesh.get_local_rank("data")]
    for step in range(STEPS):
        for optimizer in optimizers:
            optimizer.zero_grad()
        expected, loss = loss_of(whole, text), loss_of(replica, own)
        expected.backward()
        (loss / arguments.tensor).backward()
        sum_shared(parts, tensor)
        for optimizer in optimizers:
            optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, group=data)
        mean /= mesh.size(0)
        torch.testing.assert_close(mean, expected.detach(), rtol=1e-4, atol=1e-4)
        if dist.get_rank() == 0 and step % 5 == 4:
            print(f"step {step + 1}: split {mean.item():.4f}, whole {expected.item():.4f}")
    rows = torch.cat(collectives.all_gather(parts.blocks[0].wide.weight, tensor))
    torch.testing.assert_close(rows, whole.blocks[0].wide.weight, rtol=1e-3, atol=1e-3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
