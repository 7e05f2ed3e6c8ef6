"""Runs single primitives of the vector mathematics on telling inputs, and measures errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.vecmath import compose

Array = Any
Function = Callable[..., Array]
SPECIAL = [0, 0.5, 1, 2, 10, 88.37, 88.8, 103.9, 104, 1e-8, 1e-30, 1e-45, 1.2e-38, 3.4e38, math.inf]
BOTH_SIGNS = np.array([s * value for value in SPECIAL for s in (1, -1)] + [math.nan])


def kernel_text(name: str, type_name: str, arity: int) -> str:
    """A loop over one primitive."""
    library = compose.compose(name, type_name)
    inputs = ["x", "y"][:arity]
    element = ", ".join(f"{argument}[i]" for argument in inputs)
    text = build.HEADER.format(title=f"test of {name}: {type_name}")
    text += "inner = njit(forceinline=True, **options)\n"
    text += f"T = np.{'bool_' if type_name == 'bool' else type_name}\n"
    text += re.sub(r"^def ", "@inner\ndef ", library, flags=re.MULTILINE)
    text += f"\n\n@entry\ndef kernel(out, {', '.join(inputs)}):\n"
    return text + f"    for i in range(out.size):\n        out[i] = {name}({element})\n"


def run(name: str, type_name: str, *inputs: Array, out_type: str | None = None) -> Array:
    """Apply a primitive to arrays."""
    out = np.empty(inputs[0].shape, out_type or type_name)
    text = kernel_text(name, type_name, len(inputs))
    build.compile_text(f"test_{name}", text)(out, *inputs)
    return out


def errors_in_ulp(found: Array, expected: Array) -> Array:
    """Distance to the exact value, in units of the last place of its rounding."""
    rounded = expected.astype(found.dtype)
    unit = np.spacing(np.abs(rounded)).astype(expected.dtype)
    unit[~np.isfinite(rounded)] = np.inf
    error = np.abs(found.astype(expected.dtype) - expected) / unit
    return np.where(np.isfinite(rounded) & np.isfinite(found), error, 0).astype(float)


def check(found: Array, expected: Array, bound: float) -> None:
    """Compare values within `bound` ulp, and infinities, NaN and signs of zero exactly."""
    rounded = expected.astype(found.dtype)
    assert np.array_equal(np.isnan(found), np.isnan(rounded))
    assert np.array_equal(np.isinf(found), np.isinf(rounded))
    zeros = (rounded == 0) & (found == 0)
    assert np.array_equal(np.signbit(found[zeros]), np.signbit(rounded[zeros]))
    assert errors_in_ulp(found, expected).max() <= bound


def float32_line(stride: int) -> Array:
    """Every `stride`-th float32, the special ones, and more where functions bend."""
    bits = np.arange(0, 2**32, stride, dtype=np.uint64).astype(np.uint32)
    near = np.linspace(-20, 20, 20001), np.linspace(-1, 1, 20001)
    dense = np.concatenate([BOTH_SIGNS, *near]).astype(np.float32)
    return np.concatenate([bits.view(np.float32), dense])


def pairs(type_name: str, count: int) -> tuple[Array, Array]:
    """All pairs of special numbers, and random ones."""
    special = np.array(
        [0, 0.5, 1, 1.5, 2, 3, 100, 1001, 1e-38, 1e30, 2**23 + 1, 2**24 + 2, math.inf]
    )
    special = np.concatenate([special, -special, [math.nan]])
    source = np.random.default_rng(3)
    grid = [axis.ravel() for axis in np.meshgrid(special, special)]
    x = np.concatenate([grid[0], source.normal(0, 3, count), np.exp(source.normal(0, 5, count))])
    y = np.concatenate([grid[1], source.normal(0, 3, count), source.normal(0, 5, count)])
    return x.astype(type_name), y.astype(type_name)


@numba.njit(cache=True, error_model="numpy")
def worst_error(found: Array, expected: Array) -> tuple[float, int]:
    """The largest error of float32 values in ulp, and its place; inf where NaN, an infinity or the
    sign of a zero is wrong. expected: float64.
    """
    worst, place = 0.0, 0
    for i in range(found.size):
        value, exact = found[i], expected[i]
        rounded = np.float32(exact)
        if math.isfinite(value) and math.isfinite(rounded):
            exponent = max(math.frexp(rounded)[1], -125) if rounded != 0 else -125
            error = abs(float(value) - exact) / math.ldexp(1.0, exponent - 24)
            if value == 0 and rounded == 0 and np.signbit(value) != np.signbit(rounded):
                error = np.inf
        else:
            same = value == rounded or (math.isnan(value) and math.isnan(rounded))
            error = 0.0 if same else np.inf
        if error > worst:
            worst, place = error, i
    return worst, place
