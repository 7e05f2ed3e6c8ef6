"""Which loop a copy or a cast of tensors takes, or whether it is left to NumPy.

Casts of few elements from or to integers are left to NumPy, that no loop is compiled for them, and
so are those from floats to short integers, of which C leaves open what becomes of numbers out of
range: LLVM decides otherwise than NumPy's compiler.
"""

from __future__ import annotations

from torchgen_out._runtime.backends.cpu.conversions import Operand
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.copy.casting import find_copier
from torchgen_out._runtime.kernels.cpu.copy.copy import assign, cast_into
from torchgen_out._runtime.kernels.cpu.loops.pointwise_launches import Run


def plan_cast(out: Operand, source: Operand) -> tuple[Run, int | None] | None:
    """The launch of a copy, of the same sizes, as `plan_loop` has it; None: left to NumPy."""
    if out.sizes != source.sizes:
        return None
    are_dense = out.own_spec.is_contiguous and source.own_spec.is_contiguous
    if are_dense and (out.own is source.own or is_left_to_numpy(source, out)):
        is_exact = out.own is source.own or source.own.kind in "bi"
        return assign if is_exact else cast_into, out.own_spec.numel
    return find_copier(source.own, out.own, source[2:4], out[2:4])


def is_left_to_numpy(source: Operand, out: Operand) -> bool:
    """Whether NumPy casts the memory as it is: of few elements, from or to integers."""
    kinds = source.own.kind + out.own.kind
    are_wide = source.own.opmath is source.own and out.own.opmath is out.own
    is_small = 0 < out.own_spec.numel < threads.GRAIN
    return is_small and are_wide and "c" not in kinds and kinds != "ff"
