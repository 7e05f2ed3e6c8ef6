"""Weights computed from other parameters before every call: weight and spectral normalisation."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from runtime.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from runtime.nn.parameter import Parameter
from torchgen_out.nn import functional as F

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]


def _own_weight(module: Any, name: str, weight: Any) -> None:
    """Keep a computed tensor as a plain attribute, where a parameter was."""
    module._parameters.pop(name, None)
    setattr(module, name, weight)


def _add(module: Any, hook: Any) -> Any:
    """Compute before every call. **Raises** RuntimeError if that is done for the weight already."""
    for other in module._forward_pre_hooks.values():
        if type(other) is type(hook) and other.name == hook.name:
            raise RuntimeError(
                f"Cannot register two {hook.title} hooks on the same parameter {hook.name}"
            )
    hook.begin(module)
    module.register_forward_pre_hook(hook)
    return module


def _remove(module: Any, kind: type, name: str) -> Any:
    """Make the weight a parameter again. **Raises** ValueError if it is not computed."""
    for key, hook in module._forward_pre_hooks.items():
        if type(hook) is kind and hook.name == name:
            hook.end(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{kind.title} of '{name}' not found in {module}")  # type: ignore[attr-defined]


class WeightNorm:
    """weight = g * v / |v|, with a norm per index of `dim`, or one if it is None or -1.

    **Source** Salimans and Kingma, 2016.
    """

    title = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute(self, module: Any) -> Any:
        """The weight of the module's g and v."""
        v = getattr(module, self.name + "_v")
        return v * (getattr(module, self.name + "_g") / torch.norm_except_dim(v, 2, self.dim))

    def begin(self, module: Any) -> None:
        """Replace the parameter by its length and direction."""
        weight = getattr(module, self.name).detach()
        norm = torch.norm_except_dim(weight, 2, self.dim)
        module.register_parameter(self.name + "_g", Parameter(norm))
        module.register_parameter(self.name + "_v", Parameter(weight.clone()))
        _own_weight(module, self.name, self.compute(module))

    def end(self, module: Any) -> None:
        """Turn round what `begin` did."""
        weight = self.compute(module).detach()
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        module.register_parameter(self.name, Parameter(weight))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train a weight's length `name`_g and direction `name`_v apart from each other."""
    return _add(module, WeightNorm(name, dim))


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight one parameter again."""
    return _remove(module, WeightNorm, name)


class SpectralNorm:
    """weight = w / sigma, the largest singular value of w as a matrix whose rows are `dim`.

    Every call in training comes closer to sigma by `n_power_iterations` steps of the power method.
    **Source** Miyato et al., 2018.
    """

    title = "spectral_norm"

    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but "
                f"got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.eps, self.dim = name, n_power_iterations, eps, dim

    def _matrix(self, weight: Any) -> Any:
        return weight.movedim(self.dim, 0).flatten(1)

    def _step(self, module: Any, matrix: Any) -> None:
        """Both singular vectors, in place: an earlier weight keeps clones in its graph."""
        u, v = (getattr(module, self.name + end) for end in ("_u", "_v"))
        with torch.no_grad():
            for _ in range(self.n_power_iterations):
                v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))

    def compute(self, module: Any, steps: bool) -> Any:
        """The weight over its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        matrix = self._matrix(weight)
        if steps:
            self._step(module, matrix)
        u, v = (getattr(module, self.name + end).clone() for end in ("_u", "_v"))
        return weight / u.dot(matrix.mv(v))

    def begin(self, module: Any) -> None:
        """Rename the parameter, and begin with random vectors."""
        weight = module._parameters[self.name]
        rows, columns = self._matrix(weight.detach()).shape
        module._parameters.pop(self.name)
        module.register_parameter(self.name + "_orig", weight)
        setattr(module, self.name, weight.detach())
        for end, size in (("_u", rows), ("_v", columns)):
            drawn = weight.new_empty(size).normal_(0, 1)
            module.register_buffer(self.name + end, F.normalize(drawn, dim=0, eps=self.eps))

    def end(self, module: Any) -> None:
        """Make the weight a parameter, as it was computed."""
        with torch.no_grad():
            weight = self.compute(module, steps=False)
        delattr(module, self.name)
        del module._buffers[self.name + "_u"], module._buffers[self.name + "_v"]
        del module._parameters[self.name + "_orig"]
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, steps=module.training))


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value; `name`_orig is trained.

    dim: the rows of the matrix; by default 0, or 1 of transposed convolutions.
    """
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    return _add(module, SpectralNorm(name, n_power_iterations, eps, dim))


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again, as it was last computed."""
    return _remove(module, SpectralNorm, name)
