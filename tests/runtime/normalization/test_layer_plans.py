"""Planned kernels of layers and losses, against the kernels themselves."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests.runtime.planned_ways import SHAPE, places_in, results, tied, without_plans


def normalised(given: str, sizes: tuple[int, ...], dtype: Any) -> list[Any]:
    """Batch normalisation in training: the result, running statistics, gradients."""
    torch.manual_seed(3)
    x = torch.randn(*sizes, dtype=dtype, requires_grad=True)
    vectors = {name: torch.rand(6, dtype=dtype)[1:] + 0.5 for name in given.split()}
    for name in ("weight", "bias"):
        if name in vectors:
            vectors[name].requires_grad_()
    mean, var = vectors.get("mean"), vectors.get("var")
    parameters = vectors.get("weight"), vectors.get("bias")
    result = torch.nn.functional.batch_norm(x, mean, var, *parameters, True, 0.3)
    result.backward(torch.randn(*sizes, dtype=dtype))
    leaves = [x, *(each for each in parameters if each is not None)]
    statistics = [each for each in (mean, var) if each is not None]
    return [result.detach(), *statistics, *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("given", ["", "weight", "bias", "weight bias mean var", "mean var"])
@pytest.mark.parametrize("sizes", [(6, 5), (2, 5, 3), (3, 5, 4, 2)], ids=str)
def test_batch_norm(
    sizes: tuple[int, ...], given: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = results(normalised(given, sizes, dtype))
    with without_plans(monkeypatch):
        assert planned == results(normalised(given, sizes, dtype))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(6, 5), (5,), (2, 5, 3), (2, 5, 4, 2)], ids=str)
def test_losses(
    sizes: tuple[int, ...],
    weighted: bool,
    reduction: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = getattr(torch.nn.functional, name)
    weight = torch.linspace(0.5, 2, 5) if weighted else None
    target = places_in(5, *sizes[:1] * (len(sizes) > 1), *sizes[2:])

    def loss() -> list[Any]:
        torch.manual_seed(1)
        x = torch.randn(*sizes, requires_grad=True)
        out = function(x, target, weight, ignore_index=2, reduction=reduction)
        out.backward(torch.rand_like(out))
        with pytest.raises(IndexError, match="Target 5 is out of bounds"):
            function(x, target * 0 + 5)
        return results([out.detach(), x.grad])

    planned = loss()
    with without_plans(monkeypatch):
        assert planned == loss()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("given", ["", "weight", "bias", "weight bias"])
@pytest.mark.parametrize("sizes", [(6, 5), (5,), (2, 3, 4, 5)], ids=str)
def test_layer_norm(
    sizes: tuple[int, ...], given: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def normalise() -> list[Any]:
        torch.manual_seed(3)
        leaves = [torch.randn(*sizes, dtype=dtype), *(torch.rand(5, dtype=dtype) for _ in "wb")]
        for leaf in leaves:
            leaf.requires_grad_()
        names = zip(("weight", "bias"), leaves[1:], strict=True)
        parameters = [each if name in given.split() else None for name, each in names]
        result = torch.nn.functional.layer_norm(leaves[0], (5,), *parameters)
        result.backward(torch.randn(*sizes, dtype=dtype))
        grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
        return results([result.detach(), *grads])

    planned = normalise()
    with without_plans(monkeypatch):
        assert planned == normalise()


def test_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [tied(9, 4), tied(4, 9).t(), tied(20, 4)[5:]]

    def look_up() -> list[Any]:
        indices = places_in(9, 3, 2), places_in(9), places_in(9, 0)
        return results([torch.nn.functional.embedding(i, w) for i in indices for w in weights])

    planned = look_up()
    with without_plans(monkeypatch):
        assert planned == look_up()
    with pytest.raises(IndexError):
        torch.nn.functional.embedding(torch.tensor([9]), weights[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(torch, name)

    def soften() -> list[Any]:
        found = []
        for make in (lambda: tied(*SHAPE), lambda: tied(7, 5, 7)[1:], lambda: tied(5)):
            for dim in range(-1, make().ndim):
                x = make().nan_to_num(0.5, 2, -9).to(dtype).requires_grad_()
                result = function(x, dim)
                result.backward(torch.linspace(-1, 1, x.numel(), dtype=dtype).view(x.shape))
                found += [result.detach(), x.grad]
        return results(found)

    planned = soften()
    with without_plans(monkeypatch):
        assert planned == soften()
