"""Quantiles: sorted elements at fractional places, of all elements or of those that are not nan."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.shape import normalize_dim
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
    rows = self.reshape(-1) if dim is None or not self.ndim else self.movedim(place, -1)
    if not self.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    ordered = rows.sort(-1).values
    places = _nan_last(ordered, q) if name == "quantile" else _before_nan(ordered, q)
    values = _at(ordered, places, interpolation).movedim(-1, 0)
    if keepdim and self.ndim:
        whole = (values.shape[0], *(1,) * self.ndim)
        values = values.reshape(whole) if dim is None else values.unsqueeze(place + 1)
    return values if q.ndim else values.squeeze(0)


def _check_input(name: str, self: Any, interpolation: str) -> None:
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if self.dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")


def _probabilities(name: str, self: Any, q: Any) -> Any:
    """`q` as a tensor of the input's dtype. Raises: RuntimeError unless all are in [0, 1]."""
    if isinstance(q, (int, float)):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return self.new_full((), q)
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not self.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if q.device != self.device:
        raise RuntimeError(f"{name}() q tensor must be on the same device as the input tensor")
    if q.is_cpu and not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def _nan_last(ordered: Any, q: Any) -> Any:
    """The fractional places of `q` in each row; the last, where nan stands, if a row has one."""
    last = ordered.shape[-1] - 1
    return (q.reshape(-1) * last).masked_fill(ordered[..., -1:].isnan(), last)


def _before_nan(ordered: Any, q: Any) -> Any:
    """The fractional places of `q` among the elements of each row that are not nan."""
    last = ordered.isnan().logical_not().sum(-1, True) - 1
    places = q.reshape(-1) * last
    return places.masked_fill(last < 0, 0)


def _at(ordered: Any, places: Any, interpolation: str) -> Any:
    """The values at fractional places of sorted rows."""
    if interpolation == "nearest":
        places = places.round()
    below = places.floor() if interpolation != "higher" else places.ceil()
    values = ordered.gather(-1, below.long())
    if interpolation not in ("linear", "midpoint"):
        return values
    weight = places - below if interpolation == "linear" else ops.full_like(places, 0.5)
    return values.lerp(ordered.gather(-1, places.ceil().long()), weight)
