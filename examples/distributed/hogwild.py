"""Hogwild: processes that update one network in shared memory, without waiting for each other.

    python examples/distributed/hogwild.py

Source: Niu, Recht, Re, Wright, "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
Descent", NIPS 2011.
"""

from __future__ import annotations

import torchgen_out as torch
import torchgen_out.multiprocessing as processes
from torchgen_out import nn

STEPS = 200


def train(rank: int, network: nn.Module) -> None:
    """Update the network; others do the same meanwhile."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(rank)
    optimizer = torch.optim.SGD(network.parameters(), 0.02)
    for _ in range(STEPS):
        x = torch.randn(16, 4, generator=generator)
        loss = (network(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main() -> None:
    torch.manual_seed(0)
    network = nn.Linear(4, 1)
    network.share_memory()
    processes.spawn(train, args=(network,), nprocs=2)
    error = (network.weight - 1).abs().max().item()
    print(f"largest error of a weight: {error:.4f}")
    if error > 0.05:
        raise RuntimeError("it has not learnt")


if __name__ == "__main__":
    main()
