"""Contractions of index programs on CUDA: products of cuBLASLt over views of what lies there."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.common.contraction import Axis, Matrices, Operand, matrices
from torchgen_out._runtime.kernels.common.index import Product
from torchgen_out._runtime.kernels.cuda.direct import ProductQueue, batched
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array

MOST_CALLS = 64
"""Products that are queued one by one: with more of them, loops keep a device busier."""


def contracted(
    queue: ProductQueue,
    product: Product,
    arrays: Sequence[Array],
    extents: dict[str, int],
    batch: Sequence[int],
    operands: tuple[Operand, Operand, Operand],
) -> bool:
    """Queue a contraction; False where loops are the better way, or the only one.

    arrays: the result and both factors. 16-bit factors are multiplied as they are, which a device
    does many times faster, and may be summed in float32.
    """
    out, one, other = (array.dtype for array in arrays)
    if one is not other or (out is not one and out is not one.opmath):
        return False
    found = matrices(product, extents, batch, operands)
    if found is None:
        return False
    if found.columns.strides[0] != 1 and found.rows.strides[0] == 1:
        found, arrays = found.turned, (arrays[0], arrays[2], arrays[1])
    if found.columns.strides[0] != 1:
        return False
    return _as_one_batch(queue, found, arrays) or _one_by_one(queue, found, arrays)


def _as_one_batch(queue: ProductQueue, found: Matrices, arrays: Sequence[Array]) -> bool:
    """One call for whole matrices, if there is no loop but that over a batch."""
    if found.conditions or len(found.loops) > 1 or any(not each.strides[0] for each in found.loops):
        return False
    views = [
        array.at(start, *_geometry([*found.loops, *pair], i))
        for i, array, start, pair in zip(range(3), arrays, found.starts, _pairs(found), strict=True)
    ]
    out, one, other = (view if view.ndim == 3 else batched(view) for view in views)
    multiply(queue, out, one, other)
    return True


def _one_by_one(queue: ProductQueue, found: Matrices, arrays: Sequence[Array]) -> bool:
    calls = found.calls()
    if calls is None or len(calls) > MOST_CALLS:
        return False
    is_covered = found.is_covered(calls)
    if not is_covered:
        queue.fill(arrays[0], 0)
    for row, last_row, column, last_column, inner, last, *starts, adds in calls.tolist():
        begins = {id(found.rows): row, id(found.columns): column, id(found.inner): inner}
        sizes = {
            id(found.rows): last_row - row,
            id(found.columns): last_column - column,
            id(found.inner): last - inner,
        }
        views = []
        for i, pair in enumerate(_pairs(found)):
            start = starts[i] + sum(begins[id(axis)] * axis.strides[i] for axis in pair)
            own = [sizes[id(axis)] for axis in pair]
            views.append(batched(arrays[i].at(start, own, [axis.strides[i] for axis in pair])))
        out, one, other = views
        if adds or not is_covered:
            multiply(queue, out, one, other, 1, 1, out)
        else:
            multiply(queue, out, one, other)
    return True


def _pairs(found: Matrices) -> tuple[tuple[Axis, Axis], ...]:
    """The axes of the three matrices."""
    rows, columns, inner = found[:3]
    return (rows, columns), (rows, inner), (inner, columns)


def _geometry(axes: Sequence[Axis], tensor: int) -> tuple[list[int], list[int]]:
    return [axis.extent for axis in axes], [axis.strides[tensor] for axis in axes]
