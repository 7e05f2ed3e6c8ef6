"""`DataLoader`: batches of a dataset, made in this process or by workers ahead of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from torchgen_out._runtime.library.data import options
from torchgen_out._runtime.library.data.collate import default_collate, default_convert
from torchgen_out._runtime.library.data.dataset import Dataset, IterableDataset, length_of
from torchgen_out._runtime.library.data.fetching import Plan
from torchgen_out._runtime.library.data.iterators import (
    LoaderIterator,
    LocalIterator,
    WorkersIterator,
)
from torchgen_out._runtime.library.data.sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
)
from torchgen_out._runtime.library.data.worker import get_worker_info

__all__ = [
    "DataLoader", "_BaseDataLoaderIter", "_DatasetKind", "_InfiniteConstantSampler",
    "_MultiProcessingDataLoaderIter", "_SingleProcessDataLoaderIter", "default_collate",
    "default_convert", "get_worker_info",
]  # fmt: skip

_BaseDataLoaderIter = LoaderIterator
_SingleProcessDataLoaderIter = LocalIterator
_MultiProcessingDataLoaderIter = WorkersIterator


class _DatasetKind:
    """Whether a dataset is asked by index, or is a stream."""

    Map = 0
    Iterable = 1


class _InfiniteConstantSampler:
    """The sampler of a stream: None again and again, for "the next one"."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


T = TypeVar("T", covariant=True)


class DataLoader(Generic[T]):
    """Iterates over batches of a dataset.

    `shuffle` visits in random order; `batch_size=None` yields single samples; `collate_fn` puts
    samples together. With `num_workers`, processes do both, `prefetch_factor` batches each ahead
    of what is asked for, and what they make comes through shared memory; `persistent_workers`
    stay for the next epoch. `in_order=False` yields batches as they get ready.
    """

    def __init__(
        self,
        dataset: Dataset[T],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        options.check_workers(num_workers, prefetch_factor, persistent_workers, timeout)
        self.dataset, self.num_workers = dataset, num_workers
        self.is_stream = isinstance(dataset, IterableDataset)
        if self.is_stream:
            options.check_stream(shuffle, sampler, batch_sampler)
        options.check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.generator = generator
        self.multiprocessing_context = multiprocessing_context
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle))
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.length_told: int | None = None
        self._iterator: WorkersIterator | None = None
        options.warn_of_many_workers(num_workers)
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and getattr(self, "_is_made", False):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """The context in which workers are started; None for the usual one."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, given: Any) -> None:
        self._multiprocessing_context = options.context_of(given, self.num_workers)

    def _default_sampler(self, shuffle: bool) -> Any:
        if self.is_stream:
            return _InfiniteConstantSampler()
        dataset: Any = self.dataset
        if shuffle:
            return RandomSampler(dataset, generator=self.generator)
        return SequentialSampler(dataset)

    @property
    def index_sampler(self) -> Any:
        """What says what to fetch next: lists of indices, or without batches indices."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def plan(self) -> Plan:
        """Return what there is to load, and how."""
        is_batched = self.batch_sampler is not None
        return Plan(self.dataset, self.is_stream, is_batched, self.collate_fn, self.drop_last)

    def __iter__(self) -> LoaderIterator:
        if not self.num_workers:
            return LocalIterator(self)
        if not self.persistent_workers:
            return WorkersIterator(self)
        if self._iterator is None:
            self._iterator = WorkersIterator(self)
        else:
            self._iterator.restart(self.length_told)
        return self._iterator

    def __len__(self) -> int:
        if not self.is_stream:
            return len(self.index_sampler)
        count = self.length_told = length_of(self.dataset)
        if self.batch_size is None:
            return count
        size = self.batch_size
        return count // size if self.drop_last else -(-count // size)
