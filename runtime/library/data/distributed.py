"""The sampler of one of several replicas of a training, which share a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

import torchgen_out as torch
from torchgen_out._runtime.library.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index, from `rank` on: all replicas together visit each once.

    Where they cannot get equally many, the first indices are visited twice, or with `drop_last` the
    last ones are left out. With `shuffle` the order is that of `seed` and of the epoch, which
    `set_epoch` tells; it must be told to all replicas. num_replicas, rank: those of the default
    process group if not given. **Raises** ValueError without one, or for a rank out of range.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = torch.distributed.get_world_size()
        if rank is None:
            rank = torch.distributed.get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(count, generator=generator).tolist()
        return (order[i % count] for i in range(self.rank, self.total_size, self.num_replicas))

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Tell which epoch begins, so that its order differs from the last one's."""
        self.epoch = epoch
