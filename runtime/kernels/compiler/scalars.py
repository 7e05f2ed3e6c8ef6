"""Arithmetic of numbers by Numba's rules: its types, its conversions, its code.

The rules that nearly every kernel needs are here as well, as asking takes time; a test holds them
to Numba's answers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import callconv, errors, types
from numba.core.registry import cpu_target

from torchgen_out._runtime.kernels.compiler.values import Kind, Number, Unsupported

typing = cpu_target.typing_context
typing.refresh()
cpu_target.target_context.refresh()
context = cpu_target.target_context.subtarget(
    enable_nrt=True,
    error_model=callconv.create_error_model("numpy", cpu_target.target_context),
)
"""Numba's code generator for kernels: that divides by zero as NumPy does."""

INT = types.intp
FLOATS = (types.float32, types.float64)
INTEGERS = (
    *(types.int8, types.int16, types.int32, types.int64),
    *(types.uint8, types.uint16, types.uint32, types.uint64),
)
FLOAT_OPERATIONS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul"}
FLOAT_OPERATIONS[operator.truediv] = "fdiv"
INT_OPERATIONS = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.and_: "and_",
    operator.or_: "or_",
    operator.xor: "xor",
}
KEEP_NATURAL = {operator.add, operator.mul, operator.floordiv, operator.mod}
COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def constant(kind: Kind, value: Any) -> Number:
    """A number that is known."""
    register = context.get_value_type(kind)
    if kind in FLOATS:
        return Number(kind, ir.Constant(register, float(value)), value)
    if kind is types.boolean or isinstance(kind, types.Integer):
        return Number(kind, ir.Constant(register, int(value)), value)
    return Number(kind, context.get_constant_generic(None, kind, value), value)


def literal(value: Any) -> Number:
    """A number as it is written in a text."""
    if isinstance(value, bool):
        return constant(types.boolean, value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise Unsupported("an integer of more than 64 bits")
        return constant(types.int64 if value < 2**63 else types.uint64, value)
    if isinstance(value, float):
        return constant(types.float64, value)
    if isinstance(value, complex):
        return constant(types.complex128, value)
    raise Unsupported(f"the constant {value!r}")


def cast(builder: Any, number: Number, kind: Kind) -> Number:
    """A number converted as an assignment or an argument is."""
    own = number.kind
    if own == kind:
        return number
    if number.literal is not None and kind in (*FLOATS, *INTEGERS):
        known = _converted(number.literal, kind)
        if known is not None:
            return constant(kind, known)
    if own is types.float32 and kind is types.float64:
        return Number(kind, builder.fpext(number.ir, ir.DoubleType()))
    if own is types.float64 and kind is types.float32:
        return Number(kind, builder.fptrunc(number.ir, ir.FloatType()))
    if isinstance(own, types.Integer) and isinstance(kind, types.Integer):
        is_natural = number.is_natural and own.bitwidth <= kind.bitwidth
        return Number(kind, _resized(builder, number.ir, own, kind), is_natural=is_natural)
    try:
        return Number(kind, context.cast(builder, number.ir, own, kind))
    except NotImplementedError as error:
        raise Unsupported(f"a conversion of {own} to {kind}") from error


def _converted(value: Any, kind: Kind) -> Any:
    """A known value in a type that holds it; None if the machine says what becomes of it."""
    if kind in FLOATS and type(value) in (int, float):
        is_exact = isinstance(value, float) or abs(value) <= 2**53
        return float(_rounding(kind)(value)) if is_exact else None
    if isinstance(kind, types.Integer) and isinstance(value, int):
        return value if kind.minval <= value <= kind.maxval else None
    return None


@cache
def _rounding(kind: Kind) -> Any:
    import numpy as np

    return np.float32 if kind is types.float32 else np.float64


def _resized(builder: Any, register: Any, own: Kind, kind: Kind) -> Any:
    wanted = ir.IntType(kind.bitwidth)
    if own.bitwidth == kind.bitwidth:
        return register
    if own.bitwidth > kind.bitwidth:
        return builder.trunc(register, wanted)
    return (builder.sext if own.signed else builder.zext)(register, wanted)


def binary(builder: Any, function: Any, left: Number, right: Number) -> Number:
    """left function right."""
    kind = left.kind
    if kind is right.kind:
        if kind in FLOATS:
            made = _float_operation(builder, function, left, right)
            if made is not None:
                return made
        elif kind is types.int64 or kind is types.uint64:
            made = _int_operation(builder, function, left, right)
            if made is None:
                made = generic(builder, function, (left, right))
            if left.is_natural and right.is_natural and function in KEEP_NATURAL:
                made.is_natural = True
            return made
    return generic(builder, function, (left, right))


def _float_operation(builder: Any, function: Any, left: Number, right: Number) -> Number | None:
    name = FLOAT_OPERATIONS.get(function)
    if name is not None:
        return Number(left.kind, getattr(builder, name)(left.ir, right.ir))
    if function is operator.ne:
        return Number(types.boolean, builder.fcmp_unordered("!=", left.ir, right.ir))
    sign = COMPARISONS.get(function)
    if sign is not None:
        return Number(types.boolean, builder.fcmp_ordered(sign, left.ir, right.ir))
    return None


def _int_operation(builder: Any, function: Any, left: Number, right: Number) -> Number | None:
    name = INT_OPERATIONS.get(function)
    if name is not None:
        if left.literal is not None and right.literal is not None:
            value = function(left.literal, right.literal)
            if left.kind.minval <= value <= left.kind.maxval:
                return constant(left.kind, value)
        return Number(left.kind, getattr(builder, name)(left.ir, right.ir))
    sign = COMPARISONS.get(function)
    if sign is not None:
        compare = builder.icmp_signed if left.kind.signed else builder.icmp_unsigned
        if left.literal is not None and right.literal is not None:
            return constant(types.boolean, function(left.literal, right.literal))
        return Number(types.boolean, compare(sign, left.ir, right.ir))
    return None


def generic(builder: Any, function: Any, arguments: Sequence[Number]) -> Number:
    """What Numba computes for a function of numbers."""
    signature, implementation = resolved(function, tuple([each.kind for each in arguments]))
    registers = [
        cast(builder, each, kind).ir for each, kind in zip(arguments, signature.args, strict=True)
    ]
    return Number(signature.return_type, implementation(builder, registers))


_answers: dict[tuple[Any, tuple[Kind, ...]], tuple[Any, Callable[..., Any]]] = {}


def resolved(function: Any, kinds: tuple[Kind, ...]) -> tuple[Any, Callable[..., Any]]:
    """Numba's signature of a function for arguments of such types, and what makes its code."""
    key = (function, kinds)
    found = _answers.get(key)
    if found is None:
        found = _answers[key] = resolve(function, kinds)
    return found


def resolve(function: Any, kinds: tuple[Kind, ...]) -> tuple[Any, Callable[..., Any]]:
    """As Numba's type inference and lowering find it."""
    try:
        kind = function if isinstance(function, types.Type) else _kind_of(function)
        signature = typing.resolve_function_type(kind, kinds, {})
        if signature is None:
            raise Unsupported(f"{function} of {kinds}")
        return signature, context.get_function(kind, signature)
    except (errors.NumbaError, NotImplementedError, AttributeError) as error:
        raise Unsupported(f"{function} of {kinds}: {error}") from error


def _kind_of(function: Any) -> Kind:
    """Numba's type of a function, which may have been defined since it was last asked."""
    try:
        return typing.resolve_value_type(function)
    except ValueError:
        typing.refresh()
        context.refresh()
    try:
        return typing.resolve_value_type(function)
    except ValueError as error:
        raise Unsupported(f"a call of {function}") from error


def truth(builder: Any, number: Number) -> Number:
    """Whether a number is not zero."""
    if number.kind is types.boolean:
        return number
    if number.literal is not None:
        return constant(types.boolean, bool(number.literal))
    return generic(builder, bool, (number,))


@cache
def unified(first: Kind, second: Kind) -> Kind:
    """The type of a variable that is one or the other."""
    if first == second:
        return first
    kind = typing.unify_pairs(first, second)
    if kind is None or not kind.is_precise():
        raise Unsupported(f"a variable that is {first} and {second}")
    return kind
