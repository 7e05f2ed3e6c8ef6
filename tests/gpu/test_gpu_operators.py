"""Every operator of the library on a GPU against the CPU: values and gradients."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from codegen.model.operator import Composite, Operator
from tests import calls, harness
from tests.cuda.test_operators import OURS, compare, on_device

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool",
          "complex64", "complex128")  # fmt: skip
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
]

FACTOR = 50.0
"""By how much more than on one processor results may differ: sums are added in other orders."""


def _tested() -> list[Operator]:
    """All with tensors to move, whose results are theirs alone."""
    return [
        each
        for each in harness.program().operators
        if not each.has_tag("nondeterministic") and any(c.inputs for c in harness.cases(each))
    ]


def _comparable(results: Any) -> bool:
    """Whether all results are tensors on the device (views, numbers and the like are not)."""
    found = calls.results(results)
    return bool(found) and all(isinstance(r, torch.Tensor) and r.is_cuda for r in found)


@pytest.mark.parametrize("operator", _tested(), ids=lambda each: each.name)
def test_values(operator):
    for dtype in [each for each in DTYPES if each in operator.dtype_names] or ["float32"]:
        for case in (each for each in harness.cases(operator) if not each.raises):
            call = OURS.arguments(case, dtype)
            theirs = on_device(call)  # before the call, which may be one in place
            try:
                expected = call()
            except (NotImplementedError, RuntimeError):  # the CPU refuses this case in this dtype
                continue
            got = theirs()
            if _comparable(got):
                compare(got, expected, f"{case} in {dtype}", factor=FACTOR)


def _differentiable() -> list[Operator]:
    return [
        each
        for each in _tested()
        if "float32" in each.dtype_names
        and not each.is_inplace
        and (isinstance(each.kind, Composite) or harness.program().derivative(each) is not None)
    ]


def _loss(results: Any) -> Any:
    """A number that depends on all floating results."""
    parts = [each for each in calls.results(results) if isinstance(each, torch.Tensor)]
    parts = [each for each in parts if each.requires_grad]
    return sum([(each.abs() if each.is_complex() else each).sum() for each in parts])


def _gradients(loss: Any, leaves: list[Any]) -> Any:
    """The gradients on the CPU; None where it has none."""
    try:
        return torch.autograd.grad(loss, leaves, allow_unused=True)
    except NotImplementedError:
        return None


@pytest.mark.parametrize("operator", _differentiable(), ids=lambda each: each.name)
def test_gradients(operator):
    case = next(each for each in harness.cases(operator) if not each.raises)
    call = OURS.arguments(case, "float32", requires_grad=True)
    theirs = on_device(call)
    leaves = [v for v in call.values.values() if getattr(v, "requires_grad", False)]
    twins = [v for v in theirs.values.values() if getattr(v, "requires_grad", False)]
    loss = _loss(call())
    expected = _gradients(loss, leaves) if leaves and isinstance(loss, torch.Tensor) else None
    if expected is None:
        pytest.skip("no gradient")
    got = torch.autograd.grad(_loss(theirs()), twins, allow_unused=True)
    for ours, other in zip(got, expected, strict=True):
        assert (ours is None) == (other is None)
        if other is not None:
            compare(ours, other, operator.name, factor=FACTOR, of_sums=True)
