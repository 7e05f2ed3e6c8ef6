"""The matrix of families: one name on every floor, and an operator's files all in its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from codegen.model.operator import Dispatch, Operator
from tests import harness

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"

FAMILIES = frozenset(
    (
        "activation",
        "attention",
        "collective",
        "conv",
        "copy",
        "embedding",
        "fft",
        "indexing",
        "linalg",
        "loss",
        "matmul",
        "normalization",
        "pointwise",
        "pooling",
        "random",
        "reduction",
        "rnn",
        "sampling",
        "scan",
        "scatter",
        "softmax",
        "sort",
        "sparse",
        "special",
        "view",
    )
)
FLOORS = {
    "kernels/cpu": {"loops"},
    "kernels/cuda": {"loops", "compiling"},
    "ops/shapes": set(),
    "ops/composite": {"batched", "updates"},
    "autograd/formulas": set(),
}
"""Where families are folders or files; and the folders there that serve all of them."""
SHARED = frozenset(("pointwise", "reduction"))
"""Whose formulas others use: a gradient is scaled and summed everywhere."""


def _in(floor: str) -> Iterator[str]:
    """The folders of a floor; and its files, where these are families, too."""
    for path in (RUNTIME / floor).iterdir():
        if path.is_dir() and any(path.glob("*.py")):
            yield path.name
        elif path.suffix == ".py" and path.stem != "__init__" and "kernels" not in floor:
            yield path.stem


@pytest.mark.parametrize("floor", FLOORS)
def test_floors_consist_of_families(floor: str) -> None:
    assert set(_in(floor)) - FLOORS[floor] <= FAMILIES
    assert len(set(_in(floor))) > 10


def families_of(operator: Operator) -> dict[str, str]:
    """Where the functions are that an operator's entry names: backend or 'meta' -> family."""
    kind = operator.kind
    assert isinstance(kind, Dispatch)
    references = dict(kind.backends)
    if kind.meta is not None:
        references["meta"] = kind.meta
    return {what: each.module.partition(".")[0] for what, each in references.items()}


WITH_KERNELS = [o for o in harness.program().operators if isinstance(o.kind, Dispatch)]


def test_kernels_and_shapes_are_of_one_family() -> None:
    found = {operator.name: families_of(operator) for operator in WITH_KERNELS}
    assert len(found) > 60
    assert {name: each for name, each in found.items() if len(set(each.values())) != 1} == {}


@cache
def formula_families() -> dict[str, str]:
    """The family of each function that derivatives.yaml may call."""
    home = RUNTIME / "autograd" / "formulas"
    return {
        node.name: path.relative_to(home).parts[0].removesuffix(".py")
        for path in home.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def called_formulas(operator: str) -> Iterator[str]:
    """The hand-written functions that the gradients of an operator call."""
    for derivative in harness.program().derivatives:
        if derivative.operator == operator:
            for gradient in derivative.gradients:
                yield from gradient.expression.functions if gradient.expression else ()


def test_derivatives_call_formulas_of_the_family() -> None:
    families = formula_families()
    called = [(each, name) for each in WITH_KERNELS for name in called_formulas(each.name)]
    assert len(called) > 30
    assert [
        f"{operator.name} calls {families[name]}.{name}"
        for operator, name in called
        if families[name] not in (*families_of(operator).values(), *SHARED)
    ] == []
