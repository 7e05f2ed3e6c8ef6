"""The texts of the CPU loops around a reduction's four parts: over rows, and over columns.

Accuracy: a row is folded in blocks, blocks in blocks of blocks, so that rounding errors grow with
the depth and not with the length. `reassoc` lets LLVM keep several accumulators in a block. Runs
are sliced first: of an index into a slice LLVM knows that it is not negative, and vectorises.
"""

from __future__ import annotations

import ast
import re
from functools import cache, reduce
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common.reduction import ReductionSpec
from torchgen_out._runtime.kernels.cpu.loops import runs
from torchgen_out._runtime.kernels.cpu.loops.rows import (
    FOLD_FEW,
    FOLD_LANES,
    FOLD_LANES_ASIDE,
    FOLD_WITH_IDENTITY,
    FOLDS_FROM_FIRST,
    IN_LANES_ONCE,
    IN_LANES_REPEATED,
    IN_ORDER,
    IN_TURNS,
    ONE_BY_ONE,
    ROW,
    ROW_WITH_IDENTITY,
    ROWS,
    SHORT_ROWS,
)
from torchgen_out._runtime.kernels.cpu.loops.runs import load, store
from torchgen_out._runtime.kernels.vecmath import complex_source, compose

REASSOCIATED = 'options["fastmath"] = {"reassoc", "nsz", "contract"}\n' + build.DECORATORS
"""For the parts and loops only: vector mathematics rounds by adding and subtracting."""

WIDER = {dtypes.float32: dtypes.float64, dtypes.complex64: dtypes.complex128}
"""What blocks are folded in: it costs nothing, there are so few."""

COLUMNS = '''\
BLOCK = 128
COLUMNS = 2048  # what is kept of so many stays in the first cache
PANEL = {panel}  # columns that are folded together
PANELS = {panels}  # columns up to which panels are folded one after another
NARROW, MERGED = {narrow}  # columns up to which rows are folded as longer ones, and of how many
MANY = 2048  # elements from which on that holds
SLIM, SOME, FEW = 16, 128, 32  # the columns of fewer, the least of these, and of how many they are


@inner
def fold_panel(block, x, at, n, width{scalars}):
    """block[i] = the fold of x[at + k * width + i] for k < n; i < PANEL, so many that LLVM keeps
    them in registers: of fewer it makes single elements."""
    row = np.uint64(at)
    for i in range(np.uint64(PANEL)):
        block[i] = {first}
    for k in range({skip}, n):
        row = np.uint64(at + k * width)
        for i in range(np.uint64(PANEL)):
            block[i] = reduce(block[i], {row_element}{scalars})


@inner
def fold_wide(block, x, at, n, width, count{scalars}):
    """The same for i < count."""
    row = np.uint64(at)
    for i in range(np.uint64(count)):
        block[i] = {first}
    k = {skip}
    while k + 4 <= n:  # what is kept is loaded and stored once for four rows
        a, b = np.uint64(at + k * width), np.uint64(at + (k + 1) * width)
        c, d = np.uint64(at + (k + 2) * width), np.uint64(at + (k + 3) * width)
        for i in range(np.uint64(count)):
            acc = reduce(block[i], {a_element}{scalars})
            acc = reduce(acc, {b_element}{scalars})
            acc = reduce(acc, {c_element}{scalars})
            block[i] = reduce(acc, {d_element}{scalars})
        k += 4
    for k in range(k, n):
        row = np.uint64(at + k * width)
        for i in range(np.uint64(count)):
            block[i] = reduce(block[i], {row_element}{scalars})


@inner
def fold_rows(total, block, x, base, n, width, count{scalars}):
    """total[i] = the fold of x[base + k * width + i] for k < n; i < count.

    Rows are folded in blocks, and these in a wider type: there may be thousands. The last panel
    of columns begins within the one before it.
    """
    in_panels = (count >= PANEL) & (count <= PANELS) & (8 * (-count % PANEL) <= count)
    for first in range(0, n, BLOCK):
        some, at = lesser(BLOCK, n - first), base + first * width
        if in_panels:
            for begin in range(0, count, PANEL):
                i = lesser(begin, count - PANEL)
                fold_panel(block[i : i + PANEL], x, at + i, some, width{scalars})
        else:
            fold_wide(block, x, at, some, width, count{scalars})
        if first == 0:
            total[:count] = block[:count]
        else:
            for i in range(count):
                total[i] = combine(total[i], {total_type}(block[i]))


@inner
def fold_columns(total, block, x, base, n, width, count{scalars}):
    """The same; of narrow rows so many as one that they fill panels. What lies between rows with
    gaps is folded, too, and left alone, but for what follows the last one."""
    has_gaps = count < width
    are_many = n * width >= MANY
    is_narrow = width <= NARROW if are_many else (width <= SLIM) & (n * width >= SOME)
    if not (is_narrow & (4 * count >= width)):
        fold_rows(total, block, x, base, n, width, count{scalars})
        return
    some = ((MERGED if MERGED % width else PANEL) if are_many else FEW) // width
    rows = (n - 1 if has_gaps else n) // some
    fold_rows(total, block, x, base, rows, some * width, some * width{scalars})
    for k in range(1, some):
        for i in range(count):
            total[i] = combine(total[i], total[k * width + i])
    for k in range(rows * some, n):
        row = np.uint64(base + k * width)
        for i in range(np.uint64(count)):
            total[i] = combine(total[i], {total_type}({single}))


@inner
def columns(start, stop, out, x, n, width, step, outer{scalars}):
    """out[o, i] = the fold of x[o * outer + k * step + i] for k < n."""
    total = np.empty(lesser(greater(width, MERGED), COLUMNS), {total_type})
    block = np.empty(lesser(greater(width, MERGED), COLUMNS), {acc_type})
    for o in range(start // width, (stop + width - 1) // width):
        end = lesser(stop - o * width, width)
        for begin in range(greater(start - o * width, 0), end, COLUMNS):
            count = lesser(COLUMNS, end - begin)
            fold_columns(total, block, x, o * outer + begin, n, step, count{scalars})
            results = out[o * width + begin : o * width + begin + count]
            for i in range(count):
                acc = total[i]
                results[i] = {project}


@entry
def strided(start, stop, out, x, n, width, step, outer{scalars}):
    """The same, of rows that lie `step` apart, matrices that lie `outer` apart."""
    columns(start, stop, out, x, n, width, step, outer{scalars})


@entry
def kernel(start, stop, out, x, n, width{scalars}):
    """out[o, i] = the fold of x[o, :, i], in blocks of rows, which are `width` elements long.

    start, stop: which results, counted through.
    """
    columns(start, stop, out, x, n, width, width, n * width{scalars})


@entry
def partial(part, start, stop, parts, x, width{scalars}):
    """One thread's share of folding all rows: rows start to stop."""
    block = np.empty(greater(width, MERGED), {acc_type})
    total = np.empty(greater(width, MERGED), {total_type})
    fold_columns(total, block, x, start * width, stop - start, width, width{scalars})
    parts[part * width : (part + 1) * width] = total[:width]


@entry
def finish(out, parts, n, count):
    """So many shares combined and projected."""
    width = out.size
    for i in range(width):
        acc = parts[i]
        for part in range(1, count):
            acc = combine(acc, parts[part * width + i])
        out[i] = {project}
'''


def rows_module(spec: ReductionSpec) -> Any:
    """The loops over dense rows: kernel(out, x, n), partial(part, start, stop, parts, x) and
    finish(out, parts, n).
    """
    return build.load_text(f"{spec.name}_rows", rows_text(spec))


def rows_kernel(spec: ReductionSpec) -> Any:
    """The same kernel(out, x, n), for a spec without scalars, by its entry point."""
    arguments = (spec.output.numpy, spec.input.numpy, int)
    return build.entry_point(f"{spec.name}_rows", rows_text(spec), arguments)


@cache
def partial_kernel(spec: ReductionSpec) -> Any:
    """partial(part, start, stop, parts, x), for a spec without scalars, by its entry point."""
    arguments = (int, int, int, spec.acc.numpy, spec.input.numpy)
    return build.entry_point(f"{spec.name}_rows", rows_text(spec), arguments, "partial")


def columns_module(spec: ReductionSpec) -> Any:
    """The same with partial(part, start, stop, parts, x, width) and finish(out, parts, n, count).

    These fold all rows of a dense (n, width).
    """
    return build.load_text(f"{spec.name}_columns", columns_text(spec))


def columns_kernel(spec: ReductionSpec) -> Any:
    """kernel(start, stop, out, x, n, width): folds the middle dim of a dense (outer, n, width).

    start, stop: which results to fold.
    """
    name, text = f"{spec.name}_columns", columns_text(spec)
    if spec.scalars:
        return build.compile_text(name, text)
    return build.entry_point(name, text, (int, int, spec.output.numpy, spec.input.numpy, int, int))


@cache
def strided_kernel(spec: ReductionSpec, over_rows: bool) -> Any:
    """strided(start, stop, out, x, n, width, step, outer), over the rows; or, along each row,
    strided(start, stop, out, x, n, width, step, outer, along)."""
    name = "columns" if over_rows else "rows"
    text = (columns_text if over_rows else rows_text)(spec)
    if spec.scalars:
        return build.load_text(f"{spec.name}_{name}", text).strided
    arguments = (int, int, spec.output.numpy, spec.input.numpy, *(int,) * (4 if over_rows else 5))
    return build.entry_point(f"{spec.name}_{name}", text, arguments, "strided")


@cache
def columns_partial(spec: ReductionSpec) -> Any:
    """partial of `columns_module`, for a spec without scalars, by its entry point."""
    arguments = (int, int, int, column_type(spec).numpy, spec.input.numpy, int)
    name, text = f"{spec.name}_columns", columns_text(spec)
    return build.entry_point(name, text, arguments, "partial")


@cache
def rows_text(spec: ReductionSpec) -> str:
    """The text of the loop over rows."""
    scalars = _scalar_list(spec)
    in_lanes = spec.parts[0] is None
    is_extreme = in_lanes and _is_extreme(spec)
    from_first = "\n\n".join((FOLD_FEW, _folds_of_many(spec), FOLDS_FROM_FIRST))
    parts = {
        "scalars": scalars,
        "element": load("run[i]", spec.input, spec.compute),
        "wide": _numpy_name(_wider(spec.acc)),
        "first": "np.bool_(identity())" if spec.acc.kind == "b" else "identity()",
        "short": "8 * LONG" if is_extreme else "LONG - 1",
        "many": "LANES" if is_extreme else "LONG",
    }
    block = (IN_TURNS if spec.acc.kind == "c" else ONE_BY_ONE).format(**parts)
    body = (from_first if in_lanes else FOLD_WITH_IDENTITY).format(**parts, fold_block=block)
    project = _projected(spec)
    room = "LANES * LANES // 2" if is_extreme else "LANES"
    setup = f"    lanes = np.empty({room}, {_acc_type(spec)})\n"
    aside = f"    tile = np.empty(LANES * LANES, {_acc_type(spec)})\n" if is_extreme else ""
    tile = ", tile" if is_extreme else ""
    rows = ROWS.format(
        scalars=scalars,
        project=project,
        fold_row=(ROW if in_lanes else ROW_WITH_IDENTITY).format(scalars=scalars),
        setup=setup + aside,
        tile=tile,
        partial_setup=setup if in_lanes else "",
        passed=", lanes" if in_lanes else "",
    )
    fold_lanes = (FOLD_LANES_ASIDE if is_extreme else FOLD_LANES).format(scalars=scalars)
    short_rows = SHORT_ROWS.format(
        scalars=scalars, project=project, tile=tile, fold_lanes=fold_lanes
    )
    return _preamble(spec, "rows") + "\n\n".join((body, short_rows, rows))


def _folds_of_many(spec: ReductionSpec) -> str:
    """The text of the fold of many elements that begins with the first."""
    if spec.acc.kind not in "fc":
        return IN_ORDER
    return IN_LANES_REPEATED if _is_extreme(spec) else IN_LANES_ONCE


def _is_extreme(spec: ReductionSpec) -> bool:
    """Whether floats are folded to the largest or the smallest: elements may be folded twice."""
    source = build.plain_source(spec.parts[1])
    is_extreme = re.search(r"^ +return (min|max)\(acc, self\)$", source, re.MULTILINE)
    return spec.acc.kind in "fc" and is_extreme is not None


@cache
def columns_text(spec: ReductionSpec) -> str:
    """The text of the loop over columns."""
    row_element = load("x[row + i]", spec.input, spec.compute)
    return _preamble(spec, "columns") + COLUMNS.format(
        scalars=_scalar_list(spec),
        acc_type=_acc_type(spec),
        total_type=_numpy_name(column_type(spec)),
        first=f"{_acc_type(spec)}(identity())" if spec.parts[0] else row_element,
        skip=0 if spec.parts[0] else 1,
        single=f"reduce(identity(), {row_element}{_scalar_list(spec)})"
        if spec.parts[0]
        else row_element,
        row_element=row_element,
        **{f"{row}_element": load(f"x[{row} + i]", spec.input, spec.compute) for row in "abcd"},
        project=_projected(spec),
        panel=256 if spec.acc.itemsize == 1 else 64,
        narrow="32, 256" if spec.acc.itemsize == 1 else "63, 128",
        panels=1024 // spec.acc.itemsize,
    )


def column_type(spec: ReductionSpec) -> dtypes.dtype:
    """The type in which blocks of rows are folded together."""
    return _wider(spec.acc) if spec.parts[0] else spec.acc


def _wider(acc: dtypes.dtype) -> dtypes.dtype:
    return WIDER.get(acc, acc)


def _acc_type(spec: ReductionSpec) -> str:
    return _numpy_name(spec.acc)


def _numpy_name(dtype: dtypes.dtype) -> str:
    return f"np.{'bool_' if dtype.name == 'bool' else dtype.name}"


def _scalar_list(spec: ReductionSpec) -> str:
    return "".join(f", scalar{i}" for i in range(spec.scalars))


def _projected(spec: ReductionSpec) -> str:
    value = "project(acc, n)" if spec.parts[3] else "acc"
    return store(value, spec.output)


def _preamble(spec: ReductionSpec, loop: str) -> str:
    """Header, compute type, vector mathematics and the parts under their four names."""
    sources = []
    for part, function in zip(
        ("identity", "reduce", "combine", "project"), spec.parts, strict=True
    ):
        if function is not None:
            source = complex_source.adapt(build.plain_source(function), spec.compute.name)
            source = _without_branches(source) if spec.acc.kind == "b" else source
            sources.append(re.sub(r"^def \w+\(", f"def {part}(", source))
    parts = "\n\n".join(sources)
    needed = parts + narrow.conversions((spec.input, spec.output))
    library = compose.compose(needed, spec.compute.name)
    title = f"{spec.name}: {spec.input.name} -> {spec.output.name}, {loop}."
    compute = "bool_" if spec.compute.name == "bool" else spec.compute.name
    return "\n\n".join(
        [
            build.HEADER.format(title=title) + f"{runs.PLACES}T = np.{compute}",
            _inlined(library),
            REASSOCIATED,
            _inlined(parts) + "\n\n",
        ]
    )


def _without_branches(source: str) -> str:
    """A part of which comparisons are all that is joined: LLVM folds `a | b` in vectors, and waits
    for each element of `a or b`."""
    return ast.unparse(_Joined().visit(ast.parse(source)))


class _Joined(ast.NodeTransformer):
    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`or` and `and` of comparisons as operations on their bits."""
        if not all(isinstance(each, ast.Compare) for each in node.values):
            return node
        join = ast.BitOr() if isinstance(node.op, ast.Or) else ast.BitAnd()
        return reduce(lambda left, right: ast.BinOp(left, join, right), node.values)


def _inlined(functions: str) -> str:
    return re.sub(r"^def ", "@inner\ndef ", functions, flags=re.MULTILINE)
