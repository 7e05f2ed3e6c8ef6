"""Data sets and loaders with worker processes, for tests; and what must not be left of them."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.processes import mapped_memory, open_descriptors
from torchgen_out._runtime.kernels.machine import compiling
from torchgen_out.utils import data


class Items(data.Dataset):
    """Item i is what a function makes of i."""

    def __init__(self, count: int, make: Any = lambda i: i) -> None:
        self.count, self.make = count, make

    def __getitem__(self, index: int) -> Any:
        return self.make(index)

    def __len__(self) -> int:
        return self.count


class Stream(data.IterableDataset):
    """Of worker w: 10 w, 10 w + 1, ... lengths[w] items."""

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths

    def __iter__(self) -> Iterator[int]:
        info = data.get_worker_info()
        assert info is not None and info.num_workers == len(self.lengths)
        return iter(range(10 * info.id, 10 * info.id + self.lengths[info.id]))


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """Neither processes nor descriptors nor mapped memory, but for compilers of kernels."""
    compiling.end_all()
    before = open_descriptors(), mapped_memory()
    yield
    gc.collect()
    compiling.end_all()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert open_descriptors() <= before[0] and mapped_memory() <= before[1]


def loader(dataset: Any, batch_size: Any = 2, workers: int = 2, **options: Any) -> Any:
    context = options.pop("multiprocessing_context", "fork")
    return data.DataLoader(
        dataset, batch_size, num_workers=workers, multiprocessing_context=context, **options
    )


def lists(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


def is_there(pid: int) -> bool:
    """Whether a process lives; one that ended and was not waited for does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
