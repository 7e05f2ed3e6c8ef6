"""Padding with a constant: the kept part is copied into place, the rest is filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, walks_strides


@walks_strides
def constant_pad_nd(queue: Queue, out: Array, self: Array, pad: Sequence[int], value: Any) -> None:
    """Write `self` surrounded by `value`; negative numbers cut off."""
    kept, target = self, out
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = self.ndim - 1 - i
        length = self.sizes[dim] + min(before, 0) + min(after, 0)
        kept = kept.narrowed(dim, max(-before, 0), max(length, 0))
        target = target.narrowed(dim, max(before, 0), max(length, 0))
    queue.fill(out, value)
    queue.copy(target, kept)
