"""The loops of one pointwise formula for known dtypes, and running them over flat memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu import streaming
from torchgen_out._runtime.kernels.cpu.loops.pointwise import (
    contiguous_kernel,
    inplace_kernel,
    strided_kernel,
    tiled_kernel,
    work_of,
)

FEW = 64
"""Elements up to which vectors do not gain what one step more to a loop in place costs."""

MOVED = 12
"""Bytes that an element of `x + y` takes in float32, for which `threads.GRAIN` holds."""


class LoopKernels:
    """The loops around one formula for known dtypes, built when first used."""

    def __init__(self, spec: PointwiseSpec) -> None:
        self.spec = spec
        self._contiguous: dict[Any, Any] = {}
        self._inplace: dict[Any, Any] = {}
        self._strided: dict[Any, Any] = {}
        moved, work = sum(each.itemsize for each in (*spec.inputs, *spec.outputs)), work_of(spec)
        self.is_light = work <= streaming.LIGHT
        """Whether memory takes the time."""
        self.work = max(work, moved / MOVED)
        """How much more an element costs than one of `x + y` in float32."""
        self.serial_below = _least_to_share(work, moved)
        """Elements that are not worth a second thread."""

    def sharing(self, outputs: int) -> Callable[..., None]:
        """What makes flat loops of so many results on threads."""
        if not self.is_light:
            return threads.run_flat
        return partial(streaming.run_flat, outputs=outputs)

    def flat_kernel(self, form: tuple[int, ...] = ()) -> Any:
        """The flat loop, compiled or loaded now. form: the inputs' strides, unless all are 1."""
        found = self._contiguous.get(form)
        if found is None:
            found = self._contiguous[form] = contiguous_kernel(self.spec, form)
        return found

    def inplace_kernel(self, form: tuple[int, ...] = ()) -> Any:
        """The flat loop that writes over its first input."""
        found = self._inplace.get(form)
        if found is None:
            found = self._inplace[form] = inplace_kernel(self.spec, form)
        return found

    def strided_kernel(self, form: tuple[int, ...], tiled: bool, in_place: bool) -> Any:
        """The loop over any geometry, for inner strides of some form."""
        found = self._strided.get((form, tiled, in_place))
        if found is None:
            found = (tiled_kernel if tiled else strided_kernel)(self.spec, form, in_place)
            self._strided[form, tiled, in_place] = found
        return found


def _least_to_share(work: int, moved: int) -> int:
    """The elements from which on a second thread gains more than it takes to give it its part.
    moved: the bytes of an element."""
    if work > streaming.LIGHT:
        return -(-2 * threads.GRAIN // work)
    return 2 * threads.GRAIN * MOVED // moved


PER_RUN = 32
"""Elements in whose time a strided loop begins a run."""
Run = Callable[..., None]
"""run(*places, *memory, *scalars): of each result, then each operand, where it begins in its flat
memory, and the memory. A flat loop knows no places."""


def plan_loop(
    kernels: LoopKernels, plan: plans.PointwisePlan, outputs: int = 1, is_update: bool = False
) -> tuple[Run, int | None]:
    """(run, None) for a plan, or (flat loop, elements). is_update: the first input is the result.

    A small loop is called with no detour.
    """
    if not plan.numel:
        return _nothing, None
    if plan.numel >= kernels.serial_below and plan.flat:
        flat = (kernels.inplace_kernel if is_update else kernels.flat_kernel)(plan.flat_form)
        steps = (1,) * (outputs - 1) + plan.form
        lengths = tuple(max(plan.numel * step, 1) for step in steps)
        share = _share_in_place if is_update else kernels.sharing(outputs)
        return partial(_run_flat_shared, share, flat, kernels.work, lengths), None
    runs = plan.numel // int(plan.loop_sizes[-1])
    # the parts of a strided loop are laid out one by one
    if plan.numel + PER_RUN * runs >= 2 * kernels.serial_below:
        return _shared(kernels, plan, outputs, is_update), None
    if plan.flat:
        if is_update and (plan.numel > FEW or not plan.flat_form):
            return partial(_run_over_first, kernels.inplace_kernel(plan.flat_form)), plan.numel
        return kernels.flat_kernel(plan.flat_form), plan.numel
    loop, form = plan.loop_for(outputs), plan.form[:1] * (outputs - 1) + plan.form
    kernel = kernels.strided_kernel(form, plan.tiled, is_update)
    if plan.outer_dims:
        return partial(_run_counting, kernel, loop, plan.outer_dims, plan.runs), None
    return partial(kernel, loop, loop, plan.runs), None


def _nothing(*args: Any) -> None:
    """There are no elements."""


def _run_over_first(kernel: Any, out: Any, first: Any, *others: Any) -> None:
    """A loop over the result, which is what the first input begins with."""
    kernel(out, *others)


def _run_counting(kernel: Any, loop: Any, dims: int, runs: int, *args: Any) -> None:
    """The counter of the outer dims must be of this call alone."""
    kernel(loop, np.zeros(dims, np.int64), runs, *args)


def _run_flat_shared(
    share: Callable[..., None], kernel: Any, work: float, lengths: tuple[int, ...], *args: Any
) -> None:
    """The flat loop, made by `share` on threads. lengths: of the memory that each tensor takes."""
    count = len(lengths)
    arrays = args[count : 2 * count]
    if any(args[:count]) or tuple([each.size for each in arrays]) != lengths:
        places = zip(arrays, args, lengths, strict=False)
        arrays = tuple([flat[at : at + length] for flat, at, length in places])
    share(kernel, arrays, args[2 * count :], work=work)


def _share_in_place(kernel: Any, arrays: Any, scalars: Any, work: float) -> None:
    """A flat loop over its first input, which is given as the result, too."""
    threads.run_flat(kernel, arrays[1:], scalars, work=work)


def _shared(kernels: LoopKernels, plan: plans.PointwisePlan, outputs: int, in_place: bool) -> Run:
    """The strided loop, shared among threads."""
    count = outputs - 1 + len(plan.form)
    kernel = kernels.strided_kernel(plan.form[:1] * (outputs - 1) + plan.form, plan.tiled, in_place)
    size, work = int(plan.loop_sizes[0]), int(plan.numel * kernels.work)
    whole = plan.loop_for(outputs)

    @cache
    def split(parts: int) -> list[tuple[Any, int, tuple[int, ...]]]:
        return _split_loop(plan, outputs, parts)

    def run(*args: Any) -> None:
        parts = threads.part_count(size, work)
        if parts == 1:
            kernel(whole, plan.counter(), plan.runs, *args)
            return
        places, rest = args[:count], args[count:]
        calls = [
            (loop, plan.counter(), runs, *map(add, places, steps), *rest)
            for loop, runs, steps in split(parts)
        ]
        threads.run_calls(kernel, calls, work)

    return run


def _split_loop(
    plan: plans.PointwisePlan, outputs: int, parts: int
) -> list[tuple[Any, int, tuple[int, ...]]]:
    """(loop, runs, place of each operand) of each thread's part: parts of the outermost dim."""
    loop = plan.loop_for(outputs)
    dims, size = int(loop[0]), int(loop[1])
    steps = [int(stride) for stride in loop[1 + dims :: dims]]
    edges = [size * part // parts for part in range(parts + 1)]
    is_outer = dims > (2 if plan.tiled else 1)
    split = []
    for start, stop in pairwise(edges):
        own = loop.copy()
        own[1] = stop - start
        runs = plan.runs // size * (stop - start) if is_outer else plan.runs
        split.append((own, runs, tuple([start * step for step in steps])))
    return split
