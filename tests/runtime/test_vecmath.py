"""Errors of the vector mathematics in ulp, and its special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import torchgen_out as torch
from codegen.formula.primitives import FUNCTIONS
from tests.runtime.vecmath_running import (
    Array,
    Function,
    check,
    errors_in_ulp,
    float32_line,
    pairs,
    run,
    worst_error,
)
from tests.runtime.vecmath_samples import near_quarter_turns, telling
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.vecmath import compose, near

EXTENDED = np.longdouble

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def lgamma(x: Array) -> Array:
    """log |gamma(x)|, of which SciPy says nan at -inf."""
    return np.where(x == -math.inf, math.inf, scipy.special.gammaln(x))


def trigamma(x: Array) -> Array:
    """For positive numbers and, by reflection, negative ones."""
    positive = x > 0.5
    above = scipy.special.zeta(2, np.where(positive, x, 1 - x))
    sine = np.sin(np.pi * (x - np.rint(x)))
    return np.where(positive, above, (np.pi / sine) ** 2 - above)


SIGMOID_ENDS = -127.5 / float(np.float32(math.log2(math.e)))
"""Below, e^-x has no exponent in float32."""

FLOAT32: dict[str, tuple[float, Function]] = {
    "exp": (1.0, np.exp),
    "exp2": (1.0, np.exp2),
    "expm1": (1.6, np.expm1),
    "log": (0.9, np.log),
    "log1p": (1.4, np.log1p),
    "log2": (1.0, np.log2),
    "log10": (1.0, np.log10),
    "rsqrt": (1.5, lambda x: 1 / np.sqrt(x)),
    "cbrt": (0.51, np.cbrt),
    "sin": (1.6, np.sin),
    "cos": (1.6, np.cos),
    "tan": (0.51, np.tan),
    "asin": (1.4, np.arcsin),
    "acos": (1.2, np.arccos),
    "atan": (1.44, np.arctan),
    "sinh": (1.9, np.sinh),
    "cosh": (1.9, np.cosh),
    "tanh": (1.4, np.tanh),
    "asinh": (0.51, np.arcsinh),
    "acosh": (0.51, np.arccosh),
    "atanh": (1.1, np.arctanh),
    "sigmoid": (1.6, lambda x: np.where(x < SIGMOID_ENDS, 0, scipy.special.expit(x))),
    "erf": (1.3, scipy.special.erf),
    "erfc": (0.51, scipy.special.erfc),
    "erfinv": (2.2, lambda x: np.copysign(scipy.special.erfinv(x), x)),
    "lgamma": (0.51, lgamma),
    "digamma": (1.0, scipy.special.digamma),
    "trigamma": (0.51, trigamma),
    "i0": (0.51, lambda x: np.where(np.isinf(x), np.nan, scipy.special.i0(x))),
    "i0e": (0.51, scipy.special.i0e),
    "i1": (0.51, lambda x: np.where(np.isinf(x), np.nan, scipy.special.i1(x))),
    "i1e": (0.51, lambda x: np.copysign(scipy.special.i1e(x), x)),
}

NEAR: dict[str, tuple[float, Function]] = {
    "exp_near": (1.0, np.exp),
    "exp2_near": (1.0, np.exp2),
    "rsqrt_near": (1.0, FLOAT32["rsqrt"][1]),
    "log_near": (0.9, np.log),
    "log2_near": (1.0, np.log2),
    "log10_near": (1.0, np.log10),
    "lgamma_near": (0.51, lgamma),
    "sin_near": (1.6, np.sin),
    "cos_near": (1.6, np.cos),
    "tan_near": (1.93, np.tan),
    "erfinv_near": (2.2, FLOAT32["erfinv"][1]),
}
"""Of arguments of which `sin_is_far` and so on are false."""

SINGLE = FLOAT32 | (NEAR if build.fuses_multiply_add() else {})


def domain(name: str, x: Array) -> Array:
    """The numbers that a function is for."""
    if name not in NEAR:
        return x
    return x[run(name.replace("near", "is_far"), "float32", x, out_type="bool") == 0]


@pytest.mark.parametrize("name", SINGLE)
def test_float32(name: str) -> None:
    bound, reference = SINGLE[name]
    x = domain(name, float32_line(99991))
    check(run(name, "float32", x), reference(x.astype(np.float64)), bound)


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "log10", "rsqrt"])
def test_results_do_not_depend_on_their_neighbours(name: str) -> None:
    x = domain(f"{name}_near", float32_line(9973))
    cheaper, anywhere = run(f"{name}_near", "float32", x), run(name, "float32", x)
    assert len(x) and cheaper.tobytes() == anywhere.tobytes()


@pytest.mark.parametrize("name", ["exp", "log", "log2", "log10"])
def test_nor_do_those_of_float64(name: str) -> None:
    bits = np.random.default_rng(3).integers(0, 2**64, 40000, dtype=np.uint64)
    x = np.concatenate([bits.view(np.float64), np.random.default_rng(4).uniform(-9, 9, 9000)])
    x = x[run(f"{name}_is_far", "float64", x, out_type="bool") == 0]
    cheaper, anywhere = run(f"{name}_near", "float64", x), run(name, "float64", x)
    assert len(x) and cheaper.tobytes() == anywhere.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_float32_everywhere(name: str) -> None:
    bound, reference = SINGLE[name]
    worst, where = worst_over_the_line(name, reference)
    print(f"{name}: {worst:.3f} ulp at {where!r}")
    assert worst <= bound


def worst_over_the_line(name: str, reference: Function) -> tuple[float, float]:
    """The largest error over all 2^32 inputs, and its place."""
    worst, where = 0.0, 0.0
    step = 2**20
    for start in range(0, 2**32, step):
        x = np.arange(start, start + step, dtype=np.uint64).astype(np.uint32).view(np.float32)
        x = domain(name, x)
        with np.errstate(all="ignore"):
            found, expected = run(name, "float32", x), reference(x.astype(np.float64))
        if name == "digamma":  # near its zeros the error is relative to 1
            expected = np.where(np.abs(expected) < 1e-3, found, expected)
        error, place = worst_error(found, expected)
        if error > worst:
            worst, where = error, float(x[place])
    return worst, where


def exactly(function: Callable[[Any], Any]) -> Function:
    """Evaluate with mpmath, to long double."""

    def reference(x: Array) -> Array:
        out = np.empty(x.shape, EXTENDED)
        with mpmath.workdps(40):
            for i, value in enumerate(x.astype(float)):
                exact = function(mpmath.mpf(value))
                high = float(exact)
                rest = float(exact - high) if math.isfinite(high) else 0.0
                out[i] = EXTENDED(high) + EXTENDED(rest)
        return out

    return reference


FLOAT64: dict[str, tuple[float, Function, tuple[float, float]]] = {
    "exp": (1.0 if build.fuses_multiply_add() else 1.2, np.exp, (-745, 711)),
    "exp2": (1.2, np.exp2, (-1075, 1025)),
    "expm1": (1.5, np.expm1, (-40, 711)),
    "log": (0.9, np.log, (0, 30)),
    "log1p": (1.3, np.log1p, (-1, 30)),
    "log2": (0.8, np.log2, (0, 30)),
    "log10": (0.75, np.log10, (0, 30)),
    "rsqrt": (1.5, lambda x: 1 / np.sqrt(x), (0, 30)),
    "cbrt": (0.8, np.cbrt, (-30, 30)),
    "sin": (0.9, np.sin, (-1e5, 1e5)),
    "cos": (0.9, np.cos, (-1e5, 1e5)),
    "tan": (1.4, np.tan, (-1e5, 1e5)),
    "asin": (0.95, np.arcsin, (-1, 1)),
    "acos": (0.95, np.arccos, (-1, 1)),
    "atan": (1.9, np.arctan, (-30, 30)),
    "sinh": (1.65, np.sinh, (-711, 711)),
    "cosh": (1.4, np.cosh, (-711, 711)),
    "tanh": (1.4, np.tanh, (-20, 20)),
    "asinh": (1.8, np.arcsinh, (-30, 30)),
    "acosh": (1.5, np.arccosh, (1, 30)),
    "atanh": (1.1, np.arctanh, (-1, 1)),
    "sigmoid": (1.5, lambda x: 1 / (1 + np.exp(-x)), (-700, 40)),
    "erf": (1.2, exactly(mpmath.erf), (-6, 6)),
    "erfc": (1.7, exactly(mpmath.erfc), (-6, 26)),
    "erfinv": (3.1, exactly(mpmath.erfinv), (-1, 1)),
    "trigamma": (8.0, exactly(lambda x: mpmath.psi(1, x)), (0.1, 30)),
}


@pytest.mark.parametrize("name", FLOAT64)
def test_float64(name: str) -> None:
    bound, reference, (low, high) = FLOAT64[name]
    source = np.random.default_rng(5)
    count = 150 if name.startswith("erf") or name == "trigamma" else 20000
    near = source.uniform(max(low, -1), min(high, 2), count)
    x = np.concatenate([source.uniform(low, high, count), near])
    assert errors_in_ulp(run(name, "float64", x), reference(x.astype(EXTENDED))).max() <= bound


VERSIONS = [
    f"{name}_{version}"
    for version, test in near.TESTS.items()
    for name in FUNCTIONS
    if {f"{name}_{version}", f"{name}_{test}"} <= compose.definitions("real64").keys()
]


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("version", VERSIONS)
def test_versions_of_float64_agree(version: str, type_name: str) -> None:
    """Within some units, or where the value is small of those of 1; also those made for float32."""
    name, _, kind = version.rpartition("_")
    source = np.random.default_rng(7)
    x = np.concatenate([source.uniform(-top, top, 5000) for top in (1, 40, 1e4)])
    x = np.concatenate([x, 10.0 ** source.uniform(-30, 5, 5000)]).astype(type_name)
    x = x[run(f"{name}_{near.TESTS[kind]}", type_name, x, out_type="bool") == 0]
    cheaper, anywhere = run(version, type_name, x), run(name, type_name, x)
    close = 8 * np.finfo(type_name).eps
    assert len(x) and np.allclose(cheaper, anywhere, rtol=close, atol=close, equal_nan=True)


EXACT = {
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": mpmath.log10,
    "exp2": lambda x: mpmath.power(2, x),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
}
"""What mpmath calls otherwise, or not at all."""

WHOLE = {"log", "log1p", "log2", "log10", "rsqrt", "cbrt", "sin", "cos", "tan", "atan", "asinh"}
"""Functions with a domain that FLOAT64 does not show whole."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FLOAT64 if name != "trigamma"])
def test_float64_at_telling_numbers(name: str) -> None:
    bound, _, (low, high) = FLOAT64[name]
    if name in WHOLE or name == "acosh":
        low, high = (-1e308 if low < -1 else low), 1e308
    x = telling(name, low, high, 2000 if name == "erfinv" else 40000)
    if name in ("sin", "cos", "tan"):
        x = np.concatenate([x, near_quarter_turns()])
    exact = exactly(EXACT.get(name) or getattr(mpmath, name))(x[x != 0])
    errors = errors_in_ulp(run(name, "float64", x[x != 0]), exact)
    print(f"{name}: {errors.max():.3f} ulp at {x[x != 0][errors.argmax()]!r}")
    assert errors.max() <= bound


NEAREST = [45.553093477052, 14461176.67027838, 6381956970095103.0 * 2.0**797, 2.0**1023]
"""Numbers near a multiple of pi/2, the third one nearer than any other, and a large power of 2."""


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_float64_reduction(name: str) -> None:
    """Of numbers of any size."""
    bits = np.random.default_rng(5).integers(0, 2**64, 500, dtype=np.uint64).view(np.float64)
    x = np.concatenate([bits[np.isfinite(bits)], NEAREST, np.negative(NEAREST)])
    exact = exactly(getattr(mpmath, name))(x)
    check(run(name, "float64", x), exact, FLOAT64[name][0])


@pytest.mark.parametrize("name", [name for name in FLOAT64 if name not in ("cbrt", "trigamma")])
def test_float64_special_values(name: str) -> None:
    """Infinities, NaN and zeros are those of NumPy and SciPy."""
    x = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-320, 1e300, -1e300])
    reference = FLOAT32[name][1]
    expected, found = reference(x), run(name, "float64", x)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    assert np.allclose(found, expected, rtol=1e-15, atol=0, equal_nan=True)
    assert np.array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("type_name", ["float32", "float64"])
def test_logarithms_of_powers_are_whole(type_name: str) -> None:
    lowest = 149 if type_name == "float32" else 1074
    exponents = np.arange(-lowest, 128)
    found = run("log2", type_name, np.ldexp(1.0, exponents).astype(type_name))
    assert np.array_equal(found, exponents)
    exponents = np.arange(11)  # larger powers of ten are not floats
    assert np.array_equal(run("log10", type_name, (10.0**exponents).astype(type_name)), exponents)


@pytest.mark.parametrize("type_name", ["float32", "float64"])
def test_digamma_is_right_to_an_ulp_of_one_near_its_zero(type_name: str) -> None:
    x = np.linspace(1.4, 1.5, 101).astype(type_name)
    error = np.abs(run("digamma", type_name, x) - scipy.special.digamma(x.astype(float)))
    assert error.max() <= 8 * np.finfo(type_name).eps


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "bound", "reference"), [("pow", 1.5, np.power), ("atan2", 1.9, np.arctan2)]
)
def test_two_arguments(type_name: str, name: str, bound: float, reference: Function) -> None:
    x, y = pairs(type_name, 20000)
    wide = EXTENDED if type_name == "float64" else np.float64
    check(run(name, type_name, x, y), reference(x.astype(wide), y.astype(wide)), bound)


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, -1.0, -2.0, 1.0, 2.0, 3.0, 0.0, 1.5])
def test_powers_that_a_whole_loop_shares(exponent: float, type_name: str) -> None:
    """Roots, reciprocals and products have loops of their own: for a number as exponent those of
    `sqrt`, as PyTorch's, for a tensor where all elements are positive."""
    wide = EXTENDED if type_name == "float64" else np.float64
    exponents = np.linspace(-37, 37, 5000)
    positive = (10.0**exponents).astype(type_name)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, -2.5], type_name)
    for x in (positive, np.concatenate([positive, special]), -positive):
        expected = np.power(x.astype(wide), np.full(x.size, exponent, wide))
        base = torch.from_numpy(x)
        check((base ** torch.tensor(exponent, dtype=base.dtype)).numpy(), expected, 2.0)
        if abs(exponent) == 0.5:
            root = np.sqrt(x.astype(wide))
            expected = root if exponent > 0 else 1 / root
        check((base**exponent).numpy(), expected, 2.0)
        check((torch.stack([base, base], 1)[:, 0] ** exponent).numpy(), expected, 2.0)


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders(type_name: str, name: str) -> None:
    """Exact, and consistent with one another, where the quotient is below 2^130."""
    x, y = pairs(type_name, 20000)
    usual = (np.abs(y) > 1e-30) | (y == 0)
    x, y = x[usual], y[usual]
    found = run(name, type_name, x, y)
    expected = getattr(np, name)(x.astype(np.float64), y.astype(np.float64)).astype(type_name)
    if name == "floor_divide":  # by zero and of infinity PyTorch gives x / y, NumPy the same or NaN
        usual = np.isfinite(x) & (y != 0) & (np.abs(expected) < 1e6)
        found, expected = found[usual], expected[usual]
    assert np.array_equal(found, expected, equal_nan=True)
