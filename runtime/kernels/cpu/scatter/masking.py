"""Writing under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import as_bits, broadcast, start_from
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.scatter import slice_plans, writing_plans

Array = Any


@planned(writing_plans.plan_masked_fill)
def masked_fill(out: Array, self: Array, mask: Array, value: Any) -> None:
    """Write `value` where `mask` is true, self elsewhere."""
    filler = as_bits(np.asarray(value).astype(out.dtype).reshape(1))
    if not out.flags.c_contiguous:
        start_from(out, self)
        np.copyto(out, filler.view(out.dtype)[0], where=mask)
        return
    chosen, flat = _spread(mask, out.shape), as_bits(out).reshape(-1)
    if out is self:
        threads.run_flat(_fill, (flat, chosen), (filler[0],))
    else:
        source = as_bits(_spread(self, out.shape))
        threads.run_flat(_select, (flat, source, chosen), (filler[0],))


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    """The array broadcast to a shape, flat."""
    if array.shape != shape:
        array = broadcast(array, shape)
    return np.ascontiguousarray(array).reshape(-1)


@kernel
def _select(out, self, mask, value):
    """A select without a branch vectorises."""
    for i in range(out.size):
        out[i] = value if mask[i] else self[i]


@kernel
def _fill(out, mask, value):
    """The same in place: with two arrays that are one the loop would not vectorise."""
    for i in range(out.size):
        out[i] = value if mask[i] else out[i]


@planned(slice_plans.plan_masked_scatter)
def masked_scatter(out: Array, self: Array, mask: Array, source: Array) -> None:
    """Write the elements of `source` in order to the places where `mask` is true."""
    start_from(out, self)
    mask = broadcast(mask, out.shape)
    count = int(np.count_nonzero(mask))
    if count > source.size:
        raise slice_plans.too_few_elements()
    if count:
        out[mask] = source.reshape(-1)[:count]
