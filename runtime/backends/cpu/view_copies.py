"""What views show, copied in one step: the geometry and the launch are planned together.

A view and a clone of it are two tensors and two look-ups: most of what copies of few elements cost.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torchgen_out._runtime.backends.common.pointwise_calls import are_contiguous
from torchgen_out._runtime.backends.cpu import casting
from torchgen_out._runtime.backends.cpu.conversions import Operand
from torchgen_out._runtime.backends.cpu.memory import memory_of
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.operator import Call, View
from torchgen_out._runtime.dispatch.view_call import Answers, make_copy_call
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.copy.casting import can_move, mover
from torchgen_out._runtime.kernels.plan import Geometry, element_places

APART: tuple[Any, ...] = ()
"""The answer for copies that are made of a view by the operator that copies."""


def make_call(view: View, key: int, keeps_order: bool, apart: Call) -> Call:
    """The copy of what `view` shows of CPU tensors of one key; `apart`: the same in two steps."""
    call: Call = make_copy_call(CopyAnswers(view, key, keeps_order), apart, memory_of)
    return call


class CopyAnswers(Answers):
    """How what a view function shows is copied, by sizes, strides and arguments.

    keeps_order: whether dims keep their order in memory; else copies are contiguous.
    """

    def __init__(self, view: View, key: int, keeps_order: bool) -> None:
        super().__init__(view.function, key, view.several)
        self.keeps_order = keeps_order

    def work_out(self, self_: Tensor, args: Any) -> tuple[Any, ...]:
        """Ask the function, and plan the copies of what it answers."""
        shown = super().work_out(self_, args)
        if not self.several:
            return self.plan(self_, *shown)
        planned = tuple([self.plan(self_, *each) for each in shown])
        return planned if all(planned) else APART

    def plan(
        self, self_: Tensor, key: int, sizes: Any, strides: tuple[int, ...], shift: int
    ) -> tuple[Any, ...]:
        """One answer."""
        numel, dense = shapes.numel(sizes), shapes.contiguous_strides(sizes)
        if not numel or (self.keeps_order and shapes.dense_strides(sizes, strides) != dense):
            return APART
        own, dtype = self_.dtype, dtypes.BY_INDEX[key & keys.DTYPE_MASK]
        is_dense = are_contiguous([self_])
        if is_dense:  # places are counted from its own first element
            held = shapes.numel(self_._sizes) * own.itemsize // dtype.itemsize
            shift += self_._offset - self_._offset * own.itemsize // dtype.itemsize
            if shift < 0 or shift + shapes.extent_of(sizes, strides) > held:
                return APART
        elif own.itemsize != dtype.itemsize:
            return APART
        move = _plan_move(own, dtype, (sizes, strides), (sizes, dense))
        if move is None:
            return APART
        empty = pool.maker(numel * dtype.itemsize, dtype.numpy)
        return key, sizes, dense, shift, empty, numel, *move, is_dense


def _plan_move(
    own: dtypes.dtype, dtype: dtypes.dtype, source: Geometry, out: Geometry
) -> tuple[Any, ...] | None:
    """`move` of an answer and what it is given last; None if the launch is the copy's to plan."""
    if can_move(shapes.numel(out[0]), dtype.itemsize):
        move = mover(dtype.itemsize)
        if own.itemsize != dtype.itemsize:
            move = partial(_move_parts, move, dtype.numpy)
        return move, element_places(out), element_places(source)
    if own is not dtype:
        return None
    plan = casting.plan_cast(Operand(own, own, *out), Operand(own, own, *source))
    return plan and (_move_together if plan[1] is not None else _move_places, *plan)


def _move_parts(
    move: Any, dtype: Any, out: Any, at_out: int, flat: Any, at: int, to: Any, places: Any
) -> None:
    """The move of elements of another size than memory is known to hold."""
    move(out, at_out, flat.view(dtype), at, to, places)


def _move_together(out: Any, at_out: int, flat: Any, at: int, run: Any, count: int) -> None:
    """The move of elements that lie together."""
    run(out, flat[at : at + count])


def _move_places(out: Any, at_out: int, flat: Any, at: int, run: Any, params: None) -> None:
    """The move of others, by a loop that is given their places."""
    run(at_out, at, out, flat)
