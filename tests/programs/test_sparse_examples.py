"""The examples of sparse tensors learn and solve what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "sparse"


def example(name: str) -> Any:
    """An example's module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_graphs_are_classified() -> None:
    graphs = example("graphs")
    graph = graphs.citations(400)
    assert graphs.accuracy(graphs.GCN, graph, 30) > 0.6
    assert graphs.accuracy(graphs.GAT, graph, 30) > 0.5


def test_poisson_is_solved() -> None:
    error, difference, steps = example("poisson").solve(12)
    assert error < 1e-2 and difference < 1e-9 and steps < 60


def test_texts_are_classified() -> None:
    assert example("texts").accuracy(20) > 0.8
