"""`DataLoader`: batches of a dataset, in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from runtime.data.collate import default_collate, default_convert
from runtime.data.dataset import Dataset, IterableDataset
from runtime.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class _Endless:
    """The sampler of a stream: None again and again, for "the next one"."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader:
    """Iterates over batches of a dataset.

    `shuffle` visits in random order; `batch_size=None` yields single samples; `collate_fn` puts
    samples together. DEVIATION: worker processes are not supported; num_workers must be 0.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
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
        _check_workers(num_workers, prefetch_factor, persistent_workers, timeout)
        self.dataset, self.num_workers = dataset, num_workers
        self.is_stream = isinstance(dataset, IterableDataset)
        if self.is_stream:
            _check_stream_options(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle), generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.pin_memory, self.timeout = pin_memory, timeout
        self.worker_init_fn = worker_init_fn

    def _default_sampler(self, shuffle: bool, generator: Any) -> Any:
        if self.is_stream:
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=generator)  # type: ignore[arg-type]
        return SequentialSampler(self.dataset)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        for sample in self._stream() if self.is_stream else self._indexed():
            yield _pinned(sample) if self.pin_memory else sample

    def _indexed(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        many = getattr(self.dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            samples = many(indices) if many else [self.dataset[index] for index in indices]
            yield self.collate_fn(samples)

    def _stream(self) -> Iterator[Any]:
        samples = iter(self.dataset)  # type: ignore[call-overload]
        if self.batch_sampler is None:
            for sample in samples:
                yield self.collate_fn(sample)
            return
        batch: list[Any] = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self.is_stream:
            count = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return count
            size = self.batch_size
            return count // size if self.drop_last else -(-count // size)
        source = self.sampler if self.batch_sampler is None else self.batch_sampler
        return len(source)  # type: ignore[arg-type]


def _check_workers(
    num_workers: int, prefetch_factor: int | None, persistent_workers: bool, timeout: float
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers > 0:
        raise NotImplementedError(
            f"DataLoader: worker processes are not supported, got num_workers={num_workers}; "
            "use num_workers=0, which loads in the main process"
        )
    if prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. let num_workers "
            "> 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent_workers:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream_options(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (None, False):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle option, "
            f"but got shuffle={shuffle}"
        )
    for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if given is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={given}"
            )


def _pinned(sample: Any) -> Any:
    """The same batch in pinned memory, at any depth."""
    if hasattr(sample, "pin_memory"):
        return sample.pin_memory()
    if isinstance(sample, dict):
        return {key: _pinned(item) for key, item in sample.items()}
    if isinstance(sample, (list, tuple)):
        items = [_pinned(item) for item in sample]
        return type(sample)(*items) if hasattr(sample, "_fields") else type(sample)(items)
    return sample
