"""Ranges for profilers: what the package `nvtx` is told, and that its absence is told."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import torchgen_out as torch


def test_ranges_nest(monkeypatch: Any) -> None:
    told: list[Any] = []
    package = SimpleNamespace(
        push_range=lambda text: told.append(("push", text)),
        pop_range=lambda: told.append("pop"),
        start_range=lambda text: told.append(("start", text)) or 7,
        end_range=lambda handle: told.append(("end", handle)),
        mark=lambda text: told.append(("mark", text)),
    )
    monkeypatch.setitem(sys.modules, "nvtx", package)
    nvtx = torch.cuda.nvtx
    assert nvtx.range_push("outer") == 0
    with pytest.raises(ZeroDivisionError), nvtx.range("step {}", 3):
        assert nvtx.range_push("inner") == 2 and nvtx.range_pop() == 2
        raise ZeroDivisionError
    assert nvtx.range_pop() == 0
    nvtx.range_end(nvtx.range_start("free"))
    nvtx.mark("here")
    pushed = [("push", "outer"), ("push", "step 3"), ("push", "inner")]
    assert told == [*pushed, "pop", "pop", "pop", ("start", "free"), ("end", 7), ("mark", "here")]


def test_without_the_package(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        torch.cuda.nvtx.range_push("outer")
