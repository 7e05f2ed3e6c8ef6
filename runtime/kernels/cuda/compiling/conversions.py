"""The conversion that a device has an instruction for, which its compiler does not know.

Of float16 the compiler's own library has both; a bfloat16 is read by a shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SINCE = (8, 0)
"""The first compute capability with `cvt.rn.bf16.f32`."""

BFLOAT16_BITS = """\
def bfloat16_bits(value):
    wide = np.uint32(libdevice.float_as_int(value))
    upper = np.uint32(wide >> np.uint32(16))
    rounded = np.uint32(wide + np.uint32(0x7FFF) + (upper & np.uint32(1))) >> np.uint32(16)
    nan = np.uint32(0x7FC0) | np.uint32(upper & np.uint32(0x8000))
    is_nan = np.uint32(wide & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.uint16(nan if is_nan else rounded)
"""
"""The nearest bfloat16 of a float32, ties to even, where no instruction does it."""


def make_bfloat16_bits() -> Any:
    """bfloat16_bits(value): the same by the instruction; all NaNs become one."""
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic

    def bfloat16_bits(typingctx: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
            kind = ir.FunctionType(ir.IntType(16), [ir.FloatType()])
            return builder.asm(kind, "cvt.rn.bf16.f32 $0, $1;", "=h,f", args, side_effect=False)

        return types.uint16(types.float32), emit

    return intrinsic(bfloat16_bits)
