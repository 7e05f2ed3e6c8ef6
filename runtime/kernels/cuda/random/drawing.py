"""Drawing on CUDA: a formula over the CPU's stream of random words.

Probabilities are not looked at on the host: a kernel notes one that is none (`faults`).
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.draw import (
    DrawProgram,
    threshold,
    words_each,
)
from torchgen_out._runtime.kernels.common.draw_form import DrawForm
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    BLOCKS_PER_PROCESSOR,
    NARROW,
    THREADS,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.random.draw_text import draw_kernel
from torchgen_out._runtime.kernels.cuda.random.philox import reserve


def make_kernel(program: DrawProgram) -> Any:
    """kernel(queue, *results, *arguments) of a formula over the stream."""

    def kernel(queue: Queue, *args: Any) -> None:
        _draw(queue, program, *args)

    return kernel


def _draw(queue: Queue, program: DrawProgram, *args: Any) -> None:
    results, given = args[: program.results], program.given(args[program.results :])
    first = results[0].dtype
    n = results[0].numel
    if not n:
        return
    parameter, *numbers = program.values(given, first)
    compute = program.compute_of(first)
    has_parts = first.is_complex and program.is_by_parts
    if has_parts:
        n, results = 2 * n, tuple(map(_reals, results))
    sizes = results[0].sizes
    operands = [contiguous(queue, given[name].expanded(sizes)) for name in program.operands]
    each = words_each(program.word, compute, parameter)
    source = given[program.generator] if program.generator else queue.generator
    drawn = reserve(queue, n, each, source)
    dtypes = (tuple([a.dtype for a in results]), tuple([a.dtype for a in operands]))
    form = DrawForm(program, compute, *dtypes, each, has_parts)
    if program.word == "chance":
        parameter = threshold(parameter)
    elif program.word == "below":
        parameter %= 2**64
    values = [array.address for array in (*results, *operands, queue.faults)]
    values += [drawn.origin.address if drawn.origin is not None else 0, n, *drawn.numbers]
    grid = min(-(-drawn.blocks // THREADS), queue.processors * BLOCKS_PER_PROCESSOR)
    source = draw_kernel(form, n > NARROW, drawn.origin is not None)
    queue.launch(source, grid, (THREADS, 1), [*values, parameter, *numbers])


def _reals(array: Array) -> Array:
    """Complex numbers as twice as many real ones."""
    return Array(array.address, array.dtype.to_real(), (2 * prod(array.sizes),), (1,))
