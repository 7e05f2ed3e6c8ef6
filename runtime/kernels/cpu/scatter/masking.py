"""Writing under a mask."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import on_copies, planned
from torchgen_out._runtime.kernels.cpu.small import as_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


@planned(any_strides=True)
def masked_scatter(
    result: TensorSpec, self: TensorSpec, mask: TensorSpec, source: TensorSpec
) -> LaunchPlan:
    """Write the elements of `source` in order to the places where `mask` is true."""
    count, given = result.numel, [as_words(self), mask, as_words(source)]
    if not count:
        return NOTHING
    views = out(0, count), operand(0, count), operand(1, count), operand(2, source.numel)
    word = as_words(result).dtype
    plan = plan_loop(scatter_under, [as_words(result)], given, *views)
    message = "Number of elements of source < number of ones in mask"
    plan = refusing(plan, lambda *args: RuntimeError(message))
    own, flags = (each.expanded(result.sizes) for each in given[:2])
    plan = on_copies(plan, 1, [own, flags, given[2]])
    if word == result.dtype:
        return plan

    def run(target: Array, a: Array, b: Array, c: Array, *others: Any) -> None:
        plan.run(target.view(word), a.view(word), b, c.view(word), *others)

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
