"""A row's sum, or extreme product, of vectors of columns that stay in registers.

LLVM does not keep a row's results in registers while entries come from memory: these loops are
built as intrinsics, as `matmul/register_tile.py` does. A vector more costs one load and one product
per entry; columns that fill no vector are computed twice, with the last that does.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile

NAMES = """\
T = np.{name}
LANES, SIZE, ROW_COST = {lanes}, {size}, {row_cost}
"""
ROW_COST = 4
"""What a row costs beside its entries, in entries."""


def lanes_of(dtype: Any) -> int:
    """How many elements of a dtype a vector register holds."""
    return int(register_tile.registers()[0] // np.dtype(dtype).itemsize)


class RowFolds:
    """The loop over rows of at least a vector's columns, as `plan_ranges` takes it.

    how: "add", "max" or "min".
    """

    def __init__(self, how: str) -> None:
        self.how = how
        self.__name__ = f"fold_rows_{how}"

    def library_text(self, dtype: Any) -> str:
        """Text that defines the loop for elements of one dtype."""
        return library_text(self.how, np.dtype(dtype).name)


@cache
def library_text(how: str, name: str) -> str:
    """The text of the loop over rows."""
    size = np.dtype(name).itemsize
    names = NAMES.format(name=name, lanes=lanes_of(name), size=size, row_cost=ROW_COST)
    parts = [
        build.HEADER.format(title=f"Rows of sparse products: {how}, {name}."),
        register_tile.IMPORTS,
        f'{names}HOW = "{how}"\n',
        *(build.plain_source(f) for f in (register_tile.vector_place, build_fold, joined)),
        build.plain_source(fold_of),
        "fold_four, fold_two, fold_one = fold_of(4), fold_of(2), fold_of(1)\n",
        "@inner\n" + build.plain_source(row_at.function),
        f"@inner\n{build.plain_source(fold_rows)}".replace("fold_rows(", f"fold_rows_{how}(", 1),
    ]
    return "\n\n".join(parts)


# Compiled. Addresses are int64.


def fold_of(vectors):
    """Make out[n] = the fold of values[k] * mat[others[k] * width + n] over k, n < vectors * LANES.

    k goes from begin to stop, which is larger.
    """

    @intrinsic
    def fold(context, out, mat, width, others, values, begin, stop):
        def emit(context, builder, signature, args):
            build_fold(context, builder, args, vectors)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 7), emit

    return fold


def build_fold(context, builder, args, vectors):
    """Go through the entries with results in registers."""
    out, mat, width, others, values, begin, stop = args
    scalar = context.get_data_type(from_dtype(np.dtype(T)))
    word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
    out, mat, values = (builder.inttoptr(each, scalar.as_pointer()) for each in (out, mat, values))
    others = builder.inttoptr(others, word.as_pointer())
    entry, body = builder.block, builder.append_basic_block("entry_of_row")
    after = builder.append_basic_block("row_done")
    builder.branch(body)
    builder.position_at_end(body)
    k = builder.phi(word)
    results = [builder.phi(vector) for _ in range(vectors)]
    at = builder.mul(builder.load(builder.gep(others, [k])), width)
    nothing = ir.Constant(vector, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    value = builder.load(builder.gep(values, [k]))
    value = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    value = builder.shuffle_vector(value, nothing, everywhere)
    new = []
    for v in range(vectors):
        place = vector_place(builder, mat, builder.add(at, word(v * LANES)), vector)
        factor = builder.load(place, align=SIZE)
        new.append(joined(builder, results[v], builder.fmul(value, factor, flags=("contract",))))
    first = {"add": 0.0, "max": float("-inf"), "min": float("inf")}[HOW]
    initial = ir.Constant(vector, [first] * LANES)
    following = builder.add(k, word(1))
    k.add_incoming(begin, entry)
    k.add_incoming(following, body)
    for phi, later in zip(results, new, strict=True):
        phi.add_incoming(initial, entry)
        phi.add_incoming(later, body)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    builder.position_at_end(after)
    for v, result in enumerate(new):
        builder.store(result, vector_place(builder, out, word(v * LANES), vector), align=SIZE)


def joined(builder, result, product):
    """A product joins the result; NaN wins over numbers."""
    if HOW == "add":
        return builder.fadd(result, product, flags=("contract",))
    is_beyond = builder.fcmp_ordered(">" if HOW == "max" else "<", product, result)
    is_nan = builder.fcmp_unordered("uno", product, product)
    return builder.select(builder.or_(is_beyond, is_nan), product, result)


@build.kernel
def row_at(offsets, part, parts):
    """The row at which a part of about equally much work begins."""
    rows = offsets.size - 1
    if part <= 0 or part >= parts:
        return 0 if part <= 0 else rows
    wanted = (offsets[rows] + ROW_COST * rows) * part // parts
    low, high = 0, rows
    while low < high:
        middle = (low + high) // 2
        if offsets[middle] + ROW_COST * middle < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def fold_rows(first, last, out, offsets, others, values, mat, parts):
    """Parts of the rows from first to last, each of which at least LANES columns."""
    width = np.int64(mat.shape[1])
    to, source = np.int64(out.ctypes.data), np.int64(mat.ctypes.data)
    at_others, at_values = np.int64(others.ctypes.data), np.int64(values.ctypes.data)
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        begin, stop = offsets[row], offsets[row + 1]
        if begin == stop:
            for i in range(width):
                out[row, i] = T(0)
            continue
        target, i = to + row * width * SIZE, np.int64(0)
        while i < width:
            if i + 4 * LANES <= width:
                at = i * SIZE
                fold_four(target + at, source + at, width, at_others, at_values, begin, stop)
                i += 4 * LANES
            elif i + 2 * LANES <= width:
                at = i * SIZE
                fold_two(target + at, source + at, width, at_others, at_values, begin, stop)
                i += 2 * LANES
            else:
                at = min(i, width - LANES) * SIZE
                fold_one(target + at, source + at, width, at_others, at_values, begin, stop)
                i += LANES
