"""Loading: the order of batches, the seeds of workers and what becomes of containers, compared."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import torchgen_out
from torchgen_out._runtime.library.data.worker import seed_numpy

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]

LIBRARIES = torchgen_out, pytorch
Pair = collections.namedtuple("Pair", "x y")


DATAPIPES = {
    "DFIterDataPipe",
    "DataChunk",
    "IterDataPipe",
    "MapDataPipe",
    "argument_validation",
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
}
"""What is not there: PyTorch has stopped its work on them."""


def test_names() -> None:
    ours, theirs = (library.utils.data for library in LIBRARIES)
    public = {name for name in theirs.__all__ if not name.startswith("_")}
    assert public - set(dir(ours)) == DATAPIPES
    assert ours.dataloader.default_collate is ours.default_collate
    assert ours.sampler.Sampler is ours.Sampler and ours.dataset.Subset is ours.Subset
    assert ours.distributed.DistributedSampler is ours.DistributedSampler
    assert ours.DataLoader[int] and ours.ConcatDataset[int]


@pytest.mark.parametrize("base_seed", [0, 1, 2**32, 3 * 2**40 + 17, 2**63 - 1])
def test_numpys_seeds(base_seed: int) -> None:
    theirs = pytorch.utils.data._utils.worker._generate_state
    for worker_id in (0, 1, 7):
        assert seed_numpy(base_seed, worker_id) == theirs(base_seed, worker_id)


def stream_of(library: Any, lengths: tuple[int, ...]) -> Any:
    class Stream(library.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            worker = library.utils.data.get_worker_info().id
            return iter(range(10 * worker, 10 * worker + lengths[worker]))

    return Stream()


@pytest.mark.parametrize("lengths", [(5, 3), (1, 6), (0, 4), (4, 4), (7,)])
def test_the_order_of_streams(lengths: tuple[int, ...]) -> None:
    ours, theirs = [
        [
            batch.tolist()
            for batch in library.utils.data.DataLoader(
                stream_of(library, lengths), 2, num_workers=len(lengths)
            )
        ]
        for library in LIBRARIES
    ]
    assert ours == theirs


class Failing:
    """Item 1 raises something."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        if index == 1:
            raise self.error
        return index


@pytest.mark.parametrize(
    "error", [KeyError("name"), ValueError(1), UnicodeDecodeError("utf-8", b"", 0, 1, "why")]
)
def test_exceptions_of_workers(error: Exception) -> None:
    caught = []
    for library in LIBRARIES:
        with pytest.raises(Exception, match="DataLoader worker process 0") as info:
            list(library.utils.data.DataLoader(Failing(error), num_workers=1))
        caught.append(info.value)
    assert type(caught[0]) is type(caught[1])
    first, last = [[str(each).split("\n")[i] for each in caught] for i in (0, -2)]
    assert first[0] == first[1] and last[0] == last[1]


def containers(tensor: Any) -> list[Any]:
    """Samples of every kind of container around an array."""
    array = np.arange(3.0)
    default = collections.defaultdict(list, a=array)
    return [
        array,
        np.float32(2),
        [array, 1],
        (array, "text", b"bytes"),
        Pair(array, 2.5),
        {"a": array, "b": {"c": True}},
        collections.OrderedDict(z=array, a=1),
        default,
        collections.deque([array, tensor]),
        [[1, 2], [array, (tensor, tensor)]],
        None,
    ]


def described(found: Any) -> Any:
    """Types, keys, dtypes and values, whichever library the tensors are of."""
    if hasattr(found, "tolist"):
        return str(found.dtype), tuple(found.shape), found.tolist()
    if isinstance(found, dict):
        return type(found), {key: described(item) for key, item in found.items()}
    if isinstance(found, (list, tuple, collections.deque)):
        return type(found), [described(item) for item in found]
    return found


@pytest.mark.parametrize("place", range(len(containers(None))))
def test_containers(place: int) -> None:
    ours, theirs = [containers(library.ones(2))[place] for library in LIBRARIES]
    convert = [library.utils.data.default_convert for library in LIBRARIES]
    assert described(convert[0](ours)) == described(convert[1](theirs))
    if ours is not None:
        collate = [library.utils.data.default_collate for library in LIBRARIES]
        assert described(collate[0]([ours] * 2)) == described(collate[1]([theirs] * 2))


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("count", [1, 7, 8, 10])
def test_shares_of_replicas(count: int, drop_last: bool) -> None:
    for rank in range(3):
        ours, theirs = [
            library.utils.data.DistributedSampler(
                range(count), 3, rank, shuffle=False, drop_last=drop_last
            )
            for library in LIBRARIES
        ]
        assert list(ours) == list(theirs) and len(ours) == len(theirs)


class Marked(list):  # type: ignore[type-arg]
    """A list that carries more than its items."""

    mark = "none"


def test_types_of_programs_are_put_together_as_they_say() -> None:
    found = []
    for library in LIBRARIES:
        parts: Any = library.utils.data._utils.collate
        functions = {
            **parts.default_collate_fn_map,
            Pair: lambda batch, *, collate_fn_map: len(batch),
        }
        sample = Marked([Pair(1, 2), 1.5])
        sample.mark = "kept"
        batch = parts.collate([{"a": sample}] * 3, collate_fn_map=functions)
        assert batch["a"].mark == "kept"
        found.append(described(batch))
        with pytest.raises(TypeError, match="must contain tensors, numpy arrays, numbers"):
            parts.collate([1, 2])
        with pytest.raises(RuntimeError, match="Batches of sparse tensors are not currently"):
            parts.default_collate([library.eye(2).to_sparse()] * 2)
    assert found[0] == found[1]


def test_stacked_datasets_are_asked_for_batches() -> None:
    found = []
    for library in LIBRARIES:
        data: Any = library.utils.data

        class Many(data.Dataset):  # type: ignore[misc]
            def __init__(self, short: int = 0) -> None:
                self.short = short

            def __len__(self) -> int:
                return 5

            def __getitem__(self, index: int) -> int:
                raise AssertionError("it can be asked for many")

            def __getitems__(self, indices: list[int]) -> list[int]:
                return [10 * i for i in indices][self.short :]

        stacks = data.StackDataset(Many(), range(5)), data.StackDataset(a=Many(), b=range(5))
        found.append([stack.__getitems__([3, 1]) for stack in stacks])
        found[-1] += [described(list(data.DataLoader(stack, 2))) for stack in stacks]
        with pytest.raises(ValueError, match="Expected 2, got 1"):
            data.StackDataset(Many(1)).__getitems__([3, 1])
        with pytest.raises(ValueError, match="num_samples should be a positive integer value"):
            data.DataLoader([], shuffle=True)
    assert found[0] == found[1]
