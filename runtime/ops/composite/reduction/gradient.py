"""Estimates of derivatives from samples along dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.shape import normalize_dims
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.ops.composite.copy.stacking import diff
from torchgen_out._runtime.ops.composite.view.reshaping import reshape


def gradient(self: Any, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> list[Any]:
    """Differences over two neighbours, one-sided at the edges, one result per dim.

    spacing: the distance of samples, one per dim, or their coordinates in vectors.
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if self.dtype.name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    spacing = 1 if spacing is None else spacing
    if dim is not None and dim != () and not self.ndim:
        raise errors.dim_of_scalar(dim)
    dims = normalize_dims(dim, self.ndim)
    results = []
    for along, steps in zip(dims, _spacings(self, spacing, dims, dim is not None), strict=True):
        if self.shape[along] <= edge_order:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
        if not isinstance(steps, (int, float, complex)) and steps.ndim == 1:
            results.append(_uneven(self, along, steps, edge_order))
        else:
            results.append(_even(self, along, steps, edge_order))
    return results


def _spacings(self: Any, spacing: Any, dims: tuple[int, ...], is_chosen: bool) -> Sequence[Any]:
    """The spacing of every dim. Raises: RuntimeError unless there is one for each."""
    if not isinstance(spacing, (tuple, list)):
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        wanted = "'dim'" if is_chosen else f"'self.dim() = {self.ndim}'"
        reason = "" if is_chosen else ", since dim argument was not given"
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to {wanted}{reason}, but got a list of length {len(spacing)}"
        )
    return spacing


def _piece(self: Any, dim: int, start: int, length: int) -> Any:
    """`length` samples along `dim`, from `start`, which may count from the end."""
    if start < 0:
        start += list(self._sizes)[dim]
    return calls.narrow[self._key](self, dim, start, length)


def _even(self: Any, dim: int, step: Any, edge_order: int) -> Any:
    """Derivatives of samples at equal distances."""
    inner = self.size(dim) - 2
    middle = ops._slope(_piece(self, dim, 2, inner), _piece(self, dim, 0, inner), 2 * step)
    first, second, before, last = (_piece(self, dim, i, 1) for i in (0, 1, -2, -1))
    if edge_order == 1:
        left, right = ops._slope(second, first, step), ops._slope(last, before, step)
    else:
        third = _piece(self, dim, min(2, inner + 1), 1)
        earlier = _piece(self, dim, -min(3, inner + 2), 1)
        left = (-1.5 * first + 2 * second - 0.5 * third) / step
        right = (0.5 * earlier - 2 * before + 1.5 * last) / step
    return ops.cat([left, middle, right], dim)


def _uneven(self: Any, dim: int, coordinates: Any, edge_order: int) -> Any:
    """Derivatives of samples at given places: of the parabola through three neighbours."""
    shape = [1] * len(self._sizes)
    shape[dim], inner = -1, list(self._sizes)[dim] - 2
    if coordinates.dtype is dtypes.bool:
        ops.neg(coordinates)  # raises: distances have signs
    steps = diff(coordinates)
    steps = reshape(steps, shape) if len(shape) > 1 else steps
    before, after = _piece(steps, dim, 0, inner), _piece(steps, dim, 1, inner)
    samples = [_piece(self, dim, i, inner) for i in range(3)]
    middle = ops._parabola_slope(*samples, before, after)
    edges = [_edge(self, steps, dim, sign, edge_order) for sign in (1, -1)]
    parts = [edges[0], middle, edges[1]]
    return calls.cat[tuple([part._key for part in parts])](parts, dim)


def _edge(self: Any, steps: Any, dim: int, sign: int, edge_order: int) -> Any:
    """The derivative at the first sample (sign 1) or the last (-1)."""
    places = (0, 1, 2) if sign == 1 else (-1, -2, -3)
    first, second = (_piece(self, dim, i, 1) for i in places[:2])
    near = _piece(steps, dim, places[0], 1)
    if edge_order == 1:
        return ops._slope(second, first, sign * near)
    third, far = _piece(self, dim, places[2], 1), _piece(steps, dim, places[1], 1)
    slope = (
        first * (-(2 * near + far) / (near * (near + far)))
        + second * ((near + far) / (near * far))
        - third * (near / (far * (near + far)))
    )
    return slope * sign
