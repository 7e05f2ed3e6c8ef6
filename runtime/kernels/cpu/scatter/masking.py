"""Writing under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import broadcast
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import contiguous, planned, view_of
from torchgen_out._runtime.kernels.cpu.small import BOOL, SMALL, as_words, entry_for
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any
LONG_ROW = 256
"""Elements from which on a row is taken out, 15 ns an array, so that its loop vectorises better."""


def spread(flat: Array, at: int, spec: TensorSpec, sizes: tuple[int, ...]) -> Array:
    """An operand broadcast to some sizes, as flat contiguous memory."""
    return contiguous(broadcast(view_of(flat, at, spec), sizes)).reshape(-1)


@planned(any_strides=True)
def masked_fill(result: TensorSpec, self: TensorSpec, mask: TensorSpec, value: Any) -> LaunchPlan:
    """Write `value` where `mask` is true, self elsewhere."""
    if not result.numel:
        return NOTHING
    word = as_words(result).dtype
    number = None if value.__class__ is TensorSpec else np.full(1, value).astype(result.dtype)
    entry = entry_for(fill_rows, word, int, int, word, word, BOOL, word, int, int, int)
    behind = result.sizes[len(result.sizes) - len(mask.sizes) :]
    is_wide = result.numel <= SMALL or mask.sizes == result.sizes
    is_dense = self.is_contiguous and self.sizes == result.sizes
    fits = is_dense and mask.is_contiguous and mask.sizes == behind and is_wide
    width = mask.numel if fits and mask.sizes != result.sizes else 0
    count = result.numel
    rows = count // max(width, 1)

    def run_short(target: Array, a: Array, b: Array, at: int, at_mask: int, params: Any) -> None:
        entry(0, rows, target, a, b, number, at, at_mask, width)

    def run(target: Array, a: Array, b: Array, *given: Any) -> None:
        at, at_mask = given[-3 - (number is None) : -1][:2]
        filler = number if number is not None else given[0][given[-2] :].astype(result.dtype)
        if not fits:
            a, at = (a, at) if is_dense else (spread(a, at, self, result.sizes), 0)
            b, at_mask = spread(b, at_mask, mask, result.sizes), 0
        arrays = target.view(word), a.view(word), b, filler.view(word), at, at_mask, width
        threads.run_ranges(entry, rows, count, *arrays)

    is_short = fits and number is not None and word == result.dtype and count < 2 * threads.GRAIN
    return LaunchPlan(run_short if is_short else run, None)


@typed
def fill_rows(start, stop, out, self, mask, filler, at, at_mask, width):
    """out[r, i] = filler if mask[i] else self[r, i] in rows start to stop.

    width: of the rows; 0 for elements start to stop, each with its own of the mask."""
    if width == 0:
        fill_chosen(out[start:stop], self, at + start, mask[at_mask + start :], filler[0])
        return
    if width < LONG_ROW:
        for r in range(start, stop):
            base = np.uint64(r * width)
            for i in range(np.uint64(width)):
                old = self[np.uint64(at) + base + i]
                out[base + i] = filler[0] if mask[np.uint64(at_mask) + i] else old
        return
    for r in range(start, stop):
        row, first = out[r * width : (r + 1) * width], at + r * width
        fill_chosen(row, self, first, mask[at_mask:], filler[0])


@typed
def fill_chosen(out, self, at, mask, value):
    """A select without a branch vectorises, but not of two arrays that are one."""
    if self[at:].ctypes.data == out.ctypes.data:
        for i in range(out.size):
            out[i] = value if mask[i] else out[i]
    else:
        source = self[at : at + out.size]
        for i in range(out.size):
            out[i] = value if mask[i] else source[i]


@planned(any_strides=True)
def masked_scatter(
    result: TensorSpec, self: TensorSpec, mask: TensorSpec, source: TensorSpec
) -> LaunchPlan:
    """Write the elements of `source` in order to the places where `mask` is true."""
    count, given = result.numel, [as_words(self), mask, as_words(source)]
    if not count:
        return NOTHING
    views = out(0, count), operand(0, count), operand(1, count), operand(2, source.numel)
    plan = plan_loop(scatter_under, [as_words(result)], given, *views)
    message = "Number of elements of source < number of ones in mask"
    plan = refusing(plan, lambda *args: RuntimeError(message))
    word = as_words(result).dtype
    alike = [each.is_contiguous and each.sizes == result.sizes for each in (self, mask)]
    if all(alike) and source.is_contiguous and word == result.dtype:
        return plan

    def run(target: Array, a: Array, b: Array, c: Array, *offsets: Any) -> None:
        at, at_mask, at_source, params = offsets
        if not alike[0]:
            a, at = spread(a, at, self, result.sizes), 0
        if not alike[1]:
            b, at_mask = spread(b, at_mask, mask, result.sizes), 0
        if not source.is_contiguous:
            c, at_source = contiguous(view_of(c, at_source, source)).reshape(-1), 0
        views = target.view(word), a.view(word), b, c.view(word)
        plan.run(*views, at, at_mask, at_source, params)

    return LaunchPlan(run, plan.params)


@typed
def scatter_under(out, self, mask, source):
    """out = the next of source where mask is true, self elsewhere; False if there are too few."""
    needed = 0
    for i in range(mask.size):
        needed += 1 if mask[i] else 0
    if needed > source.size:
        return False
    place = 0
    for i in range(mask.size):
        if mask[i]:
            out[i] = source[place]
            place += 1
        else:
            out[i] = self[i]
    return True
