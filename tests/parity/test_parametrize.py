"""Parametrized and normalised weights beside PyTorch's: values, gradients, names, errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

LAYERS = {
    "linear": lambda nn: nn.Linear(4, 3),
    "convolution": lambda nn: nn.Conv2d(2, 3, 3),
    "transposed": lambda nn: nn.ConvTranspose2d(2, 3, 3),
}
INPUTS = {"linear": (5, 4), "convolution": (2, 2, 6, 6), "transposed": (2, 2, 4, 4)}


NORMS: dict[str, Callable[[Any, Any], Any]] = {
    "weight_norm": lambda u, layer: u.parametrizations.weight_norm(layer),
    "weight_norm of one length": lambda u, m: u.parametrizations.weight_norm(m, dim=None),
    "weight_norm of columns": lambda u, m: u.parametrizations.weight_norm(m, dim=1),
    "spectral_norm": lambda u, layer: u.parametrizations.spectral_norm(layer),
    "spectral_norm of columns": lambda u, m: u.parametrizations.spectral_norm(m, dim=1),
    "older weight_norm": lambda u, layer: u.weight_norm(layer),
    "older weight_norm of columns": lambda u, layer: u.weight_norm(layer, dim=1),
    "older spectral_norm": lambda u, layer: u.spectral_norm(layer, n_power_iterations=2),
}


def filled(library: Any, module: Any) -> Any:
    """A module with the same parameters and buffers in both libraries."""
    draw = np.random.default_rng(0)
    with library.no_grad():
        for _, tensor in sorted(module.state_dict(keep_vars=True).items()):
            tensor.copy_(library.from_numpy(draw.standard_normal(tuple(tensor.shape), np.float32)))
    return module


def trained(library: Any, layer: str, norm: str) -> dict[str, Any]:
    """What two steps leave of a normalised layer, and what it gives then."""
    utils = library.nn.utils
    module = filled(library, NORMS[norm](utils, LAYERS[layer](library.nn)))
    optimizer = library.optim.SGD(module.parameters(), lr=0.1)
    shape = INPUTS[layer]
    x = library.from_numpy(np.random.default_rng(1).standard_normal(shape, np.float32))
    for _ in range(2):
        optimizer.zero_grad()
        module(x).square().mean().backward()
        optimizer.step()
    found = {name: value.detach().numpy() for name, value in module.state_dict().items()}
    found["result"] = module.eval()(x).detach().numpy()
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("layer", LAYERS)
def test_normalised_layers_train_alike(layer: str, norm: str) -> None:
    theirs, ours = trained(torch, layer, norm), trained(torchgen_out, layer, norm)
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, rtol=2e-4, atol=2e-5, err_msg=name)


def symmetric(library: Any) -> Any:
    class Symmetric(library.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    return Symmetric()


def doubled(library: Any) -> Any:
    class Doubled(library.nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x

    return Doubled()


def steps(library: Any) -> dict[str, Any]:
    """A layer parametrized, written, parametrized again, copied, and made plain."""
    parametrize = library.nn.utils.parametrize
    layer = filled(library, library.nn.Linear(3, 3))
    own = layer.weight
    parametrize.register_parametrization(layer, "weight", symmetric(library))
    found = {"same parameter": layer.parametrizations.weight.original is own}
    found["first"] = layer.weight.detach().numpy()
    layer.weight = library.eye(3) * 3
    found["assigned"] = layer.weight.detach().numpy()
    parametrize.register_parametrization(layer, "weight", doubled(library))
    found["twice"] = layer.weight.detach().numpy()
    found["names"] = list(layer.state_dict())
    found["class"] = type(layer).__name__, parametrize.type_before_parametrizations(layer).__name__
    with parametrize.cached():
        found["cached"] = layer.weight is layer.weight
    found["anew"] = layer.weight is layer.weight
    found["copy"] = copy.deepcopy(layer).weight.detach().numpy()
    found["is"] = (
        parametrize.is_parametrized(layer),
        parametrize.is_parametrized(layer, "weight"),
        parametrize.is_parametrized(layer, "bias"),
    )
    parametrize.remove_parametrizations(layer, "weight")
    found["plain"] = layer.weight.detach().numpy(), list(layer.state_dict()), layer.weight is own
    found["plain class"] = type(layer).__name__, parametrize.is_parametrized(layer)
    return found


def test_a_parametrization_step_by_step() -> None:
    theirs, ours = steps(torch), steps(torchgen_out)
    assert list(theirs) == list(ours)
    for name, value in theirs.items():
        np.testing.assert_equal(ours[name], value, err_msg=name)


def buffer_made_plain(library: Any) -> list[Any]:
    module = library.nn.BatchNorm1d(3)
    parametrize = library.nn.utils.parametrize
    parametrize.register_parametrization(module, "running_mean", doubled(library))
    names = list(module.state_dict())
    parametrize.remove_parametrizations(module, "running_mean", leave_parametrized=False)
    return [names, list(module.state_dict())]


def test_a_buffer_stays_a_buffer() -> None:
    theirs, ours = buffer_made_plain(torch), buffer_made_plain(torchgen_out)
    assert [sorted(names) for names in ours] == [sorted(names) for names in theirs]


@pytest.mark.filterwarnings("ignore")
def test_an_older_state_dict_loads() -> None:
    found = []
    for library in (torch, torchgen_out):
        utils = library.nn.utils
        older = filled(library, utils.weight_norm(library.nn.Linear(4, 3)))
        newer = utils.parametrizations.weight_norm(library.nn.Linear(4, 3))
        newer.load_state_dict(older.state_dict())
        found.append(newer.weight.detach().numpy())
        utils.remove_weight_norm(older)
        np.testing.assert_allclose(older.weight.detach().numpy(), found[-1], rtol=1e-6)
        assert set(older.state_dict()) == {"bias", "weight"}
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_spectral_hooks_are_removed() -> None:
    layer = torchgen_out.nn.utils.spectral_norm(torchgen_out.nn.Linear(4, 3))
    torchgen_out.nn.utils.remove_spectral_norm(layer)
    assert set(layer.state_dict()) == {"weight", "bias"}
    assert isinstance(layer.weight, torchgen_out.nn.Parameter)
    assert not layer._forward_pre_hooks


@pytest.mark.parametrize("use_trivialization", [True, False])
@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_orthogonal_weights(
    shape: tuple[int, int], orthogonal_map: str, use_trivialization: bool
) -> None:
    """The value that was there, a step away from it, its gradient, and a value assigned."""
    draw = np.random.default_rng(0)
    whole = np.linalg.qr(draw.standard_normal((5, 5)))[0] if 5 in shape else np.eye(4)[::-1].copy()
    start, step = whole[: shape[0], : shape[1]], draw.standard_normal(shape) / 10
    found: list[list[Any]] = []
    for library in (torch, torchgen_out):
        layer = library.nn.Linear(shape[1], shape[0], bias=False, dtype=library.float64)
        with library.no_grad():
            layer.weight.copy_(library.tensor(start))
        library.nn.utils.parametrizations.orthogonal(
            layer, orthogonal_map=orthogonal_map, use_trivialization=use_trivialization
        )
        values = [layer.weight.detach()] if shape == (4, 4) or not use_trivialization else []
        parametrized = layer.parametrizations.weight
        with library.no_grad():
            parametrized.original.add_(library.tensor(step))
        if use_trivialization:  # completed at random, unless it is square
            parametrized[0].base = library.tensor(whole)
        layer.weight.pow(3).sum().backward()
        values += [layer.weight.detach(), parametrized.original.grad]
        if orthogonal_map == "householder":
            layer.weight = library.tensor(start)
            values.append(layer.weight.detach() if shape == (4, 4) or not use_trivialization
                          else library.zeros(()))  # fmt: skip
        found.append([value.numpy() for value in values])
    for wanted, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-12)


MISTAKES = (
    "u.parametrizations.orthogonal(m, orthogonal_map='qr')",
    "u.parametrizations.orthogonal(n.BatchNorm1d(3))",
    "u.parametrizations.orthogonal(m, 'weigth')",
    "setattr(u.parametrizations.orthogonal(m), 'weight', m.weight.T)",
    "setattr(u.parametrizations.orthogonal(m, orthogonal_map='cayley', use_trivialization=False),"
    " 'weight', m.weight.detach())",
    "p.register_parametrization(m, 'weigth', n.Identity())",
    "p.register_parametrization(m, 'weight', n.Flatten(0))",
    "p.remove_parametrizations(m, 'weight')",
    "p.remove_parametrizations(u.parametrizations.weight_norm(m), 'weight', False)",
    "setattr(p.register_parametrization(m, 'weight', n.Identity()), 'weight', m.bias)",
    "u.remove_weight_norm(m)",
    "u.remove_spectral_norm(m)",
    "u.weight_norm(u.weight_norm(m))",
    "u.spectral_norm(m, n_power_iterations=0)",
    "u.parametrizations.spectral_norm(m, n_power_iterations=0)",
    "u.parametrizations.spectral_norm(m, dim=5)",
    "u.parametrizations.spectral_norm(m, 'weigth')",
    "pickle.dumps(u.parametrizations.weight_norm(m))",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", MISTAKES)
def test_mistakes(call: str) -> None:
    classes = []
    for library in (torch, torchgen_out):
        nn = library.nn
        names = {"m": nn.Linear(4, 3), "u": nn.utils, "p": nn.utils.parametrize, "n": nn}
        with pytest.raises(Exception, match=r"\w") as caught:
            eval(call, {**names, "pickle": pickle})
        classes.append(caught.type.__name__)
    assert classes[0] == classes[1]
