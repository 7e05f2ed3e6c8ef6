"""What the documentation of 0.4 and 1.0 teaches works, or says what stands in its place."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out._runtime.core import deprecation


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")
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


def test_functions_of_losses_take_older_reductions() -> None:
    x, y = torch.rand(3, 4), torch.rand(3, 4)
    classes = torch.tensor([0, 2, 1])
    names = torch.tensor([[1, -1, 0, 0], [0, 2, -1, 1], [3, 1, 2, -1]])
    given = {"nll_loss": classes, "cross_entropy": classes, "multi_margin_loss": classes}
    given |= {"multilabel_margin_loss": names, "mse_loss": y, "l1_loss": y, "smooth_l1_loss": y}
    given |= {"kl_div": y, "binary_cross_entropy": y, "soft_margin_loss": y}
    for name, target in given.items():
        loss = getattr(torch.nn.functional, name)
        with pytest.warns(UserWarning):
            older = loss(x, target, size_average=False)
        assert torch.equal(older, loss(x, target, reduction="sum")), name


EYE = torch.eye(3)
MASK = torch.tensor([1, 0], dtype=torch.uint8)
PLACES = torch.tensor([1, 0])
DEPRECATED = {
    "cholesky": lambda: torch.cholesky(EYE),
    "qr": lambda: EYE.qr(),
    "lu": lambda: torch.lu(EYE),
    "chain_matmul": lambda: torch.chain_matmul(EYE, EYE),
    "triangular_solve": lambda: torch.triangular_solve(EYE, EYE),
    "lu_solve": lambda: torch.lu_solve(EYE, *torch.linalg.lu_factor(EYE)),
    "range": lambda: torch.range(0, 3),
    "T": lambda: torch.ones(2, 3, 4).T,
    "T of a number": lambda: torch.ones(()).T,
    "mT of a number": lambda: torch.ones(()).mT,
    "H of a number": lambda: torch.ones(()).H,
    "adjoint of a number": lambda: torch.ones(()).adjoint(),
    "meshgrid": lambda: torch.meshgrid(torch.ones(2), torch.ones(3)),
    "cross": lambda: torch.cross(EYE, EYE),
    "where of bytes": lambda: torch.where(MASK, torch.ones(2).short(), torch.ones(2).char()),
    "scatter": lambda: torch.ones(2).scatter(0, PLACES, torch.ones(2), reduce="add"),
    "index_reduce": lambda: torch.ones(2).index_reduce(0, PLACES, torch.ones(2), "prod"),
}
FINE = {
    "T": lambda: (EYE.T, torch.ones(3).T, torch.ones(2, 3, 4).mT),
    "meshgrid": lambda: torch.meshgrid(torch.ones(2), torch.ones(3), indexing="ij"),
    "cross": lambda: torch.cross(EYE, EYE, dim=0),
    "scatter": lambda: torch.ones(2).scatter(0, PLACES, 2.0, reduce="add"),
    "scatter_reduce": lambda: torch.ones(2).scatter_reduce(0, PLACES, torch.ones(2), "sum"),
}


@pytest.mark.parametrize("name", DEPRECATED)
def test_what_pytorch_has_given_up_warns_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the line of whoever calls it."""
    monkeypatch.setattr(deprecation, "_told", set())
    with pytest.warns(UserWarning, match="deprecated|required to pass|in beta") as told:
        DEPRECATED[name]()
        DEPRECATED[name]()
    assert [each.filename for each in told] == [__file__]


@pytest.mark.parametrize("name", FINE)
def test_what_stays_does_not_warn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deprecation, "_told", set())
    FINE[name]()
    assert not deprecation._told


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_mixed_precision_as_it_was_before_it_named_the_device(device: str) -> None:
    amp = importlib.import_module(f"torchgen_out.{device}.amp")
    assert importlib.import_module(f"{amp.__name__}.autocast_mode").autocast is amp.autocast
    assert importlib.import_module(f"{amp.__name__}.grad_scaler").GradScaler is amp.GradScaler
    with pytest.warns(FutureWarning, match=f"torch.{device}.amp.autocast"):
        lower = amp.autocast(enabled=device == "cpu")
    with lower:
        assert torch.mm(EYE, EYE).dtype is (torch.bfloat16 if device == "cpu" else torch.float32)
    with pytest.warns(FutureWarning, match="GradScaler"):
        assert amp.GradScaler(enabled=False).get_scale() == 1.0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "batch_first was not True"),
        ({"batch_first": True, "norm_first": True}, "norm_first was True"),
        ({"batch_first": True, "nhead": 1}, "num_heads is odd"),
        ({"batch_first": True, "activation": torch.tanh}, "activation_relu_or_gelu was not True"),
        ({"batch_first": True, "bias": False}, "self_attn was passed bias=False"),
    ],
)
def test_encoders_say_why_nothing_is_packed(options: dict[str, object], reason: str) -> None:
    layer = torch.nn.TransformerEncoderLayer(4, **{"nhead": 2, **options})
    with pytest.warns(
        UserWarning, match=f"enable_nested_tensor is True, but .* encoder_layer.*{reason}"
    ):
        torch.nn.TransformerEncoder(layer, 1)
    torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
