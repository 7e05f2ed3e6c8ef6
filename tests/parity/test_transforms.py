"""`torch.func` beside PyTorch's own: maps, derivatives, programs made of both, and wrong use."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as ours

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
X, W = (RANDOM.standard_normal(size).astype("float32") for size in [(3, 4), (4,)])
IMAGES = RANDOM.standard_normal((5, 2, 6, 6)).astype("float32")
LABELS = RANDOM.integers(0, 3, 5)


class Given:
    """One of the two libraries, and the same tensors in it."""

    def __init__(self, library: Any) -> None:
        self.torch, self.func, self.nn = library, library.func, library.nn
        self.x, self.w = library.tensor(X), library.tensor(W)
        self.images, self.labels = library.tensor(IMAGES), library.tensor(LABELS)

    def filled(self, module: Any, scale: float = 1.0) -> Any:
        """A module whose parameters follow from their places alone."""
        with self.torch.no_grad():
            for number, each in enumerate(module.parameters()):
                values = np.sin(np.arange(each.numel()) * (number + 0.7)) * 0.4 * scale
                each.copy_(self.torch.tensor(values.astype("float32")).reshape(each.shape))
        return module

    def network(self, scale: float = 1.0) -> Any:
        """Convolution, norms that differ in what they fold, and a line."""
        nn = self.nn
        layers = [
            nn.InstanceNorm2d(2), nn.Conv2d(2, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(),
            nn.BatchNorm2d(4), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(16), nn.Linear(16, 3),
        ]  # fmt: skip
        return self.filled(nn.Sequential(*layers).eval(), scale)

    def mlp(self) -> Any:
        """Two lines with a curve between."""
        return self.filled(
            self.nn.Sequential(self.nn.Linear(4, 5), self.nn.Tanh(), self.nn.Linear(5, 2))
        )


def plain(value: Any) -> Any:
    """A result as NumPy arrays in its structure."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(plain(each) for each in value)
    return value.detach().numpy() if hasattr(value, "detach") else value


def assert_alike(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    if isinstance(got, dict):
        assert got.keys() == expected.keys()
        got, expected = tuple(got.values()), tuple(expected.values())
    if isinstance(got, tuple):
        assert len(got) == len(expected)
        for ours_, theirs in zip(got, expected, strict=True):
            assert_alike(ours_, theirs)
        return
    assert np.shape(got) == np.shape(expected)
    assert getattr(got, "dtype", None) == getattr(expected, "dtype", None)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


# -- programs -----------------------------------------------------------------------------------


def pulled(made: tuple[Any, ...], cotangents: Any) -> Any:
    """What `vjp` or `linearize` returned, and its function's product."""
    result, function, *aux = made
    return result, function(cotangents), aux


def ensemble(g: Given) -> Any:
    models = [g.network(scale) for scale in (1.0, 0.5, -0.75)]
    state = g.func.stack_module_state(models)
    run = g.func.vmap(
        lambda p, b, x: g.func.functional_call(models[0], (p, b), (x,)), (0, 0, None), chunk_size=2
    )
    return run(*state, g.images)


def gradients_of_samples(g: Given) -> Any:
    model = g.network()
    state = {k: v.detach() for k, v in model.named_parameters()}

    def loss(parameters: Any, image: Any, label: Any) -> Any:
        scores = g.func.functional_call(model, parameters, (image[None],))
        return g.nn.functional.cross_entropy(scores, label[None]), scores[0]

    each = g.func.grad_and_value(loss, has_aux=True)
    return g.func.vmap(each, (None, 0, 0))(state, g.images, g.labels)


def meta_learning(g: Given) -> Any:
    """The gradient through a step of gradient descent on every task."""
    model = g.mlp()
    state = {k: v.detach() for k, v in model.named_parameters()}

    def loss(parameters: Any, x: Any) -> Any:
        return (g.func.functional_call(model, parameters, (x,)) ** 2).mean()

    def task(parameters: Any, x: Any) -> Any:
        gradient = g.func.grad(loss)(parameters, x)
        return loss({k: v - 0.1 * gradient[k] for k, v in parameters.items()}, x * 2)

    def over_tasks(parameters: Any) -> Any:
        return g.func.vmap(task, (None, 0))(parameters, g.x).sum()

    return g.func.grad(over_tasks)(state)


def tangent_kernel(g: Given) -> Any:
    model = g.mlp()
    state = {k: v.detach() for k, v in model.named_parameters()}

    def rows(x: Any) -> Any:
        jacobian = g.func.jacrev(lambda p: g.func.functional_call(model, p, (x,)))(state)
        return g.torch.cat([each.flatten(1) for each in jacobian.values()], 1)

    matrix = g.func.vmap(rows)(g.x)
    return g.torch.einsum("Naf,Mbf->NMab", matrix, matrix)


def curvature(g: Given) -> Any:
    def energy(x: Any) -> Any:
        return (x.sin() * x.cumsum(0)).sum()

    product = g.func.jvp(g.func.grad(energy), (g.w,), (g.x[0],))[1]
    again = g.func.grad(lambda x: g.func.jvp(energy, (x,), (g.x[0],))[1])(g.w)
    return product, again, g.func.vmap(g.func.hessian(energy))(g.x)


def trained(g: Given) -> Any:
    """Derivatives of a function are differentiated by the parameters that it finds outside."""
    net = g.nn.Sequential(g.nn.Linear(4, 3), g.nn.Tanh(), g.nn.Linear(3, 1))
    weights = list(g.filled(net).parameters())[:3]
    pushed, pull = g.func.vjp(net, g.w)
    forward, inside = g.func.jacfwd(net), g.func.jvp(g.torch.sin, (g.w,), (g.w,))[1]
    found = [
        *g.func.jvp(net, (g.w,), (g.w,)), g.func.linearize(net, g.w)[0], forward(g.w),
        g.func.vmap(lambda x: g.func.jvp(net, (x,), (g.w,))[1])(g.x),
        g.func.vmap(g.func.jacfwd(g.func.jacfwd(net)))(g.x),
        g.func.hessian(lambda x: net(x)[0])(g.w),
        g.func.grad(lambda x: net(x).sum())(g.w), pushed, *pull(g.torch.ones(1)),
    ]  # fmt: skip
    gradients = [
        g.torch.autograd.grad(each.square().sum(), weights[::2], retain_graph=True)
        for each in found
    ]
    with g.torch.no_grad():
        silent = [forward(g.w), *g.func.jvp(net, (g.w,), (g.w,)), g.func.jacrev(net)(g.w), inside]
    return gradients, [g.torch.tensor(float(each.requires_grad)) for each in silent]


def adapted(g: Given) -> Any:
    """Rows written, chosen, sorted and binned inside a map."""

    def one(x: Any, at: Any) -> Any:
        made = x.clone()
        made[1:3] = x[0]
        made = made.index_put((at,), x[:2], accumulate=True)
        return made, x[at], made.argmax(), made.roll(1, 0), g.torch.searchsorted(x.sort()[0], x)

    return g.func.vmap(one)(g.x, g.torch.tensor([[0, 0], [1, 3], [2, 1]]))


def statistics(g: Given) -> Any:
    """A batch of each sample, with its own running statistics."""
    norm = g.nn.functional.batch_norm
    images = g.torch.stack([g.images, g.images * 2 + 1])
    trained = g.func.vmap(lambda x: norm(x, None, None, training=True))
    slope = g.func.vmap(g.func.grad(lambda x: (norm(x, None, None, training=True) ** 3).sum()))
    mean, variance = g.torch.zeros(2, 2), g.torch.ones(2, 2)
    kept = g.func.vmap(lambda x, m, v: norm(x, m, v, training=True))(images, mean, variance)
    return trained(images), slope(images), kept, mean, variance


def chosen(g: Given) -> Any:
    """Numbers of every sample choose, count and bin."""
    at = g.torch.tensor([[0, 3], [1, 1], [2, 0]])
    cube = g.torch.stack([g.x, g.x + 1, g.x * 2])

    def one(x: Any, i: Any) -> Any:
        made = x.clone()
        made[i % 3] = 2.0
        found = g.torch.searchsorted(x[0].sort()[0], x), g.torch.isin(i, i[:1])
        hot = g.nn.functional.one_hot(i, 4)
        return (
            made,
            x[:, i],
            x[i % 3, :, None][..., i * 0],
            x.index_select(1, i),
            x.take(i),
            hot,
            *found,
        )

    return g.func.vmap(one)(cube, at)


PROGRAMS: dict[str, Callable[[Given], Any]] = {
    "nested": lambda g: g.func.vmap(g.func.vmap(g.torch.dot, (None, 0)), (0, None))(g.x, g.x),
    "dims": lambda g: g.func.vmap(lambda a, b: (a.outer(b), b), (-2, None), (-1, None))(g.x, g.w),
    "trees": lambda g: g.func.vmap(
        lambda d, k: {"a": d["a"] * d["b"] * k, "c": [d["a"].sum(), d["b"]]},
        ({"a": 1, "b": None}, None), {"a": 1, "c": [0, 0]},
    )({"a": g.x, "b": g.w[:3]}, 3),
    "keywords": lambda g: g.func.vmap(lambda a, *, k: a * k)(g.x, k=g.x),
    "empty": lambda g: g.func.vmap(lambda a: a.sin())(g.x[:0]),
    "not tensors": lambda g: g.func.vmap(lambda a: (a, 3), 0, (0, None))(g.x),
    "same": lambda g: g.func.vmap(lambda a: g.torch.rand(4), randomness="same")(g.x).std(0),
    "positions": lambda g: g.func.grad(lambda a, b: (a * b).sin().sum(), (0, -1))(g.x, g.w),
    "pulled": lambda g: pulled(
        g.func.vjp(lambda a: ({"u": a.sin()}, a), g.x, has_aux=True), {"u": g.x}
    ),
    "pushed": lambda g: g.func.jvp(lambda a, b: [a * b, a.exp()], (g.x, g.w), (g.x, g.w)),
    "linear": lambda g: pulled(g.func.linearize(lambda a: (a * a.sum(), a.sin()), g.w), g.x[0]),
    "rows": lambda g: g.func.jacrev(lambda a, b: {"s": a * b, "p": a.outer(b)}, (0, 1))(g.w, g.w),
    "chunks": lambda g: g.func.jacrev(lambda a: a.outer(a), chunk_size=3)(g.w),
    "columns": lambda g: g.func.jacfwd(lambda a: (a * a.sum(), a), has_aux=True)(g.w),
    "both": lambda g: g.func.jacfwd(g.func.jacrev(lambda d: (d["a"] ** 3 * d["b"]).sum()))(
        {"a": g.w, "b": g.w + 1}
    ),
    "ensemble": ensemble,
    "gradients of samples": gradients_of_samples,
    "meta learning": meta_learning,
    "tangent kernel": tangent_kernel,
    "curvature": curvature,
    "trained": trained,
    "adapted": adapted,
    "statistics": statistics,
    "chosen": chosen,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    got = plain(PROGRAMS[name](Given(ours)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what theirs is made of
        expected = plain(PROGRAMS[name](Given(torch)))
    assert_alike(got, expected)


# -- wrong use ----------------------------------------------------------------------------------

MISTAKES: list[tuple[str, Callable[[Given], Any]]] = [
    ("got no inputs", lambda g: g.func.vmap(lambda a: a)(a=g.x)),
    ("expected `in_dims` to be int or", lambda g: g.func.vmap(g.torch.sin, "a")(g.x)),
    ("at least one Tensor to vmap over", lambda g: g.func.vmap(g.torch.sin, (None,))(g.x)),
    ("structure of `inputs`", lambda g: g.func.vmap(g.torch.sin, (0, 0))(g.x)),
    ("Got in_dim=b for an input", lambda g: g.func.vmap(g.torch.add, (0, "b"))(g.x, g.x)),
    ("Got in_dim=2 for some input", lambda g: g.func.vmap(g.torch.sin, 2)(g.x)),
    ("cannot vmap over non-Tensor arguments", lambda g: g.func.vmap(g.torch.add)(g.x, 3)),
    ("to have the same size in the mapped dim", lambda g: g.func.vmap(g.torch.add)(g.x, g.w)),
    ("must only return Tensors, got type", lambda g: g.func.vmap(lambda a: 3)(g.x)),
    ("BatchedTensor when out_dim is None", lambda g: g.func.vmap(g.torch.sin, 0, None)(g.x)),
    ("`out_dims` must be an int, None", lambda g: g.func.vmap(g.torch.sin, 0, "a")(g.x)),
    ("structure of `outputs`", lambda g: g.func.vmap(g.torch.sin, 0, (0, 1))(g.x)),
    ("out of range", lambda g: g.func.vmap(g.torch.sin, 0, 3)(g.x)),
    ("greater than 0", lambda g: g.func.vmap(g.torch.sin, chunk_size=0)(g.x)),
    ("Only allowed values for randomness", lambda g: g.func.vmap(g.torch.sin, randomness="a")),
    ("batch", lambda g: g.func.vmap(lambda a: g.nn.functional.batch_norm(
        a, g.w[:2], g.w[:2].clone(), training=True
    ))(g.images[None])),
    ("while in randomness error mode", lambda g: g.func.vmap(g.torch.rand_like)(g.x)),
    ("calling .item() on a Tensor", lambda g: g.func.vmap(lambda a: a.sum().item())(g.x)),
    ("data-dependent control flow", lambda g: g.func.vmap(lambda a: a if a[0] > 0 else -a)(g.x)),
    ("dynamic shape", lambda g: g.func.vmap(lambda a: a[a > 0])(g.x)),
    ("return a scalar Tensor, got tensor with 2", lambda g: g.func.grad(g.torch.sin)(g.x)),
    ("to return a Tensor, got", lambda g: g.func.grad(lambda a: 3.0)(g.x)),
    ("only for real scalar outputs", lambda g: g.func.grad(lambda a: a.sum())(g.x + 1j)),
    ("floating point", lambda g: g.func.grad(lambda a: a.sum())(g.labels)),
    ("output, aux", lambda g: g.func.grad(lambda a: a.sum(), has_aux=True)(g.x)),
    ("Got argnum=2, but only 1", lambda g: g.func.grad(g.torch.sum, argnums=2)(g.x)),
    ("must be unique", lambda g: g.func.grad(g.torch.dot, (0, 0))(g.w, g.w)),
    ("argnums must be non-empty", lambda g: g.func.grad(g.torch.dot, ())(g.w, g.w)),
    ("int or Tuple[int, ...]", lambda g: g.func.grad(g.torch.dot, [0])(g.w, g.w)),
    ("structure of cotangents", lambda g: g.func.vjp(lambda a: [a], g.x)[1](g.x)),
    ("return only tensors, got unsupported type", lambda g: g.func.vjp(lambda a: 1, g.x)),
    ("return only tensors, got unsupported type", lambda g: g.func.jacrev(lambda a: 1)(g.x)),
    ("return only tensors, got unsupported type", lambda g: g.func.jacfwd(lambda a: 1)(g.x)),
    ("Expected primals to be a tuple", lambda g: g.func.jvp(g.torch.sin, g.x, g.x)),
    ("to contain at least one Tensor", lambda g: g.func.jvp(g.torch.sin, (), ())),
    ("same python structure", lambda g: g.func.jvp(g.torch.sin, (g.x,), (g.x, g.x))),
    ("to only contain Tensors", lambda g: g.func.jvp(g.torch.sin, (2.0,), (1.0,))),
    ("floating point or complex", lambda g: g.func.jvp(g.torch.abs, (g.labels,), (g.labels,))),
    ("independent of the inputs", lambda g: g.func.jvp(lambda a: g.w, (g.x,), (g.x,), strict=True)),
    ("`chunk_size` should be", lambda g: g.func.jacrev(g.torch.sin, chunk_size=0)),
    ("to be a dict, or a list/tuple", lambda g: g.func.functional_call(g.mlp(), 3, (g.x,))),
    ("is not an instance of torch.Tensor", lambda g: g.func.functional_call(
        g.mlp(), {"0.weight": 1}, (g.x,)
    )),
    ("in multiple dictionaries", lambda g: g.func.functional_call(g.mlp(), [{"a": g.x}] * 2, ())),
    ("at least one model, got 0", lambda g: g.func.stack_module_state([])),
    ("of the same class", lambda g: g.func.stack_module_state([g.mlp(), g.mlp()[0]])),
    ("training/eval mode", lambda g: g.func.stack_module_state([g.mlp(), g.mlp().eval()])),
    ("same .requires_grad", lambda g: g.func.stack_module_state(
        [g.mlp(), g.mlp().requires_grad_(False)]
    )),
]  # fmt: skip


@pytest.mark.parametrize(("text", "call"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_mistakes(text: str, call: Callable[[Given], Any]) -> None:
    raised = []
    for library in (ours, torch):
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(Given(library))
        raised.append(caught)
    got, expected = raised
    assert got.type is expected.type
    assert text in str(got.value)
    assert text in str(expected.value)


INDICES = {
    "alone": lambda x, i: x[i],
    "negative": lambda x, i: x[-i],
    "behind a slice": lambda x, i: x[:, i],
    "beside a number": lambda x, i: x[0, i],
    "before a number": lambda x, i: x[i, 0],
    "behind dots": lambda x, i: x[..., i],
    "behind a new dim": lambda x, i: x[None, i],
}


@pytest.mark.parametrize("name", INDICES)
def test_an_index_for_each_sample(name):
    """A tensor without dims is a number elsewhere; inside vmap it is one of several."""
    found = []
    for library in (ours, torch):
        x = library.arange(24.0).reshape(2, 3, 4)
        numbers = library.tensor([1, 0])
        found.append(library.func.vmap(INDICES[name])(x, numbers).tolist())
        shared = library.func.vmap(INDICES[name], (None, 0))(x[0], numbers)
        found.append(shared.tolist())
    assert found[:2] == found[2:]
