"""Writing under a mask."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.folding import broadcast
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import contiguous, planned, view_of
from torchgen_out._runtime.kernels.cpu.small import as_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


def spread(flat: Array, at: int, spec: TensorSpec, sizes: tuple[int, ...]) -> Array:
    """An operand broadcast to some sizes, as flat contiguous memory."""
    return contiguous(broadcast(view_of(flat, at, spec), sizes)).reshape(-1)


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
