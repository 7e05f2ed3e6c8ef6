"""Drawing on the CPU: blocks of the stream, shared among the threads, through a formula's loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.generator import default_generator
from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.draw import (
    DrawProgram,
    program_of,
    threshold,
    words_each,
)
from torchgen_out._runtime.kernels.common.draw_form import DrawForm
from torchgen_out._runtime.kernels.common.pointwise import SCALAR_TYPES
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel, gatherer, on_copies, planned
from torchgen_out._runtime.kernels.cpu.random.draw_text import draw_text
from torchgen_out._runtime.kernels.cpu.random.philox import blocks_of
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
WORK = 4
"""How much more a number costs than an element of element-wise work."""


def make_kernel(program: DrawProgram) -> PlannedKernel:
    """The CPU's kernel of a formula over the stream."""

    def plan(*args: Any) -> LaunchPlan:
        return plan_draw(program, *args)

    plan.__name__, plan.__doc__ = program.name, program.formula.__doc__
    return PlannedKernel(plan, program.results, any_strides=True)


@planned()
def draw(
    result: TensorSpec,
    size: Sequence[int],
    distribution: str,
    numbers: Sequence[float],
    dtype: Any,
    generator: Any,
) -> LaunchPlan:
    """Write what the operator `distribution` fills a tensor with."""
    return plan_draw(program_of(distribution), result, *numbers, generator)


def plan_fill(name: str, result: TensorSpec, *numbers: Any) -> LaunchPlan:
    """The plan of the library's operator of a name: run(out, params, generator)."""
    return plan_draw(program_of(name), result, *numbers, default_generator)


def plan_draw(program: DrawProgram, *args: Any) -> LaunchPlan:
    """The plan of run(*results, *operands, *offsets, params, generator)."""
    results, given = args[: program.results], program.given(args[program.results :])
    count = results[0].numel
    if not count:
        return NOTHING
    operands = [given[name] for name in program.operands]
    wide = [each.expanded(results[0].sizes) for each in operands]
    plan = on_copies(_bind(program, results, wide, given), len(results), wide)
    if program.probability is None:
        return plan
    at = program.operands.index(program.probability)
    return _looking_first(plan, len(results), len(wide), at, operands[at])


def _bind(
    program: DrawProgram,
    results: tuple[TensorSpec, ...],
    operands: list[TensorSpec],
    given: dict[str, Any],
) -> LaunchPlan:
    """The plan over operands that are contiguous."""
    first = dtypes.from_numpy(results[0].dtype)
    parameter, *numbers = program.values(given, first)
    compute = program.compute_of(first)
    has_parts = first.is_complex and program.is_by_parts
    each = words_each(program.word, compute, parameter)
    own = [dtypes.from_numpy(spec.dtype) for spec in results]
    own = [dtype.to_real() if has_parts else dtype for dtype in own]
    read = tuple([dtypes.from_numpy(spec.dtype) for spec in operands])
    form = DrawForm(program, compute, tuple(own), read, each, has_parts)
    scalar = SCALAR_TYPES[compute.kind]
    is_whole = program.word in ("below", "chance")
    params = (
        _whole(program.word, parameter) if is_whole else float(parameter),
        *(_wrapped(number) if scalar is int else scalar(number) for number in numbers),
    )
    arrays = [dtype.numpy for dtype in (*own, *read)]
    offsets = [int] * len(read)
    values = [value.__class__ for value in params]
    kinds = (int, int, *arrays, *offsets, np.uint64, np.uint64, *values)
    entry = build.entry_point(program.formula.__name__, draw_text(form), kinds)
    blocks = blocks_of(prod(results[0].sizes) * (2 if has_parts else 1), each)
    run = _runner(entry, blocks, 4 // each * WORK * blocks, len(arrays) == 1)
    if program.generator is None:
        run = _from_default(run)
    if not has_parts:
        return LaunchPlan(run, params)
    part = own[0].numpy
    return LaunchPlan(lambda out, *rest: run(out.view(part), *rest), params)


def _whole(word: str, parameter: Any) -> Any:
    """What words are compared with, or multiplied by."""
    return np.uint64(threshold(parameter) if word == "chance" else parameter % 2**64)


def _wrapped(number: int) -> int:
    """A whole number in 64 bits."""
    return (int(number) + 2**63) % 2**64 - 2**63


def _runner(
    entry: Callable[..., Any], blocks: int, work: int, is_plain: bool
) -> Callable[..., None]:
    """run(*results, *operands, *offsets, params, generator) over flat arrays."""

    def run(*args: Any) -> None:
        *given, params, generator = args
        seed, start = generator.advance(blocks)
        entry(0, blocks, *given, start, seed, *params)

    def run_few(array: Array, params: Any, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(0, blocks, array, start, seed, *params)

    def run_shared(*args: Any) -> None:
        *given, params, generator = args
        seed, start = map(np.uint64, generator.advance(blocks))
        threads.run_ranges(entry, blocks, work, *given, start, seed, *params)

    if work >= 2 * threads.GRAIN:
        return run_shared
    return run_few if is_plain else run


def _from_default(run: Callable[..., None]) -> Callable[..., None]:
    """The same from the CPU's own generator."""
    return lambda *args: run(*args, default_generator)


def _looking_first(
    plan: LaunchPlan, results: int, operands: int, which: int, spec: TensorSpec
) -> LaunchPlan:
    """The plan that refuses elements that are no probabilities before it writes."""
    look = are_probabilities.entry_point((spec.dtype,))
    at, start = results + which, results + operands + which
    gather, draw = gatherer(spec), plan.run

    def run(*args: Any) -> None:
        if not look(gather(args[at], args[start])):
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        draw(*args)

    return LaunchPlan(run, plan.params)


@kernel
def are_probabilities(p):
    """Whether all numbers are in [0, 1]."""
    fine = True
    for i in range(p.size):
        fine &= (p[i] >= 0) & (p[i] <= 1)
    return fine
