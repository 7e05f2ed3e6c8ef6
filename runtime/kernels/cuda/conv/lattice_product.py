"""The text of the CUDA kernel behind all products of convolutions.

Every one is out[m, n] = sum over k of a[m, k] * b[k, n], where n and k count the points of lattices
(outer, depth, height, width). `a` is a matrix in memory; an element of `b` stands, along each
spatial dim, at n * n_step + k * k_step + start, divided by `over` where that leaves no remainder:
outside, and between, it is 0. So no columns are written to memory.

A block owns a tile of `out`, 64 columns and 16 rows per row of a thread. Its threads load steps of
both factors into shared memory, and each adds up 4 columns of 1 or 4 rows in registers. A long sum
is cut into slices, which `sum_kernel` adds in order: equal calls give equal bits.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import narrow
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

SIDE = 16
"""Threads of a block along each side of its tile."""
THREADS = SIDE * SIDE
COLUMNS = 4
"""Columns of a thread, SIDE apart, so that neighbours write to neighbouring places."""
TILE_N = SIDE * COLUMNS
STEP = 16
"""Elements of the sum that are in shared memory at once: SIDE, one per thread of a row."""
assert STEP == SIDE

DIMS = ("d", "h", "w")
LATTICES = tuple([f"{lattice}{dim}" for lattice in ("n", "k") for dim in ("w", "h", "d", "all")])
"""Divisors: the sizes of both lattices, innermost first, and how many points an outer one has."""
SPATIAL = tuple([f"{name}_{dim}" for dim in DIMS for name in ("n_step", "k_step", "start", "size")])
JUMPS = ("a_group", "a_row", "a_outer", "b_group", "b_n", "b_k", "out_group", "out_row",
         "out_outer", "out_slice")  # fmt: skip
"""How far apart in memory lie neighbouring groups, rows, outer points, slices."""
COUNTS = ("m", "n", "k", "chunk", "tiles_m", "tiles_n", "slices")


class Form(NamedTuple):
    """What the text depends on. rows: of a thread, 1 or 4. divided: whether places are divided."""

    dtype: dtypes.dtype
    out_dtype: dtypes.dtype
    rows: int
    has_bias: bool
    divided: bool
    wide: bool


def parameters(form: Form) -> list[str]:
    """The names of the kernel's integer parameters, in order."""
    overs = [f"over_{dim}" for dim in DIMS] if form.divided else []
    divisors = [
        f"{name}_{part}" for name in (*LATTICES, *overs) for part in ("size", "multiplier", "shift")
    ]
    return [*COUNTS, *divisors, *SPATIAL, *JUMPS]


@cache
def product_kernel(form: Form) -> Source:
    """kernel(out, a, b, bias, *parameters)."""
    names = parameters(form)
    index = INDEX_TYPES[form.wide]
    types = ["uint32" if name.endswith(("_multiplier", "_shift")) else index for name in names]
    own = f"{storage_type(form.dtype)}*"
    pointers = [f"{storage_type(form.out_dtype)}*", own, own, own]
    text = _preamble(form.dtype, form.out_dtype, form.wide) + _constants(form) + _kernel(form)
    name = f"convolution_{form.dtype.name}"
    return Source(name, text, (*pointers, *types), THREADS)


def _preamble(dtype: dtypes.dtype, out_dtype: dtypes.dtype, wide: bool) -> str:
    needed = narrow.conversions((dtype, out_dtype))
    library = inlined(primitives.compose_text(needed, dtype.opmath.name)) if needed else ""
    divide = DIVIDE_WIDE if wide else DIVIDE
    return (
        f'"""A product of a convolution of {dtype.name}."""\n'
        f"T = np.{dtype.opmath.name}\nINDEX = np.{INDEX_TYPES[wide]}\n"
        f"UINDEX = np.u{INDEX_TYPES[wide]}\n{library}\n\n{divide}\n\n"
    )


def _constants(form: Form) -> str:
    tile_m = SIDE * form.rows
    return (
        f"SIDE = {SIDE}\nSTEP = {STEP}\nTILE_M = {tile_m}\nTILE_N = {TILE_N}\n"
        f"PITCH_M = {tile_m + 1}\nCELLS_M = {STEP * (tile_m + 1)}\nCELLS_N = {STEP * TILE_N}\n\n\n"
    )


KERNEL = '''\
def kernel(out, a, b, bias, {parameters}):
    """A block owns TILE_M rows and TILE_N columns of a group's result, and a slice of the sum."""
    a_tile = cuda.shared.array(CELLS_M, T)
    b_tile = cuda.shared.array(CELLS_N, T)
    thread = INDEX(cuda.threadIdx.x)
    row = INDEX(thread // SIDE)
    column = INDEX(thread - row * SIDE)
    piece = INDEX(cuda.blockIdx.x)
    rest = INDEX(UINDEX(piece) // UINDEX(tiles_n))
    first_n = INDEX((piece - rest * tiles_n) * TILE_N)
    piece = rest
    rest = INDEX(UINDEX(piece) // UINDEX(tiles_m))
    first_m = INDEX((piece - rest * tiles_m) * TILE_M)
    group = INDEX(UINDEX(rest) // UINDEX(slices))
    slice = INDEX(rest - group * slices)
    k_first = INDEX(slice * chunk)
    k_last = INDEX(min(k, INDEX(k_first + chunk)))
    # The column of b that this thread loads, and where its windows begin.
    load_row = INDEX(thread // TILE_N)
    load_column = INDEX(thread - load_row * TILE_N)
    at = INDEX(first_n + load_column)
    is_column = at < n
{decode_n}
    b_first = INDEX(group * b_group + rest * b_n)
    a_first = INDEX(group * a_group)
{zero}
    start = k_first
    while start < k_last:
        # 1. The threads load a step of both factors.
        at = INDEX(start + column)
        rest = divide(at, kall_size, kall_multiplier, kall_shift)
        a_place = INDEX(a_first + rest * a_outer + (at - rest * kall_size))
        for i in range(row, TILE_M, SIDE):
            value = T(0)
            if first_m + i < m and at < k_last:
                value = {a_value}
            a_tile[INDEX(column * PITCH_M + i)] = value
        for i in range(load_row, STEP, {load_rows}):
            at = INDEX(start + i)
            value = T(0)
            if is_column and at < k_last:
{decode_k}
                place = INDEX(b_first + rest * b_k)
{locate}
                if inside:
                    place = INDEX(place + (at_d * size_h + at_h) * size_w + at_w)
                    value = {b_value}
            b_tile[INDEX(i * TILE_N + load_column)] = value
        cuda.syncthreads()
        # 2. Each adds its products.
        for i in range(STEP):
{multiply}
        cuda.syncthreads()
        start = INDEX(start + STEP)
    out_first = INDEX(group * out_group + slice * out_slice)
{write}
'''


def _kernel(form: Form) -> str:
    dtype, compute = form.dtype, form.dtype.opmath
    return KERNEL.format(
        parameters=", ".join(parameters(form)),
        decode_n=_indented(4, _decode("n")),
        zero=_indented(4, [f"{each} = T(0)" for each in _sums(form)]),
        a_value=load("a[INDEX(a_place + (first_m + i) * a_row)]", dtype, compute),
        load_rows=THREADS // TILE_N,
        decode_k=_indented(16, _decode("k")),
        locate=_indented(16, _locate(form.divided)),
        b_value=load("b[place]", dtype, compute),
        multiply=_indented(12, _multiply(form)),
        write=_indented(4, _write(form)),
    )


def _indented(width: int, lines: list[str]) -> str:
    return "\n".join(" " * width + line for line in lines)


def _decode(lattice: str) -> list[str]:
    """The point `at` of a lattice: `rest` and nd, nh, nw, or kd, kh, kw."""
    lines = ["rest = at"]
    for dim in reversed(DIMS):
        name = f"{lattice}{dim}"
        lines += [
            f"quotient = divide(rest, {name}_size, {name}_multiplier, {name}_shift)",
            f"{name} = INDEX(rest - quotient * {name}_size)",
            "rest = quotient",
        ]
    return lines


def _locate(divided: bool) -> list[str]:
    """Where along each dim the element stands, and whether there is one."""
    lines = ["inside = True"]
    for dim in DIMS:
        lines.append(
            f"at_{dim} = INDEX(n{dim} * n_step_{dim} + k{dim} * k_step_{dim} + start_{dim})"
        )
        if divided:
            lines += [
                f"inside = inside and at_{dim} >= 0",
                f"quotient = divide(at_{dim}, over_{dim}_size, over_{dim}_multiplier, "
                f"over_{dim}_shift)",
                f"inside = inside and at_{dim} == quotient * over_{dim}_size",
                f"at_{dim} = quotient",
            ]
        lines.append(f"inside = inside and at_{dim} >= 0 and at_{dim} < size_{dim}")
    return lines


def _sums(form: Form) -> list[str]:
    return [f"sum{i}{j}" for i in range(form.rows) for j in range(COLUMNS)]


def _multiply(form: Form) -> list[str]:
    rows = [f"a{i} = a_tile[INDEX(i * PITCH_M + row + {SIDE * i})]" for i in range(form.rows)]
    columns = [f"b{j} = b_tile[INDEX(i * TILE_N + column + {SIDE * j})]" for j in range(COLUMNS)]
    return (
        rows
        + columns
        + [
            f"sum{i}{j} = T(sum{i}{j} + a{i} * b{j})"
            for i in range(form.rows)
            for j in range(COLUMNS)
        ]
    )


def _write(form: Form) -> list[str]:
    lines = []
    bias = load("bias[INDEX(group * m + at_m)]", form.dtype, form.dtype.opmath)
    for j in range(COLUMNS):
        lines += [
            f"at = INDEX(first_n + column + {SIDE * j})",
            "if at < n:",
            "    rest = divide(at, nall_size, nall_multiplier, nall_shift)",
            "    place = INDEX(out_first + rest * out_outer + (at - rest * nall_size))",
        ]
        for i in range(form.rows):
            value = f"T(sum{i}{j} + {bias})" if form.has_bias else f"sum{i}{j}"
            lines += [
                f"    at_m = INDEX(first_m + row + {SIDE * i})",
                "    if at_m < m:",
                f"        out[INDEX(place + at_m * out_row)] = {store(value, form.out_dtype)}",
            ]
    return lines


SUM = '''\
def kernel(out, parts, n, slices):
    """A thread owns every element at the distance of the grid, and adds its slices in order."""
    i = INDEX(cuda.grid(1))
    while i < n:
        total = parts[i]
        for slice in range(1, slices):
            total = T(total + parts[INDEX(slice * n + i)])
        out[i] = {value}
        i = INDEX(i + cuda.gridsize(1))
'''


@cache
def sum_kernel(dtype: dtypes.dtype, wide: bool) -> Source:
    """kernel(out, parts, n, slices): the sums of n elements of slices in the compute type."""
    text = _preamble(dtype, dtype, wide) + SUM.format(value=store("total", dtype))
    index = INDEX_TYPES[wide]
    types = (f"{storage_type(dtype)}*", f"{dtype.opmath.name}*", index, index)
    return Source(f"convolution_sum_{dtype.name}", text, types, THREADS)
