"""Histograms of one and more dims: edges of the bins, then counts or sums of weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import ranges
from torchgen_out._runtime.ops.composite.reduction.selection import aminmax
from torchgen_out._runtime.ops.composite.view.reshaping import reshape


def bincount(self: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Counts, or sums of weights: of float32 in float32, of others in float64."""
    if weights is not None and weights.dtype not in (dtypes.float32, dtypes.float64):
        weights = weights.to(dtypes.float64)
    return ops._bincount(self, weights, minlength)


def count_numbers(self: Any, weights: Any, minlength: int) -> Any:
    """`bincount` for backends that have no kernel for it: the ends are waited for."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    low, high = _ends(self) if self.numel() else (0, -1)
    if self.ndim != 1 or low < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    dtype = dtypes.int64 if weights is None else weights.dtype
    sums = self.new_zeros((max(high + 1, minlength),), dtype=dtype)
    weights = sums.new_ones(()).expand(self.shape) if weights is None else weights
    return sums.scatter_add(0, self.to(dtypes.int64), weights)


def count_intervals(out: Any, self: Any, bins: int, min: Any, max: Any) -> None:
    """`histc` for backends that have no kernel for it: bins are found in double precision, so that
    each element falls where it does on the CPU. What is outside has a bin of its own."""
    low, high = float(min), float(max)
    if low == high and self.numel():
        low, high = map(float, _ends(self))
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    points = self.reshape(-1).to(dtypes.float64)
    places = ((points - low) * (bins / (high - low))).to(dtypes.int64).clamp(max=bins - 1)
    places = ops.where((points >= low) & (points <= high), places, bins)
    counts = places.new_zeros((bins + 1,))
    counts = counts.scatter_add(0, places, counts.new_ones(()).expand(places._sizes))
    out.copy_(counts.narrow(0, 0, bins))


def _ends(self: Any) -> Any:
    """The smallest and the greatest element, both NaN if one is; waited for."""
    return ops.stack(ops._ends(self.reshape(-1))).tolist()


def histogram(
    self: Any,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """(hist, edges) of all elements. Shape: hist (bins), edges (bins + 1); an edge tensor as is."""
    points = reshape(self, (-1, 1))
    weights = None if weight is None else weight.reshape(-1)
    if weight is not None and weight.shape != self.shape:
        raise errors.histogram_weights(self.shape, weight.shape)
    hist, (edges,) = histogramdd(points, [bins], range, weights, density)
    return hist, edges


def histogramdd(
    self: Any,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """(hist, edges) of the points in the last dim. bins: numbers or edges per coordinate, or one.

    Shape: self (*, D), weight (*); hist has D dims.
    """
    _check(self, weight)
    *_, count = self._sizes
    per_dim = [bins] * count if isinstance(bins, int) else list(bins)
    if len(per_dim) != count:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    points = self if len(self._sizes) == 2 else self.reshape((-1, count))
    edges = _edges(points, per_dim, range)
    weights = None if weight is None else weight.reshape(-1)
    bins = tuple([each.numel() - 1 for each in edges])
    hist = ops._bin_sums(points, edges[0] if count == 1 else ops.cat(edges), bins, weights)
    return (_density(hist, edges) if density else hist), tuple(edges)


def _check(self: Any, weight: Any) -> None:
    if self.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if self.dtype.kind != "f":
        raise errors.dtype_not_supported("histogramdd", self.dtype, "floating-point dtypes")
    if weight is None:
        return
    if weight.shape != self.shape[:-1]:
        raise errors.histogram_weights(self.shape, weight.shape)
    if weight.dtype is not self.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            f"should have the same dtype, but got {self.dtype} and {weight.dtype}"
        )


def _edges(points: Any, bins: list[Any], range: Sequence[float] | None) -> list[Any]:
    """The edges of the bins of every coordinate, `bins + 1` of them where a number is given."""
    count = len(bins)
    if range is not None and len(range) != 2 * count:
        raise RuntimeError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have "
            f"{2 * count} elements, but got {len(range)}"
        )
    edges, bounds = [], None
    own, on = points.dtype, points.device
    for dim, wanted in enumerate(bins):
        number = wanted if isinstance(wanted, int) else wanted.numel() - 1
        if number <= 0:
            raise RuntimeError(
                f"torch.histogram(): bins must be > 0, but got {number} for dimension {dim}"
            )
        if isinstance(wanted, int):
            bounds = bounds or _bounds(points, range)
            low, high = _checked(dim, *bounds[dim])
            wanted = ranges.linspace(low, high, number + 1, own, None, on)
        edges.append(wanted)
    return edges


def _bounds(points: Any, range: Sequence[float] | None) -> list[tuple[float, float]]:
    """Where the bins of each coordinate begin and end: as told, or as the elements lie."""
    if range is not None:
        return list(zip(range[::2], range[1::2], strict=True))
    count, dims = points._sizes
    if count and dims == 1:
        least, greatest = aminmax(points)
        return [(least.item(), greatest.item())]
    if count and dims:
        return list(zip(*[each.tolist() for each in aminmax(points, 0)], strict=True))
    return [(0.0, 1.0)] * dims


def _checked(dim: int, low: float, high: float) -> tuple[float, float]:
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(
            f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite"
        )
    if low > high:
        raise RuntimeError(
            "torch.histogramdd: min should not exceed max, but got "
            f"min {low:g} max {high:g} for dimension {dim}"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _density(hist: Any, edges: list[Any]) -> Any:
    """Over the whole and the volumes of the bins, so that the integral is 1."""
    density = hist / hist.sum()
    for dim, each in enumerate(edges):
        widths = each.diff().reshape((-1, *(1,) * (len(edges) - dim - 1)))
        density = density / widths
    return density


def of_edges(self: Any, bins: Any, weight: Any = None, density: bool = False) -> Any:
    """`histogram` between given edges."""
    return histogram(self, bins, None, weight, density)


def bin_sums(out: Any, points: Any, edges: Any, bins: Sequence[int], weights: Any) -> None:
    """Write the number of points in each bin, or the sum of their weights.

    A bin has its left edge, the last one both. For backends that have no kernel for it.

    Shape: points (N, D), edges those of every coordinate in turn, bins + 1 of each, weights (N).
    """
    places, first = ops.zeros_like(points.select(1, 0), dtype=dtypes.int64), 0
    is_inside = places == 0
    for dim, size in enumerate(bins):
        own, values = edges.narrow(0, first, size + 1), points.select(1, dim).contiguous()
        at = ops.searchsorted(own, values, right=True) - 1
        places = places * size + at.clamp(max=size - 1)
        is_inside = is_inside & (values >= own.select(0, 0)) & (values <= own.select(0, size))
        first += size + 1
    count = prod(bins)
    sums = out.new_zeros((count + 1,))
    weights = sums.new_ones(()).expand(points._sizes[:1]) if weights is None else weights
    sums = sums.scatter_add(0, ops.where(is_inside, places, count), weights)
    out.copy_(sums.narrow(0, 0, count).reshape(out._sizes))
