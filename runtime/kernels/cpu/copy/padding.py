"""Padding with a constant: the kept part is copied into place, the rest is filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.copy.moving_loops import pad_lines
from torchgen_out._runtime.kernels.cpu.copy.shaping import plan_moves
from torchgen_out._runtime.kernels.cpu.folding import copy_parts
from torchgen_out._runtime.kernels.cpu.planned import planned, view_of
from torchgen_out._runtime.kernels.cpu.small import as_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


@planned(any_strides=True)
def constant_pad_nd(
    result: TensorSpec, self: TensorSpec, pad: Sequence[int], value: Any
) -> LaunchPlan:
    """Write `self` surrounded by `value`; negative numbers cut off."""
    own, word = result.dtype, as_words(result).dtype
    is_plain = value.__class__ is int or (value.__class__ is float and own.kind == "f")
    fits = self.is_contiguous and self.numel and 2 <= len(pad) <= 4 and min(pad) >= 0
    if not (fits and is_plain and word.kind in "if"):
        return _plan_pad_any(result, self, pad, value)
    filler = np.full(1, value).astype(own).view(word).item()
    columns, rows = self.sizes[-1], self.sizes[-2] if len(pad) == 4 else 1
    left, right, top, bottom = (*pad, 0, 0)[:4]
    lines = result.numel // (left + columns + right)
    numbers = rows, columns, left, right, top, bottom, filler
    return plan_moves(pad_lines, result, self, lines, numbers)


def _plan_pad_any(
    result: TensorSpec, self: TensorSpec, pad: Sequence[int], value: Any
) -> LaunchPlan:
    """The plan for further dims, negative numbers and gaps: what is kept is copied into place."""
    ndim = len(self.sizes)
    kept, target = [slice(None)] * ndim, [slice(None)] * ndim
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = ndim - 1 - i
        kept[dim] = slice(max(-before, 0), self.sizes[dim] - max(-after, 0))
        target[dim] = slice(max(before, 0), result.sizes[dim] - max(after, 0))

    def run(out: Array, flat: Array, at: int, params: Any) -> None:
        fill(out, value)
        # `...` leaves arrays of 0 dims arrays.
        placed, source = out.reshape(result.sizes), view_of(flat, at, self)
        copy_parts((placed[(..., *target)], source[(..., *kept)]))

    return LaunchPlan(run, None)
