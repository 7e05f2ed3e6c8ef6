"""Arithmetic of numbers by Numba's rules: its types, its conversions, its values.

What nearly all kernels need is here, and a test holds it to Numba's answers. For the rest Numba is
asked (`numba_rules.py`), which a process imports then.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import (
    convention,
    division,
    kinds,
    numba_rules,
    numpy_names,
)
from torchgen_out._runtime.kernels.compiler.kinds import Boolean, Complex, Float, Integer
from torchgen_out._runtime.kernels.compiler.values import Kind, Number, Unsupported

INT = kinds.int64
FLOATS = (kinds.float32, kinds.float64)
FLOAT_OPERATIONS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul"}
FLOAT_OPERATIONS[operator.truediv] = "fdiv"
FLOAT_FUNCTIONS = {*FLOAT_OPERATIONS, operator.mod, operator.pow}
INT_OPERATIONS = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.and_: "and_",
    operator.or_: "or_",
    operator.xor: "xor",
}
COMPLEX_FUNCTIONS = {operator.add, operator.sub, operator.mul, operator.eq, operator.ne}
DIVISIONS = {operator.floordiv: 0, operator.mod: 1}
SHIFTS = (operator.lshift, operator.rshift)
KEEP_NATURAL = {operator.add, operator.mul, operator.floordiv, operator.mod}
COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
BIT_FUNCTIONS = {operator.and_, operator.or_, operator.xor, *COMPARISONS}


def constant(kind: Kind, value: Any) -> Number:
    """A number that is known."""
    if isinstance(kind, Float):
        return Number(kind, ir.Constant(kind.register, float(value)), value)
    if isinstance(kind, (Boolean, Integer)):
        return Number(kind, ir.Constant(kind.register, int(value)), value)
    if isinstance(kind, Complex):
        parts = [ir.Constant(kind.part.register, x) for x in (value.real, value.imag)]
        return Number(kind, ir.Constant(kind.register, parts), value)
    raise Unsupported(f"a constant of type {kind}")


def literal(value: Any) -> Number:
    """A number as it is written in a text."""
    if isinstance(value, bool):
        return constant(kinds.boolean, value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise Unsupported("an integer of more than 64 bits")
        return constant(kinds.int64 if value < 2**63 else kinds.uint64, value)
    if isinstance(value, float):
        return constant(kinds.float64, value)
    if isinstance(value, complex):
        return constant(kinds.complex128, value)
    raise Unsupported(f"the constant {value!r}")


# Conversions.


def cast(builder: Any, number: Number, kind: Kind) -> Number:
    """A number converted as an assignment or an argument is."""
    own = number.kind
    if own is kind:
        return number
    if number.literal is not None and isinstance(kind, (Float, Integer)):
        known = _converted(number.literal, kind)
        if known is not None:
            return constant(kind, known)
    if isinstance(own, Integer) and isinstance(kind, Integer):
        is_natural = number.is_natural and own.bitwidth <= kind.bitwidth
        return Number(kind, _resized(builder, number.ir, own, kind), is_natural=is_natural)
    if isinstance(kind, Boolean):
        return truth(builder, number)
    if isinstance(own, Boolean):
        return cast(builder, Number(kinds.int32, builder.zext(number.ir, ir.IntType(32))), kind)
    return Number(kind, _register_as(builder, number, kind))


def _register_as(builder: Any, number: Number, kind: Kind) -> Any:
    own, register = number.kind, number.ir
    if isinstance(kind, Complex) and isinstance(own, Complex):
        parts = [part_of(builder, number, at) for at in (0, 1)]
        return convention.joined(builder, kind, *(cast(builder, x, kind.part).ir for x in parts))
    if isinstance(kind, Complex):
        real, imag = cast(builder, number, kind.part), constant(kind.part, 0)
        return convention.joined(builder, kind, real.ir, imag.ir)
    if isinstance(own, Float) and isinstance(kind, Float):
        grows = own.bitwidth < kind.bitwidth
        return (builder.fpext if grows else builder.fptrunc)(register, kind.register)
    if isinstance(own, Integer) and isinstance(kind, Float):
        return (builder.sitofp if own.signed else builder.uitofp)(register, kind.register)
    if isinstance(own, Float) and isinstance(kind, Integer):
        return (builder.fptosi if kind.signed else builder.fptoui)(register, kind.register)
    raise Unsupported(f"a conversion of {own} to {kind}")


def part_of(builder: Any, number: Number, at: int) -> Number:
    """The real part (0) or the imaginary part (1) of a complex number."""
    return Number(number.kind.part, builder.extract_value(number.ir, at))


def attribute(builder: Any, number: Number, name: str) -> Number:
    """x.real, x.imag."""
    if isinstance(number.kind, Complex):
        return part_of(builder, number, ("real", "imag").index(name))
    return number if name == "real" else constant(number.kind, 0)


def _converted(value: Any, kind: Kind) -> Any:
    """A known value in a type that holds it; None if the machine says what becomes of it."""
    if isinstance(kind, Float) and type(value) in (int, float):
        is_exact = isinstance(value, float) or abs(value) <= 2**53
        return numpy_names.rounded(kind, float(value)) if is_exact else None
    if isinstance(kind, Integer) and isinstance(value, int):
        return value if kind.minval <= value <= kind.maxval else None
    return None


def _resized(builder: Any, register: Any, own: Integer, kind: Integer) -> Any:
    if own.bitwidth == kind.bitwidth:
        return register
    if own.bitwidth > kind.bitwidth:
        return builder.trunc(register, kind.register)
    return (builder.sext if own.signed else builder.zext)(register, kind.register)


def truth(builder: Any, number: Number) -> Number:
    """Whether a number is not zero."""
    kind = number.kind
    if isinstance(kind, Boolean):
        return number
    if number.literal is not None:
        return constant(kinds.boolean, bool(number.literal))
    if isinstance(kind, Complex):
        return numba_rules.of_numbers(builder, bool, (number,))
    zero = ir.Constant(kind.register, 0)
    compare = builder.fcmp_unordered if isinstance(kind, Float) else builder.icmp_unsigned
    return Number(kinds.boolean, compare("!=", number.ir, zero))


# Arithmetic.


def binary(builder: Any, function: Any, left: Number, right: Number) -> Number:
    """left function right."""
    kind = operands_of(function, left.kind, right.kind)
    if kind is None and function in COMPARISONS and left.is_natural and right.is_natural:
        kind = _as_naturals(left.kind, right.kind)
    if kind is None:
        return numba_rules.of_numbers(builder, function, (left, right))
    first, second = cast(builder, left, kind), cast(builder, right, kind)
    if isinstance(kind, Complex):
        return _complex_operation(builder, function, first, second)
    if isinstance(kind, Float):
        return _float_operation(builder, function, first, second)
    made = _int_operation(builder, function, first, second)
    if left.is_natural and right.is_natural and function in KEEP_NATURAL:
        made.is_natural = True
    return made


def operands_of(function: Any, left: Kind, right: Kind) -> Kind | None:
    """The type in which Numba computes a function of two numbers; None if only Numba knows it."""
    both = (left, right)
    if any(isinstance(each, Complex) for each in both):
        return _complex_operands(both) if function in COMPLEX_FUNCTIONS else None
    if any(isinstance(each, Float) for each in both) or function is operator.truediv:
        if function is operator.pow:
            return left if left is right else None
        is_known = function in FLOAT_FUNCTIONS or function in COMPARISONS
        return _float_operands(both) if is_known else None
    if left is kinds.boolean and right is kinds.boolean and function in BIT_FUNCTIONS:
        return left
    if function in COMPARISONS:
        return _compared_as(both)
    left, right = (kinds.int64 if each is kinds.boolean else each for each in both)
    if function in SHIFTS:
        return kinds.int64 if left.signed else kinds.uint64
    if function in INT_OPERATIONS or function in DIVISIONS:
        return kinds.int64 if left.signed or right.signed else kinds.uint64
    return None


def _compared_as(both: Sequence[Kind]) -> Kind | None:
    """Whole numbers and truth values: of 64 bits, with a sign if one has it; None if neither is."""
    signed = [each.signed for each in both if isinstance(each, Integer)]
    if any(signed):
        return None if kinds.uint64 in both else kinds.int64
    return kinds.uint64


def _float_operands(both: Sequence[Kind]) -> Kind | None:
    """float32 with numbers that it holds; float64 with others, and of whole numbers alone."""
    if not any(isinstance(each, Float) for each in both):
        return kinds.float64 if all(isinstance(each, Integer) for each in both) else None
    return kinds.float32 if all(_fits_float32(each) for each in both) else kinds.float64


def _fits_float32(kind: Kind) -> bool:
    """As Numba has it, which knows no conversion of uint16 to float32."""
    return kind is kinds.float32 or (kind.bitwidth < 32 and kind is not kinds.uint16)


def _complex_operands(both: Sequence[Kind]) -> Kind | None:
    """The larger of two, or that of the one whose parts the other is of."""
    if kinds.complex128 in both and all(isinstance(each, (Complex, Float)) for each in both):
        return kinds.complex128
    is_small = all(each in (kinds.complex64, kinds.float32) for each in both)
    return kinds.complex64 if is_small else None


def _as_naturals(left: Kind, right: Kind) -> Kind | None:
    """Of one that is signed and one that is not: neither is negative."""
    both = isinstance(left, Integer) and isinstance(right, Integer)
    return kinds.uint64 if both else None


def _float_operation(builder: Any, function: Any, left: Number, right: Number) -> Number:
    name = FLOAT_OPERATIONS.get(function)
    if name is not None:
        return Number(left.kind, getattr(builder, name)(left.ir, right.ir))
    if function is operator.mod:
        return Number(left.kind, division.rest_of_floats(builder, left.ir, right.ir))
    if function is operator.pow:
        return with_intrinsic(builder, "pow", left, right)
    if function is operator.ne:
        return Number(kinds.boolean, builder.fcmp_unordered("!=", left.ir, right.ir))
    return Number(kinds.boolean, builder.fcmp_ordered(COMPARISONS[function], left.ir, right.ir))


def _complex_operation(builder: Any, function: Any, left: Number, right: Number) -> Number:
    """Without the optimiser's freedom: a product of conjugates has no imaginary part."""
    with builder.exact():
        a, b, c, d = (part_of(builder, each, at).ir for each in (left, right) for at in (0, 1))
        if function is operator.mul:
            real = builder.fsub(builder.fmul(a, c), builder.fmul(b, d))
            imag = builder.fadd(builder.fmul(a, d), builder.fmul(b, c))
        elif function in FLOAT_OPERATIONS:
            make = getattr(builder, FLOAT_OPERATIONS[function])
            real, imag = make(a, c), make(b, d)
        else:
            are_equal = function is operator.eq
            compare = builder.fcmp_ordered if are_equal else builder.fcmp_unordered
            parts = [compare(COMPARISONS[function], *each) for each in ((a, c), (b, d))]
            joined = builder.and_(*parts) if are_equal else builder.or_(*parts)
            return Number(kinds.boolean, joined)
    return Number(left.kind, convention.joined(builder, left.kind, real, imag))


def with_intrinsic(builder: Any, name: str, *given: Number) -> Number:
    """What LLVM has a name for, of floats of one type."""
    kind = given[0].kind
    own = ir.FunctionType(kind.register, [kind.register] * len(given))
    declared = builder.module.declare_intrinsic(f"llvm.{name}", [kind.register], own)
    return Number(kind, builder.call(declared, [each.ir for each in given]))


def complex_of(builder: Any, real: Number, imag: Number) -> Number | None:
    """complex(real, imag)."""
    if not isinstance(real.kind, Float) or not isinstance(imag.kind, Float):
        return None
    are_small = real.kind is imag.kind is kinds.float32
    kind = kinds.complex64 if are_small else kinds.complex128
    parts = [cast(builder, each, kind.part).ir for each in (real, imag)]
    return Number(kind, convention.joined(builder, kind, *parts))


def _int_operation(builder: Any, function: Any, left: Number, right: Number) -> Number:
    kind = left.kind
    known = None
    if left.literal is not None and right.literal is not None and function not in DIVISIONS:
        known = function(left.literal, right.literal)
    if function in COMPARISONS:
        if known is not None:
            return constant(kinds.boolean, known)
        is_signed = isinstance(kind, Integer) and kind.signed
        compare = builder.icmp_signed if is_signed else builder.icmp_unsigned
        return Number(kinds.boolean, compare(COMPARISONS[function], left.ir, right.ir))
    if known is not None and isinstance(kind, Integer) and kind.minval <= known <= kind.maxval:
        return constant(kind, known)
    if function in DIVISIONS:
        return Number(kind, division.floored(builder, left, right)[DIVISIONS[function]])
    if function is operator.rshift:
        return Number(kind, (builder.ashr if kind.signed else builder.lshr)(left.ir, right.ir))
    name = "shl" if function is operator.lshift else INT_OPERATIONS[function]
    return Number(kind, getattr(builder, name)(left.ir, right.ir))


def divided(builder: Any, left: Number, right: Number) -> tuple[Number, Number]:
    """divmod(left, right) of whole numbers."""
    kind = operands_of(operator.mod, left.kind, right.kind)
    if not isinstance(kind, Integer):
        raise Unsupported(f"divmod of {left.kind} and {right.kind}")
    first, second = cast(builder, left, kind), cast(builder, right, kind)
    made = [Number(kind, each) for each in division.floored(builder, first, second)]
    made[0].is_natural = made[1].is_natural = left.is_natural and right.is_natural
    return made[0], made[1]


# Variables.


@cache
def unified(first: Kind, second: Kind) -> Kind:
    """The type of a variable that is one or the other."""
    if first is second:
        return first
    if isinstance(first, Integer) and isinstance(second, Integer) and first.signed == second.signed:
        return first if first.bitwidth > second.bitwidth else second
    if kinds.float64 in (first, second) and all(
        isinstance(each, (Float, Integer)) for each in (first, second)
    ):
        return kinds.float64
    return numba_rules.unified(first, second)


def counted_in(given: Sequence[Kind]) -> Kind:
    """The type of the numbers of a range."""
    for own in (kinds.int64, kinds.uint64):
        if all(each is own for each in given):
            return own
    if all(isinstance(each, Integer) and each.signed for each in given):
        is_small = all(each.bitwidth <= 32 for each in given)
        return kinds.int32 if is_small else kinds.int64
    return numba_rules.counted_in(given)
