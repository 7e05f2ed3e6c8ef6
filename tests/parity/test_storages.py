"""What programs do with the memory of tensors, byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import torchgen_out

USES: dict[str, Callable[[Any, Any], Any]] = {
    "sizes": lambda lib, s: [len(s), s.size(), s.nbytes(), s.element_size(), s.resizable()],
    "place": lambda lib, s: [str(s.device), s.is_cuda, s.get_device(), s.is_pinned()],
    "bytes": lambda lib, s: [s.tolist(), list(s), s[3]],
    "text": lambda lib, s: repr(s),
    "fill_": lambda lib, s: s.fill_(1).tolist(),
    "copy_": lambda lib, s: s.copy_(lib.full((4,), 3.0).untyped_storage()).tolist(),
    "clone": lambda lib, s: [s.clone().fill_(0).tolist(), s.tolist()],
    "cpu": lambda lib, s: s.cpu().data_ptr() == s.data_ptr(),
    "larger": lambda lib, s: [s.resize_(32).nbytes(), s.tolist()[:16]],
    "smaller": lambda lib, s: s.resize_(8).tolist(),
    "share_memory_": lambda lib, s: [s.share_memory_().is_shared(), s.tolist()],
}


@pytest.mark.parametrize("use", USES)
def test_uses(use: str) -> None:
    answers = [USES[use](lib, lib.arange(4.0).untyped_storage()) for lib in (torch, torchgen_out)]
    assert answers[0] == answers[1]


def test_memory_that_is_given_up_and_asked_for_again() -> None:
    """As programs do that spread parameters over processes: all tensors see the new one."""
    for lib in (torch, torchgen_out):
        x = lib.arange(4.0)
        view = x[1:]
        storage = x.untyped_storage()
        storage.resize_(0)
        assert (storage.nbytes(), x.shape) == (0, (4,))
        storage.resize_(16)
        x.copy_(lib.tensor([5.0, 6.0, 7.0, 8.0]))
        assert view.tolist() == [6.0, 7.0, 8.0]
        storage[0] = 1
        assert x[0].item() != 5.0


@pytest.mark.parametrize(
    "data",
    [
        *[(), (0,), (5,), ([1, 2, 300],), ((1, 2),), (range(3),), (b"ab",), ([],)],
        *[("a",), (2.5,), (-1,), ([1.0],)],
    ],
    ids=repr,
)
def test_storages_of_so_many_bytes_or_of_these(data):
    found = []
    for library in (torchgen_out, torch):
        try:
            made = library.UntypedStorage(*data)
            values = None if data == (5,) else made.tolist()
            found.append((made.nbytes(), values, bool(made), len(made), str(made.device)))
        except RuntimeError:
            found.append("refused")
    assert found[0] == found[1]


def test_a_storage_without_elements_is_false():
    for library in (torchgen_out, torch):
        assert not library.ones(0).untyped_storage()
        assert library.ones(1).untyped_storage()
        assert not library.UntypedStorage(device="meta")
        x = library.ones(0, 2, requires_grad=True)
        (x.t()[:1] * 2).sum().backward()  # views of no elements keep their storage
        assert x.grad.shape == (0, 2)
