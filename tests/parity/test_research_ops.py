"""Operators of examples/research_ops beside their compositions in PyTorch, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as ours
from tests.research_package import generated, module_of
from tests.ruff import accept
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck

torch = pytest.importorskip("torch")
CASES = module_of("cases").CASES


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with generated(tmp_path_factory.mktemp("research"), "research_ops") as package:
        yield package


def _is_float(value: Any) -> bool:
    return hasattr(value, "is_floating_point") and bool(value.is_floating_point())


def _arguments(name: str) -> tuple[list[Any], list[Any]]:
    """Equal arguments for PyTorch and for ours."""
    random = np.random.default_rng(0)
    case = CASES[name]
    made = case.make(torch, lambda *s: torch.from_numpy(random.standard_normal(s)), *case.small)
    theirs = [a.clone().requires_grad_() if _is_float(a) else a for a in made]
    own = [ours.tensor(a.numpy()) if isinstance(a, torch.Tensor) else a for a in made]
    return theirs, [a.requires_grad_() if _is_float(a) else a for a in own]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.repeats])
def test_as_its_composition(ops: Any, name: str) -> None:
    """Values and gradients are the composition's; first and second ones those of differences."""
    theirs, own = _arguments(name)
    operator = getattr(ops, name)
    expected, found = getattr(module_of("compositions"), name)(*theirs), operator(*own)
    values = expected.detach().numpy()
    np.testing.assert_allclose(found.detach().numpy(), values, rtol=1e-9, atol=1e-12)
    weights = np.asarray(np.random.default_rng(1).standard_normal(values.shape))
    weights = np.asarray(weights * np.isfinite(values))
    kept = torch.from_numpy(weights)
    torch.where(kept != 0, expected * kept, 0.0).sum().backward()
    weight = ours.tensor(weights)

    def scalar(*args: Any) -> Any:
        return ours.where(weight != 0, operator(*args) * weight, 0.0).sum()

    scalar(*own).backward()
    for one, other in zip(own, theirs, strict=True):
        if _is_float(one) and one.grad is not None:
            np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-8, atol=1e-10)
    if name != "quantise":  # its gradient is not that of its value
        assert gradcheck(scalar, own)
        assert gradgradcheck(scalar, own)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.repeats])
def test_draws(ops: Any, name: str) -> None:
    """A seed gives a result, of the right mean; the gradient is that of the same draw."""
    _, own = _arguments(name)
    operator = getattr(ops, name)

    def seeded(*args: Any) -> Any:
        return operator(*args, generator=ours.Generator().manual_seed(7))

    np.testing.assert_array_equal(seeded(*own).detach().numpy(), seeded(*own).detach().numpy())
    ours.manual_seed(0)
    first, *others = [operator(*own) for _ in range(20)]  # two may drop the same few elements
    assert any((each != first).any() for each in others)
    assert gradcheck(seeded, own)
    assert gradgradcheck(seeded, own)


def test_draws_are_even(ops: Any) -> None:
    """Means and neighbours of many draws; every element has a draw of its own."""
    ours.manual_seed(0)
    values = ops.gumbel_sigmoid(ours.zeros(400, 500)).numpy()  # evenly from (0, 1)
    counts = np.histogram(values, 16, (0, 1))[0] / values.size * 16
    np.testing.assert_allclose(counts, 1, atol=0.04)
    assert abs(np.corrcoef(values[:, 1:].ravel(), values[:, :-1].ravel())[0, 1]) < 0.01
    x, bias = ours.full((400, 500), 9.0), ours.zeros(500)
    dropped = ops.bias_gelu_dropout_residual(x, bias, ours.zeros(400, 500), 0.3).numpy()
    assert abs((dropped == 0).mean() - 0.3) < 0.01


def test_formatters_leave_the_package_as_it_is(ops: Any) -> None:
    accept(ops)
