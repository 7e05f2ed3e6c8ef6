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
from numba.np import arrayobj

T = np.{name}
LANES, SIZE, ROW_COST = {lanes}, {size}, {row_cost}
HOW, CHOICE = "{how}", "{choice}"
"""
ROW_COST = 4
"""What a row costs beside its entries, in entries."""


def lanes_of(dtype: Any) -> int:
    """How many elements of a dtype a vector register holds."""
    return int(register_tile.registers()[0] // np.dtype(dtype).itemsize)


class RowFolds:
    """The loop over rows of at least a vector's columns, as `plan_ranges` takes it.

    how: "add", "max" or "min". choice: whether the entry of each result is written down ("keep"),
    or elements of the matrix that chose another entry are left out ("check").
    """

    def __init__(self, how: str, choice: str = "") -> None:
        self.how, self.choice = how, choice
        self.__name__ = f"fold_rows_{how}_{choice}" if choice else f"fold_rows_{how}"

    def library_text(self, dtype: Any) -> str:
        """Text that defines the loop for elements of one dtype."""
        return library_text(self.__name__, self.how, self.choice, np.dtype(dtype).name)


@cache
def library_text(title: str, how: str, choice: str, name: str) -> str:
    """The text of the loop over rows."""
    sizes = {"lanes": lanes_of(name), "size": np.dtype(name).itemsize, "row_cost": ROW_COST}
    loop = fold_chosen_rows if choice else fold_rows
    plain = register_tile.vector_place, spread, joined, is_new, build_fold, fold_of
    parts = [
        build.HEADER.format(title=f"Rows of sparse products: {title}, {name}."),
        register_tile.IMPORTS,
        NAMES.format(name=name, how=how, choice=choice, **sizes),
        *map(build.plain_source, plain),
        "fold_four, fold_two, fold_one = fold_of(4), fold_of(2), fold_of(1)\n",
        "@inner\n" + build.plain_source(row_at.function),
        "@inner\n" + build.plain_source(fold_row),
        f"@inner\n{build.plain_source(loop)}".replace(f"{loop.__name__}(", f"{title}(", 1),
    ]
    return "\n\n".join(parts)


# Compiled. Addresses are int64.


def fold_of(vectors):
    """Make out[n] = the fold of values[e] * mat[others[k] * width + n] over k, n < vectors * LANES.

    k goes from begin to stop, which is larger. e: k; with a choice order[k], and if `order` is
    zero k. chosen: where the entry of each result is written, or what is as large as mat.
    """

    @intrinsic
    def fold(context, out, mat, width, others, values, begin, stop, order, chosen, kind):
        def emit(context, builder, signature, args):
            build_fold(context, builder, args, vectors, signature.args)
            return context.get_dummy_value()

        n = types.int64
        return types.void(n, n, n, others, n, n, n, n, n, kind), emit

    return fold


def build_fold(context, builder, args, vectors, kinds):
    """Go through the entries with results in registers."""
    out, mat, width, others, values, begin, stop, order, chosen, _ = args
    scalar = context.get_data_type(from_dtype(np.dtype(T)))
    word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
    choice = context.get_data_type(kinds[9])
    choices = ir.VectorType(choice, LANES)
    out, mat, values = (builder.inttoptr(each, scalar.as_pointer()) for each in (out, mat, values))
    others = arrayobj.make_array(kinds[3])(context, builder, others).data
    has_order = builder.icmp_unsigned("!=", order, word(0))
    order = builder.select(has_order, builder.inttoptr(order, others.type), others)
    chosen = builder.inttoptr(chosen, choice.as_pointer())

    def number_at(place, k):
        number = builder.load(builder.gep(place, [k]))
        return builder.sext(number, word) if number.type.width < 64 else number

    def entry_at(k):
        return builder.select(has_order, number_at(order, k), k) if CHOICE else k

    def choice_of(entry):
        own = builder.trunc(entry, choice) if choice.width < 64 else entry
        return spread(builder, own, choices)

    first = entry_at(begin) if CHOICE == "keep" else None
    none = choice_of(first) if CHOICE == "keep" else None
    entry, body = builder.block, builder.append_basic_block("entry_of_row")
    after = builder.append_basic_block("row_done")
    builder.branch(body)
    builder.position_at_end(body)
    k = builder.phi(word)
    results = [builder.phi(vector) for _ in range(vectors)]
    kept = [builder.phi(choices) for _ in range(vectors if CHOICE == "keep" else 0)]
    e = entry_at(k)
    own = choice_of(e) if CHOICE else None
    at = builder.mul(number_at(others, k), width)
    value = spread(builder, builder.load(builder.gep(values, [e])), vector)
    new, now = [], []
    for v in range(vectors):
        column = builder.add(at, word(v * LANES))
        factor = builder.load(vector_place(builder, mat, column, vector), align=SIZE)
        product = builder.fmul(value, factor, flags=("contract",))
        if CHOICE == "keep":
            is_better = is_new(builder, results[v], product)
            new.append(builder.select(is_better, product, results[v]))
            now.append(builder.select(is_better, own, kept[v]))
            continue
        if CHOICE == "check":
            place = vector_place(builder, chosen, column, choices)
            is_own = builder.icmp_signed("==", builder.load(place, align=choice.width // 8), own)
            product = builder.select(is_own, product, ir.Constant(vector, None))
        new.append(joined(builder, results[v], product))
    least = {"add": 0.0, "max": float("-inf"), "min": float("inf")}[HOW]
    following = builder.add(k, word(1))
    k.add_incoming(begin, entry)
    k.add_incoming(following, body)
    initial = [ir.Constant(vector, [least] * LANES)] * vectors + [none] * len(kept)
    for phi, before, later in zip(results + kept, initial, new + now, strict=True):
        phi.add_incoming(before, entry)
        phi.add_incoming(later, body)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    builder.position_at_end(after)
    for v, result in enumerate(new):
        builder.store(result, vector_place(builder, out, word(v * LANES), vector), align=SIZE)
    for v, result in enumerate(now):
        place = vector_place(builder, chosen, word(v * LANES), choices)
        builder.store(result, place, align=choice.width // 8)


def spread(builder, number, vector):
    """A number in all lanes."""
    nothing = ir.Constant(vector, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    single = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, nothing, everywhere)


def joined(builder, result, product):
    """A product joins the result; NaN wins over numbers."""
    if HOW == "add":
        return builder.fadd(result, product, flags=("contract",))
    is_beyond = builder.fcmp_ordered(">" if HOW == "max" else "<", product, result)
    is_nan = builder.fcmp_unordered("uno", product, product)
    return builder.select(builder.or_(is_beyond, is_nan), product, result)


def is_new(builder, result, product):
    """Whether a product is beyond the result, or the first NaN."""
    is_beyond = builder.fcmp_ordered(">" if HOW == "max" else "<", product, result)
    is_nan = builder.fcmp_unordered("uno", product, product)
    was_none = builder.fcmp_ordered("ord", result, result)
    return builder.or_(is_beyond, builder.and_(is_nan, was_none))


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


def fold_row(target, source, width, others, values, begin, stop, order, chosen, step, none):
    """A row of at least LANES columns. step: bytes of a choice that go on with the columns."""
    i = np.int64(0)
    while i < width:
        if i + 4 * LANES <= width:
            at, kept = i * SIZE, chosen + i * step
            fold_four(
                target + at, source + at, width, others, values, begin, stop, order, kept, none
            )
            i += 4 * LANES
        elif i + 2 * LANES <= width:
            at, kept = i * SIZE, chosen + i * step
            fold_two(
                target + at, source + at, width, others, values, begin, stop, order, kept, none
            )
            i += 2 * LANES
        else:
            first = min(i, width - LANES)
            at, kept = first * SIZE, chosen + first * step
            fold_one(
                target + at, source + at, width, others, values, begin, stop, order, kept, none
            )
            i += LANES


def fold_rows(first, last, out, offsets, others, values, mat, parts):
    """Parts of the rows from first to last, each of which at least LANES columns."""
    width, none = np.int64(mat.shape[1]), np.int64(0)
    to, source = np.int64(out.ctypes.data), np.int64(mat.ctypes.data)
    at_values = np.int64(values.ctypes.data)
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        begin, stop = np.int64(offsets[row]), np.int64(offsets[row + 1])
        if begin == stop:
            for i in range(width):
                out[row, i] = T(0)
            continue
        target = to + row * width * SIZE
        fold_row(target, source, width, others, at_values, begin, stop, none, none, none, none)


def fold_chosen_rows(first, last, out, chosen, offsets, others, values, mat, order, parts):
    """The same with a choice: of results, or of elements of the matrix."""
    width, step = np.int64(mat.shape[1]), np.int64(chosen.itemsize)
    to, source = np.int64(out.ctypes.data), np.int64(mat.ctypes.data)
    at_values, at_chosen = np.int64(values.ctypes.data), np.int64(chosen.ctypes.data)
    at_order = np.int64(order.ctypes.data) if order.size else np.int64(0)
    none = chosen.dtype.type(-1)
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        begin, stop = np.int64(offsets[row]), np.int64(offsets[row + 1])
        if begin == stop:
            for i in range(width):
                out[row, i] = T(0)
                if CHOICE == "keep":
                    chosen[row, i] = none
            continue
        target = to + row * width * SIZE
        kept = at_chosen + row * width * step if CHOICE == "keep" else at_chosen
        fold_row(target, source, width, others, at_values, begin, stop, at_order, kept, step, none)
