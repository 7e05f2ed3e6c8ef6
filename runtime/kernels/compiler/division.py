"""Division as Python's: of whole numbers rounded down, by zero to zero as NumPy's; and rests."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler.values import Number


def floored(builder: Any, left: Number, right: Number) -> tuple[Any, Any]:
    """The registers of left // right and left % right, which are of one type."""
    x, y = left.ir, right.ir
    if type(right.literal) is int and right.literal > 0:
        return _by(builder, left, y)
    zero = ir.Constant(x.type, 0)
    impossible = builder.icmp_unsigned("==", y, zero)
    if left.kind.signed:
        least, minus_one = ir.Constant(x.type, left.kind.minval), ir.Constant(x.type, -1)
        overflows = builder.icmp_unsigned("==", x, least)
        overflows = builder.and_(overflows, builder.icmp_unsigned("==", y, minus_one))
        impossible = builder.or_(impossible, overflows)
    before = builder.block
    with builder.if_then(builder.not_(impossible), likely=True):
        quotient, rest = _by(builder, left, y)
        inside = builder.block
    made = []
    for register in (quotient, rest):
        phi = builder.phi(x.type)
        phi.add_incoming(zero, before)
        phi.add_incoming(register, inside)
        made.append(phi)
    return made[0], made[1]


def _by(builder: Any, left: Number, y: Any) -> tuple[Any, Any]:
    """Both for a divisor that can be divided by."""
    x = left.ir
    if not left.kind.signed:
        return builder.udiv(x, y), builder.urem(x, y)
    quotient, rest = builder.sdiv(x, y), builder.srem(x, y)
    zero, one = ir.Constant(x.type, 0), ir.Constant(x.type, 1)
    differ = builder.icmp_signed("<", builder.xor(y, rest), zero)
    is_rounded_up = builder.and_(builder.icmp_unsigned("!=", rest, zero), differ)
    return (
        builder.select(is_rounded_up, builder.sub(quotient, one), quotient),
        builder.select(is_rounded_up, builder.add(rest, y), rest),
    )


def rest_of_floats(builder: Any, x: Any, y: Any) -> Any:
    """The register of x % y: of the sign of y, as a zero is."""
    zero = ir.Constant(x.type, 0)
    rest = builder.frem(x, y)
    differ = builder.xor(builder.fcmp_ordered("<", y, zero), builder.fcmp_ordered("<", rest, zero))
    shifted = builder.select(differ, builder.fadd(rest, y), rest)
    signed_zero = builder.select(
        builder.fcmp_ordered("<", y, zero), ir.Constant(x.type, -0.0), zero
    )
    return builder.select(builder.fcmp_ordered("==", rest, zero), signed_zero, shifted)
