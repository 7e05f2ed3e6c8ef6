"""A worker process: it fetches what it is told to, and sends it to its loader."""

from __future__ import annotations

import contextlib
import os
import random
import select
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.library.data.failure import Failure
from torchgen_out._runtime.library.data.fetching import Fetch, Plan, make_fetch
from torchgen_out._runtime.library.multiprocessing.channel import Channel, ChannelClosed

LOOK_AROUND = 5.0  # seconds between two looks whether the loader's process is still there


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is, of how many; its random numbers' seed; its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


@dataclass(frozen=True)
class Task:
    """The fetch of one entry of the sampler; number counts those of an epoch."""

    epoch: int
    number: int
    index: Any


@dataclass(frozen=True)
class Answer:
    """What became of a task: a batch, a `Failure` or an `EndOfStream`."""

    epoch: int
    number: int
    content: Any


class EndOfStream:
    """This worker's stream has no more items in this epoch."""


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return what a worker process knows of itself; None in any other process."""
    return _info


def seed_numpy(base_seed: int, worker_id: int) -> list[int]:
    """Return what NumPy's generator is seeded with: unlike the others', it takes 128 bits.

    **Source** NumPy's SeedSequence, over the words that PyTorch hands to the same function.
    """
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(words).generate_state(4)]


def work(
    end: socket.socket,
    plan: Plan,
    worker_init_fn: Callable[[int], Any] | None,
    info: tuple[int, int, int],
    parent: int,
) -> None:
    """Serve the loader until it hangs up. info: number of the worker, count, common seed."""
    where = f"in DataLoader worker process {info[0]}"
    with contextlib.suppress(KeyboardInterrupt, ChannelClosed):  # the loader knows, or is gone
        _prepare(plan.dataset, *info)
        _Desk(Channel(end), parent, where).serve(plan, worker_init_fn, info[0])


def _prepare(dataset: Any, worker_id: int, count: int, base_seed: int) -> None:
    """Let the process know what it is, and draw numbers of its own."""
    global _info
    torch.set_num_threads(1)
    seed = base_seed + worker_id
    random.seed(seed)
    torch.manual_seed(seed)
    np.random.seed(seed_numpy(base_seed, worker_id))
    _info = WorkerInfo(worker_id, count, seed, dataset)


class _Desk:
    """Where tasks come in and answers go out."""

    def __init__(self, channel: Channel, parent: int, where: str) -> None:
        self._channel, self._parent, self._where = channel, parent, where
        self._fetch: Fetch | None = None

    def serve(
        self, plan: Plan, worker_init_fn: Callable[[int], Any] | None, worker_id: int
    ) -> None:
        """Do every task in turn. The first is answered by what went wrong before, if anything."""
        failure, epoch = None, -1
        try:
            if worker_init_fn is not None:
                worker_init_fn(worker_id)
        except Exception as error:
            failure = Failure(error, self._where)
        while True:
            task = self._next_task()
            if task.epoch != epoch:
                epoch, self._fetch = task.epoch, None
            elif self._fetch is _exhausted:
                continue
            self._answer(task, failure or self._do(plan, task.index))
            failure = None

    def _next_task(self) -> Task:
        while not select.select([self._channel], [], [], LOOK_AROUND)[0]:
            if os.getppid() != self._parent:
                raise ChannelClosed("the loader's process has ended")
        task: Task = self._channel.receive()
        return task

    def _do(self, plan: Plan, index: Any) -> Any:
        """Return what is at an entry of the sampler, or why not."""
        try:
            if self._fetch is None:
                self._fetch = make_fetch(plan)
            return self._fetch(index)
        except StopIteration as error:
            if not plan.is_stream:
                return Failure(error, self._where)
            self._fetch = _exhausted
            return EndOfStream()
        except Exception as error:
            return Failure(error, self._where)

    def _answer(self, task: Task, content: Any) -> None:
        """Send what was made, or why it cannot be sent."""
        try:
            self._channel.send(Answer(task.epoch, task.number, content))
        except ChannelClosed:
            raise
        except Exception as error:
            if isinstance(content, Failure):  # of a class that cannot be sent
                content.kind = RuntimeError
            else:
                content = Failure(error, self._where)
            self._channel.send(Answer(task.epoch, task.number, content))
        self._channel.flush(wait=True)


def _exhausted(index: Any) -> Any:
    """Stands for the fetch of a stream that has ended."""
