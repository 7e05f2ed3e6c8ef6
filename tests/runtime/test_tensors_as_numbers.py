"""Tensors of no dims where an operator takes a number: what they hold now, and never a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out import Tensor
from torchgen_out.nn import functional as F

X = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
ROW = torch.tensor([0])

CALLS: dict[str, Callable[[Any], Tensor]] = {
    "addmm": lambda n: torch.addmm(X, X, X, beta=n, alpha=n),
    "baddbmm": lambda n: torch.baddbmm(X[None], X[None], X[None], beta=n),
    "index_add": lambda n: X.index_add(0, ROW, X[:1], alpha=n),
    "vector_norm": lambda n: torch.linalg.vector_norm(X, n),
    "cdist": lambda n: torch.cdist(X, X + 1, p=n),
    "pdist": lambda n: F.pdist(X, p=n),
    "layer_norm": lambda n: F.layer_norm(X, (2,), eps=n),
    "group_norm": lambda n: F.group_norm(X, 1, eps=n),
    "batch_norm": lambda n: F.batch_norm(X, X[0], X[1], eps=n),
    "pad": lambda n: F.pad(X, (1, 1), value=n),
    "add": lambda n: torch.add(X, X, alpha=n),
    "addcmul": lambda n: torch.addcmul(X, X, X, value=n),
    "leaky_relu": lambda n: F.leaky_relu(-X, n),
    "hardtanh": lambda n: F.hardtanh(X, -1, n),
    "renorm": lambda n: torch.renorm(X, 2, 0, n),
    "huber_loss": lambda n: F.huber_loss(X, -X, delta=n),
    "full": lambda n: torch.full((2,), n),
    "full_like": lambda n: torch.full_like(X, n),
    "new_full": lambda n: X.new_full((2,), n),
    "dropout": lambda n: F.dropout(X, p=n * 0.3, training=False),
    "alpha_dropout": lambda n: F.alpha_dropout(X, p=n * 0.3, training=False),
    "scaled_dot_product_attention": lambda n: F.scaled_dot_product_attention(X, X, X, scale=n),
    "logit": lambda n: torch.logit(X / 10, n / 10),
    "logit by name": lambda n: X.logit(eps=n / 10),
    "isclose": lambda n: torch.isclose(X, X + 5, rtol=n),
    "isclose, atol": lambda n: X.isclose(X + 3, atol=n),
    "rms_norm": lambda n: F.rms_norm(X, (2,), eps=n),
    "triplet_margin_loss": lambda n: F.triplet_margin_loss(X, X + 1, X, margin=n),
    "margin_ranking_loss": lambda n: F.margin_ranking_loss(X, X + 1, X, margin=n),
    "hinge_embedding_loss": lambda n: F.hinge_embedding_loss(X, -X, margin=n),
    "poisson_nll_loss": lambda n: F.poisson_nll_loss(X, X, log_input=False, eps=n),
    "nan_to_num": lambda n: torch.nan_to_num(X.log2() - torch.inf, neginf=n),
    "dist": lambda n: torch.dist(X, X.T, n),
    "arange": lambda n: torch.arange(0, n, 0.5),
    "logspace": lambda n: torch.logspace(0, 1, 3, base=n),
    "embedding": lambda n: F.embedding(ROW, X.clone(), max_norm=n / 10),
    "embedding_bag": lambda n: F.embedding_bag(ROW[None], X.clone(), max_norm=n / 10),
    "trunc_normal_": lambda n: _drawn(torch.nn.init.trunc_normal_, n),
    "normal_": lambda n: _drawn(torch.nn.init.normal_, n),
}


def _drawn(function: Callable[..., Tensor], std: Any) -> Tensor:
    torch.manual_seed(0)
    return function(torch.empty(3), std=std).mul(1e4).round()


@pytest.mark.parametrize("name", CALLS)
def test_they_are_read_at_every_call(name: str) -> None:
    """A launch that was planned for a tensor's number is not that for its next one."""
    number, function = torch.tensor(2.5), CALLS[name]
    for value in (2.5, 3.0, 1.5):
        number.fill_(value)
        assert function(number).tolist() == function(value).tolist()


@pytest.mark.parametrize("name", CALLS)
def test_they_may_not_require_grad(name: str) -> None:
    """A parameter that would never learn, since numbers have no gradients."""
    with pytest.raises(TypeError, match=r"must be (Number|float), not Tensor|invalid combination"):
        CALLS[name](torch.tensor(2.5, requires_grad=True))


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_of_ranges_may(name: str) -> None:
    """They may be tensors, of which the range is made as if they were detached."""
    made = getattr(torch, name)(0, torch.tensor(2.0, requires_grad=True), 3)
    assert made.tolist() == getattr(torch, name)(0, 2.0, 3).tolist()
    assert not made.requires_grad


@pytest.mark.parametrize("scale", [torch.tensor(2.0), (torch.tensor(2.0),)], ids=str)
def test_scales_of_interpolate_are_no_tensors(scale: Any) -> None:
    """They are in PyTorch only where they are to become a size first."""
    with pytest.raises(TypeError, match="must be float, not Tensor"):
        F.interpolate(X[None], scale_factor=scale)
    assert F.interpolate(X[None], scale_factor=2.0).shape == (1, 2, 4)
    sized = F.interpolate(X[None], scale_factor=scale, recompute_scale_factor=True)
    assert sized.shape == (1, 2, 4)
