"""The texts of the CUDA loops around a reduction's four parts: over rows, long and short, and over
columns.

All walk any strides: an output's place follows from the kept dims, an element's from the reduced
ones. A reduction with few outputs is cut into slices whose partial results a second kernel
combines, so the order of additions depends on sizes alone: equal calls give equal bits.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common.reduction import ReductionSpec
from torchgen_out._runtime.kernels.cuda.compiling import primitives
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops.pointwise import (
    DIVIDE,
    DIVIDE_WIDE,
    INDEX_TYPES,
    inlined,
    load,
    storage_type,
    store,
)
from torchgen_out._runtime.kernels.vecmath import complex_source

WARP = 32
ROW_THREADS = 256
"""Threads of a block that folds rows: whole warps."""
COLUMN_ROWS = 8
"""Rows of threads in a block that folds columns, of 32 threads each."""


class Walk(NamedTuple):
    """How many dims are kept and reduced, once neighbours are merged; and how far indices go.

    wide: whether 32 bits do not count the elements. partial: whether slices are stored instead of
    results.
    """

    kept: int
    reduced: int
    wide: bool
    partial: bool


FOLD_LANES = """\
@inner
def fold_lanes(acc, lane, valid):
    for delta in {deltas}:
        other = shuffled(acc, delta)
        if lane + delta < valid:
            acc = A(combine(acc, other))
    return acc
"""

ROWS = '''\
def kernel({parameters}):
    """A block owns a slice of an output: thread t folds its elements t, t + THREADS ..."""
    shared = cuda.shared.array(WARPS, SHARED)
    thread = INDEX(cuda.threadIdx.x)
    lane = INDEX(thread % 32)
    warp = INDEX(thread // 32)
    step = INDEX(cuda.gridDim.x)
    piece = INDEX(cuda.blockIdx.x)
    while piece < pieces:
        rest = INDEX(UINDEX(piece) // UINDEX(splits))
        begin = INDEX((piece - rest * splits) * chunk)
        stop = INDEX(min(begin + chunk, count))
        base = INDEX(0)
{kept}
        # 1. Each thread folds its elements.
{start}
        while i < stop:
            acc = A(reduce(acc, {element}{scalars}))
            i = INDEX(i + THREADS)
        # 2. Each warp folds its threads.
        acc = fold_lanes(acc, lane, INDEX(valid - warp * 32))
        if lane == 0:
            shared[warp] = {to_shared}
        cuda.syncthreads()
        # 3. The first warp folds the warps.
        if warp == 0:
            acc = A(shared[INDEX(min(lane, WARPS - 1))])
            acc = fold_lanes(acc, lane, INDEX((valid + 31) // 32))
            if lane == 0:
                out[piece] = {result}
        cuda.syncthreads()
        piece = INDEX(piece + step)
'''

GROUPS = '''\
def kernel({parameters}):
    """A group of threads owns a slice of an output: thread t folds its elements t, t + GROUP ...

    The groups of a warp go on together, as its lanes exchange numbers: those beyond the last piece
    fold that one, too, and write nothing.
    """
    thread = INDEX(cuda.threadIdx.x % GROUP)
    before = INDEX(cuda.threadIdx.x % 32 // GROUP)
    step = INDEX(cuda.gridDim.x * PER_BLOCK)
    piece = INDEX(cuda.blockIdx.x * PER_BLOCK + cuda.threadIdx.x // GROUP)
    while piece - before < pieces:
        own = INDEX(min(piece, INDEX(pieces - 1)))
        rest = INDEX(UINDEX(own) // UINDEX(splits))
        begin = INDEX((own - rest * splits) * chunk)
        stop = INDEX(min(begin + chunk, count))
        base = INDEX(0)
{kept}
        # 1. Each thread folds its elements.
{start}
        while i < stop:
            acc = A(reduce(acc, {element}{scalars}))
            i = INDEX(i + GROUP)
        # 2. The group folds its threads.
        acc = {folded}
        if thread == 0 and piece < pieces:
            out[piece] = {result}
        piece = INDEX(piece + step)
'''

ROWS_FROM_IDENTITY = """\
        acc = A(identity())
        valid = INDEX({threads})
        i = INDEX(begin + thread)
"""
ROWS_FROM_FIRST = """\
        valid = INDEX(min(stop - begin, {threads}))
        i = INDEX(begin + min(thread, valid - 1))
        acc = A({element})
        i = INDEX(begin + thread + {threads})
"""

COLUMNS = '''\
def kernel({parameters}):
    """A block owns a slice of 32 outputs: thread (x, y) folds elements y, y + ROWS ... of one."""
    shared = cuda.shared.array(CELLS, SHARED)
    column = INDEX(cuda.threadIdx.x)
    row = INDEX(cuda.threadIdx.y)
    output = INDEX(cuda.blockIdx.x * 32 + column)
    part = INDEX(cuda.blockIdx.y)
    begin = INDEX(part * chunk)
    stop = INDEX(min(begin + chunk, count))
    valid = INDEX(min(stop - begin, ROWS))
    outputs = INDEX(UINDEX(pieces) // UINDEX(splits))
    # 1. Each thread folds its elements; threads beyond the last output fold those of the last.
    rest = INDEX(min(output, outputs - 1))
    base = INDEX(0)
{kept}
{start}
    while i < stop:
        acc = A(reduce(acc, {element}{scalars}))
        i = INDEX(i + ROWS)
    shared[row * 32 + column] = {to_shared}
    cuda.syncthreads()
    # 2. The first row of threads folds the rows.
    if row == 0 and output < outputs:
        for other in range(1, {rows}):
            acc = A(combine(acc, A(shared[other * 32 + column])))
        out[output * splits + part] = {result}
'''

COLUMNS_FROM_IDENTITY = """\
    acc = A(identity())
    i = INDEX(begin + row)
"""
COLUMNS_FROM_FIRST = """\
    i = INDEX(begin + min(row, valid - 1))
    acc = A({element})
    i = INDEX(begin + row + ROWS)
"""


def rows_kernel(spec: ReductionSpec, walk: Walk) -> Source:
    """kernel(out, x, pieces, count, total, splits, chunk, *kept, *reduced, *scalars).

    pieces: outputs times splits. total: how many elements make a result, for the projection.
    kept, reduced: divisors of the dims but the first, the innermost first, then strides.
    """
    text = rows_text(spec, walk, ROW_THREADS)
    return Source(f"{spec.name}_rows", text, _arguments(spec, walk), ROW_THREADS)


def groups_kernel(spec: ReductionSpec, walk: Walk, group: int) -> Source:
    """The same kernel(...), for a grid of blocks of ROW_THREADS threads, `group` to a piece."""
    text = groups_text(spec, walk, group, ROW_THREADS)
    return Source(f"{spec.name}_groups", text, _arguments(spec, walk), ROW_THREADS)


def columns_kernel(spec: ReductionSpec, walk: Walk) -> Source:
    """The same kernel(...), for a grid of (outputs / 32, splits) blocks of (32, ROWS) threads."""
    threads = WARP * COLUMN_ROWS
    text = columns_text(spec, walk, COLUMN_ROWS)
    return Source(f"{spec.name}_columns", text, _arguments(spec, walk), threads)


def partial_spec(spec: ReductionSpec) -> ReductionSpec:
    """The reduction of partial results: elements are accumulators, and join by `combine`."""
    identity, _, combine, project = spec.parts
    parts = (identity, combine, combine, project)
    return ReductionSpec(f"{spec.name}_parts", parts, spec.acc, spec.output, spec.acc, spec.acc)


@cache
def rows_text(spec: ReductionSpec, walk: Walk, threads: int) -> str:
    """The text of the loop over rows."""
    assert threads % WARP == 0, "whole warps are folded"
    body = ROWS.format(**_parts_of_rows(spec, walk, "THREADS"), to_shared=_to_shared(spec))
    sizes = f"THREADS = {threads}\nWARPS = {threads // WARP}\n"
    return _preamble(spec, walk, "rows") + sizes + "\n\n" + _fold_lanes(WARP) + "\n\n" + body


@cache
def groups_text(spec: ReductionSpec, walk: Walk, group: int, threads: int) -> str:
    """The text of the loop over short rows."""
    assert threads % WARP == 0 == WARP % group, "groups fill warps"
    folded = "fold_lanes(acc, thread, valid)" if group > 1 else "acc"
    body = GROUPS.format(**_parts_of_rows(spec, walk, "GROUP"), folded=folded)
    sizes = f"GROUP = {group}\nPER_BLOCK = {threads // group}\n"
    fold = _fold_lanes(group) + "\n\n" if group > 1 else ""
    return _preamble(spec, walk, "groups") + sizes + "\n\n" + fold + body


def _parts_of_rows(spec: ReductionSpec, walk: Walk, threads: str) -> dict[str, str]:
    """What both loops over rows are made of. threads: the name of how many own a row."""
    element = _element(spec, walk)
    start = ROWS_FROM_FIRST if spec.parts[0] is None else ROWS_FROM_IDENTITY
    return {
        "parameters": ", ".join(_parameters(spec, walk)),
        "kept": _kept("        ", walk),
        "start": start.format(element=element, threads=threads).rstrip("\n"),
        "element": element,
        "scalars": _scalars(spec),
        "result": _result(spec, walk),
    }


def _fold_lanes(count: int) -> str:
    """fold_lanes(...): the accumulators of `count` neighbouring lanes as one, in the first."""
    deltas = tuple([1 << bit for bit in range(count.bit_length() - 2, -1, -1)])
    return FOLD_LANES.format(deltas=deltas)


@cache
def columns_text(spec: ReductionSpec, walk: Walk, rows: int) -> str:
    """The text of the loop over columns."""
    element = _element(spec, walk)
    from_first = spec.parts[0] is None
    start = COLUMNS_FROM_FIRST if from_first else COLUMNS_FROM_IDENTITY
    body = COLUMNS.format(
        parameters=", ".join(_parameters(spec, walk)),
        kept=_kept("    ", walk),
        start=start.format(element=element).rstrip("\n"),
        element=element,
        scalars=_scalars(spec),
        to_shared=_to_shared(spec),
        rows="valid" if from_first else "ROWS",
        result=_result(spec, walk),
    )
    sizes = f"ROWS = {rows}\nCELLS = {WARP * rows}\n\n\n"
    return _preamble(spec, walk, "columns") + sizes + body


# -- parts of texts -----------------------------------------------------------------------------


def _names(dims: int, prefix: str) -> list[str]:
    """Divisors of the dims but the first, the innermost first; then strides."""
    inner = range(dims - 1, 0, -1)
    divisors = [f"{prefix}_{part}{dim}" for dim in inner for part in ("size", "mul", "shift")]
    return divisors + [f"{prefix}_s{dim}" for dim in range(dims)]


def _parameters(spec: ReductionSpec, walk: Walk) -> list[str]:
    fixed = ["out", "x", "pieces", "count", "total", "splits", "chunk"]
    scalars = [f"scalar{i}" for i in range(spec.scalars)]
    return [*fixed, *_names(walk.kept, "k"), *_names(walk.reduced, "r"), *scalars]


def _arguments(spec: ReductionSpec, walk: Walk) -> tuple[str, ...]:
    index = INDEX_TYPES[walk.wide]
    written = spec.acc if walk.partial else spec.output
    pointers = [f"{storage_type(written)}*", f"{storage_type(spec.input)}*"]
    dims: list[str] = []
    for count in (walk.kept, walk.reduced):
        dims += [index, "uint32", "uint32"] * (count - 1) + [index] * count
    return (
        *pointers,
        index,
        index,
        "int64",
        index,
        index,
        *dims,
        *[spec.compute.name] * spec.scalars,
    )


def _kept(indent: str, walk: Walk) -> str:
    """The statements that add an output's place to `base`; `rest` is its number."""
    lines = []
    for dim in range(walk.kept - 1, 0, -1):
        lines += [
            f"quotient = divide(rest, k_size{dim}, k_mul{dim}, k_shift{dim})",
            f"base = INDEX(base + (rest - quotient * k_size{dim}) * k_s{dim})",
            "rest = quotient",
        ]
    lines.append("base = INDEX(base + rest * k_s0)")
    return "\n".join(indent + line for line in lines)


def _place_text(walk: Walk) -> str:
    """place(i, ...): where the i-th element of an output lies, from its first."""
    names = _names(walk.reduced, "r")
    lines = [f"@inner\ndef place({', '.join(['i', *names])}):", "    at = INDEX(0)"]
    for dim in range(walk.reduced - 1, 0, -1):
        lines += [
            f"    quotient = divide(i, r_size{dim}, r_mul{dim}, r_shift{dim})",
            f"    at = INDEX(at + (i - quotient * r_size{dim}) * r_s{dim})",
            "    i = quotient",
        ]
    return "\n".join([*lines, "    return INDEX(at + i * r_s0)"]) + "\n"


def _element(spec: ReductionSpec, walk: Walk) -> str:
    names = ", ".join(_names(walk.reduced, "r"))
    return load(f"x[base + place(i, {names})]", spec.input, spec.compute)


def _result(spec: ReductionSpec, walk: Walk) -> str:
    if walk.partial:
        return store("acc", spec.acc)
    real = spec.acc.to_real()
    count = f"np.{real.name}(total)" if real.is_floating_point else "total"
    return store(f"project(acc, {count})" if spec.parts[3] else "acc", spec.output)


def _scalars(spec: ReductionSpec) -> str:
    return "".join(f", scalar{i}" for i in range(spec.scalars))


def _to_shared(spec: ReductionSpec) -> str:
    return "np.uint8(acc)" if spec.acc.name == "bool" else "acc"


def _preamble(spec: ReductionSpec, walk: Walk, loop: str) -> str:
    """Title, types, primitives, the parts under their four names, and how lanes exchange."""
    sources = []
    names = ("identity", "reduce", "combine", "project")
    for part, function in zip(names, spec.parts, strict=True):
        if function is not None:
            source = complex_source.adapt(build.plain_source(function), spec.compute.name)
            sources.append(re.sub(r"^def \w+\(", f"def {part}(", source))
    parts = "\n\n".join(sources)
    needed = parts + narrow.conversions((spec.input, spec.output))
    library = primitives.compose_text(needed, spec.compute.name)
    compute, acc = (_numpy_name(each) for each in (spec.compute, spec.acc))
    shared = "uint8" if spec.acc.name == "bool" else spec.acc.name
    divide = DIVIDE_WIDE if walk.wide else DIVIDE
    return (
        f'"""{spec.name}: {spec.input.name} -> {spec.output.name}, {loop}."""\n'
        f"T = np.{compute}\nA = np.{acc}\nSHARED = np.{shared}\n"
        f"INDEX = np.{INDEX_TYPES[walk.wide]}\nUINDEX = np.u{INDEX_TYPES[walk.wide]}\n"
        f"{inlined(library)}\n\n{inlined(parts)}\n\n{divide}\n\n{_place_text(walk)}\n\n"
        f"{_shuffled(spec.acc)}\n\n"
    )


def _shuffled(acc: dtypes.dtype) -> str:
    """shuffled(value, delta): the accumulator of the lane `delta` further on."""
    exchange = "cuda.shfl_down_sync(0xFFFFFFFF, {}, delta)"
    if acc.is_complex:
        parts = ", ".join(exchange.format(f"value.{part}") for part in ("real", "imag"))
        value = f"A(complex({parts}))"
    elif acc.name == "bool" or acc.itemsize < 4:
        value = f"A({exchange.format('np.int32(value)')})"
    else:
        value = exchange.format("value")
    return f"@inner\ndef shuffled(value, delta):\n    return {value}\n"


def _numpy_name(dtype: dtypes.dtype) -> str:
    return "bool_" if dtype.name == "bool" else dtype.name
