"""Ready parametrizations: weights by direction and length, of spectral norm 1, orthogonal."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.nn.convolution import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.orthogonal import orthogonal
from torchgen_out._runtime.library.nn.parametrize import register_parametrization
from torchgen_out.nn import functional as F

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def length_except(tensor: Any, dim: int | None) -> Any:
    """The Euclidean norm over all dims but `dim`, which are kept; over all, if it is None."""
    return torch.norm_except_dim(tensor, 2, -1 if dim is None else dim)


def with_length(direction: Any, length: Any, dim: int | None) -> Any:
    """`direction`, scaled to a length for each entry of `dim`."""
    return direction * (length / length_except(direction, dim))


class _WeightNorm(Module):
    """A weight from its lengths and its direction: `g * v / |v|`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return with_length(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """The lengths, and the weight as its own direction."""
        return length_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the length and the direction of a weight apart: `w = g * v / |v|`.

    There is a length for each entry of `dim`, or one for all if it is None. `g` and `v` are
    `module.parametrizations.weight.original0` and `original1`; a state dict of the older
    `nn.utils.weight_norm` loads as well.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state: dict[str, Any], prefix: str, *rest: Any) -> None:
        for i, letter in enumerate("gv"):
            old = f"{prefix}{name}_{letter}"
            if old in state:
                state[f"{prefix}parametrizations.{name}.original{i}"] = state.pop(old)

    module._register_load_state_dict_pre_hook(rename)
    return module


def default_dim(module: Any) -> int:
    """Which dim of a layer's weight are its outputs."""
    transposed = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
    return 1 if isinstance(module, transposed) else 0


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight with `dim` as rows and all other dims as columns."""
    if dim != 0:
        weight = weight.movedim(dim, 0)
    return weight.flatten(1)


def check_iterations(count: int) -> None:
    """Raises: ValueError if there is no iteration."""
    if count <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={count}"
        )


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which a power iteration follows."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.dim()
        if not -ndim <= dim < ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{ndim}, {ndim - 1}] but got {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                start = F.normalize(matrix.new_empty(size).normal_(0, 1), dim=0, eps=eps)
                self.register_buffer(name, start)
            self._iterate(matrix, 15)

    def _iterate(self, matrix: Any, count: int) -> None:
        with torch.no_grad():
            for _ in range(count):
                self._u = F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps)
                self._v = F.normalize(torch.mv(matrix.mH, self._u), dim=0, eps=self.eps)

    def forward(self, weight: Any) -> Any:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        return weight / torch.vdot(self._u.clone(), torch.mv(matrix, self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        """The value: it is not known how it was scaled."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value, as a matrix with `dim` as its rows."""
    if not hasattr(module, name):
        raise ValueError(f"Module '{module}' has no attribute with name '{name}'")
    rows = default_dim(module) if dim is None else dim
    normalised = _SpectralNorm(getattr(module, name), n_power_iterations, rows, eps)
    return register_parametrization(module, name, normalised)
