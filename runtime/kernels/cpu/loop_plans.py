"""Plans that run a kernel's own loop over flat memory.

Views, reshaping and Numba's look at arrays of several dims take microseconds; here compiled code
makes the shapes. A planner says which loop, and what becomes of each of its arguments:

    plan_loop(row_moments, outs, (self,), operand(0, 3, 4), out(0, 3), out(1, 3), 2.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from runtime.kernels import build
from runtime.kernels.build import Kernel
from runtime.kernels.cpu.planned import Operand, Plan
from runtime.kernels.typed import TypedKernel

INT64 = np.dtype(np.int64)


class View(NamedTuple):
    """A dense result or operand of a call, by its number there, as an array of some shape."""

    name: str
    shape: tuple[int, ...]


def out(number: int, *shape: int) -> View:
    """A result."""
    return View(f"out{number}", shape)


def operand(number: int, *shape: int) -> View:
    """An operand."""
    return View(f"in{number}", shape)


def leading_operands(args: Sequence[Any]) -> int:
    """How many of a planner's arguments are results and operands."""
    return next((i for i, each in enumerate(args) if not isinstance(each, Operand)), len(args))


Argument = View | float | tuple[int, ...] | None
"""What a loop takes: a view, a number, a few whole numbers; None: an array without elements."""


def plan_loop(
    loop: Kernel | TypedKernel,
    outs: Sequence[Operand],
    operands: Sequence[Operand],
    *arguments: Argument,
) -> Plan:
    """The plan that calls `loop(*arguments)`.

    Shapes and numbers are no part of the code: they come in one array, floats by their bits, so
    that one compiled function serves all geometries.
    """
    numbers: list[int] = []
    values = ", ".join([_text_of(each, numbers) for each in arguments])
    names = [f"out{i}" for i in range(len(outs))] + [f"in{i}" for i in range(len(operands))]
    offsets = [f"at{i}" for i in range(len(operands))]
    dtypes = dict(zip(names, [each.dtype for each in (*outs, *operands)], strict=True))
    own = next(dtypes[each.name] for each in arguments if isinstance(each, View))
    text = FLAT.format(
        library=_library_text(loop, own),
        parameters=", ".join([*names, *offsets]),
        loop=loop.__name__,
        values=values,
    )
    signature = (*dtypes.values(), *[int] * len(offsets), INT64)
    run = build.entry_point(f"{loop.__name__}_flat_{own.name}", text, signature)
    return Plan(run, np.array(numbers, np.int64))


FLAT = """\
{library}

@entry
def kernel({parameters}, plan):
    reals = plan.view(np.float64)
    {loop}({values})
"""


@cache
def _library_text(loop: Kernel | TypedKernel, dtype: Any) -> str:
    return loop.library_text(dtype)


def _text_of(argument: Argument, numbers: list[int]) -> str:
    """How the compiled function makes an argument; what it needs for that joins the numbers."""
    if argument is None:
        return "out0[:0]"
    if isinstance(argument, View):
        return _view_text(argument, numbers)
    if isinstance(argument, tuple):
        return f"({', '.join([_text_of(each, numbers) for each in argument])},)"
    place = len(numbers)
    if isinstance(argument, float):
        numbers.append(int(np.float64(argument).view(np.int64)))
        return f"reals[{place}]"
    numbers.append(int(argument))
    return f"plan[{place}] != 0" if isinstance(argument, bool) else f"plan[{place}]"


def _view_text(view: View, numbers: list[int]) -> str:
    sizes = [_text_of(size, numbers) for size in view.shape]
    flat = view.name
    if flat.startswith("in"):
        start = flat.replace("in", "at")
        flat = f"{flat}[{start} : {start} + {' * '.join(sizes)}]"
    return flat if len(sizes) == 1 else f"{flat}.reshape(({', '.join(sizes)}))"
