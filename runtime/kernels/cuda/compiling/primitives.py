"""The primitives of the formula language on CUDA: NVIDIA's libdevice where it has them.

The CPU's polynomials are made to vectorise, and in float32 many compute in double, of which a
device has few units. What libdevice lacks comes from the CPU's vector mathematics.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from torchgen_out._runtime.kernels.vecmath import compose
from torchgen_out._runtime.kernels.vecmath.compose import Definition

_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc",
    "erfcx", "erfinv", "exp", "exp2", "expm1", "floor", "lgamma", "log", "log10", "log1p", "log2",
    "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_BINARY = ("atan2", "copysign", "fmod", "nextafter", "pow")
_RENAMED = {
    "abs": "fabs", "round": "rint", "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0",
    "bessel_y1": "y1", "ndtri": "normcdfinv",
}  # fmt: skip

COMPUTE_IN_DOUBLE = ("digamma", "trigamma")
"""Primitives that compute in double also for float32: the CPU's, which libdevice lacks."""
NEED_STACK = (
    "sin", "cos", "tan", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1",
    "three_term_recurrence",
)  # fmt: skip
"""Primitives whose reduction of large arguments keeps a small table on the stack."""

_REAL = """\


def sigmoid(x):
    return T(1) / (T(1) + exp(-x))


def signbit(x):
    return libdevice.signbit{f}(x) != 0


def remainder(x, y):
    r = fmod(x, y)
    return T(r + y) if (r != T(0)) & ((r < T(0)) != (y < T(0))) else r


def floor_divide(x, y):
    if y == T(0):
        return T(x / y)
    r = fmod(x, y)
    quotient = T((x - r) / y)
    if (r != T(0)) & ((r < T(0)) != (y < T(0))):
        quotient = T(quotient - T(1))
    if quotient == T(0):
        return copysign(T(0), T(x / y))
    down = floor(quotient)
    return T(down + T(1)) if T(quotient - down) > T(0.5) else down
"""

_INTEGER = """\


def left_shift(x, y):
    return T(x << y) if (y >= T(0)) & (y < T(8 * T(0).itemsize)) else T(0)


def right_shift(x, y):
    if (y >= T(0)) & (y < T(8 * T(0).itemsize)):
        return T(x >> y)
    return T(-1) if x < T(0) else T(0)


def floor_divide(x, y):
    if y == -1:
        return T(-x)
    return T(x // y) if y != T(0) else T(-1)


def remainder(x, y):
    if y == -1:
        return T(0)
    return T(x % y) if y != T(0) else x


def fmod(x, y):
    if y == T(0):
        return x
    if y == -1:
        return T(0)
    r = T(x % y)
    return T(r - y) if (r != T(0)) & ((x < T(0)) != (y < T(0))) else r
"""
"""A device raises nothing: by zero it gives -1 and the dividend."""

_BOOLEAN = """\


def min(x, y):
    return x if x < y else y


def max(x, y):
    return x if x > y else y
"""
"""Of indices, too, which kernels of any dtype compare: `x and y` is the second of two numbers."""

_BITS = """\


def float_of_bits(bits):
    return libdevice.int_as_float(np.int32(np.uint32(bits)))


def bits_of_float(value):
    return np.uint32(libdevice.float_as_int(np.float32(value)))


def float16_to_float32(bits):
    return libdevice.half2float(np.int16(bits))


def float32_to_float16(value):
    return np.uint16(libdevice.float2half_rn(np.float32(value)))


def bfloat16_to_float32(bits):
    return libdevice.int_as_float(np.int32(np.uint32(bits) << np.uint32(16)))


def float32_to_bfloat16(value):
    return bfloat16_bits(np.float32(value))
"""
"""As on the CPU, but bits are taken by a function: not every compiler has views of scalars.
`bfloat16_bits` is the compiler's (`conversions`)."""

_COMPLEX_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10", "sin",
    "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
_COMPLEX = """\


def exp2(x):
    return exp(x * R(0.6931471805599453))


def expm1(x):
    half = math.sin(x.imag * R(0.5))
    real = math.expm1(x.real) * math.cos(x.imag) - R(2) * half * half
    return T(complex(real, math.exp(x.real) * math.sin(x.imag)))


def log1p(x):
    return log(R(1) + x)


def log2(x):
    return T(log(x) * R(1.4426950408889634))


def rsqrt(x):
    return complex_quotient(R(1), sqrt(x))


def sigmoid(x):
    return complex_quotient(R(1), R(1) + exp(-x))


def atan2(y, x):
    return R(math.atan2(y, x))


def abs(x):
    return R(math.hypot(x.real, x.imag))


def sign(x):
    size = abs(x)
    return T(x / size) if size != R(0) else T(0)
"""


def compose_text(needed: str, type_name: str) -> str:
    """The sources of all primitives that a text names, for one compute type, undecorated."""
    return compose.compose_from(needed, _definitions(type_name))


@cache
def _definitions(type_name: str) -> dict[str, Definition]:
    own = {
        "float32": lambda: _real("f"),
        "float64": lambda: _real(""),
        "complex64": _complex,
        "complex128": _complex,
        "bool": lambda: _BOOLEAN,
    }.get(type_name, lambda: _INTEGER)()
    found = {**compose.definitions_for(type_name), **compose.definitions_in(own + _BITS)}
    if type_name == "float32":
        single = {name: each for name, each in found.items() if name not in compose.shorter()}
        found = compose.with_doubles(single, _definitions("float64"))
    return {name: _without_ufuncs(each) for name, each in found.items()}


def _without_ufuncs(definition: Definition) -> Definition:
    """NumPy's rounding, which only the CPU's compiler knows; it is used on doubles."""
    source = re.sub(r"\bnp\.(rint|floor|trunc|sqrt)\(", r"libdevice.\1(", definition.source)
    return replace(definition, source=source)


def _real(suffix: str) -> str:
    names = {name: name for name in (*_UNARY, *_BINARY)} | _RENAMED
    functions = []
    for name, theirs in names.items():
        arguments = "x, y" if name in _BINARY else "x"
        functions.append(
            f"\n\ndef {name}({arguments}):\n    return libdevice.{theirs}{suffix}({arguments})\n"
        )
    return "".join(functions) + _REAL.replace("{f}", suffix)


def _complex() -> str:
    unary = "".join(
        f"\n\ndef {name}(x):\n    return T(cmath.{name}(x))\n" for name in _COMPLEX_UNARY
    )
    return unary + _COMPLEX
