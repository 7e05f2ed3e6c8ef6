"""The dispatch key: the small integer that says everything about a tensor that chooses its code.

    bits 0-4   dtype index            bits 8-10  layout index
    bits 5-7   device type index      bit 11     zero-dimensional
                                      bit 12     takes part in autograd
                                      bit 13     its class answers for itself

Operators keep their resolved calls in tables under these keys (see `runtime.dispatch`), so a
fact belongs here exactly if it changes which code runs.
"""

from __future__ import annotations

DTYPE_MASK = 0x1F
DEVICE_SHIFT = 5
DEVICE_MASK = 0x7
LAYOUT_SHIFT = 8
LAYOUT_MASK = 0x7
ZERO_DIM = 1 << 11
GRAD = 1 << 12
OVERRIDES = 1 << 13

NOT_HERE = DEVICE_MASK << DEVICE_SHIFT | LAYOUT_MASK << LAYOUT_SHIFT
"""Bits of tensors that are not strided ones in host memory."""
SEEN = GRAD | OVERRIDES | LAYOUT_MASK << LAYOUT_SHIFT
"""Bits of tensors whose views are calls that somebody sees: autograd, a subclass, a layout."""


def pack(dtype_index: int, device_index: int, layout_index: int, zero_dim: bool) -> int:
    """The key of a tensor outside autograd."""
    key = dtype_index | device_index << DEVICE_SHIFT | layout_index << LAYOUT_SHIFT
    return key | ZERO_DIM if zero_dim else key
