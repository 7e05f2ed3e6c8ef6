"""The older forms of weight and spectral normalisation: hooks that compute before each forward.

`parametrizations` has the newer ones. The names of parameters and buffers, `weight_g`
and `weight_v`, `weight_orig`, `weight_u` and `weight_v`, are those that state dicts hold.
"""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.deprecation import renamed
from torchgen_out._runtime.library.nn.parameter import Parameter
from torchgen_out._runtime.library.nn.parametrizations import (
    as_matrix,
    check_iterations,
    default_dim,
    length_except,
    with_length,
)
from torchgen_out.nn import functional as F

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]


class WeightNorm:
    """Sets a weight from `weight_g` and `weight_v` before forward."""

    __module__ = "torchgen_out.nn.utils.weight_norm"

    title = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def attach(self, module: Any) -> None:
        """Put two parameters in the weight's place."""
        weight = getattr(module, self.name)
        del module._parameters[self.name]
        length = length_except(weight.detach(), self.dim)
        module.register_parameter(f"{self.name}_g", Parameter(length))
        module.register_parameter(f"{self.name}_v", Parameter(weight.detach()))
        setattr(module, self.name, self.compute(module))

    def compute(self, module: Any) -> Any:
        """The weight."""
        length, direction = (getattr(module, f"{self.name}_{letter}") for letter in "gv")
        return with_length(direction, length, self.dim)

    def detach(self, module: Any) -> None:
        """Put the weight, as it is now, in the place of the two parameters."""
        weight = self.compute(module).detach()
        delattr(module, self.name)
        for letter in "gv":
            del module._parameters[f"{self.name}_{letter}"]
        setattr(module, self.name, Parameter(weight))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))


class SpectralNorm:
    """Sets a weight to `weight_orig` divided by its largest singular value before forward."""

    __module__ = "torchgen_out.nn.utils.spectral_norm"

    title = "spectral_norm"

    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        check_iterations(n_power_iterations)
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def attach(self, module: Any) -> None:
        """Put the original weight and two singular vectors in the weight's place."""
        weight = module._parameters[self.name]
        matrix = as_matrix(weight.detach(), self.dim)
        starts = [F.normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=self.eps)
                  for n in matrix.shape]  # fmt: skip
        del module._parameters[self.name]
        module.register_parameter(f"{self.name}_orig", weight)
        setattr(module, self.name, weight.detach())
        for letter, start in zip("uv", starts, strict=True):
            module.register_buffer(f"{self.name}_{letter}", start)

    def compute(self, module: Any, iterate: bool) -> Any:
        """The weight, after another step of the power iteration if `iterate`."""
        weight = getattr(module, f"{self.name}_orig")
        matrix = as_matrix(weight, self.dim)
        u, v = (getattr(module, f"{self.name}_{letter}") for letter in "uv")
        if iterate:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()  # the graph keeps those of this step
        return weight / torch.dot(u, torch.mv(matrix, v))

    def detach(self, module: Any) -> None:
        """Put the weight, as it is now, in the place of the original."""
        with torch.no_grad():
            weight = self.compute(module, iterate=False)
        delattr(module, self.name)
        for ending in ("u", "v", "orig"):
            delattr(module, f"{self.name}_{ending}")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, iterate=module.training))


def _attach(module: Any, hook: Any) -> Any:
    for present in module._forward_pre_hooks.values():
        if type(present) is type(hook) and present.name == hook.name:
            raise RuntimeError(
                f"Cannot register two {hook.title} hooks on the same parameter {hook.name}"
            )
    hook.attach(module)
    module.register_forward_pre_hook(hook)
    return module


def _detach(module: Any, kind: type[Any], name: str) -> Any:
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.detach(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"{kind.title} of '{name}' not found in {module}")


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the length and the direction of a weight apart: `w = g * v / |v|`.

    There is a length for each entry of `dim`, or one for all if it is None.
    """
    renamed("torch.nn.utils.weight_norm", "torch.nn.utils.parametrizations.weight_norm")
    return _attach(module, WeightNorm(name, dim))


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make a weight a plain parameter again. Raises: ValueError if it was not normalised."""
    return _detach(module, WeightNorm, name)


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value, as a matrix with `dim` as its rows."""
    rows = default_dim(module) if dim is None else dim
    return _attach(module, SpectralNorm(name, n_power_iterations, eps, rows))


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make a weight a plain parameter again. Raises: ValueError if it was not normalised."""
    return _detach(module, SpectralNorm, name)


public.place("nn.utils.spectral_norm", SpectralNorm)
public.place("nn.utils.weight_norm", WeightNorm)
