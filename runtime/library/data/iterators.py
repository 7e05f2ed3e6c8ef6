"""One pass over a loader: in its own process, or with workers that fetch ahead."""

from __future__ import annotations

import copy
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torchgen_out as torch
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.data import pinning
from torchgen_out._runtime.library.data.failure import Failure
from torchgen_out._runtime.library.data.fetching import Plan, make_fetch
from torchgen_out._runtime.library.data.worker import Answer, EndOfStream, Task
from torchgen_out._runtime.library.data.worker_pool import Crew


class Loader(Protocol):
    """What an iterator asks of the loader that it belongs to."""

    dataset: Any
    generator: Any
    num_workers: int
    prefetch_factor: int | None
    pin_memory: bool
    pin_memory_device: str
    timeout: float
    worker_init_fn: Callable[[int], None] | None
    in_order: bool
    persistent_workers: bool
    length_told: int | None

    @property
    def multiprocessing_context(self) -> Any:
        """The context in which workers are started."""

    @property
    def index_sampler(self) -> Any:
        """What says what to fetch next."""

    def plan(self) -> Plan:
        """Return what there is to load, and how."""
        ...


class LoaderIterator:
    """What both have in common: the sampler's entries, the seed, a count of what was yielded."""

    def __init__(self, loader: Loader) -> None:
        self._loader = copy.copy(loader)  # which may have the iterator: its end is to be at once
        self._pins = pinning.is_wanted(loader.pin_memory, loader.pin_memory_device)
        self._indices: Iterator[Any] = iter(loader.index_sampler)
        drawn = torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        self._base_seed = int(drawn.item())
        self._yielded, self._length_told = 0, loader.length_told

    def __iter__(self) -> LoaderIterator:
        return self

    def __len__(self) -> int:
        return len(self._loader.index_sampler)

    def __next__(self) -> Any:
        batch = self._next_batch()
        self._yielded += 1
        self._compare_with_length()
        return batch

    def _next_batch(self) -> Any:
        raise NotImplementedError

    def _compare_with_length(self) -> None:
        """Warn when a stream turns out to be longer than it had said."""
        loader, told = self._loader, self._length_told
        if told is None or self._yielded <= told:
            return
        hint = (
            " For multiprocessing data-loading, this could be caused by not properly configuring "
            "the IterableDataset replica at each worker: see get_worker_info()."
        )
        warn(
            f"Length of IterableDataset {loader.dataset} was reported to be {told} "
            f"(when accessing len(dataloader)), but {self._yielded} samples have been fetched."
            + (hint if loader.num_workers else ""),
        )

    def __reduce__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class LocalIterator(LoaderIterator):
    """Fetches when it is asked."""

    def __init__(self, loader: Loader) -> None:
        super().__init__(loader)
        self._fetch = make_fetch(loader.plan())

    def _next_batch(self) -> Any:
        batch = self._fetch(next(self._indices))
        return pinning.pinned(batch) if self._pins else batch


class WorkersIterator(LoaderIterator):
    """Has tasks done by workers, `prefetch_factor` for each ahead of what is asked for.

    Tasks go round among the workers whose stream has not ended. `_tasks` says for each that was
    given and not yet yielded who has it; `_ready` holds what came before its turn.
    """

    def __init__(self, loader: Loader) -> None:
        super().__init__(loader)
        self._epoch = 0
        self._start()
        self._begin_epoch()

    def _start(self) -> None:
        """Have workers."""
        loader = self._loader
        self._crew = Crew(
            loader.multiprocessing_context,
            loader.plan(),
            loader.num_workers,
            self._base_seed,
            loader.worker_init_fn,
        )
        self._pinning = pinning.PinningThread(self._crew) if self._pins else None
        # Not __del__: it would come too late, when the interpreter has begun to end.
        self._finish = weakref.finalize(self, _finish, self._crew, self._pinning)

    def restart(self, length_told: int | None) -> None:
        """Begin another epoch with the same workers, or with new ones if they have died."""
        self._indices = iter(self._loader.index_sampler)
        self._yielded, self._length_told = 0, length_told
        self._epoch += 1
        if not self._finish.alive:
            self._start()
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        count = self._loader.num_workers
        self._numbers = itertools.count()
        self._round = itertools.cycle(range(count))
        self._streams = [True] * count
        self._tasks: dict[int, int] = {}
        self._ready: dict[int, Any] = {}
        for _ in range(count * self._prefetch_factor):
            self._give_task()

    @property
    def _prefetch_factor(self) -> int:
        return 2 if self._loader.prefetch_factor is None else self._loader.prefetch_factor

    def _give_task(self) -> None:
        """Give the sampler's next entry to the worker whose turn it is."""
        taker = self._next_taker()
        if taker is None:
            return
        index = next(self._indices, _NOTHING)
        if index is not _NOTHING:
            number = next(self._numbers)
            self._tasks[number] = taker
            self._crew.send(taker, Task(self._epoch, number, index))

    def _next_taker(self) -> int | None:
        """The next worker that has more; where the order is free, the next that has few tasks."""
        count = self._loader.num_workers
        most = count * self._prefetch_factor // max(sum(self._streams), 1)
        busy = list(self._tasks.values())
        for worker in itertools.islice(self._round, count):
            if self._streams[worker] and (self._loader.in_order or busy.count(worker) < most):
                return worker
        return None

    def _next_batch(self) -> Any:
        while self._tasks:
            first = next(iter(self._tasks))
            if first in self._ready:
                return self._yield(first, self._ready.pop(first))
            answer = self._receive()
            if answer.epoch != self._epoch:
                continue
            if isinstance(answer.content, EndOfStream):
                self._end_stream(self._tasks[answer.number])
            elif answer.number == first or not self._loader.in_order:
                return self._yield(answer.number, answer.content)
            else:
                self._ready[answer.number] = answer.content
        if not self._loader.persistent_workers:
            self._finish()
        raise StopIteration

    def _receive(self) -> Answer:
        timeout = self._loader.timeout
        try:
            answer = (self._pinning or self._crew).receive(timeout or None)
        except BaseException:  # a death, or an interrupt: half a message may have been read
            self._tasks.clear()
            self._finish()
            raise
        if answer is None:
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
        return answer

    def _end_stream(self, worker: int) -> None:
        """Take from a worker that has no more items what it was still to do."""
        self._streams[worker] = False
        lost = [
            number
            for number, taker in self._tasks.items()
            if taker == worker and number not in self._ready
        ]
        for number in lost:
            del self._tasks[number]
        for _ in lost:
            self._give_task()

    def _yield(self, number: int, content: Any) -> Any:
        del self._tasks[number]
        self._give_task()
        if isinstance(content, Failure):
            content.reraise()
        return content


_NOTHING = object()


def _finish(crew: Crew, thread: pinning.PinningThread | None) -> None:
    """End what an iterator has started."""
    if thread is not None:
        thread.close()
    crew.close()
