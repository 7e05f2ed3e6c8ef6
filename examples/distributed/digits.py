"""Handwritten digits, trained by several processes as by one with the whole batch.

    python -m torchgen_out.distributed.run --nproc-per-node=2 examples/distributed/digits.py
    mpiexec -n 2 python examples/distributed/digits.py --backend mpi

Every process takes its share of each batch; DistributedDataParallel averages the gradients. Rank 0
trains the same network alone on the whole batches beside it, and prints both losses: they agree.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_digits

import torchgen_out as torch
import torchgen_out.distributed as dist
from torchgen_out import nn

BATCH = 96


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    dist.init_process_group(arguments.backend)
    rank, size = dist.get_rank(), dist.get_world_size()

    images, labels = load_digits(return_X_y=True)
    x = torch.from_numpy(images).float() / 16
    y = torch.from_numpy(labels)
    replica, alone = nn.parallel.DistributedDataParallel(network()), network()
    optimizers = [torch.optim.SGD(m.parameters(), 0.1, 0.9) for m in (replica, alone)]
    for step in range(arguments.steps):
        chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(step))[:BATCH]
        own = chosen.chunk(size)[rank]
        loss = nn.functional.cross_entropy(replica(x[own]), y[own])
        whole = nn.functional.cross_entropy(alone(x[chosen]), y[chosen])
        for optimizer, each in zip(optimizers, (loss, whole), strict=True):
            optimizer.zero_grad()
            each.backward()
            optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        mean /= size
        torch.testing.assert_close(mean, whole.detach(), rtol=1e-3, atol=1e-4)
        if rank == 0 and step % 20 == 19:
            print(f"step {step + 1}: {size} processes {mean.item():.5f}, one {whole.item():.5f}")
    right = (replica.module(x).argmax(1) == y).float().mean()
    if rank == 0:
        print(f"right: {right.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
