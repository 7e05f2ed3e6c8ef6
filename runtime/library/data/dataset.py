"""Datasets: by index or as a stream, in parts, put together."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import torchgen_out as torch

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Items by index: a subclass implements `__getitem__`, and `__len__` where it can.

    With `__getitems__(indices)` a DataLoader asks for a whole batch at once.
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


def length_of(dataset: Any) -> int:
    """The number of items. Raises: TypeError for a dataset that does not tell."""
    return len(dataset)


class IterableDataset(Dataset[T]):
    """Items as a stream: a subclass implements `__iter__`."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(  # type: ignore[override]  # streams are chained, not indexed, as in PyTorch
        self, other: Dataset[Any]
    ) -> ChainDataset:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Rows of tensors of one length: item i is (tensor[i] for every tensor)."""

    def __init__(self, *tensors: Any) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class ConcatDataset(Dataset[T]):
    """Datasets one after the other, by index."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """How many items there are up to the end of each dataset."""
        return list(accumulate(map(length_of, sequence)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        place = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][index - before]


class ChainDataset(IterableDataset[Any]):
    """Streams one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(map(length_of, self.datasets))


def items_of(dataset: Any, indices: list[int]) -> list[Any]:
    """The items at many indices, asked for at once if the dataset has `__getitems__`.

    **Raises** ValueError if it answers with another number of items.
    """
    many: Callable[..., Any] | None = getattr(dataset, "__getitems__", None)
    if many is None:
        return [dataset[i] for i in indices]
    items: list[Any] = many(indices)
    if len(items) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}"
        )
    return items


class StackDataset(Dataset[Any]):
    """Datasets side by side: item i is a tuple, or with keywords a dict, of their items i."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
                if args
                else "At least one dataset should be passed"
            )
        self.datasets: Any = args or kwargs
        sizes = {len(dataset) for dataset in (args or kwargs.values())}
        if len(sizes) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = sizes.pop()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [items_of(dataset, indices) for dataset in self.datasets.values()]
            return [
                dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)
            ]
        return list(zip(*[items_of(each, indices) for each in self.datasets], strict=True))

    def __len__(self) -> int:
        return self._length


class Subset(Dataset[T]):
    """The items of a dataset at given indices."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        return items_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: Any = None
) -> list[Subset[T]]:
    """Cut a dataset at random into parts of the given lengths, or fractions that add up to 1.

    **Raises** ValueError if the lengths do not add up to the dataset's.
    """
    count = length_of(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _whole_lengths(lengths, count)
    if sum(lengths) != count:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = torch.randperm(int(sum(lengths)), generator=generator).tolist()
    ends = accumulate(int(length) for length in lengths)
    return [
        Subset(dataset, order[end - int(length) : end])
        for end, length in zip(ends, lengths, strict=True)
    ]


def _whole_lengths(fractions: Sequence[float], count: int) -> list[int]:
    """Fractions of `count`, rounded down; the rest goes round from the first on."""
    for position, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {position} is not between 0 and 1")
    lengths = [math.floor(count * fraction) for fraction in fractions]
    for position in range(count - sum(lengths)):
        lengths[position % len(lengths)] += 1
    return lengths
