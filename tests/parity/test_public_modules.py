"""Classes and functions of networks and optimizers are found where PyTorch defines them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import pytest

theirs = pytest.importorskip("torch")

PACKAGES = ("torch.nn.modules", "torch.nn.utils", "torch.nn.parallel", "torch.optim")
WITHOUT = {
    "torch.nn.modules._functions": "implementation",
    "torch.nn.modules.linear_cross_entropy": "implementation",
    "torch.nn.utils._deprecation_utils": "implementation",
    "torch.nn.utils._expanded_weights": "gradients per sample",
    "torch.nn.utils._named_member_accessor": "implementation",
    "torch.nn.utils._per_sample_grad": "gradients per sample",
    "torch.nn.parallel._functions": "implementation",
    "torch.nn.parallel.comm": "several devices",
    "torch.optim._functional": "implementation",
    "torch.optim._multi_tensor": "implementation",
    "torch.optim._stateless": "implementation",
}
"""Modules of PyTorch that the library has not."""
MISSING = {
    "torch.nn.modules.rnn.apply_permutation": "deprecated",
    "torch.nn.parallel.DistributedDataParallelCPU": "deprecated",
    "torch.nn.parallel.parallel_apply.get_a_var": "implementation",
    "torch.nn.parallel.scatter_gather.is_namedtuple": "deprecated",
    "torch.nn.utils.parametrize.transfer_parametrizations_and_params": "for quantisation",
    "torch.nn.utils.rnn.PackedSequence_": "implementation",
    "torch.nn.utils.rnn.bind": "implementation",
    "torch.nn.utils.spectral_norm.SpectralNormLoadStateDictPreHook": "implementation",
    "torch.nn.utils.spectral_norm.SpectralNormStateDictHook": "implementation",
    "torch.optim.swap_in_optimizer_params_and_state": "for programs compiled as a whole",
}
"""Public names that the library has not."""


def modules_of_pytorch() -> list[str]:
    found = []
    for package in PACKAGES:
        place = importlib.import_module(package).__path__
        found += [package, *(each.name for each in pkgutil.iter_modules(place, f"{package}."))]
    return [name for name in found if name not in WITHOUT]


def defined(module: Any) -> list[str]:
    """The public classes and functions that a module defines, but those of one optimizer's step."""
    return [
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
        and name[0] != "_"
        and f"torch.optim.{name}" != module.__name__.replace("._", ".")
    ]


@pytest.mark.parametrize("path", modules_of_pytorch())
def test_names_stand_where_pytorch_defines_them(path: str) -> None:
    own = importlib.import_module("torchgen_out" + path.removeprefix("torch"))
    names = {f"{path}.{name}" for name in defined(importlib.import_module(path))}
    absent = {name for name in names if not hasattr(own, name.rpartition(".")[2])}
    assert absent == names.intersection(MISSING)
    for name in (each.rpartition(".")[2] for each in names - absent):
        value = getattr(own, name)
        if inspect.isclass(value):
            assert (value.__module__, value.__qualname__) == (own.__name__, name)


@pytest.mark.parametrize("path", WITHOUT)
def test_modules_that_are_absent(path: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("torchgen_out" + path.removeprefix("torch"))
