"""Factories of signal processing: windows, and the frequencies of Fourier transforms.

A window of `n` points is symmetric; a periodic one is one of n + 1 points without the last. The
arguments after those named mean what they do in `creation`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.factories import creation

Formula = Callable[..., Any]

LONGEST_KEPT = 4096
"""The length up to which windows are remembered: programs ask for one window many times."""


def _window(
    name: str,
    window_length: int,
    periodic: bool,
    formula: Formula,
    weights: tuple[float, ...],
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> Any:
    """formula(x, *weights): of positions x from 0 to 1."""
    chosen = creation.dtype_or(dtype, dtypes.default_dtype())
    if not chosen.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {chosen}")
    if window_length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={window_length}"
        )
    shapes.check_storable((window_length,))
    make = _values if window_length <= LONGEST_KEPT else _values.__wrapped__
    values = make(formula, weights, window_length, bool(periodic), chosen)
    on = creation.device_or_default(device)
    return creation.from_values(values.copy(), chosen, on, pin_memory)


@lru_cache(maxsize=64)
def _values(
    formula: Formula, weights: tuple[float, ...], window_length: int, periodic: bool, dtype: dtype
) -> Any:
    """The window's points as a buffer of `dtype` holds them."""
    if window_length <= 1:
        points = np.ones(window_length)
    else:
        last = window_length + periodic - 1
        points = formula(np.arange(window_length) / last, *weights)
    return creation.cast_values(points, dtype)


def _cosines(x: Any, *weights: float) -> Any:
    """A sum of cosines of multiples of a full turn."""
    return sum(w * np.cos(2 * np.pi * k * x) for k, w in enumerate(weights))


def _positive_cosines(x: Any, *weights: float) -> Any:
    return np.maximum(_cosines(x, *weights), 0)


def _triangle(x: Any) -> Any:
    return 1 - np.abs(2 * x - 1)


def _bessel(x: Any, beta: float) -> Any:
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta)


def hann_window(window_length: int, *options: Any) -> Any:
    """Half a turned cosine, periodic."""
    return _window("hann_window", window_length, True, _cosines, (0.5, -0.5), *options)


def hann_window_periodic(window_length: int, periodic: bool, *options: Any) -> Any:
    """Half a turned cosine."""
    return _window("hann_window", window_length, periodic, _cosines, (0.5, -0.5), *options)


def hamming_window(window_length: int, *options: Any) -> Any:
    """A raised cosine, periodic."""
    return hamming_window_alpha_beta(window_length, True, 0.54, 0.46, *options)


def hamming_window_periodic(window_length: int, periodic: bool, *options: Any) -> Any:
    """A raised cosine."""
    return hamming_window_alpha_beta(window_length, periodic, 0.54, 0.46, *options)


def hamming_window_alpha(window_length: int, periodic: bool, alpha: float, *options: Any) -> Any:
    """A raised cosine of a given mean."""
    return hamming_window_alpha_beta(window_length, periodic, alpha, 0.46, *options)


def hamming_window_alpha_beta(
    window_length: int, periodic: bool, alpha: float, beta: float, *options: Any
) -> Any:
    """A raised cosine of a given mean and amplitude."""
    return _window("hamming_window", window_length, periodic, _cosines, (alpha, -beta), *options)


def blackman_window(window_length: int, *options: Any) -> Any:
    """A sum of three cosines, periodic."""
    return blackman_window_periodic(window_length, True, *options)


def blackman_window_periodic(window_length: int, periodic: bool, *options: Any) -> Any:
    """A sum of three cosines; never negative."""
    weights = (0.42, -0.5, 0.08)
    return _window("blackman_window", window_length, periodic, _positive_cosines, weights, *options)


def bartlett_window(window_length: int, *options: Any) -> Any:
    """A triangle, periodic."""
    return _window("bartlett_window", window_length, True, _triangle, (), *options)


def bartlett_window_periodic(window_length: int, periodic: bool, *options: Any) -> Any:
    """A triangle."""
    return _window("bartlett_window", window_length, periodic, _triangle, (), *options)


def kaiser_window(window_length: int, *options: Any) -> Any:
    """Kaiser's window of beta 12, periodic."""
    return kaiser_window_beta(window_length, True, 12.0, *options)


def kaiser_window_periodic(window_length: int, periodic: bool, *options: Any) -> Any:
    """Kaiser's window of beta 12."""
    return kaiser_window_beta(window_length, periodic, 12.0, *options)


def kaiser_window_beta(window_length: int, periodic: bool, beta: float, *options: Any) -> Any:
    """The Bessel function I0 over a half circle."""
    return _window("kaiser_window", window_length, periodic, _bessel, (beta,), *options)


# -- frequencies -------------------------------------------------------------------------------


def fft_fftfreq(n: int, d: float = 1.0, *options: Any) -> Any:
    """0, 1, ... and then the negative ones, over n d."""
    return _frequencies("fftfreq", n, d, n, *options)


def fft_rfftfreq(n: int, d: float = 1.0, *options: Any) -> Any:
    """0, 1, ... n // 2 over n d."""
    return _frequencies("rfftfreq", n, d, n // 2 + 1, *options)


def _frequencies(
    name: str,
    n: int,
    d: float,
    count: int,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> Any:
    chosen = creation.dtype_or(dtype, dtypes.default_dtype())
    if chosen.kind not in "fc":
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if count < 0:
        raise RuntimeError(f"{name}: expected a number of samples from 0 on, got n={n}")
    shapes.check_storable((count,))
    make = _steps_over if count <= LONGEST_KEPT else _steps_over.__wrapped__
    values = make(n, d, count, chosen).copy()
    return creation.from_values(values, chosen, creation.device_or_default(device), pin_memory)


@lru_cache(maxsize=64)
def _steps_over(n: int, d: float, count: int, dtype: dtype) -> Any:
    """Steps of n points, negative behind the half, over n d, as a buffer of `dtype` holds them."""
    steps = np.arange(count)
    if count == n:
        steps = np.where(steps < (n + 1) // 2, steps, steps - n)
    with np.errstate(all="ignore"):
        return creation.cast_values(steps * np.divide(1.0, n * d), dtype)
