"""Errors of Bessel, Airy and gamma functions in ulp, against mpmath, and their special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.codegen.formula_evaluation import EXACT
from tests.runtime.test_vecmath import exactly
from tests.runtime.vecmath_running import Array, errors_in_ulp, run
from torchgen_out._runtime.kernels.vecmath import numpy_reference

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

REAL, POSITIVE = (-40, 40), (0, 60)
BOUNDS: dict[str, tuple[float, tuple[float, float]]] = {
    "i0": (4, REAL),
    "i0e": (4, REAL),
    "i1": (4, REAL),
    "i1e": (4, REAL),
    "k0": (6, POSITIVE),
    "k0e": (6, POSITIVE),
    "k1": (6, POSITIVE),
    "k1e": (6, POSITIVE),
    "erfcx": (4, (-26, 40)),
}
"""Errors in ulp over a range."""
WAVES: dict[str, tuple[float, tuple[float, float]]] = {
    "bessel_j0": (16, REAL),
    "bessel_j1": (8, REAL),
    "bessel_y0": (30, POSITIVE),
    "bessel_y1": (30, POSITIVE),
    "airy_ai": (120, (-20, 2)),
}
"""The same of the height of a wave: near its zeros the error is relative to that. Far out, Airy's
function magnifies the rounding of its phase."""
HEIGHT: dict[str, Callable[[Array], Array]] = {
    "airy_ai": lambda x: 1 / np.sqrt(np.pi) / np.sqrt(np.sqrt(np.maximum(np.abs(x), 1))),
}


def _points(low: float, high: float) -> Array:
    """Over the range, more near 0, and where one polynomial ends and another begins."""
    draw = np.random.default_rng(2)
    count = 10 if low == 0 else 50  # exact values of K take time
    near = draw.uniform(max(low, -9), min(high, 9), count)
    ends = np.array([2.0, 8.0, -4.0, -8.0])
    ends = np.concatenate([ends, np.nextafter(ends, 0), [1e-9, 1e-300]])
    x = np.concatenate([draw.uniform(low, high, count), near, ends])
    return x[(x >= low) & (x <= high)]


@pytest.mark.parametrize("name", BOUNDS)
def test_errors(name: str) -> None:
    bound, ends = BOUNDS[name]
    x = _points(*ends)
    assert errors_in_ulp(run(name, "float64", x), exactly(EXACT[name])(x)).max() <= bound


@pytest.mark.parametrize("name", WAVES)
def test_errors_of_waves(name: str) -> None:
    bound, ends = WAVES[name]
    x = _points(*ends)
    expected = exactly(EXACT[name])(x)
    height = HEIGHT.get(name, lambda x: np.minimum(1, 1 / np.sqrt(np.abs(x))))(x)
    scale = np.maximum(np.abs(expected.astype(float)), height) * 2.0**-53
    assert (np.abs(run(name, "float64", x) - expected).astype(float) / scale).max() <= bound


def test_quantiles_of_all_sizes() -> None:
    """The distribution function of a quantile is what it is the quantile of."""
    p = np.concatenate([np.linspace(0.001, 0.999, 60), 10.0 ** -np.linspace(1, 307, 60), [5e-324]])
    found = exactly(mpmath.ncdf)(run("ndtri", "float64", p))
    slope = np.maximum(1, np.abs(numpy_reference.ndtri(p)) ** 2)
    assert (np.abs(found / p - 1) / slope).max() < 8e-16


PAIRS: dict[str, tuple[float, tuple[float, float], tuple[float, float]]] = {
    "zeta": (1e-14, (1.1, 20), (-2, 1.5)),
    "igamma": (1e-12, (0.1, 400), (-1, 2.5)),
    "igammac": (1e-12, (0.1, 400), (-1, 2.5)),
    "polygamma": (1e-13, (1, 9), (-2, 3)),
}
"""Relative errors; the first operand's range, and the second's decimal logarithm's."""


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers(name: str) -> None:
    bound, ends, sizes = PAIRS[name]
    draw = np.random.default_rng(4)
    a, x = draw.uniform(*ends, 60), 10 ** draw.uniform(*sizes, 60)
    a = np.floor(a) if name == "polygamma" else a
    with mpmath.workdps(60):
        exact: Any = [float(EXACT[name](*map(_number, pair))) for pair in zip(a, x, strict=True)]
    np.testing.assert_allclose(run(name, "float64", a, x), exact, bound, 1e-300)


def _number(value: float) -> Any:
    return int(value) if value == int(value) else mpmath.mpf(float(value))


EDGES = np.array([0.0, -0.0, 1e-320, 700.0, math.inf, -math.inf, math.nan, -1.0])


@pytest.mark.parametrize("name", [*BOUNDS, "ndtri", "bessel_j0", "bessel_y0", "bessel_y1"])
def test_special_values_are_scipys(name: str) -> None:
    found, expected = (
        f(EDGES) for f in (partial(run, name, "float64"), getattr(numpy_reference, name))
    )
    known = np.isfinite(EDGES) | ~np.isnan(expected)
    np.testing.assert_allclose(found[known], expected[known], 1e-12)
    assert np.isnan(found[np.isnan(EDGES)]).all()


@pytest.mark.parametrize("type_name", ["int64", "int8", "uint8", "uint64"])
def test_divisors_and_multiples(type_name: str) -> None:
    info = np.iinfo(type_name)
    values = np.array([0, 1, 6, 9, 100, info.max, info.min, info.max - 5], type_name)
    x, y = (each.ravel() for each in np.meshgrid(values, values))
    for name in ("gcd", "lcm"):
        expected = [getattr(math, name)(int(a), int(b)) for a, b in zip(x, y, strict=True)]
        wrapped = np.array([each % 2**64 for each in expected], np.uint64).astype(type_name)
        assert np.array_equal(run(name, type_name, x, y), wrapped)
