"""Which loop a copy or a cast of tensors takes, or whether it is left to NumPy.

Few elements of whole numbers that lie together are left to NumPy, that no loop is compiled for
their casts.
"""

from __future__ import annotations

from torchgen_out._runtime.backends.cpu.conversions import Operand
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.copy.casting import find_copier
from torchgen_out._runtime.kernels.cpu.copy.copy import assign
from torchgen_out._runtime.kernels.cpu.loops.pointwise_launches import Run


def plan_cast(out: Operand, source: Operand) -> tuple[Run, int | None] | None:
    """The launch of a copy, of the same sizes, as `plan_loop` has it; None: left to NumPy."""
    if out.sizes != source.sizes:
        return None
    are_dense = out.own_spec.is_contiguous and source.own_spec.is_contiguous
    if are_dense and (out.own is source.own or _is_left_to_numpy(source, out)):
        return assign, out.own_spec.numel
    return find_copier(source.own, out.own, source[2:4], out[2:4])


def _is_left_to_numpy(source: Operand, out: Operand) -> bool:
    are_wide = source.own.opmath is source.own and out.own.opmath is out.own
    is_small = 0 < out.own_spec.numel < threads.GRAIN
    return is_small and are_wide and source.own.kind in "bi"
