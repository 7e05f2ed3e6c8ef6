"""What the documentation of 0.4 and 1.0 teaches works, or says what stands in its place."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import torchgen_out as torch


def test_instances_of_functions_are_shown_the_static_form() -> None:
    class Double(torch.autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 2

        def backward(self, grad: Any) -> Any:
            return grad * 2

    with pytest.raises(RuntimeError, match=r"(?s)Double.*@staticmethod.*Double\.apply\(x\)"):
        Double()(torch.ones(2, requires_grad=True))


def test_gradcheck_is_a_function_and_a_module() -> None:
    module = importlib.import_module("torchgen_out.autograd.gradcheck")
    assert torch.autograd.gradcheck is module.gradcheck


def test_members_of_variables() -> None:
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(AttributeError, match="grad_fn"):
        _ = x.creator
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert x.volatile is False


@pytest.mark.parametrize(
    ("older", "reduction"),
    [
        ({"size_average": True}, "mean"),
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"size_average": False, "reduce": True}, "sum"),
    ],
)
@pytest.mark.parametrize("name", ["MSELoss", "CrossEntropyLoss", "BCEWithLogitsLoss", "KLDivLoss"])
def test_older_reductions_of_losses(name: str, older: dict[str, bool], reduction: str) -> None:
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        loss = getattr(torch.nn, name)(**older)
    assert loss.reduction == reduction
