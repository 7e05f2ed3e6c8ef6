"""Datasets, samplers, collation and the DataLoader."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out.utils import data


class Squares(data.Dataset):
    """0, 1, 4, 9 ..."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __getitem__(self, index: int) -> Any:
        return torch.tensor(index * index)

    def __len__(self) -> int:
        return self.count


class Stream(data.IterableDataset):
    def __iter__(self) -> Any:
        return iter(range(7))


def lists(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


def test_batches_in_order() -> None:
    loader = data.DataLoader(Squares(7), batch_size=3)
    assert lists(loader) == [[0, 1, 4], [9, 16, 25], [36]] and len(loader) == 3
    assert lists(data.DataLoader(Squares(7), 3, drop_last=True)) == [[0, 1, 4], [9, 16, 25]]
    assert lists(data.DataLoader(Squares(3), batch_size=None)) == [0, 1, 4]
    assert lists(data.DataLoader(Stream(), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(data.DataLoader(Squares(4), batch_sampler=[[3, 0], [1]])) == [[9, 0], [1]]


def test_shuffling_is_seeded() -> None:
    def order(seed: int) -> list[Any]:
        generator = torch.Generator().manual_seed(seed)
        return lists(data.DataLoader(Squares(20), 20, shuffle=True, generator=generator))

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)[0]) == [i * i for i in range(20)]
    torch.manual_seed(5)
    first = lists(data.DataLoader(Squares(20), 20, shuffle=True))
    torch.manual_seed(5)
    assert lists(data.DataLoader(Squares(20), 20, shuffle=True)) == first


def test_epochs_differ() -> None:
    loader = data.DataLoader(Squares(50), 50, shuffle=True)
    assert lists(loader) != lists(loader)


def test_tensor_dataset_and_parts() -> None:
    x, y = torch.arange(6), torch.arange(6) * 2
    pairs = data.TensorDataset(x, y)
    assert [int(item) for item in pairs[2]] == [2, 4] and len(pairs) == 6
    part = data.Subset(pairs, [5, 0])
    assert int(part[0][1]) == 10 and len(part) == 2
    parts = data.random_split(pairs, [0.5, 0.5], torch.Generator().manual_seed(0))
    assert sorted(i for part in parts for i in part.indices) == list(range(6))
    assert [len(part) for part in data.random_split(pairs, [4, 2])] == [4, 2]
    with pytest.raises(ValueError, match="does not equal the length"):
        data.random_split(pairs, [4, 4])
    both = data.ConcatDataset([pairs, part])
    assert len(both) == 8 and int(both[-1][0]) == 0
    assert len(pairs + pairs) == 12
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(x, y[:3])
    assert int(data.StackDataset(a=x, b=y)[3]["b"]) == 6


def test_samplers() -> None:
    assert list(data.SequentialSampler(range(3))) == [0, 1, 2]
    assert sorted(data.RandomSampler(range(9))) == list(range(9))
    assert len(list(data.RandomSampler(range(3), replacement=True, num_samples=100))) == 100
    assert sorted(data.SubsetRandomSampler([4, 8])) == [4, 8]
    drawn = list(data.WeightedRandomSampler([0.0, 1.0, 1.0], 50))
    assert set(drawn) == {1, 2}
    assert len(data.BatchSampler(data.SequentialSampler(range(7)), 3, False)) == 3


def test_collation() -> None:
    Point = namedtuple("Point", "x y")
    point = data.default_collate([Point(1, 2.0), Point(3, 4.0)])
    assert isinstance(point, Point) and point.x.tolist() == [1, 3]
    assert point.y.dtype is torch.float64
    batch = data.default_collate([{"a": np.ones(2), "b": ["s", 1]}] * 2)
    assert batch["a"].shape == (2, 2) and list(batch["b"][0]) == ["s", "s"]
    with pytest.raises(RuntimeError, match="should be of equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="batch must contain tensors"):
        data.default_collate([object()])
    assert isinstance(data.default_convert([np.zeros(2)])[0], torch.Tensor)


@pytest.mark.parametrize(
    ("options", "error", "phrase"),
    [
        ({"num_workers": -1}, ValueError, "should be non-negative"),
        ({"batch_size": 0}, ValueError, "batch_size should be a positive integer"),
        ({"shuffle": True, "sampler": [1]}, ValueError, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler option is mutually"),
        ({"batch_size": None, "drop_last": True}, ValueError, "disables auto-batching"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        data.DataLoader(Squares(3), **options)
