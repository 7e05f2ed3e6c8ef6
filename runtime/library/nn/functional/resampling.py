"""Which elements a resized dim is made of, and their weights, as the tables of `_resample`.

A table is over (taps, results). Its adjoint, over (taps, elements), says the same the other way
round - to which results an element contributes - and is the table of the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.ops.composite.sampling import BITS_BEHIND_POINT

Array = Any
CUBIC, CUBIC_SMOOTHED = -0.75, -0.5
"""The slope at 1 of the cubic kernel; with antialias it is that of Keys (1981)."""


class Resizing(NamedTuple):
    """How one dim is resized.

    scale: as it was given; without, the ratio of the lengths counts. real: the NumPy type to count
    in, that of the weights. PyTorch counts places in float32 unless the elements are float64.
    """

    kind: str
    length: int
    size: int
    scale: float | None
    align_corners: bool
    antialias: bool
    real: str

    @property
    def ratio(self) -> Any:
        """The distance of neighbouring results, in elements.

        As many as there are stay as they are, whatever the scale; so PyTorch's forward passes.
        """
        real = np.dtype(self.real).type
        if self.size == self.length and (self.kind == "linear" or self.antialias):
            return real(1)
        if self.align_corners:
            return real(self.length - 1) / real(self.size - 1) if self.size > 1 else real(0)
        if self.scale is not None:
            return real(1.0 / self.scale)
        return real(self.length) / real(self.size)


@lru_cache(maxsize=256)
def tables(resizing: Resizing, device: torch.device) -> tuple[Any, Any, Any, Any]:
    """Places and weights, and those of the adjoint, as tensors on a device."""
    places, weights = (_smoothed if resizing.antialias else _plain)(resizing)
    arrays = (places, weights, *adjoint(places, weights, resizing.length))
    there, shares, back, back_shares = (torch.from_numpy(each).to(device) for each in arrays)
    return there, shares, back, back_shares


@lru_cache(maxsize=256)
def byte_tables(resizing: Resizing, device: torch.device) -> tuple[Any, Any]:
    """Places and weights of `_resample_bytes`, an even number of taps; weights are whole numbers.
    None of a dim of as many as there are.

    What is beyond an end counts to the last element before weights are rounded: to as many bits as
    leave the largest one a number of 16, as PyTorch's. The bits behind these are 0.
    """
    if resizing.size == resizing.length:
        return None, None
    places, weights = (_smoothed if resizing.antialias else _plain)(resizing)
    for k in range(len(places) - 1, 0, -1):
        same = places[k] == places[k - 1]
        weights[k - 1] += np.where(same, weights[k], 0)
        weights[k] = np.where(same, 0, weights[k])
    bits, most = 0, weights.max()
    while bits < BITS_BEHIND_POINT and int(most * (1 << (bits + 1)) + 0.5) < 1 << 15:
        bits += 1
    whole = np.trunc(weights * (1 << bits) + np.copysign(0.5, weights)).astype(np.int64)
    whole <<= BITS_BEHIND_POINT - bits
    missing = len(places) % 2
    places = np.pad(places, ((0, missing), (0, 0)), "edge")
    whole = np.pad(whole, ((0, missing), (0, 0)))
    return torch.from_numpy(places).to(device), torch.from_numpy(whole).to(device)


@lru_cache(maxsize=256)
def nearest(length: int, size: int, scale: float | None, exact: bool, device: torch.device) -> Any:
    """The element nearest to each result: below its left edge, or with `exact` its middle."""
    ratio = Resizing("nearest", length, size, scale, False, False, "float32").ratio
    middles = np.arange(size, dtype=np.float32) + np.float32(0.5 if exact else 0)
    places = np.minimum(np.floor(middles * ratio).astype(np.int64), length - 1)
    return torch.from_numpy(places).to(device)


def _plain(resizing: Resizing) -> tuple[Array, Array]:
    """Two or four taps around each place; beyond the ends stands the last element."""
    real, ratio = np.dtype(resizing.real).type, resizing.ratio
    steps = np.arange(resizing.size, dtype=real)
    half = real(0.5)
    middles = steps * ratio if resizing.align_corners else (steps + half) * ratio - half
    last = resizing.length - 1
    if resizing.kind == "cubic":
        below = np.floor(middles)
        t = middles - below
        taps, weights = range(-1, 3), [_cubic(abs(t - real(k)), CUBIC) for k in range(-1, 3)]
    else:
        middles = np.maximum(middles, real(0))
        below = np.minimum(np.floor(middles), real(last))
        t = middles - below
        taps, weights = range(2), [real(1) - t, t]
    places = np.clip(below.astype(np.int64) + np.array(taps)[:, None], 0, last)
    return places, np.array(weights, real)


def _smoothed(resizing: Resizing) -> tuple[Array, Array]:
    """As many taps as lie under the kernel, which is as wide as results are apart."""
    real, ratio = np.dtype(resizing.real).type, resizing.ratio
    kernel, reach = _KERNELS[resizing.kind]
    support = real(reach) * max(ratio, real(1))
    narrowing = real(1) / ratio if ratio >= 1 else real(1)
    half = real(0.5)
    middles = ratio * (np.arange(resizing.size, dtype=real) + half)
    first = np.maximum((middles - support + half).astype(np.int64), 0)
    end = np.minimum((middles + support + half).astype(np.int64), resizing.length)
    taps = np.arange((end - first).max())[:, None]
    inside = taps < end - first
    distances = ((taps + first).astype(real) - middles + half) * narrowing
    weights = np.where(inside, kernel(abs(distances)), real(0))
    return np.minimum(first + taps, end - 1), weights / weights.sum(axis=0)


def _triangle(x: Array) -> Array:
    return np.maximum(x.dtype.type(1) - x, x.dtype.type(0))


def _cubic(x: Array, slope: float = CUBIC_SMOOTHED) -> Array:
    """The cubic convolution kernel at distances x >= 0 (Keys, 1981)."""
    a, real = slope, x.dtype.type
    near = (real(a + 2) * x - real(a + 3)) * x * x + real(1)
    far = ((real(a) * x - real(5 * a)) * x + real(8 * a)) * x - real(4 * a)
    return np.where(x <= 1, near, np.where(x < 2, far, real(0)))


_KERNELS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "linear": (_triangle, 1),
    "cubic": (_cubic, 2),
}
"""A kernel and how far it reaches."""


def adjoint(places: Array, weights: Array, length: int) -> tuple[Array, Array]:
    """The table of the transposed map; places stay in ascending order.

    What fills up the taps of an element has the weight 0 and the place of its last one.
    """
    elements, results = places.T.ravel(), np.repeat(np.arange(places.shape[1]), len(places))
    order = np.argsort(elements, kind="stable")
    counts = np.bincount(elements, minlength=length)
    taps = np.arange(counts.max())[:, None]
    starts = np.cumsum(counts) - counts
    at = order[np.maximum(starts + np.minimum(taps, counts - 1), 0)]
    found = np.where(taps < counts, weights.T.ravel()[at], weights.dtype.type(0))
    return results[at], found
