"""A row's sum of products with one column: several entries at once, whose factors are gathered.

A loop over a row's entries costs a mispredicted branch for each row of another length than the one
before, which is more than a row of a few entries takes. Here these are one step under a mask, built
as an intrinsic, as `row_folds` are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.sparse.row_folds import ROW_COST, row_at

LANES = 8
"""Entries of a step: what one gather by addresses of 64 bits takes."""
NAMES = f"LANES, ROW_COST = {LANES}, {ROW_COST}\n"


class RowDots:
    """The loop over rows of one column, as `plan_ranges` takes it."""

    __name__ = "dot_rows"

    def library_text(self, dtype: Any) -> str:
        """Text that defines the loop for elements of one dtype."""
        return library_text(np.dtype(dtype).name)


def is_for(dtype: Any) -> bool:
    """Whether this machine gathers elements of a dtype under a mask faster than one by one."""
    return dtype.kind == "f" and dtype.itemsize >= 4 and register_tile.registers()[0] == 64


@cache
def library_text(name: str) -> str:
    """The text of the loop over rows."""
    parts = [
        build.HEADER.format(title=f"Rows of sparse products with a column: {name}."),
        register_tile.IMPORTS,
        "from numba.core import cgutils\nfrom numba.np import arrayobj\n",
        NAMES,
        *(build.plain_source(f) for f in (places_at, masked, build_dot)),
        "@intrinsic\n" + build.plain_source(dot),
        "@inner\n" + build.plain_source(row_at.function),
        "@inner\n" + build.plain_source(dot_rows),
    ]
    return "\n\n".join(parts)


# Compiled.


def dot(context, others, values, mat, begin, stop):
    """The sum of values[k] * mat[others[k]] over k from begin to stop."""
    number = types.int64
    return values.dtype(others, values, mat, number, number), build_dot


def places_at(builder, base, scalar, indices):
    """The addresses of base[indices]: llvmlite has no words for a vector of them."""
    pointers = ir.VectorType(base.type, LANES)

    class Places(ir.Instruction):
        def descr(self, buffer):
            first, chosen = self.operands
            what = f"ptr {first.get_reference()}, {chosen.type} {chosen.get_reference()}"
            buffer.append(f"getelementptr {scalar}, {what}\n")

    made = Places(builder.block, pointers, "getelementptr", [base, indices])
    builder._insert(made)
    return made


def masked(builder, how, vector, kind, place, mask):
    """The elements under a mask from a place, or from places; zero elsewhere."""
    at = f"v{LANES}p0" if how == "gather" else "p0"
    number = ir.IntType(32)
    signature = ir.FunctionType(vector, [place.type, number, mask.type, vector])
    function = cgutils.get_or_insert_function(
        builder.module, signature, f"llvm.masked.{how}.v{LANES}{kind}.{at}"
    )
    size = int(kind[1:]) // 8
    return builder.call(function, [place, number(size), mask, ir.Constant(vector, None)])


def build_dot(context, builder, signature, args):
    """Steps under masks; the lanes' sums are added at the end."""
    arrays = zip(signature.args[:3], args, strict=False)
    others, values, mat = (
        arrayobj.make_array(kind)(context, builder, array).data for kind, array in arrays
    )
    begin, stop = args[3:]
    index, scalar = others.type.pointee, values.type.pointee
    word, kind = ir.IntType(64), f"f{signature.return_type.bitwidth}"
    indices, vector = ir.VectorType(index, LANES), ir.VectorType(scalar, LANES)
    words = ir.VectorType(word, LANES)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    nothing = ir.Constant(words, ir.Undefined)
    entry, body = builder.block, builder.append_basic_block("entries_of_row")
    after = builder.append_basic_block("row_done")
    builder.branch(body)
    builder.position_at_end(body)
    k, sums = builder.phi(word), builder.phi(vector)
    left = builder.insert_element(nothing, builder.sub(stop, k), ir.Constant(ir.IntType(32), 0))
    left = builder.shuffle_vector(left, nothing, everywhere)
    mask = builder.icmp_signed("<", ir.Constant(words, list(range(LANES))), left)
    at = builder.bitcast(builder.gep(others, [k]), indices.as_pointer())
    chosen = masked(builder, "load", indices, f"i{index.width}", at, mask)
    at = builder.bitcast(builder.gep(values, [k]), vector.as_pointer())
    value = masked(builder, "load", vector, kind, at, mask)
    factor = masked(builder, "gather", vector, kind, places_at(builder, mat, scalar, chosen), mask)
    product = builder.fmul(value, factor, flags=("contract",))
    new = builder.fadd(sums, product, flags=("contract",))
    following = builder.add(k, word(LANES))
    k.add_incoming(begin, entry)
    k.add_incoming(following, body)
    sums.add_incoming(ir.Constant(vector, None), entry)
    sums.add_incoming(new, body)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    builder.position_at_end(after)
    joined = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(scalar, [scalar, vector]),
        f"llvm.vector.reduce.fadd.v{LANES}{kind}",
    )
    return builder.call(joined, [ir.Constant(scalar, 0.0), new], fastmath=("reassoc",))


def dot_rows(first, last, result, offsets, others, values, mat, parts):
    """Parts of the rows from first to last."""
    row, end = row_at(offsets, first, parts), row_at(offsets, last, parts)
    begin = np.int64(offsets[row])
    while row < end:
        stop = np.int64(offsets[row + 1])
        result[row] = dot(others, values, mat, begin, stop)
        begin = stop
        row += 1
