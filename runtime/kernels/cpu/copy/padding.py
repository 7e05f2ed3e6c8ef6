"""Padding with a constant: the kept part is copied into place, the rest is filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.copy.moving_plans import plan_pad
from torchgen_out._runtime.kernels.cpu.folding import copy_parts
from torchgen_out._runtime.kernels.cpu.planned import planned

Array = Any


@planned(plan_pad)
def constant_pad_nd(out: Array, self: Array, pad: Sequence[int], value: Any) -> None:
    """Write `self` surrounded by `value`; negative numbers cut off."""
    ndim = self.ndim
    kept, target = [slice(None)] * ndim, [slice(None)] * ndim
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = ndim - 1 - i
        size = self.shape[dim]
        kept[dim] = slice(max(-before, 0), size - max(-after, 0))
        target[dim] = slice(max(before, 0), out.shape[dim] - max(after, 0))
    fill(out, value)
    # `...` leaves arrays of 0 dims arrays.
    copy_parts((out[(..., *target)], self[(..., *kept)]))
