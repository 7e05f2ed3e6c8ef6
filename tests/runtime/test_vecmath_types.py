"""Primitives that are exact, and those of integer, complex and half types."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import torchgen_out as torch
from tests.runtime.vecmath_running import Function, float32_line, pairs, run
from torchgen_out._runtime.kernels.vecmath import half, numpy_reference

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("sign", numpy_reference.sign),
        ("floor", np.floor),
        ("ceil", np.ceil),
        ("round", np.rint),
        ("trunc", np.trunc),
        ("abs", np.abs),
        ("isnan", np.isnan),
        ("isinf", np.isinf),
        ("isfinite", np.isfinite),
        ("signbit", np.signbit),
        ("sqrt", np.sqrt),
        ("min", np.minimum),
        ("max", np.maximum),
        ("fmin", np.fmin),
        ("fmax", np.fmax),
        ("copysign", np.copysign),
        ("nextafter", np.nextafter),
    ],
)
def test_exact(type_name: str, name: str, reference: Function) -> None:
    x, y = pairs(type_name, 50)
    inputs = (x, y) if reference.__class__ is np.ufunc and reference.nin == 2 else (x,)
    assert np.array_equal(run(name, type_name, *inputs), reference(*inputs), equal_nan=True)


@pytest.mark.parametrize("type_name", ["int64", "int8", "uint8"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "pow"])
def test_integers(type_name: str, name: str) -> None:
    values = [0, 1, 2, 3, 5, 7, 100] if type_name == "uint8" else [-7, -3, -2, -1, 0, 1, 2, 3, 7]
    x, y = (
        np.array(column, type_name)
        for column in zip(*itertools.product(values, [v for v in values if v]), strict=True)
    )
    expected = [_on_integers(name, a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    wrapped = np.array([value % 2**64 for value in expected], np.uint64).astype(type_name)
    assert np.array_equal(run(name, type_name, x, y), wrapped)


@pytest.mark.parametrize("type_name", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
def test_shifts(type_name: str, name: str) -> None:
    """By as many places as there are bits, and by less than none, there is only the sign left."""
    bits = np.iinfo(type_name).bits
    ends = np.iinfo(type_name)
    numbers = [0, 1, 5, ends.max, ends.max // 3, ends.min, ends.min // 3]
    places = [0, 1, bits - 2, bits - 1, bits, bits + 1, ends.max, ends.min]
    x, y = (
        np.array(column, type_name)
        for column in zip(*itertools.product(numbers, places), strict=True)
    )
    left = name == "left_shift"
    expected = [
        ((a << b if left else a >> b) if 0 <= b < bits else (-1 if a < 0 and not left else 0))
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    wrapped = np.array([value % 2**64 for value in expected], np.uint64).astype(type_name)
    assert np.array_equal(run(name, type_name, x, y), wrapped)


def _on_integers(name: str, a: int, b: int) -> int:
    if name == "pow":
        if b >= 0:
            return int(a**b)
        return (a if b % 2 else 1) if a in (1, -1) else 0
    rules: dict[str, Callable[[int, int], int]] = {
        "floor_divide": lambda a, b: a // b,
        "remainder": lambda a, b: a % b,
        "fmod": lambda a, b: int(math.fmod(a, b)),
    }
    return rules[name](a, b)


DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@pytest.mark.parametrize("type_name", DTYPES)
@pytest.mark.parametrize("with_large", [False, True])
def test_whole_numbers_are_divided_in_doubles_as_far_as_these_go(
    type_name: str, with_large: bool
) -> None:
    """A block of numbers below 2^53 is divided as doubles, which must not round to the next
    integer; one that has others, one by one."""
    ends = np.iinfo(type_name)
    random, most = np.random.default_rng(0), min(ends.max, 2**53 - 1)
    divisors = [int(most ** random.random()) for _ in range(64)] + [1, 2, 3, 7, 127]
    if ends.min < 0:
        divisors += [-divisor for divisor in divisors]
    least = max(ends.min, -most)
    pairs = [
        (min(max(divisor * int(share * (most // divisor)) + off, least), most), divisor)
        for divisor in divisors
        for share in (0, 0.3, 0.999, 1, -0.3, -1)
        for off in (-1, 0, 1)
    ]
    if with_large:
        pairs += [(d * (ends.max // 8 // d) - 1, d) for d in divisors if 1 < d < ends.max // 8]
        pairs += [(ends.max, 3), (ends.max - 1, ends.max), (ends.min, 7), (ends.max, 1)]
        pairs += [(ends.min, -1)] if ends.min < 0 else []
    x, y = (np.array(column, type_name) for column in zip(*pairs, strict=True))
    for name in ("floor_divide", "remainder", "fmod"):
        found = getattr(torch, name)(torch.from_numpy(x), torch.from_numpy(y)).numpy()
        expected = [_exact(name, a, b) for a, b in pairs]
        wrapped = np.array([value % 2**64 for value in expected], np.uint64).astype(type_name)
        assert np.array_equal(found, wrapped)


def _exact(name: str, a: int, b: int) -> int:
    toward_zero = a - b * (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
    return {"floor_divide": a // b, "remainder": a % b, "fmod": toward_zero}[name]


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integer_division_by_zero_is_an_error(name: str) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(name, "int64", np.array([1]), np.array([0]))


@pytest.mark.parametrize(
    "name",
    [
        *("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan"),
        *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid"),
        *("sign", "square", "reciprocal", "conj", "abs", "real", "imag"),
    ],
)
def test_complex(name: str) -> None:
    check_complex("complex128", name)


@pytest.mark.parametrize("name", ["exp", "sqrt", "abs", "sign"])
def test_complex64(name: str) -> None:
    check_complex("complex64", name)


def check_complex(type_name: str, name: str) -> None:
    """Compare with NumPy's complex128."""
    source = np.random.default_rng(2)
    x = (source.normal(0, 2, 100) + 1j * source.normal(0, 2, 100)).astype(type_name)
    reference = getattr(numpy_reference, name)(x.astype(np.complex128))
    real_type = np.finfo(type_name).dtype.name
    out_type = real_type if name in ("abs", "real", "imag") else type_name
    found = run(name, type_name, x, out_type=out_type)
    assert np.allclose(found, reference, rtol=200 * np.finfo(type_name).eps, atol=0)


@pytest.mark.parametrize("type_name", ["complex64", "complex128"])
def test_complex_pow(type_name: str) -> None:
    x = np.array([0, 0, 1 + 2j, -3, 2], type_name)
    y = np.array([0, 2, 0.5, 1 + 1j, -3], type_name)
    expected = np.power(x.astype(np.complex128), y.astype(np.complex128))
    assert np.allclose(run("pow", type_name, x, y), expected, rtol=1e-5)


@pytest.mark.parametrize("type_name", ["complex64", "complex128"])
def test_complex_quotient(type_name: str) -> None:
    """As NumPy's, which also is infinite or nan at a divisor of zero."""
    large = float(np.finfo(type_name).max) / 4
    values = [0, 1, -2j, 3 + 4j, 1 - 1e-9j, 1e-30, large * (1 + 1j), large * (1 - 0.5j), np.inf]
    x, y = (np.array(c, type_name) for c in zip(*itertools.product(values, values), strict=True))
    found, expected = run("complex_quotient", type_name, x, y), np.divide(x, y)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    kept = ~np.isnan(expected)
    assert np.allclose(found[kept], expected[kept], rtol=4 * np.finfo(type_name).eps, atol=0)


def test_half_conversions_are_exact() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    wide = run("float16_to_float32", "float32", bits, out_type="float32")
    expected = bits.view(np.float16).astype(np.float32)
    assert np.array_equal(wide, expected, equal_nan=True)
    wide = run("bfloat16_to_float32", "float32", bits, out_type="float32")
    assert np.array_equal(wide.view(np.uint32), bits.astype(np.uint32) << 16)


def test_half_conversions_without_instructions_for_them() -> None:
    """Kernels use these formulas on processors that have none."""
    bits = np.arange(0, 2**16, 37, dtype=np.uint16)
    wide = np.array([half.float16_to_float32(each) for each in bits])
    assert np.array_equal(wide, bits.view(np.float16).astype(np.float32), equal_nan=True)
    values = np.concatenate([float32_line(2499979), np.float32([65504, 65519.99, 65520, 2**-25])])
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.array([half.float32_to_float16(each) for each in values]).view(np.float16)
        assert np.array_equal(found, values.astype(np.float16), equal_nan=True)


def test_half_rounding_is_to_nearest_even() -> None:
    values = np.concatenate([float32_line(499979), np.float32([65504, 65519.99, 65520, 2**-25])])
    found = run("float32_to_float16", "float32", values, out_type="uint16").view(np.float16)
    assert np.array_equal(found, values.astype(np.float16), equal_nan=True)
    found = run("float32_to_bfloat16", "float32", values, out_type="uint16")
    wide = (found.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(np.isnan(wide), np.isnan(values))
    usual = np.isfinite(values) & (np.abs(values) < 3.3e38) & (np.abs(values) > 1e-37)
    assert np.all(np.abs(wide[usual] / values[usual].astype(float) - 1) <= 2.0**-8)
