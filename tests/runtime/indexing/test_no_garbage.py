"""Calls leave nothing to Python's collector of cycles, which takes longer than they do."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch

X = torch.arange(64 * 300.0).reshape(64, 300)
INDEX = torch.tensor([1, 5, 7])

CALLS: dict[str, Callable[[], Any]] = {
    "columns": lambda: X[:, INDEX],
    "columns of what lies crosswise": lambda: X.t()[:, INDEX],
    "places": lambda: X[INDEX, INDEX],
    "writing": lambda: X.index_put((INDEX,), X[0]),
    "a mask": lambda: X[X > 5],
    "a list": lambda: torch.cat([X, X], 1),
    "sorting": lambda: X.sort(1),
    "rows that lie apart": lambda: X[:, ::2].softmax(1),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_cycles(name: str) -> None:
    call = CALLS[name]
    for _ in range(3):
        call()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        call()
        call()
        assert gc.collect() == 0
    finally:
        gc.enable()
        gc.unfreeze()
