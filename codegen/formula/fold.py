"""Arithmetic on constants at generation time."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from ..model.formula import Call, Constant, Expression, Named
from .primitives import PRIMITIVES

Number = int | float | complex

_LARGEST_EXACT = 2**53
_LARGEST = 2**64


def power(x: Number, y: Number) -> Number:
    """x ** y, without computing integers of more bits than numbers have.

    Raises: OverflowError.
    """
    if isinstance(x, int) and isinstance(y, int) and abs(x) > 1 and abs(y) > 64:
        raise OverflowError
    return x**y


def is_too_large(value: Number) -> bool:
    """Whether a number is beyond both the integers and the floats of 64 bits."""
    if isinstance(value, int):
        return not -_LARGEST < value < _LARGEST
    return not all(map(math.isfinite, (value.real, value.imag)))


_ARITHMETIC: dict[str, Callable[..., Number | bool | None]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": lambda x: -x if x else None,  # -0 keeps its sign
    "pow": power,
    "abs": abs,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
}
_NAMED_AS_IN_MATH = (
    *("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "erf", "erfc", "lgamma"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("floor", "ceil", "trunc", "isnan", "isinf", "isfinite"),
)
_REAL: dict[str, Callable[..., Number | bool | None]] = {
    **{name: getattr(math, name) for name in _NAMED_AS_IN_MATH},
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "min": min,
    "max": max,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "logical_not": operator.not_,
}


def value_of(node: Expression) -> Number | None:
    """Return the number that `node` stands for, if it is finite and the same in every type."""
    if isinstance(node, Constant):
        return None if isinstance(node.value, bool) else node.value
    return math.pi if node == Named("pi") else None


def is_power_of_two(value: Number | bool) -> bool:
    """Whether division by `value` is multiplication by its exact reciprocal."""
    if isinstance(value, complex) or value == 0 or not math.isfinite(value):
        return False
    mantissa, exponent = math.frexp(value)
    return abs(mantissa) == 0.5 and abs(exponent) < 100


def number(value: Number | bool) -> Expression:
    """Return what stands for a number in formulas: infinities and NaN have names."""
    if isinstance(value, float) and math.isnan(value):
        return Named("nan")
    if isinstance(value, float) and math.isinf(value):
        inf = Named("inf")
        return inf if value > 0 else Call(PRIMITIVES["neg"], (inf,))
    return constant(value)


def constant(value: Number | bool) -> Constant:
    """Return the constant in its one spelling: an integral float is an int."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_EXACT:
        return Constant(int(value))
    return Constant(value)


def _rounded(value: Number | bool) -> Number | bool:
    """Return the short decimal beside `value`: sqrt(0.5) * sqrt(0.5) is 0.5, not one ulp more."""
    if not isinstance(value, float):
        return value
    short = float(f"{value:.12g}")
    return short if abs(short - value) <= 2 * math.ulp(value) else value


def fold(node: Expression) -> Expression | None:
    """Evaluate a primitive of constants; None if it is not one or has no finite value."""
    if isinstance(node, Constant):
        better = constant(node.value)
        return None if better == node else better
    if not isinstance(node, Call):
        return None
    operands = [
        operand.value if isinstance(operand, Constant) else value_of(operand)
        for operand in node.operands
    ]
    function = _ARITHMETIC.get(node.primitive.name)
    if function is None and not any(isinstance(operand, complex) for operand in operands):
        function = _REAL.get(node.primitive.name)
    if function is None or any(operand is None for operand in operands):
        return None
    try:
        result = function(*operands)
    except (ArithmeticError, ValueError, TypeError):
        return None
    if result is None or is_too_large(result):
        return None
    return constant(_rounded(result))


def exceeds(name: str, *operands: Expression) -> bool:
    """Whether arithmetic on numbers alone gives one beyond 64 bits, which nobody can have meant."""
    known: dict[int, Number | None] = {}
    values = [_value(operand, known) for operand in operands]
    if name not in _ARITHMETIC or None in values:
        return False
    try:
        result = _ARITHMETIC[name](*values)
    except OverflowError:
        return True
    except (ArithmeticError, TypeError):
        return False
    return result is not None and is_too_large(result)


def _value(node: Expression, known: dict[int, Number | None]) -> Number | None:
    """The number that an expression over constants stands for; None for any other."""
    if not isinstance(node, Call):
        return value_of(node)
    if id(node) not in known:
        values = [_value(operand, known) for operand in node.operands]
        function = _ARITHMETIC.get(node.primitive.name)
        try:
            known[id(node)] = None if function is None or None in values else function(*values)
        except (ArithmeticError, TypeError):
            known[id(node)] = None
    return known[id(node)]
