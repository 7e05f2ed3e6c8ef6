"""Functions of numbers: Python's, those of `math`, and NumPy's, as Numba has them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import kinds, numba_rules, numpy_names, scalars
from torchgen_out._runtime.kernels.compiler.kinds import Boolean, Complex, Float, Integer
from torchgen_out._runtime.kernels.compiler.values import Number


def generic(builder: Any, function: Any, arguments: Sequence[Number]) -> Number:
    """A function of numbers."""
    make = _FUNCTIONS.get(function)
    made = make(builder, *arguments) if make is not None else None
    return numba_rules.of_numbers(builder, function, arguments) if made is None else made


def _negative(builder: Any, x: Number) -> Number | None:
    if isinstance(x.kind, Complex):
        real, imag = (_less(builder, scalars.part_of(builder, x, at)) for at in (0, 1))
        return scalars.complex_of(builder, real, imag)
    if isinstance(x.kind, Float):
        return _less(builder, x)
    whole = _widened(builder, x)
    return whole and Number(whole.kind, builder.neg(whole.ir))


def _less(builder: Any, x: Number) -> Number:
    """-x of a float."""
    return Number(x.kind, builder.fsub(ir.Constant(x.kind.register, -0.0), x.ir))


def _positive(builder: Any, x: Number) -> Number | None:
    return x if isinstance(x.kind, Float) else _widened(builder, x)


def _inverted(builder: Any, x: Number) -> Number | None:
    whole = x if isinstance(x.kind, Boolean) else _widened(builder, x)
    return whole and Number(whole.kind, builder.not_(whole.ir))


def _widened(builder: Any, x: Number) -> Number | None:
    """A whole number of 64 bits."""
    if not isinstance(x.kind, Integer):
        return None
    return scalars.cast(builder, x, kinds.int64 if x.kind.signed else kinds.uint64)


def _magnitude(builder: Any, x: Number) -> Number | None:
    if isinstance(x.kind, Float):
        return _intrinsic(builder, "fabs", x)
    if not isinstance(x.kind, Integer) or x.kind.bitwidth < 64:
        return None
    if not x.kind.signed:
        return x
    is_negative = builder.icmp_signed("<", x.ir, ir.Constant(x.kind.register, 0))
    return Number(x.kind, builder.select(is_negative, builder.neg(x.ir), x.ir))


def _as_int(builder: Any, x: Number) -> Number | None:
    if isinstance(x.kind, Integer):
        return x
    return scalars.cast(builder, x, kinds.int64) if isinstance(x.kind, Float) else None


def _as_float(builder: Any, x: Number) -> Number | None:
    if isinstance(x.kind, Float):
        return x
    return scalars.cast(builder, x, kinds.float64) if isinstance(x.kind, Integer) else None


def _intrinsic(builder: Any, name: str, *given: Number) -> Number | None:
    """What LLVM has a name for, of floats of one type."""
    kind = given[0].kind
    if not isinstance(kind, Float) or any(each.kind is not kind for each in given):
        return None
    return scalars.with_intrinsic(builder, name, *given)


def _named(name: str) -> Callable[..., Number | None]:
    return lambda builder, *given: _intrinsic(builder, name, *given)


def _of_c(name: str) -> Callable[..., Number | None]:
    """A function of C's library, whose name ends in f for float32."""

    def make(builder: Any, x: Number) -> Number | None:
        kind, own = x.kind, name if x.kind is kinds.float64 else f"{name}f"
        if not isinstance(kind, Float):
            return None
        found = builder.module.globals.get(own)
        found = found or ir.Function(
            builder.module, ir.FunctionType(kind.register, [kind.register]), own
        )
        return Number(kind, builder.call(found, [x.ir]))

    return make


def _to_whole(name: str) -> Callable[..., Number | None]:
    def make(builder: Any, x: Number) -> Number | None:
        rounded = _intrinsic(builder, name, x)
        return rounded and scalars.cast(builder, rounded, kinds.int64)

    return make


def _with_sign(builder: Any, x: Number, y: Number) -> Number | None:
    if not isinstance(x.kind, Float) or not isinstance(y.kind, Float):
        return None
    kind = scalars.unified(x.kind, y.kind)
    pair = [scalars.cast(builder, each, kind) for each in (x, y)]
    return scalars.with_intrinsic(builder, "copysign", *pair)


def _sign_bit(builder: Any, x: Number) -> Number | None:
    if not isinstance(x.kind, Float):
        return None
    bits = ir.IntType(x.kind.bitwidth)
    return Number(kinds.boolean, builder.icmp_signed("<", builder.bitcast(x.ir, bits), bits(0)))


def _is_nan(builder: Any, x: Number) -> Number | None:
    if not isinstance(x.kind, Float):
        return None
    return Number(kinds.boolean, builder.fcmp_unordered("uno", x.ir, x.ir))


def _is_infinite(builder: Any, x: Number) -> Number | None:
    return _compared_with_infinity(builder, "==", x)


def _is_finite(builder: Any, x: Number) -> Number | None:
    return _compared_with_infinity(builder, "<", x)


def _compared_with_infinity(builder: Any, sign: str, x: Number) -> Number | None:
    size = _intrinsic(builder, "fabs", x)
    if size is None:
        return None
    infinity = ir.Constant(x.kind.register, math.inf)
    return Number(kinds.boolean, builder.fcmp_ordered(sign, size.ir, infinity))


OF_LLVM = ("exp", "log", "log10", "sin", "cos")
OF_C = (
    *("log1p", "expm1", "erf", "erfc", "lgamma", "log2", "sinh", "cosh", "tanh", "asinh", "acosh"),
    *("atanh", "tan", "asin", "acos", "atan"),
)
"""Functions of `math` that Numba has LLVM, or C's library, compute."""

_FUNCTIONS: dict[Any, Callable[..., Number | None]] = {
    **{getattr(math, name): _named(name) for name in OF_LLVM},
    **{getattr(math, name): _of_c(name) for name in OF_C},
    math.pow: _named("pow"),
    operator.neg: _negative,
    operator.pos: _positive,
    operator.invert: _inverted,
    bool: scalars.truth,
    int: _as_int,
    float: _as_float,
    complex: lambda builder, *parts: (
        scalars.complex_of(builder, *parts) if len(parts) == 2 else None
    ),
    abs: _magnitude,
    math.fabs: _named("fabs"),
    math.sqrt: _named("sqrt"),
    math.copysign: _with_sign,
    math.isnan: _is_nan,
    math.isinf: _is_infinite,
    math.isfinite: _is_finite,
    math.floor: _to_whole("floor"),
    math.ceil: _to_whole("ceil"),
    math.trunc: _to_whole("trunc"),
}

_OF_NUMPY: dict[str, Callable[..., Number | None]] = {
    "abs": _magnitude,
    "copysign": _with_sign,
    "signbit": _sign_bit,
    "isnan": _is_nan,
    "isinf": _is_infinite,
    "isfinite": _is_finite,
    **{name: _named(name) for name in ("fabs", "sqrt", "rint", "trunc", "floor", "ceil")},
}
_FUNCTIONS |= {numpy_names.FUNCTIONS[name]: make for name, make in _OF_NUMPY.items()}

KNOWN = frozenset(_FUNCTIONS)
