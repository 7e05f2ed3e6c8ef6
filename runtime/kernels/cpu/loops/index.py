"""Launches of index programs on the CPU: their loops, compiled for dtypes and dense strides."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Container, Sequence
from functools import cache
from math import prod
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.common import places
from torchgen_out._runtime.kernels.common.index import (
    OUTPUT_MASK,
    IndexProgram,
    Launch,
    TensorForm,
)
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.loops import runs
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, collapse
from torchgen_out._runtime.kernels.vecmath import compose

Array = Any
INT64 = np.dtype(np.int64)

STRICT = 'options["fastmath"] = {"contract"}\n' + build.DECORATORS
ORDER = '''\
def turned(bits):
    """Bits of a float as an integer of the same order; the same function undoes it."""
    return BITS(bits ^ ((bits >> BITS(SIGN)) & BITS((1 << SIGN) - 1)))


def ordered(value):
    """As an integer, of which LLVM vectorises the largest; of floats it may not. NaN is above."""
    return turned(T(value).view(BITS)) if value == value else BITS((1 << SIGN) - 1)


def unordered(key):
    """The number of such an integer."""
    return BITS(turned(key)).view(T)
'''
"""What compares numbers as integers."""
REASSOCIATED = 'options["fastmath"] = {"reassoc", "nsz", "contract"}\n' + build.DECORATORS


def make_kernel(program: IndexProgram) -> PlannedKernel:
    """The CPU's kernel of a program."""
    return IndexKernel(program)


class IndexKernel(PlannedKernel):
    """All launches of a program, one after the other; tensors in between are made per call."""

    def __init__(self, program: IndexProgram) -> None:
        self.program = program
        super().__init__(self._plan, results=len(program.results), any_strides=True)
        self.__name__ = program.name

    @property
    def _plan_name(self) -> str:
        return self.program.name

    def _plan(self, *args: Any) -> LaunchPlan:
        program = self.program
        count = len(program.results)
        results = dict(zip(program.results, args[:count], strict=True))
        given = dict(zip(program.arguments, args[count:], strict=True))
        operands = {name: given[name] for name in program.inputs}
        sizes = {name: tuple(spec.sizes) for name, spec in operands.items()}
        extents, batch = program.measured(sizes, given)
        if not any(spec.numel for spec in results.values()):
            return NOTHING
        compute = _compute_type(program, results, operands)
        kept = {
            name: _made_spec(program, form, extents, batch, compute)
            for name, form in program.temporaries.items()
        }
        specs = {**results, **operands, **kept}
        order = [*results, *operands]
        mask = given.get(OUTPUT_MASK)
        needs = list(program.results) if mask is not None else []
        wanted = program.wanted(given)
        bound = [
            _bind(
                *(program, launch, specs, extents, batch, given, compute),
                *(list(operands), needs, wanted),
            )
            for launch in program.needed(program.launches, wanted)
        ]
        return LaunchPlan(_runner(program, bound, order, list(operands), kept), None)


def _compute_type(
    program: IndexProgram, results: dict[str, TensorSpec], operands: dict[str, TensorSpec]
) -> Any:
    for specs, forms in ((results, program.results), (operands, program.inputs)):
        for name, spec in specs.items():
            if forms[name].kind == "number" and spec.dtype.kind == "f":
                return spec.dtype
    return np.dtype(np.float32)


def _made_spec(
    program: IndexProgram,
    form: TensorForm,
    extents: dict[str, int],
    batch: tuple[int, ...],
    compute: Any,
) -> TensorSpec:
    sizes = program.sizes_of(form, extents, batch)
    kinds = {"number": compute, "int": INT64, "bool": np.dtype(np.bool_)}
    return TensorSpec(kinds[form.kind], sizes, program.strides_of(form, sizes))


class Bound(NamedTuple):
    """A launch for known geometries: what is called, and with which arguments."""

    entry: Callable[..., Any]
    count: int
    work: int
    arrays: tuple[str, ...]
    starts: tuple[str, ...]
    """The arrays that begin somewhere in their memory."""
    values: tuple[Any, ...]


def _bind(
    program: IndexProgram,
    launch: Launch,
    specs: dict[str, TensorSpec],
    extents: dict[str, int],
    batch: tuple[int, ...],
    given: dict[str, Any],
    compute: Any,
    operands: Sequence[str],
    needs: Container[str],
    needed: Container[str],
) -> Bound:
    forms = {**program.inputs, **program.results, **program.temporaries}
    integers: list[int] = []

    def whole(value: int) -> str:
        integers.append(int(value))
        return f"integers[{len(integers) - 1}]"

    def step(value: int) -> str:
        return "1" if value == 1 else whole(value)

    batched = [name for name in launch.arrays if forms[name].has_batch]
    rows = [_batch_strides(specs[name], forms[name], batch) for name in batched]
    loop_sizes, loop_rows = collapse(batch, [*map(tuple, rows)], list(range(len(batch))))
    if not batch or not batched:
        loop_sizes, loop_rows = [], [[] for _ in rows]
    if loop_sizes == [1]:
        loop_sizes, loop_rows = [], [[] for _ in rows]
    run_size, runs = 1, dict.fromkeys(batched, 0)
    if launch.runs_batch and loop_sizes:
        run_size = loop_sizes[-1]
        runs = {name: row[-1] for name, row in zip(batched, loop_rows, strict=True)}
        loop_sizes, loop_rows = loop_sizes[:-1], [row[:-1] for row in loop_rows]
    dims = len(loop_sizes)
    parts: list[str] = []
    for name in launch.arrays:
        parts.append(f"{name}_at" if name in operands else "0")
        if forms[name].has_batch:
            parts.append(str(dims * (1 + batched.index(name))))
            if launch.runs_batch:
                run = runs[name]
                parts.append(str(run) if run in (0, 1) else whole(run))
        rank = forms[name].rank
        parts += [step(stride) for stride in specs[name].strides[len(specs[name].strides) - rank :]]
    total = prod(batch)
    if launch.takes_batch:
        parts += ["batch", str(dims) if dims < 2 else whole(dims)]
        parts.append(whole(total // max(run_size, 1)))
    if launch.runs_batch:
        parts.append(whole(run_size))
    parts += [whole(extents[name]) for name in (*launch.extents, *launch.integers)]
    numbers = [given[name] for name in launch.numbers]
    names = [f"number{i}" for i in range(len(numbers))]
    parts += [
        f"T({name})" if type(n) is not bool else name
        for name, n in zip(names, numbers, strict=True)
    ]
    parts += [str(name in needed) for name in launch.arrays if name in needs]
    starts = tuple(name for name in launch.arrays if name in operands)
    text = _text(launch.function, compute.name, tuple(parts), starts, dims)
    types = [specs[name].dtype for name in launch.arrays]
    signature = (
        int, int, *types, *[int] * len(starts), INT64, INT64,
        *[bool if type(each) is bool else float for each in numbers],
    )  # fmt: skip
    entry = build.entry_point(launch.function.__name__, text, signature)
    count = 1
    if launch.spread is not None:
        count = extents[launch.spread]
    else:
        count = prod(extents[name] for name in launch.items)
        count *= total // max(run_size, 1) if launch.has_batch and total else 1
        if launch.has_batch and not total:
            count = 0
    each = sum(
        prod(extents[name] for name in nest if name in extents and name != launch.spread)
        * (total if launch.over_batch else 1)
        for nest in launch.work
    )
    work = count * max(each, 1) * run_size * 4
    geometry = np.array([*loop_sizes, *[s for row in loop_rows for s in row]] or [0], np.int64)
    values = (
        np.array(integers or [0], np.int64),
        geometry,
        *[each if type(each) is bool else float(each) for each in numbers],
    )
    return Bound(entry, count, work, launch.arrays, starts, values)


def _batch_strides(spec: TensorSpec, form: TensorForm, batch: tuple[int, ...]) -> tuple[int, ...]:
    """A tensor's strides along the dims of `...`, 0 where it is repeated."""
    own = len(spec.sizes) - form.rank
    missing = (0,) * (len(batch) - own)
    return missing + tuple(
        0 if size == 1 else stride
        for size, stride in zip(spec.sizes[:own], spec.strides[:own], strict=True)
    )


def _runner(
    program: IndexProgram,
    bound: Sequence[Bound],
    order: Sequence[str],
    operands: Sequence[str],
    kept: dict[str, TensorSpec],
) -> Callable[..., None]:
    """What runs all launches over memory: run(*results, *operands, *offsets, params)."""
    first = len(order)
    made = {name: first + len(operands) + 1 + i for i, name in enumerate(kept)}
    places = {**{name: i for i, name in enumerate(order)}, **made}
    starts = {name: first + i for i, name in enumerate(operands)}
    calls = []
    for each in bound:
        at = [places[name] for name in each.arrays] + [starts[name] for name in each.starts]
        calls.append((each.entry, each.count, each.work, at, each.values))

    def run(*args: Any) -> None:
        args = (*args, *[np.empty(spec.numel, spec.dtype) for spec in kept.values()])
        for entry, count, work, at, values in calls:
            given = [args[i] for i in at]
            if work < 2 * threads.GRAIN:
                fine = entry(0, count, *given, *values)
            else:
                fine = threads.run_ranges(entry, count, work, *given, *values)
            if not fine:
                raise program.refused()

    return run


@cache
def _text(
    function: FunctionType,
    type_name: str,
    parts: tuple[str, ...],
    starts: tuple[str, ...],
    dims: int,
) -> str:
    """The text of a launch, compiled for some strides of 1 and some numbers of dims.

    parts: what the parameters behind the arrays are; starts: the arrays that begin somewhere.
    """
    name = function.__name__
    parameters, body = _parts_of(function)
    arrays = parameters[2 : len(parameters) - len(parts)]
    known = parameters[len(parameters) - len(parts) :]
    given = [*parameters[:2], *arrays, *(f"{each}_at" for each in starts), "integers", "batch"]
    given += [part[len("T(") : -1] for part in parts if part.startswith("T(number")]
    given += [part for part in parts if part.startswith("number")]
    lines = [f"    {a} = {b}" for a, b in zip(known, parts, strict=True) if a != b]
    body = _with_rows_spelled(body, dims)
    known_here = compose.definitions_in(_places()) | compose.definitions_in(ORDER)
    used = compose.compose_from(body, known_here)
    library = compose.compose(body, type_name)
    header = build.HEADER.format(title=f"{name}: {type_name}.")
    sums = re.findall(r"^def (?:plus|times)\b.*?(?=^def |\Z)", used, re.DOTALL | re.MULTILINE)
    for each in sums:
        used = used.replace(each, "")
    joined = [REASSOCIATED, *map(_inlined, sums), STRICT] if sums else []
    kernel = "\n".join([f"def kernel({', '.join(given)}):", *lines, body])
    header += f"{runs.PLACES}BLOCK, RUN = {places.BLOCK}, {places.RUN}\n"
    header += f"U, T, WIDE = np.uint64, np.{type_name}, np.float64\n"
    bits = 8 * np.dtype(type_name).itemsize
    header += f"BITS, SIGN = np.int{bits}, {bits - 1}"
    texts = [header, _inlined(library), _inlined(used)]
    return "\n\n".join([*texts, *joined, f"@entry\n{kernel}"])


def _with_rows_spelled(body: str, dims: int) -> str:
    """The text without calls that tell where rows begin, where that is a product or 0."""
    start = "0" if dims == 0 else r"\2 * batch[U(\1)]"
    if dims > 1:
        return body
    return re.sub(r"row_start\(batch, dims, (\w+), (\w+)\)", start, body)


@cache
def _parts_of(function: FunctionType) -> tuple[list[str], str]:
    """The names of a function's parameters, and its body without the docstring."""
    source = build.plain_source(function)
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    first = node.body[1].lineno - 1
    return [each.arg for each in node.args.args], "\n".join(source.splitlines()[first:]) + "\n"


@cache
def _places() -> str:
    """The arithmetic of places, and folds of two values."""
    source = inspect.getsource(places)
    return source[source.index("def ") :]


def _inlined(functions: str) -> str:
    return re.sub(r"^def ", "@inner\ndef ", functions, flags=re.MULTILINE)
