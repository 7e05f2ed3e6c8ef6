"""Bodies of `torch.signal.windows`: symmetric windows, or periodic ones for spectra.

A window of M points is symmetric about its middle; a periodic one (`sym=False`) is one of M + 1
points without the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import from_array
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation

Points = Any
BLACKMAN = (0.42, 0.5, 0.08)
NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)


def _window(
    name: str, formula: Any, M: int, sym: bool, dtype: Any, layout: Any, device: Any
) -> Any:
    """formula(n, last): of positions n, where `last` is that of a symmetric window's last point.

    Raises: ValueError for a negative length, another layout or dtype.
    """
    chosen = creation.dtype_or(dtype, dtypes.default_dtype())
    if M < 0:
        raise errors.window_length(name, M)
    if layout is not None and layout is not layouts.strided:
        raise errors.window_layout(name, layout)
    if chosen not in (dtypes.float32, dtypes.float64):
        raise errors.window_dtype(name, chosen)
    shapes.check_storable((M,))
    points = np.ones(M) if M <= 1 else formula(np.arange(M, dtype=np.float64), M - bool(sym))
    return creation.from_values(points, chosen, creation.device_or_default(device))


def general_cosine(M: int, a: Sequence[float], *options: Any) -> Any:
    """A sum of cosines of multiples of a turn, their signs alternating.

    Raises: TypeError or ValueError if `a` is no list of numbers, or empty for two points or more.
    """
    if not isinstance(a, (tuple, list)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a and M > 1:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", _cosines(a), M, *options)


def _cosines(a: Sequence[float]) -> Any:
    def formula(n: Points, last: int) -> Points:
        turn = 2 * np.pi * n / last
        return sum((-1) ** i * float(weight) * np.cos(i * turn) for i, weight in enumerate(a))

    return formula


def general_hamming(M: int, alpha: float, *options: Any) -> Any:
    """`alpha` less a cosine of height `1 - alpha`."""
    return _window("general_hamming", _cosines((alpha, 1 - alpha)), M, *options)


def hamming(M: int, *options: Any) -> Any:
    """`general_hamming` with 0.54, which lowers the first side lobe."""
    return _window("hamming", _cosines((0.54, 0.46)), M, *options)


def hann(M: int, *options: Any) -> Any:
    """A cosine raised to touch 0."""
    return _window("hann", _cosines((0.5, 0.5)), M, *options)


def blackman(M: int, *options: Any) -> Any:
    """Blackman's sum of three cosines."""
    return _window("blackman", _cosines(BLACKMAN), M, *options)


def nuttall(M: int, *options: Any) -> Any:
    """Nuttall's sum of four cosines, of the lowest side lobes."""
    return _window("nuttall", _cosines(NUTTALL), M, *options)


def bartlett(M: int, *options: Any) -> Any:
    """A triangle from 0 to 1 and back."""
    return _window("bartlett", lambda n, last: 1 - np.abs(2 * n / last - 1), M, *options)


def cosine(M: int, *options: Any) -> Any:
    """Half a wave of a sine, its points in the middle of M equal parts."""
    return _window("cosine", lambda n, last: np.sin(np.pi * (n + 0.5) / (last + 1)), M, *options)


def exponential(M: int, center: float | None, tau: float, sym: bool, *options: Any) -> Any:
    """An exponential that falls to both sides of `center`.

    Raises: ValueError if `tau` is not positive, or a symmetric window is given a centre.
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def formula(n: Points, last: int) -> Points:
        return np.exp(-np.abs(n - (last / 2 if center is None else center)) / tau)

    window = _window("exponential", formula, M, sym, *options)
    return window * np.exp(-abs(center) / tau) if M == 1 and center is not None else window


def gaussian(M: int, std: float, *options: Any) -> Any:
    """A bell of standard deviation `std`. Raises: ValueError if that is not positive."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window(
        "gaussian", lambda n, last: np.exp(-0.5 * ((n - last / 2) / std) ** 2), M, *options
    )


def kaiser(M: int, beta: float, *options: Any) -> Any:
    """Kaiser's window, by the modified Bessel function. Raises: ValueError if beta is negative."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def formula(n: Points, last: int) -> Points:
        values = np.empty(n.size + 1)
        values[:-1], values[-1] = np.sqrt(np.maximum(1 - (2 * n / last - 1) ** 2, 0)), 1
        heights = ops.i0(from_array(beta * values))._dense()
        return heights[:-1] / heights[-1]

    return _window("kaiser", formula, M, *options)
