"""The parametrization of weights by matrices with orthonormal columns, or rows if they are wide."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parametrize import register_parametrization

__all__ = ["orthogonal"]

MAPS = ("matrix_exp", "cayley", "householder")


def _is_orthogonal(matrix: Any) -> bool:
    """Whether the columns are orthonormal, up to rounding."""
    rows, columns = matrix.shape[-2:]
    identity = torch.eye(columns, dtype=matrix.dtype, device=matrix.device)
    close = 10.0 * rows * torch.finfo(matrix.dtype).eps
    return bool(torch.allclose(matrix.mH @ matrix, identity, atol=close))


def _orthogonalised(matrix: Any) -> Any:
    """The factor Q of matrix = Q R with a positive diagonal of R, which makes it the only one."""
    reflectors, tau = torch.geqrf(matrix)
    signs = reflectors.diagonal(dim1=-2, dim2=-1).sgn()
    return torch.linalg.householder_product(reflectors, tau) * signs.unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows if there are fewer of them, from any matrix.

    It is that of the map, times `base` on the left where there is one: the value that was assigned
    last, at which the map begins anew at the identity.
    """

    base: Any

    def __init__(self, weight: Any, map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        is_wide = X.size(-2) < X.size(-1)
        tall = X.mT if is_wide else X
        found = _reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if hasattr(self, "base"):
            found = self.base @ found
        return found.mT if is_wide else found

    def _rotated(self, tall: Any) -> Any:
        """The first columns of a rotation, from the skew matrix of the lower triangle."""
        rows, columns = tall.shape[-2:]
        lower = tall.tril()
        if rows != columns:
            rest = lower.new_zeros(*lower.shape[:-1], rows - columns)
            lower = torch.cat([lower, rest], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            return torch.matrix_exp(skew)[..., :columns]
        identity = torch.eye(rows, dtype=skew.dtype, device=skew.device)
        whole = torch.linalg.solve(identity - 0.5 * skew, identity + 0.5 * skew)
        return whole[..., :columns]

    def right_inverse(self, Q: Any) -> Any:
        """What gives the matrix: without a base, its reflectors; else it becomes the base.

        **Raises** ValueError for another shape, NotImplementedError for maps without an inverse.
        """
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        is_wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if is_wide else Q
        if not hasattr(self, "base"):
            return self._reflectors(tall, is_wide)
        self.base = _completed(tall)
        start = torch.zeros_like(Q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start

    def _reflectors(self, tall: Any, is_wide: bool) -> Any:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        reflectors, tau = torch.geqrf(tall)
        # Where LAPACK does not reflect (tau is exactly 0), the map, which always does, turns back.
        signs = reflectors.diagonal(dim1=-2, dim2=-1).sign()
        signs = torch.where(tau == 0.0, -signs, signs)
        reflectors.diagonal(dim1=-2, dim2=-1).copy_(signs)
        return reflectors.mT if is_wide else reflectors


def _reflected(tall: Any) -> Any:
    """The product of the reflections below the diagonal, whose signs the columns take."""
    reflectors = tall.tril(diagonal=-1)
    tau = 2.0 / (1.0 + (reflectors * reflectors).sum(dim=-2))
    signs = tall.diagonal(dim1=-2, dim2=-1).int()
    return torch.linalg.householder_product(reflectors, tau) * signs.unsqueeze(-2)


def _completed(tall: Any) -> Any:
    """A square orthogonal matrix that begins with these columns, made orthonormal if need be."""
    rows, columns = tall.shape[-2:]
    if rows != columns:
        more = torch.randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype, device=tall.device)
        return _orthogonalised(torch.cat([tall, more], dim=-1))
    return tall.clone() if _is_orthogonal(tall) else _orthogonalised(tall)


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """Keep a weight, or a batch of them, a matrix with orthonormal columns (rows, if it is wide).

    orthogonal_map: "matrix_exp", "cayley" or "householder", by which the weight comes from a free
    matrix; by default the first for square and complex weights, the last for others.
    **Raises** ValueError for what is no weight of two dims or more, and for another map.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        is_square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        listed = ", ".join(f'"{each}"' for each in MAPS)
        raise ValueError(f"orthogonal_map has to be one of {listed}. Got: {orthogonal_map}")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


public.place("nn.utils.parametrizations", _Orthogonal)
