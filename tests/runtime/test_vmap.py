"""`torch.func`: nested maps, arguments, results, random numbers, errors, derivatives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

X = torch.arange(12.0).reshape(3, 4) / 7
W = torch.tensor([0.5, -1.0, 2.0, 0.25])


def test_maps_nest_and_choose_their_dims() -> None:
    outer = vmap(vmap(lambda a, b: a * b, (0, None)), (0, 1), out_dims=2)
    made = outer(X, torch.ones(2, 3) * 2)
    assert made.shape == (4, 2, 3)
    assert torch.equal(made, (X * 2).t()[:, None].expand(4, 2, 3))


def test_arguments_and_results_are_trees() -> None:
    function = vmap(
        lambda given, scale: {"sum": given["x"].sum() * scale, "both": (given["y"], given["x"])},
        in_dims=({"x": 1, "y": None}, None),
        out_dims={"sum": 0, "both": (None, 1)},
    )
    made = function({"x": X, "y": W}, 3)
    assert torch.allclose(made["sum"], X.sum(0) * 3)
    assert torch.equal(made["both"][0], W)
    assert torch.equal(made["both"][1], X)


@pytest.mark.parametrize("chunk", [None, 1, 2, 3, 7])
def test_chunks(chunk: int | None) -> None:
    assert torch.equal(vmap(lambda a: a.cumsum(0), chunk_size=chunk)(X), X.cumsum(1))


def test_samples_write_to_samples() -> None:
    def fill(a: Any) -> Any:
        made = a.new_zeros(5)
        made[1:] = a
        made[0] += a.sum()
        made.t_().mul_(2).unsqueeze_(0)
        return made

    assert torch.allclose(vmap(fill)(X), 2 * torch.cat([X.sum(1, keepdim=True), X], 1)[:, None])


MISTAKES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: vmap(lambda a: a.item())(W), RuntimeError, "vmap: It looks like you're either"),
    (lambda: vmap(lambda a: a if a > 0 else -a)(W), RuntimeError, "data-dependent control flow"),
    (lambda: vmap(lambda a: W.add_(a))(X), RuntimeError, "vmap: add_ is not possible"),
    (lambda: vmap(lambda a: torch.add(a, 1, out=W))(X), RuntimeError, "leave out="),
    (lambda: vmap(lambda a: 3)(X), ValueError, "must only return Tensors"),
    (lambda: vmap(lambda a, b: a)(X, W), ValueError, "same size in the mapped dim"),
    (lambda: vmap(lambda a: a, in_dims=2)(X), ValueError, "in_dim=2 for some input"),
    (lambda: vmap(lambda a: a, in_dims=(0, 0))(X), ValueError, "not compatible"),
    (lambda: vmap(lambda a: a, in_dims=None)(X), ValueError, "expected `in_dims` to be int"),
    (lambda: vmap(lambda a, b: a)(X, 2), ValueError, "cannot vmap over non-Tensor"),
    (lambda: vmap(lambda a: a, out_dims=(0, 1))(X), ValueError, "out_dims is not compatible"),
    (lambda: vmap(lambda a: a[a > 0.2])(X), RuntimeError, "can output dynamic shape"),
    (lambda: vmap(lambda: 0)(), ValueError, "got no inputs"),
    (lambda: vmap(lambda a: a, randomness="all")(X), RuntimeError, "Only allowed values"),
    (lambda: vmap(lambda a: a, chunk_size=0)(X), ValueError, "greater than 0"),
    (lambda: vmap(lambda a: a.select(1, 0))(X), IndexError, re.escape("[-1, 0], but got 1")),
    (lambda: vmap(lambda a: a.sum(-2))(X), IndexError, re.escape("[-1, 0], but got -2")),
    (lambda: vmap(torch.linalg.inv)(torch.zeros(2, 3, 3)), RuntimeError, "singular"),
    (lambda: grad(lambda a: a)(X), RuntimeError, "to return a scalar Tensor"),
    (lambda: grad(lambda a: 1.0)(X), RuntimeError, "to return a Tensor, got"),
    (lambda: grad(lambda a: a.sum())(torch.arange(3)), RuntimeError, "floating point"),
    (lambda: grad(lambda a: a.sum(), argnums=1)(X), RuntimeError, "only 1 positional"),
    (lambda: jvp(torch.sin, (X,), (W,)), RuntimeError, "shapes of their primals"),
    (lambda: jvp(torch.sin, X, X), RuntimeError, "Expected primals to be a tuple"),
    (lambda: vjp(torch.sin), RuntimeError, "at least one primal"),
]


@pytest.mark.parametrize(("call", "kind", "text"), MISTAKES, ids=[m[2][:24] for m in MISTAKES])
def test_mistakes(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
    assert torch.rand(2).shape == (2,)  # nothing of the map is left behind


DRAWS: dict[str, Callable[[Any], Any]] = {
    "rand": lambda a: torch.rand(4),
    "randn_like": torch.randn_like,
    "dropout": lambda a: torch.nn.functional.dropout(torch.ones_like(a)),
    "bernoulli": lambda a: torch.bernoulli(torch.full_like(a, 0.5)),
    "normal_": lambda a: a.clone().normal_(),
    "multinomial": lambda a: torch.multinomial(torch.ones_like(a), 4),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers(name: str) -> None:
    samples = torch.zeros(8, 16)
    draw = DRAWS[name] if name != "rand" else lambda a: torch.rand(16)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(draw)(samples)
    same = vmap(draw, randomness="same")(samples)
    assert all(torch.equal(each, same[0]) for each in same)
    apart = vmap(draw, randomness="different")(samples)
    assert not all(torch.equal(each, apart[0]) for each in apart)


def test_what_all_share_has_no_numbers_of_each() -> None:
    with pytest.raises(RuntimeError, match="same for all samples"):
        vmap(lambda a: a + W.clone().normal_(), randomness="different")(X)


class Sign(torch.autograd.Function):
    """A gradient that is not its value's."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.sign()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 5


class Doubled(Sign):
    """One with a rule of its own."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert (info.batch_size, in_dims) == (3, (0,))
        return x * 2, 0


def test_functions_keep_their_gradients() -> None:
    found = vmap(grad(lambda a: (Sign.apply(a) * a).sum()))(X)
    assert torch.allclose(found, X.sign() + 5 * X)
    assert torch.equal(vmap(Doubled.apply)(X), X * 2)


def test_gradients_reach_what_is_outside() -> None:
    leaf = X.clone().requires_grad_()
    vmap(lambda a: (a**2).sum())(leaf).sum().backward()
    assert torch.allclose(leaf.grad, 2 * X)
    scale = torch.tensor(2.0, requires_grad=True)
    inner = grad(lambda a: (a**2 * scale).sum())(W)
    assert inner.requires_grad
    inner.sum().backward()
    assert torch.allclose(scale.grad, (2 * W).sum())
    assert not grad(lambda a: (a**2).sum())(W).requires_grad


def test_perturbations_are_told_apart() -> None:
    outer = grad(lambda x: x * grad(lambda y: x + y)(torch.tensor(1.0)))
    assert outer(torch.tensor(3.0)).item() == 1.0
    assert grad(grad(grad(torch.sin)))(torch.tensor(0.0)).item() == pytest.approx(-1.0)


def test_values_and_extras_come_along() -> None:
    gradient, (value, extra) = grad_and_value(lambda a: ((a**3).sum(), a + 1), has_aux=True)(W)
    assert torch.allclose(gradient, 3 * W**2)
    assert value.item() == pytest.approx((W**3).sum().item())
    assert torch.equal(extra, W + 1)
    assert not extra.requires_grad


def test_products_and_matrices_agree() -> None:
    def function(a: Any) -> Any:
        return a.sin() * a.sum()

    matrix = jacrev(function)(W)
    assert torch.allclose(matrix, jacfwd(function)(W))
    assert torch.allclose(matrix, torch.autograd.functional.jacobian(function, W))
    assert torch.allclose(jacrev(function, chunk_size=3)(W), matrix)
    value, product = vjp(function, W)
    assert torch.allclose(product(W)[0], W @ matrix)
    assert torch.allclose(jvp(function, (W,), (X[0],))[1], matrix @ X[0])
    again, pushed = linearize(function, W)
    assert torch.equal(value, again)
    assert torch.allclose(pushed(X[1]), matrix @ X[1])
    assert torch.allclose(hessian(lambda a: (a**3).sum())(W), torch.diag(6 * W))
    batched = vmap(jacrev(function))(X)
    assert torch.allclose(batched[1], jacrev(function)(X[1]))


def test_several_arguments_give_a_structure() -> None:
    found = jacrev(lambda a, b: {"p": a * b, "s": a.sum()}, argnums=(0, 1))(W, W + 1)
    assert torch.allclose(found["p"][0], torch.diag(W + 1))
    assert torch.allclose(found["s"][0], torch.ones(4))
    assert torch.equal(found["s"][1], torch.zeros(4))


def test_gradients_of_each_sample() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 3)
    )
    images, labels = torch.randn(5, 1, 4, 4), torch.tensor([0, 2, 1, 1, 0])
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def loss(given: Any, image: Any, label: Any) -> Any:
        scores = functional_call(model, given, (image[None],))
        return torch.nn.functional.cross_entropy(scores, label[None])

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, images, labels)
    for i in range(5):
        expected = grad(loss)(parameters, images[i], labels[i])
        assert all(torch.allclose(found[k][i], v, atol=1e-6) for k, v in expected.items())


def test_models_run_side_by_side() -> None:
    models = [torch.nn.Linear(4, 2) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    run = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), in_dims=(0, 0, None))
    made = run(parameters, buffers, X)
    assert torch.allclose(made, torch.stack([each(X) for each in models]), atol=1e-6)


def test_gradients_of_several_starts() -> None:
    leaf = W.clone().requires_grad_()
    rows = torch.autograd.grad(leaf.sin(), leaf, torch.eye(4), is_grads_batched=True)[0]
    assert torch.allclose(rows, torch.diag(W.cos()))
    with pytest.raises(RuntimeError, match="is_grads_batched"):
        torch.autograd.grad(leaf.sum(), leaf, torch.tensor(1.0), is_grads_batched=True)
