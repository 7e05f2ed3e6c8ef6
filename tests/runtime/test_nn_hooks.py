"""Hooks of modules: before and after forward, and around backward."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out import nn


def test_forward_hooks_change_arguments_and_output() -> None:
    layer = nn.Identity()
    layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
    layer.register_forward_hook(lambda module, args, output: output * 10)
    handle = layer.register_forward_hook(lambda *a: calls.append(a[2]), prepend=True)
    calls: list[Any] = []
    assert float(layer(torch.tensor(1.0))) == 20.0
    assert float(calls[0]) == 2.0
    handle.remove()
    layer(torch.tensor(1.0))
    assert len(calls) == 1


def test_forward_hooks_with_keywords_and_after_errors() -> None:
    class Fails(nn.Module):
        def forward(self, x: Any, fail: bool = False) -> Any:
            if fail:
                raise RuntimeError("no")
            return x

    layer, calls = Fails(), []
    layer.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"fail": not kwargs["fail"]}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda module, args, kwargs, output: calls.append(kwargs["fail"]),
        with_kwargs=True,
        always_call=True,
    )
    layer(1, fail=True)
    with pytest.raises(RuntimeError, match="no"):
        layer(1, fail=False)
    assert calls == [False, True]


def test_backward_hooks_see_and_change_gradients() -> None:
    layer = nn.Linear(2, 3, bias=False)
    seen: dict[str, Any] = {}

    def pre(module: Any, grad_output: Any) -> Any:
        seen["output"] = grad_output[0].clone()
        return (grad_output[0] * 2,)

    def post(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen["input"], seen["doubled"] = grad_input[0].clone(), grad_output[0].clone()
        return (grad_input[0] * 10,)

    layer.register_full_backward_pre_hook(pre)
    layer.register_full_backward_hook(post)
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert torch.equal(seen["output"], torch.ones(1, 3))
    assert torch.equal(seen["doubled"], torch.full((1, 3), 2.0))
    assert torch.allclose(seen["input"], 2 * layer.weight.sum(0, keepdim=True))
    assert torch.allclose(x.grad, 10 * seen["input"])
    assert torch.allclose(layer.weight.grad, torch.full((3, 2), 2.0))


def test_backward_hook_without_gradient_of_the_input() -> None:
    layer, seen = nn.Linear(2, 3), []
    layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(torch.ones(1, 2)).sum().backward()
    assert seen == [(None,)]


def test_backward_hooks_of_the_old_kind_see_the_last_operator() -> None:
    layer = nn.Linear(2, 3)
    seen: list[Any] = []
    layer.register_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
    with pytest.warns(FutureWarning, match="multiple autograd Nodes"):  # there are parameters
        result = layer(torch.ones(4, 2, requires_grad=True) * 1)
    result.sum().backward()
    ((inputs, outputs),) = seen
    assert sorted(each.shape for each in inputs) == [(3,), (3, 2), (4, 2)]
    assert [each.shape for each in outputs] == [(4, 3)]
    activation = nn.Tanh()
    activation.register_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
    x = torch.zeros(2, requires_grad=True)
    activation(x * 1).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]


def test_backward_hooks_are_of_one_kind() -> None:
    old, new = nn.ReLU(), nn.ReLU()
    old.register_backward_hook(lambda *_: None)
    new.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular"):
        old.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular"):
        new.register_backward_hook(lambda *_: None)


def test_hooks_return_as_many_gradients_as_they_were_given() -> None:
    layer = nn.Linear(2, 3)
    handle = layer.register_full_backward_hook(lambda *_: (1, 2, 3))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 3, but expected 1"):
        layer(torch.ones(1, 2, requires_grad=True)).sum().backward()
    handle.remove()
    layer.register_full_backward_pre_hook(lambda *_: (1, 2))
    with pytest.raises(RuntimeError, match="invalid number of grad_output, got 2, but expected 1"):
        layer(torch.ones(1, 2, requires_grad=True)).sum().backward()
