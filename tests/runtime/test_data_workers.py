"""Loaders with worker processes: order, seeds, streams, epochs, pinning and options."""

from __future__ import annotations

import os
import random
import time
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.runtime.worker_loading import Items, Stream, is_there, lists, loader, nothing_is_left
from torchgen_out._runtime.library.data.worker import seed_numpy
from torchgen_out.utils import data

__all__ = ["nothing_is_left"]

pytestmark = [
    pytest.mark.usefixtures("nothing_is_left"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # threads, and a fork
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),  # on a single processor
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
]


# -- order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_batches_come_in_the_order_of_the_sampler(workers: int) -> None:
    def make(i: int) -> int:
        time.sleep(0.01 * (i % 4 == 0))
        return i

    found = loader(Items(14, make), 3, workers)
    assert len(found) == len(iter(found)) == 5
    assert lists(found) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13]]
    assert lists(loader(Items(5), 2, workers, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(loader(Items(3), None, workers)) == [0, 1, 2]
    assert lists(loader(Items(9), 1, workers, batch_sampler=[[8, 0], [3]])) == [[8, 0], [3]]


def test_shuffling_is_that_of_one_process() -> None:
    def order(workers: int) -> list[Any]:
        context = "fork" if workers else None
        generator = torch.Generator().manual_seed(3)
        options = {"shuffle": True, "generator": generator, "multiprocessing_context": context}
        found = loader(Items(20), 5, workers, **options)
        return [lists(found), lists(found)]

    assert order(0) == order(2)


def test_batches_as_they_get_ready() -> None:
    def make(i: int) -> int:
        time.sleep(0.5 * (i == 0))
        return i

    found = list(chain(*lists(loader(Items(6, make), 1, in_order=False))))
    assert sorted(found) == [0, 1, 2, 3, 4, 5] and found[0] != 0


def test_workers_are_so_many_batches_ahead() -> None:
    asked: list[int] = []

    class Sampler(data.Sampler):
        def __iter__(self) -> Iterator[int]:
            for i in range(20):
                asked.append(i)
                yield i

    batches = iter(loader(Items(20), None, sampler=Sampler(), prefetch_factor=3))
    assert len(asked) == 6
    assert [next(batches), next(batches)] == [0, 1]
    assert len(asked) == 8


def test_workers_end_with_their_loader() -> None:
    found = loader(Items(4), None, persistent_workers=True)
    batches = iter(found)
    pids = batches._crew.pids()
    assert list(batches) == [0, 1, 2, 3] and all(map(is_there, pids))
    del found, batches
    assert not any(map(is_there, pids))


def test_an_interrupted_epoch_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(timeout: Any) -> Any:
        raise KeyboardInterrupt

    found = loader(Items(4), None, persistent_workers=True)
    batches = iter(found)
    assert next(batches) == 0
    monkeypatch.setattr(batches._crew, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(batches)
    assert list(batches) == [] and list(found) == [0, 1, 2, 3]


# -- what a worker is ---------------------------------------------------------------------------


def test_seeds() -> None:
    def make(_: int) -> Any:
        info = data.get_worker_info()
        assert info is not None
        state = np.random.get_state()[1][:3].tolist()
        return info.id, info.seed, torch.initial_seed(), random.random(), state, torch.rand(())

    def epoch(seed: int) -> list[Any]:
        generator = torch.Generator().manual_seed(seed)
        return list(loader(Items(2, make), None, generator=generator))

    first, second = epoch(1), epoch(2)
    assert [each[:5] for each in first] == [each[:5] for each in epoch(1)]
    base = first[0][1]
    assert base != second[0][1] and first[0][5] != first[1][5]
    for worker_id, seed, torch_seed, drawn, state, _ in first:
        assert seed == torch_seed == base + worker_id
        assert drawn == random.Random(seed).random()
        expected = np.random.RandomState(seed_numpy(base, worker_id)).get_state()[1]
        assert state == expected[:3].tolist()


def test_a_worker_knows_itself_and_uses_one_thread() -> None:
    def make(_: int) -> Any:
        info = data.get_worker_info()
        x = torch.ones(1 << 18)
        return info.num_workers, len(info.dataset), torch.get_num_threads(), float((x + x).sum())

    x = torch.ones(1 << 18)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert (x + x).sum() == 2 << 18  # threads that a fork does not copy
        assert list(loader(Items(3, make), None)) == [[2, 3, 1, float(2 << 18)]] * 3
    finally:
        torch.set_num_threads(before)
    assert data.get_worker_info() is None


def test_worker_init_fn() -> None:
    chosen: list[int] = []
    found = loader(Items(4, lambda i: chosen[0]), None, worker_init_fn=chosen.append)
    assert list(found) == [0, 1, 0, 1]
    with pytest.raises(ZeroDivisionError, match="in DataLoader worker process 0"):
        list(loader(Items(4), worker_init_fn=lambda i: 1 // i))


def test_collation_is_the_workers() -> None:
    found = loader(Items(4), 2, collate_fn=lambda items: (os.getpid(), items))
    pids, items = zip(*found, strict=True)
    assert items == ([0, 1], [2, 3]) and os.getpid() not in pids and len(set(pids)) == 2


# -- streams ------------------------------------------------------------------------------------


def test_every_worker_has_its_stream() -> None:
    assert lists(loader(Stream(5, 3), 2)) == [[0, 1], [10, 11], [2, 3], [12], [4]]
    assert lists(loader(Stream(5, 3), 2, drop_last=True)) == [[0, 1], [10, 11], [2, 3]]
    assert list(loader(Stream(0, 2), None)) == [10, 11]
    uneven = chain(*lists(loader(Stream(1, 9, 4), 2, 3)))
    assert sorted(uneven) == [0, *range(10, 19), *range(20, 24)]
    again = loader(Stream(3, 2), 2, persistent_workers=True)
    assert lists(again) == lists(again) == [[0, 1], [10, 11], [2]]


def test_a_stream_that_is_longer_than_it_says() -> None:
    class Short(Stream):
        def __len__(self) -> int:
            return 3

    found = loader(Short(2, 2), None)
    assert len(list(found)) == 4 and len(found) == 3
    with pytest.warns(UserWarning, match=r"reported to be 3.*but 4 samples have been fetched"):
        list(found)


# -- several epochs -----------------------------------------------------------------------------


def test_workers_may_stay() -> None:
    found = loader(Items(6, lambda i: (i, os.getpid())), None, persistent_workers=True)
    first = list(found)
    next(iter(found))  # an epoch that is left early, with batches under way
    assert list(found) == first
    renewed = loader(Items(6, lambda i: (i, os.getpid())), None)
    assert {pid for _, pid in renewed}.isdisjoint(pid for _, pid in renewed)
    with pytest.raises(ValueError, match="dataset attribute should not be set"):
        found.dataset = Items(3)
    del found


def test_all_batches_may_be_kept() -> None:
    batches = list(loader(Items(300, lambda i: torch.full((5000,), float(i))), None))
    assert [float(batch[17]) for batch in batches] == list(range(300))
    assert 100 < sum(batch.is_shared() for batch in batches) <= 256


def test_memory_of_a_batch_is_not_written_while_it_is_seen() -> None:
    found = loader(Items(60, lambda i: torch.full((5000,), float(i))), None)
    window: list[Any] = []
    for i, batch in enumerate(found):
        window = [*window[-3:], (i, batch)]
        assert all(bool((kept == number).all()) for number, kept in window)


# -- pinning ------------------------------------------------------------------------------------


def test_pinning_without_a_device_is_told_and_left() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a device")
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator"):
        batches = list(loader(Items(2), 1, pin_memory=True))
    assert lists(batches) == [[0], [1]]


class Pinned(int):
    """A batch that says when it is pinned."""

    def pin_memory(self) -> int:
        if self == 3:
            raise ValueError("cannot be pinned")
        return -self


def test_pinning_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "set_device", lambda index: None)
    found = loader(Items(3, Pinned), 2, pin_memory=True, collate_fn=lambda items: {"x": items})
    assert list(found) == [{"x": [0, -1]}, {"x": [-2]}]
    batches = iter(loader(Items(5, Pinned), None, pin_memory=True))
    assert [next(batches) for _ in range(3)] == [0, -1, -2]
    with pytest.raises(ValueError, match="in pin memory thread"):
        next(batches)
    dying = loader(Items(3, lambda i: os._exit(1)), pin_memory=True)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(dying)
    del batches


# -- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "phrase"),
    [
        ({"timeout": -1}, ValueError, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor option could only be specified"),
        ({"num_workers": 1, "prefetch_factor": 0}, ValueError, "prefetch_factor option should be"),
        ({"persistent_workers": True}, ValueError, "persistent_workers option needs num_workers"),
        ({"multiprocessing_context": "fork"}, ValueError, "can only be used with multi-process"),
        (
            {"num_workers": 1, "multiprocessing_context": "knife"},
            ValueError,
            "should specify a valid start method in",
        ),
        ({"num_workers": 1, "multiprocessing_context": 3}, TypeError, "valid context object"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        data.DataLoader(Items(3), **options)


def test_more_workers_than_processors_are_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="will create 9999 worker processes in total"):
            data.DataLoader(Items(3), num_workers=9999)
