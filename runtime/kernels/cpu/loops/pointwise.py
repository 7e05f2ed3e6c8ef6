"""The texts of the CPU loops around a scalar formula: contiguous, and strided.

A text holds everything that a kernel compiles: the vector mathematics, the formula, the loop. The
choice among the loops is the plan's (`runtime.kernels.plan`), allocation the backend's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common.pointwise import INPUT_NAMES, PointwiseSpec
from torchgen_out._runtime.kernels.cpu.loops import runs, steps
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.vecmath import complex_source, compose, near, stepwise

ANY = 2
"""An inner stride that is neither 1 nor 0."""
TILE_ROWS, TILE_COLUMNS = 64, 128
"""Sizes of a tile: long runs of the operands that lie crosswise, in a buffer that stays cached."""

LIGHT = 30
"""Lines of vector mathematics up to which not a formula's arithmetic takes the time, but memory."""


def work_of(spec: PointwiseSpec) -> int:
    """How much more an element costs than moving it, at least: by the steps of the formula, of
    its version near 0 where it has one."""
    source = _near_source(spec) or _source(spec)
    return steps.moves(compose.compose(source, spec.compute.name) + source)


def contiguous_kernel(spec: PointwiseSpec, form: tuple[int, ...] = ()) -> Any:
    """kernel(*outputs, *inputs, *scalars): one loop over flat arrays of equal length.

    form: the stride of each input, 1 or 0; of an input with stride 0 the first element is used.
    """
    return _compile(spec, spec.name, contiguous_text(spec, form), ())


def inplace_kernel(spec: PointwiseSpec, form: tuple[int, ...] = ()) -> Any:
    """kernel(*inputs, *scalars): the same loop, its result written over the first input.

    That array as `out` and as an input would look to LLVM like two that overlap, which it does not
    vectorise.
    """
    assert spec.outputs == spec.inputs[:1]
    return _compile(spec, f"{spec.name}_", inplace_text(spec, form), (), outputs=())


def strided_kernel(spec: PointwiseSpec, form: tuple[int, ...], in_place: bool = False) -> Any:
    """kernel(geometry, counter, runs, *offsets, *outputs, *inputs, *scalars) over any geometry.

    form: the inner stride of each operand as far as the loop is compiled for it: 1, 0, or ANY.
    in_place: the first input is the result, and is read as that.
    """
    integers = np.dtype(np.int64)
    places = (integers, integers, *[int] * (1 + len(spec.outputs) + len(spec.inputs)))
    name = f"{spec.name}_strided{'_' * in_place}"
    return _compile(spec, name, strided_text(spec, form, in_place), places)


def _compile(
    spec: PointwiseSpec,
    name: str,
    text: str,
    first: tuple[Any, ...],
    outputs: tuple[dtypes.dtype, ...] | None = None,
) -> Any:
    """The kernel for the types that the spec tells; for raw arguments it tells none."""
    if "raw" in spec.arguments:
        return build.compile_text(name, text)
    scalars = [spec.scalar_type] * spec.arguments.count("scalar")
    written = spec.outputs if outputs is None else outputs
    arrays = [dtype.numpy for dtype in (*written, *spec.inputs)]
    return build.entry_point(name, text, (*first, *arrays, *scalars))


@cache
def contiguous_text(spec: PointwiseSpec, form: tuple[int, ...] = ()) -> str:
    """The text of the contiguous loop."""
    outputs, inputs, scalars = _operand_names(spec)
    repeated = [name for name, stride in zip(inputs, form, strict=False) if stride == 0]
    dense = {name: name for name in outputs + inputs if name not in repeated}
    loop = [
        "@entry",
        f"def kernel({', '.join(outputs + inputs + scalars)}):",
        *_before_the_loop(spec),
        *(f"    {name}_0 = {name}[0]" for name in repeated),
        *runs.indent(_flat_run(spec, dense, {name: f"{name}_0" for name in repeated})),
    ]
    return preamble(spec, "contiguous") + "\n".join(loop) + "\n"


@cache
def inplace_text(spec: PointwiseSpec, form: tuple[int, ...] = ()) -> str:
    """The text of the contiguous loop over an array that is read and written."""
    _, inputs, scalars = _operand_names(spec)
    repeated = [name for name, stride in zip(inputs, form, strict=False) if stride == 0]
    dense = {"out": inputs[0]} | {name: name for name in inputs if name not in repeated}
    loop = [
        "@entry",
        f"def kernel({', '.join(inputs + scalars)}):",
        *_before_the_loop(spec),
        *(f"    {name}_0 = {name}[0]" for name in repeated),
        *runs.indent(_flat_run(spec, dense, {name: f"{name}_0" for name in repeated})),
    ]
    return preamble(spec, "in place") + "\n".join(loop) + "\n"


def _flat_run(spec: PointwiseSpec, dense: dict[str, str], single: dict[str, str]) -> list[str]:
    """The loop over whole arrays; for a light formula in two parts, so that it stores whole lines.
    dense: for an operand, its array, that of the first output before others.
    """
    written = next(iter(dense.values()))
    library = compose.compose(_source(spec), spec.compute.name)
    if library.count("\n") > LIGHT and not _known_version(spec):
        return _run(spec, f"{written}.size", dense, single)
    parts = {name: f"part_{array}" for name, array in dense.items()}
    arrays = list(dict.fromkeys(dense.values()))
    return runs.aligned(written, arrays, _run(spec, "count", parts, single))


def tiled_kernel(spec: PointwiseSpec, form: tuple[int, ...], in_place: bool = False) -> Any:
    """As `strided_kernel`, over tiles of the two innermost dims.

    form: the inner stride of each operand, 1 or 0; ANY for one that is dense along the other dim.
    """
    integers = np.dtype(np.int64)
    places = (integers, integers, *[int] * (1 + len(spec.outputs) + len(spec.inputs)))
    name = f"{spec.name}_tiled{'_' * in_place}"
    return _compile(spec, name, tiled_text(spec, form, in_place), places)


@cache
def strided_text(spec: PointwiseSpec, form: tuple[int, ...], in_place: bool = False) -> str:
    """The text of the strided loop: an odometer over the outer dims, one loop for the inner run.

    `geometry` holds the number of dims, the sizes, and a row of strides per operand; `counter` the
    place in the outer dims from which the loop starts, `p_a` the place of that element in the array
    of the operand `a`; `runs` says how often the inner loop runs. That loop is compiled for
    operands that are dense (stride 1) or constant (stride 0) along it, because it then vectorises;
    what is neither is copied.
    """
    outputs, inputs, scalars = _operand_names(spec)
    operands = outputs + inputs
    strides = dict(zip(operands, form, strict=True))
    strided = [name for name in _apart(strides, in_place) if strides[name] == ANY]
    lines = [
        *_strided_head(spec, operands, scalars),
        *(f"    copy_{name} = np.empty({runs.BLOCK}, {name}.dtype)" for name in strided),
        "    middle = geometry[last]  # the size of the dim beside the innermost one",
        *(f"    t_{name} = geometry[r_{name} + last - 1]" for name in operands),
        "    while runs > 0:",
        "        some = lesser(middle, runs)",
        "        runs -= some",
        "        for _ in range(some):",
        *runs.indent(_inner_run(spec, strides, in_place)),
        *(f"            p_{name} += t_{name}" for name in operands),
        *(f"        p_{name} -= some * t_{name}" for name in operands),
        *_odometer(operands, "last - 2"),
    ]
    return preamble(spec, "strided") + "\n".join(lines) + "\n"


def _apart(strides: dict[str, int], in_place: bool) -> list[str]:
    """The operands that have arrays of their own: in place the first input is the result."""
    return [name for name in strides if not (in_place and name == INPUT_NAMES[0])]


def _dense(strides: dict[str, int], in_place: bool) -> dict[str, str]:
    """The run of each operand that is not constant along it."""
    dense = {name: f"run_{name}" for name, stride in strides.items() if stride}
    if in_place and "out" in dense:
        dense[INPUT_NAMES[0]] = dense["out"]
    return dense


@cache
def tiled_text(spec: PointwiseSpec, form: tuple[int, ...], in_place: bool = False) -> str:
    """The text of the loop over tiles: operands that lie crosswise are turned into a small buffer.

    Reading such an operand along the result's rows would touch a cache line, and often a page, for
    each element; a tile's lines stay in the cache, and the formula sees dense rows.
    """
    outputs, inputs, scalars = _operand_names(spec)
    operands = outputs + inputs
    strides = dict(zip(operands, form, strict=True))
    crosswise = [name for name in operands if strides[name] == ANY]
    dense = _dense(strides, in_place)
    single = {
        name: f"{name}[p_{name} + (first + j) * o_{name}]"
        for name, stride in strides.items()
        if not stride
    }
    lines = _strided_head(spec, operands, scalars)
    lines += [
        "    m = geometry[last]",
        *(f"    o_{name} = geometry[r_{name} + last - 1]" for name in operands),
        *(f"    tile_{name} = np.empty(ROWS * COLUMNS, {name}.dtype)" for name in crosswise),
        "    for _ in range(runs):",
        "        for first in range(0, m, ROWS):",
        "            rows = lesser(ROWS, m - first)",
        "            for start in range(0, n, COLUMNS):",
        "                columns = lesser(COLUMNS, n - start)",
    ]
    dtype_of = dict(zip(operands, (*spec.outputs, *spec.inputs), strict=True))
    in_registers = {name for name in crosswise if _fits_registers(spec, dtype_of[name])}
    for name in crosswise:
        if name in in_registers:
            place = f"p_{name} + first + start * s_{name}"
            call = f"transpose(tile_{name}, 0, COLUMNS, {name}, {place}, s_{name}, rows, columns)"
            lines.append(f"                {call}")
            continue
        lines += [
            "                for i in range(columns):",
            f"                    begin = p_{name} + first + (start + i) * s_{name}",
            f"                    line = {name}[begin : begin + rows]",
            "                    for j in range(rows):",
            f"                        tile_{name}[j * COLUMNS + i] = line[j]",
        ]
    lines.append("                for j in range(rows):")
    for name in _apart(strides, in_place):
        stride = strides[name]
        begin = "j * COLUMNS" if stride == ANY else f"p_{name} + (first + j) * o_{name} + start"
        source = f"tile_{name}" if stride == ANY else name
        if stride:
            lines.append(f"                    at_{name} = {begin}")
            run = f"{source}[at_{name} : at_{name} + columns]"
            lines.append(f"                    run_{name} = {run}")
    lines += [
        *runs.indent(_run(spec, "columns", dense, single), 5),
        *_odometer(operands, "last - 2"),
    ]
    constants = f"ROWS, COLUMNS = {TILE_ROWS}, {TILE_COLUMNS}\n\n\n"
    if in_registers:
        constants += register_tile.transpose_text(_numpy_name(spec.compute)) + "\n\n"
    return preamble(spec, "tiled") + constants + "\n".join(lines) + "\n"


def _fits_registers(spec: PointwiseSpec, dtype: dtypes.dtype) -> bool:
    """Whether elements of a dtype are turned in registers: numbers that are computed with as is."""
    return dtype is spec.compute and dtype.kind in "iuf" and dtype.itemsize in (4, 8)


def _strided_head(spec: PointwiseSpec, operands: list[str], scalars: list[str]) -> list[str]:
    """The kernel's signature, the length of the inner run, each operand's row and inner stride."""
    offsets = [f"p_{name}" for name in operands]
    parameters = ", ".join(["geometry", "counter", "runs", *offsets, *operands, *scalars])
    lines = [
        "@entry",
        f"def kernel({parameters}):",
        *_before_the_loop(spec),
        "    last = geometry[0] - 1",
        "    n = geometry[1 + last]",
    ]
    for row, name in enumerate(operands):
        lines += [
            f"    r_{name} = 1 + {row + 1} * (last + 1)",
            f"    s_{name} = geometry[r_{name} + last]",
        ]
    return lines


def _odometer(operands: list[str], innermost: str) -> list[str]:
    """Go on to the next place in the dims up to `innermost`."""
    return [
        f"        for dim in range({innermost}, -1, -1):",
        "            counter[dim] += 1",
        *(f"            p_{name} += geometry[r_{name} + dim]" for name in operands),
        "            if counter[dim] < geometry[1 + dim]:",
        "                break",
        "            counter[dim] = 0",
        *(
            f"            p_{name} -= geometry[1 + dim] * geometry[r_{name} + dim]"
            for name in operands
        ),
    ]


def _inner_run(spec: PointwiseSpec, form: dict[str, int], in_place: bool) -> list[str]:
    """The inner loop: over dense runs, of which those that are neither dense nor constant in memory
    are copied block by block. A loop with such strides in it would not vectorise."""
    dense = _dense(form, in_place)
    own = {name: dense[name] for name in _apart(form, in_place) if name in dense}
    single = {name: f"{name}[p_{name}]" for name, stride in form.items() if not stride}
    strided = [name for name in own if form[name] == ANY]
    if not strided:
        starts, places = _places_in_run(form, in_place)
        run = runs.plain("np.uint64(n)", _element(spec, spec.name, places))
        if _has_versions(spec):
            slices = [f"run_{name} = {name}[p_{name} : p_{name} + n]" for name in own]
            tested = [*slices, *_run_of_versions(spec, "n", dense, single)]
            if _is_plain_if_short(spec):
                limit = runs.SHORT_BYTES // spec.compute.itemsize
                tested = [f"if n < {limit}:", *runs.indent(run), "else:", *runs.indent(tested)]
            elif not _known_version(spec):
                starts = []
            run = tested
        return runs.indent([*starts, *_known_or(spec, "np.uint64(n)", places, run)], 2)
    before, after = [f"count = lesser({runs.BLOCK}, n - first)"], []
    for name, run in own.items():
        before.append(f"at_{name} = p_{name} + first * s_{name}")
        copied, place = f"copy_{name}", f"{name}[np.uint64(at_{name} + i * s_{name})]"
        source = copied if name in strided else f"{name}[at_{name} : at_{name} + count]"
        before.append(f"{run} = {source}")
        if name in strided and name.startswith("out"):
            after += runs.plain("count", [f"{place} = {copied}[i]"])
        if name in strided and (in_place or not name.startswith("out")):
            before += runs.plain("count", [f"{copied}[i] = {place}"])
    block = [*before, *_run(spec, "count", dense, single), *after]
    return runs.indent([f"for first in range(0, n, {runs.BLOCK}):", *runs.indent(block)], 2)


def _places_in_run(form: dict[str, int], in_place: bool) -> tuple[list[str], dict[str, str]]:
    """What precedes the loop over a dense run, and where its element `i` is of each operand.

    No array is made of the run, which takes as long as 16 elements do: rows of so many cost 1.0 ns
    instead of 2.3.
    """
    starts, places = [], {}
    for name in _apart(form, in_place):
        is_walked = form[name] or name.startswith("out")
        places[name] = f"{name}[u_{name} + i]" if is_walked else f"v_{name}"
        start = f"u_{name} = np.uint64(p_{name})" if is_walked else f"v_{name} = {name}[p_{name}]"
        starts.append(start)
    if in_place:
        places[INPUT_NAMES[0]] = places["out"]
    return starts, places


def _run(
    spec: PointwiseSpec, size: str, dense: dict[str, str], single: dict[str, str]
) -> list[str]:
    """The loop over `size` elements. dense: for an operand, the array that holds these elements.
    single: for one that is constant, where it is found.
    """
    places = single | {name: f"{array}[i]" for name, array in dense.items()}
    run = runs.plain(size, _element(spec, spec.name, places))
    if _has_versions(spec):
        run = _run_of_versions(spec, size, dense, single)
    return _known_or(spec, size, places, run)


def _has_versions(spec: PointwiseSpec) -> bool:
    return bool(_near_versions(spec) or _step_versions(spec))


def _known_or(spec: PointwiseSpec, size: str, places: dict[str, str], run: list[str]) -> list[str]:
    """A loop, or that of the formula for certain constants where these are given. places: where
    element `i` of each operand is."""
    if not _known_version(spec):
        return run
    known = runs.plain(size, _element(spec, f"{spec.name}_known", places))
    constants = [name for name in _arguments(spec, places).split(", ") if name.startswith("scalar")]
    test = f"if {spec.name}_is_known({', '.join(constants)}):"
    return [test, *runs.indent(known), "else:", *runs.indent(run)]


def _run_of_versions(
    spec: PointwiseSpec, size: str, dense: dict[str, str], single: dict[str, str]
) -> list[str]:
    """The loop of `_run` for any constants, of a formula that has versions."""
    places = single | {name: f"block_{array}[i]" for name, array in dense.items()}
    arrays = list(dict.fromkeys(dense.values()))
    element, arguments = _element(spec, spec.name, places), _arguments(spec, places)
    if _step_versions(spec):
        parts = {
            part: f"{spec.name}_{part}({first}{arguments})"
            for part, first in stepwise.parts("first", "k").items()
        }
        last = _stored(spec, "T(state_value[i])", places)
        return runs.by_steps(size, arrays, element, [last], parts, stepwise.STRIDE)
    versions = [
        (f"{spec.name}_{test}({arguments})", _element(spec, f"{spec.name}_{version}", places))
        for version, test in near.TESTS.items()
        if f"def {spec.name}_{version}(" in _near_versions(spec)
    ]
    return runs.by_blocks(size, arrays, element, versions)


def preamble(spec: PointwiseSpec, loop: str) -> str:
    """Header, compute type, conversions, vector mathematics and the formula."""
    types = (
        ", ".join(t.name for t in spec.inputs) + " -> " + ", ".join(t.name for t in spec.outputs)
    )
    source = _source(spec) + (_near_versions(spec) or _step_versions(spec)) + _known_version(spec)
    needed = source + narrow.conversions((*spec.inputs, *spec.outputs))
    library = compose.compose(needed, spec.compute.name)
    text = re.sub(r"^def ", "@inner\ndef ", library + "\n\n" + source, flags=re.MULTILINE)
    title = f"{spec.name}: {types}, {loop}."
    scalar = f"{runs.PLACES}T = np.{_numpy_name(spec.compute)}\n"
    return build.HEADER.format(title=title) + scalar + text + "\n\n"


def _source(spec: PointwiseSpec) -> str:
    return complex_source.adapt(build.plain_source(spec.formula), spec.compute.name)


@cache
def _near_versions(spec: PointwiseSpec) -> str:
    """The formula for arguments near 0 and the test for others, as far as it gains by that."""
    found = _near_source(spec)
    fuses = spec.compute.name == "float32"  # those are right with fused multiply-adds only
    if not found or (fuses and not build.fuses_multiply_add()):
        return ""
    return found if _known_version(spec) else found + _version(spec, "nearest", found)


@cache
def _known_version(spec: PointwiseSpec) -> str:
    """The formula for certain constants and the test of them. PyTorch has none for float16."""
    if dtypes.float16 in spec.inputs or "raw" in spec.arguments:
        return ""
    defined = compose.definitions_for(spec.compute.name)
    return near.known_version(_source(spec), defined, spec.arguments)


def _near_source(spec: PointwiseSpec) -> str:
    return _version(spec, "near", _source(spec))


@cache
def _is_plain_if_short(spec: PointwiseSpec) -> bool:
    """Whether a short run is not worth a test for which version serves it."""
    near_source = _near_versions(spec)
    if not near_source or _step_versions(spec):
        return False
    compute = spec.compute.name
    less, whole = (compose.compose(text, compute) + text for text in (near_source, _source(spec)))
    return steps.saves_little(less, whole)


def _version(spec: PointwiseSpec, version: str, other: str) -> str:
    """The version of the formula and its test, if it saves enough of another source's steps."""
    compute = spec.compute.name
    found = near.versions(_source(spec), compose.definitions_for(compute), version)
    whole, less = (compose.compose(text, compute) + text for text in (other, found))
    return found if found and steps.saves(less, whole) else ""


@cache
def _step_versions(spec: PointwiseSpec) -> str:
    """The formula in steps, if it is a loop that elements can go through together."""
    return stepwise.versions(_source(spec), compose.definitions_for(spec.compute.name))


def _operand_names(spec: PointwiseSpec) -> tuple[list[str], list[str], list[str]]:
    """Names of outputs, inputs and scalars in the kernel's signature."""
    outputs = ["out"] if len(spec.outputs) == 1 else [f"out{i}" for i in range(len(spec.outputs))]
    inputs = list(INPUT_NAMES[: len(spec.inputs)])
    count = sum(kind in ("scalar", "raw") for kind in spec.arguments)
    return outputs, inputs, [f"scalar{i}" for i in range(count)]


def _before_the_loop(spec: PointwiseSpec) -> list[str]:
    """Scalars take the compute type once; a loop by steps has a place for its state."""
    kinds = [kind for kind in spec.arguments if kind in ("scalar", "raw")]
    scalars = [
        f"    scalar{i}_ = T(scalar{i})" if kind == "scalar" else f"    scalar{i}_ = scalar{i}"
        for i, kind in enumerate(kinds)
    ]
    return scalars + (runs.indent(runs.STATE) if _step_versions(spec) else [])


def _element(spec: PointwiseSpec, function: str, places: dict[str, str]) -> list[str]:
    """The statements that compute one element: load and convert, formula, convert and store."""
    call = f"{function}({_arguments(spec, places)})"
    if len(spec.outputs) == 1:
        return [_stored(spec, call, places)]
    names = [f"v{i}" for i in range(len(spec.outputs))]
    return [f"{', '.join(names)} = {call}"] + [
        f"{places[f'out{i}']} = {runs.store(spec.result(f'v{i}', dtype), dtype)}"
        for i, dtype in enumerate(spec.outputs)
    ]


def _stored(spec: PointwiseSpec, value: str, places: dict[str, str]) -> str:
    """The statement that converts and stores the one result of a formula."""
    dtype = spec.outputs[0]
    return f"{places['out']} = {runs.store(spec.result(value, dtype), dtype)}"


def _arguments(spec: PointwiseSpec, places: dict[str, str]) -> str:
    """The formula's arguments for one element, loaded and converted."""
    arguments = []
    tensors = iter(zip(INPUT_NAMES, spec.inputs, strict=False))
    scalar = 0
    for kind in spec.arguments:
        if kind == "tensor":
            name, dtype = next(tensors)
            arguments.append(runs.load(places[name], dtype, spec.compute))
        elif kind == "absent":
            arguments.append("None")
        else:
            arguments.append(f"scalar{scalar}_")
            scalar += 1
    return ", ".join(arguments)


def _numpy_name(dtype: dtypes.dtype) -> str:
    return "bool_" if dtype.name == "bool" else dtype.name
