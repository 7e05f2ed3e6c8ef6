"""Quantiles: sorted elements at fractional places, of all elements or of those that are not nan."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    self: Any, q: Any, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    """Shape: `dim` (all dims if None) is reduced; a vector `q` adds a dim in front. nan spreads."""
    return _quantiles("quantile", self, q, dim, keepdim, interpolation)


def nanquantile(
    self: Any, q: Any, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    """`quantile` of the elements that are not nan; nan where there is none."""
    return _quantiles("nanquantile", self, q, dim, keepdim, interpolation)


def _quantiles(
    name: str, self: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Any:
    _check_input(name, self, interpolation)
    q = _probabilities(name, self, q)
    place = 0 if dim is None else normalize_dim(dim, self.ndim)
    rows = self.reshape((-1,)) if dim is None or not self.ndim else self.movedim(place, -1)
    if not self.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    ordered, last = rows.sort(-1)[0], rows._sizes[-1] - 1
    if name == "quantile":
        places = ops._place_or_last(q, ordered.narrow(-1, last, 1), last)
    else:
        places = ops._place_of_quantile(q, (ordered == ordered).sum(-1, True, dtype=self.dtype))
    values = _at(ordered, places, interpolation)
    is_vector = isinstance(q, Tensor) and q.ndim > 0
    values = values.movedim(-1, 0) if is_vector else values.squeeze(-1)
    if not keepdim or not self.ndim:
        return values
    if dim is None:
        return values.reshape((*values._sizes[:is_vector], *(1,) * self.ndim))
    return values.unsqueeze(place + is_vector)


def _check_input(name: str, self: Any, interpolation: str) -> None:
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if self.dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")


def _probabilities(name: str, self: Any, q: Any) -> Any:
    """`q`, of the input's dtype. Raises: RuntimeError unless all are in [0, 1]."""
    if isinstance(q, (int, float)):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return float(q)
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not self.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if q.device != self.device:
        raise RuntimeError(f"{name}() q tensor must be on the same device as the input tensor")
    given = batched.whole(q).detach().reshape((-1,)) if q.is_cpu else None
    if given is not None and not all(0 <= each <= 1 for each in given.tolist()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def _at(ordered: Any, places: Any, interpolation: str) -> Any:
    """The values at fractional places of sorted rows."""
    if interpolation == "nearest":
        return ordered.gather(-1, places.round().long())
    if interpolation == "lower":
        return ordered.gather(-1, places.long())
    above = ordered.gather(-1, places.ceil().long())
    if interpolation == "higher":
        return above
    below = ordered.gather(-1, places.long())
    return below.lerp(above, 0.5 if interpolation == "midpoint" else ops._fraction(places))
