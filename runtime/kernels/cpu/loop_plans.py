"""Plans that run a kernel's own loop over flat memory.

Views, reshaping and Numba's look at arrays of several dims take microseconds; here compiled code
makes the shapes. A planner says which loop, and what becomes of each of its arguments:

    plan_loop(row_moments, outs, (self,), operand(0, 3, 4), out(0, 3), out(1, 3), 2.0)
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.build import Kernel
from torchgen_out._runtime.kernels.cpu.small import INT64, is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import TypedKernel

Array = Any


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


def are_small_alike(first: TensorSpec, *others: TensorSpec | None) -> bool:
    """Whether small dense arrays of floats, as far as they are given, have one dtype."""
    given = [each for each in others if each is not None]
    return (
        first.dtype.kind == "f"
        and is_small(first, *given)
        and all(each.dtype == first.dtype for each in given)
    )


Argument = View | float | tuple[int, ...] | list[int] | None
"""What a loop takes: a view, a number, a few whole numbers; None: an array without elements.

A tuple is one in the loop, too, which is compiled for its length; a list is an array there.
"""


def plan_loop(
    loop: Kernel | TypedKernel,
    outs: Sequence[TensorSpec],
    operands: Sequence[TensorSpec | None],
    *arguments: Argument,
) -> LaunchPlan:
    """The plan that calls `loop(*arguments)`; an operand that is missing is an empty array there.

    Shapes and numbers are no part of the code: they come in one array, floats by their bits, so
    that one compiled function serves all geometries.
    """
    return LaunchPlan(*_compiled((), loop, outs, operands, arguments))


def plan_ranges(
    loop: Kernel | TypedKernel,
    count: int,
    work: int,
    outs: Sequence[TensorSpec],
    operands: Sequence[TensorSpec | None],
    *arguments: Argument,
    parts: Callable[..., int] | None = None,
) -> LaunchPlan:
    """The plan that calls `loop(start, stop, *arguments)` for parts of range(count).

    work: what all of them take; much of it is shared by the threads. parts: into how many
    parts, by the arrays of the call; each is given its number first.
    """
    bounds = ("part", "start", "stop") if parts else ("start", "stop")
    entry, numbers = _compiled(bounds, loop, outs, operands, arguments)
    if work < 2 * threads.GRAIN:
        return LaunchPlan(partial(entry, *(0, 0, count)[-len(bounds) :]), numbers)

    def run(*args: Any) -> bool:
        return threads.run_ranges(entry, count, work, *args, parts=parts(*args) if parts else 0)

    return LaunchPlan(run, numbers)


def plan_call(
    function: Callable[..., Any],
    outs: Sequence[TensorSpec],
    operands: Sequence[TensorSpec | None],
    *arguments: Any,
) -> LaunchPlan:
    """The plan that calls a function of Python with arrays in place of views; None stays None.

    For what takes long enough: loops that are made per call, and libraries.
    """
    given = [f"in{i}" for i, each in enumerate(operands) if each is not None]
    names = [*[f"out{i}" for i in range(len(outs))], *given]
    offsets = {name: len(names) + i for i, name in enumerate(given)}

    def shaped(args: Sequence[Any], view: View) -> Array:
        flat = args[names.index(view.name)]
        if view.name in offsets:
            start = args[offsets[view.name]]
            flat = flat[start : start + prod(view.shape)]
        return flat.reshape(view.shape)

    def run(*args: Any) -> Any:
        return function(*[shaped(args, a) if a.__class__ is View else a for a in arguments])

    return LaunchPlan(run, None)


def _compiled(
    bounds: tuple[str, ...],
    loop: Kernel | TypedKernel,
    outs: Sequence[TensorSpec],
    operands: Sequence[TensorSpec | None],
    arguments: Sequence[Argument],
) -> tuple[Callable[..., Any], Array]:
    """loop(*bounds, *arguments) over flat memory, and the numbers for it.

    bounds: whole numbers that each call has anew.
    """
    given = {f"in{i}": each.dtype for i, each in enumerate(operands) if each is not None}
    dtypes = {**{f"out{i}": each.dtype for i, each in enumerate(outs)}, **given}
    numbers: list[int] = []
    values = [_text_of(each, numbers, dtypes) for each in arguments]
    own = next(dtypes[each.name] for each in arguments if isinstance(each, View))
    offsets = [name.replace("in", "at") for name in given]
    reals = any("reals[" in value for value in values)
    text = FLAT.format(
        reals="    reals = plan.view(np.float64)\n" if reals else "",  # 0.1 s to compile
        library=_library_text(loop, own),
        dense=DENSE,
        parameters=", ".join([*bounds, *dtypes, *offsets]),
        loop=loop.__name__,
        values=", ".join([*bounds, *values]),
    )
    signature = (*[int] * len(bounds), *dtypes.values(), *[int] * len(given), INT64)
    run = build.entry_point(f"{loop.__name__}_flat_{own.name}", text, signature)
    return run, np.array(numbers, np.int64)


def do_nothing(*args: Any) -> None:
    """The run of a kernel with nothing to write."""


NOTHING = LaunchPlan(do_nothing, None)


def refusing(plan: LaunchPlan, refuse: Callable[..., Exception]) -> LaunchPlan:
    """The plan of a loop that answers False, and writes nothing, for arguments it does not take.

    refuse: makes the error, of what the plan's run is given.
    """
    run = plan.run

    def checked(*args: Any) -> None:
        if not run(*args):
            raise refuse(*args)

    return LaunchPlan(checked, plan.params)


DENSE = '''\
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np import arrayobj


@intrinsic
def dense(typing_context, flat, start, shape):
    """The dense array of a shape that begins at an element of a flat one.

    What `flat[start : start + numel].reshape(shape)` is, whose checks cost 0.1 s to compile.
    """
    made = types.Array(flat.dtype, len(shape), "C", readonly=not flat.mutable)

    def build(context, builder, signature, arguments):
        source = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        result = arrayobj.make_array(made)(context, builder)
        sizes = cgutils.unpack_tuple(builder, arguments[2])
        strides = [context.get_constant(types.intp, context.get_abi_sizeof(
            context.get_data_type(flat.dtype)))]
        for size in sizes[:0:-1]:
            strides.insert(0, builder.mul(strides[0], size))
        data = builder.gep(source.data, [arguments[1]])
        arrayobj.populate_array(
            result, data, sizes, strides, strides[-1], source.meminfo, source.parent
        )
        return impl_ret_borrowed(context, builder, made, result._getvalue())

    return made(flat, types.intp, types.UniTuple(types.intp, len(shape))), build
'''
"""For texts that see flat memory as arrays of several dims."""

FLAT = """\
{library}
{dense}

@entry
def kernel({parameters}, plan):
{reals}    return {loop}({values})
"""


@cache
def _library_text(loop: Kernel | TypedKernel, dtype: Any) -> str:
    return loop.library_text(dtype)


def _text_of(argument: Argument, numbers: list[int], known: Container[str]) -> str:
    """How the compiled function makes an argument; what it needs for that joins the numbers."""
    if argument is None or (isinstance(argument, View) and argument.name not in known):
        return "out0[:0]"
    if isinstance(argument, View):
        return _view_text(argument, numbers)
    if isinstance(argument, tuple):
        return f"({', '.join([_text_of(each, numbers, known) for each in argument])},)"
    place = len(numbers)
    if isinstance(argument, list):
        numbers += [len(argument), *argument]
        return f"plan[{place + 1} : {place + 1} + plan[{place}]]"
    if isinstance(argument, float):
        numbers.append(int(np.float64(argument).view(np.int64)))
        return f"reals[{place}]"
    numbers.append(int(argument))
    return f"plan[{place}] != 0" if isinstance(argument, bool) else f"plan[{place}]"


def _view_text(view: View, numbers: list[int]) -> str:
    sizes = [_text_of(size, numbers, ()) for size in view.shape]
    start = view.name.replace("in", "at") if view.name.startswith("in") else "0"
    return f"dense({view.name}, {start}, ({', '.join(sizes)},))"
