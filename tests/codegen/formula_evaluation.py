"""Evaluates formulas for the tests: with IEEE arithmetic on floats, or exactly with mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mpmath

from codegen.model.formula import (
    Argument,
    Call,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    walk,
)


def _ieee(function: Callable[..., float], on_domain: float = math.nan) -> Callable[..., float]:
    """Return infinities and NaN where `math` raises."""

    def safe(*operands: float) -> float:
        if any(isinstance(x, float) and math.isnan(x) for x in operands):
            return math.nan
        try:
            return function(*operands)
        except OverflowError:
            return math.inf
        except ValueError:
            return on_domain

    return safe


def _divide(x: float, y: float) -> float:
    if y != 0:
        return x / y
    return (
        math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * (math.copysign(1, y))
    )


def _log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


def _sigmoid(x: float) -> float:
    z = math.exp(-abs(x))
    return 1 / (1 + z) if x >= 0 else z / (1 + z)


def _power(x: float, y: float) -> float:
    if x == 0 and y < 0:
        return math.inf
    result = x**y
    return math.nan if isinstance(result, complex) else result


def _extremum(pick: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda x, y: math.nan if math.isnan(x) or math.isnan(y) else pick(x, y)


FLOATS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _divide,
    "neg": lambda x: -x,
    "pow": _ieee(_power),
    "floor_divide": lambda x, y: math.floor(x / y),
    "remainder": lambda x, y: x % y,
    "fmod": math.fmod,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "logical_and": lambda x, y: x and y,
    "logical_or": lambda x, y: x or y,
    "logical_not": lambda x: not x,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "signbit": lambda x: math.copysign(1, x) < 0,
    "log": _ieee(_log),
    "log2": lambda x: _ieee(_log)(x) / math.log(2),
    "log10": lambda x: _ieee(_log)(x) / math.log(10),
    "log1p": _ieee(lambda x: -math.inf if x == -1 else math.log1p(x)),
    "exp2": _ieee(lambda x: 2.0**x),
    "sqrt": _ieee(math.sqrt),
    "rsqrt": lambda x: _divide(1, _ieee(math.sqrt)(x)),
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "reciprocal": lambda x: _divide(1, x),
    "square": lambda x: x * x,
    "sigmoid": _sigmoid,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "min": _extremum(min),
    "max": _extremum(max),
    "fmin": min,
    "fmax": max,
    "copysign": math.copysign,
    "round": round,
    "conj": lambda x: x.conjugate(),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    **{
        name: _ieee(getattr(math, name))
        for name in (
            *("exp", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh"),
            *("cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "floor", "ceil", "trunc"),
        )
    },
}

_BESSEL = (
    *(("i", mpmath.besseli), ("k", mpmath.besselk)),
    *(("bessel_j", mpmath.besselj), ("bessel_y", mpmath.bessely)),
)
EXACT: dict[str, Callable[..., Any]] = {
    **FLOATS,
    "div": lambda x, y: mpmath.mpf(x) / y,
    "pow": lambda x, y: mpmath.power(x, y),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log1p": lambda x: mpmath.log(1 + x),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "reciprocal": lambda x: 1 / mpmath.mpf(x),
    "erfinv": mpmath.erfinv,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "digamma": lambda x: mpmath.psi(0, x),
    "trigamma": lambda x: mpmath.psi(1, x),
    "polygamma": mpmath.psi,
    "zeta": mpmath.zeta,
    "igamma": lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
    "igammac": lambda a, x: mpmath.gammainc(a, x, regularized=True),
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "ndtri": lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1),
    "i0e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x),
    "i1e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x),
    "k0e": lambda x: mpmath.exp(x) * mpmath.besselk(0, x),
    "k1e": lambda x: mpmath.exp(x) * mpmath.besselk(1, x),
    "airy_ai": mpmath.airyai,
    **{
        f"{kind}{order}": partial(function, order) for kind, function in _BESSEL for order in (0, 1)
    },
    "remainder": lambda x, y: x - y * mpmath.floor(x / y),
    "fmod": lambda x, y: x - y * (mpmath.floor(x / y) if x / y >= 0 else mpmath.ceil(x / y)),
    "trunc": lambda x: mpmath.floor(x) if x >= 0 else mpmath.ceil(x),
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "min": min,
    "max": max,
    **{
        name: getattr(mpmath, name)
        for name in (
            *("exp", "expm1", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan"),
            *("atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
        )
    },
}


def evaluate(
    formula: Formula,
    values: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]] = FLOATS,
) -> tuple[Any, ...]:
    """Return the outputs; every branch is evaluated, as in a vectorised kernel."""
    known: dict[Expression, Any] = {}
    constant = mpmath.mpf if functions is EXACT else float
    for node in walk(formula.outputs):
        match node:
            case Constant(value=value):
                is_plain = isinstance(value, bool | complex)
                known[node] = value if is_plain else constant(value)
            case Named(name=name):
                exact = {"pi": mpmath.pi(), "inf": mpmath.inf, "nan": mpmath.nan}
                known[node] = exact[name] if functions is EXACT else getattr(math, name)
            case Argument(name=name):
                known[node] = values[name]
            case IsNone(argument=argument):
                known[node] = values[argument.name] is None
            case Call(primitive=primitive, operands=operands):
                known[node] = functions[primitive.name](*(known[x] for x in operands))
            case _:
                known[node] = known[node.then if known[node.condition] else node.otherwise]
    return tuple(known[output] for output in formula.outputs)
