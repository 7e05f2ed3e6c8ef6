"""Copies and casts by compiled loops, which threads share.

Casts of few elements from or to integers are left to NumPy, that no loop is compiled for them, and
so are those from floats to short integers, of which C leaves open what becomes of numbers out of
range: LLVM decides otherwise than NumPy's compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

from torchgen_out._runtime.backends.cpu.pointwise_kernels import (
    PLANS_KEPT,
    LoopKernels,
    Runner,
    elements_of,
    make_runner,
    typed_buffer,
)
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import Call, TensorCall
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu.copy.casting import cast, move_places
from torchgen_out._runtime.kernels.cpu.planned import Cast

FLOATING = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
TRUNCATED = (dtypes.int32, dtypes.int64, dtypes.bool)
WHOLE = (*TRUNCATED, dtypes.int16, dtypes.int8, dtypes.uint8)
BY_SIZE = {1: dtypes.uint8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
"""What elements are moved as that keep their dtype."""


@cache
def cast_kernels(own: dtypes.dtype, wanted: dtypes.dtype) -> LoopKernels | None:
    """The loops from one dtype to another; None for those that NumPy always does."""
    if own is wanted:
        moved = BY_SIZE.get(own.itemsize)
        return None if moved is None else _kernels(moved, moved, moved)
    if own in FLOATING and wanted in (*FLOATING, *TRUNCATED):
        wide = dtypes.float64 in (own, wanted)
        return _kernels(own, wanted, dtypes.float64 if wide else dtypes.float32)
    if own in WHOLE and wanted in (*FLOATING, *WHOLE):
        through = wanted.opmath if wanted in FLOATING else dtypes.int64
        return _kernels(own, wanted, through)
    return None


def _kernels(own: dtypes.dtype, wanted: dtypes.dtype, compute: dtypes.dtype) -> LoopKernels:
    return LoopKernels(PointwiseSpec(cast, ("tensor",), (own,), (wanted,), compute))


MOST_PLACES = 256
"""For how many elements it is remembered where each comes from and goes to."""


def make_mover(dtype: dtypes.dtype, source: plans.Geometry, out: plans.Geometry) -> Runner:
    """The copy of few elements, each from its place: half the time of a loop over dims."""
    places, to = plans.element_places(source), plans.element_places(out)
    arrays = dtype.numpy, int, dtype.numpy, int, to.dtype, places.dtype
    move = move_places.entry_point(arrays)

    def run(buffer: Any, offset: int, tensors: Sequence[Tensor], scalars: Any) -> None:
        own, start = elements_of(tensors[0])
        move(buffer, offset, own, start, to, places)

    return run


def make_cast_call(
    kernel: Cast, general: TensorCall, prepare: Callable[[Any], Any], is_plain: bool
) -> Call:
    """call(self, ...): a copy, of the dtype and geometry that `prepare` says.

    is_plain: whether the kernel takes the tensor's own array, as it is.
    """
    known: dict[Any, Any] = {}

    def make(self: Tensor, plain: Any) -> Any:
        output = prepare((self, *plain))
        is_dense = is_plain and self._flat is not None and output.is_contiguous
        if is_dense and self.dtype is output.dtype and not output.is_rounded:
            return output, None
        return output, find_copier(self, output.dtype, (output.sizes, output.strides))

    def call(self: Tensor, *plain: Any) -> Any:
        geometry = (self._sizes, self._strides, plain)
        found = known.get(geometry)
        if found is None:
            found = make(self, plain)
            if len(known) < PLANS_KEPT:
                known[geometry] = found
        output, copier = found
        flat = self._flat
        if copier is not None:
            buffer = output.empty(output.numel, output.numpy)
            copier(buffer, 0, (self,), ())
        elif is_plain and flat is not None and output.is_contiguous and not output.is_rounded:
            buffer = output.empty(output.numel, output.numpy)
            kernel.kernel(buffer, flat, *plain)
        else:
            return general(self, *plain)
        if output.is_contiguous:
            return build(output.key, output.sizes, output.strides, 0, None, buffer)
        return build(output.key, output.sizes, output.strides, 0, Storage(buffer))

    return call


def make_cast_into_call(general: TensorCall) -> Call:
    """call(self, src, ...): `src` copied into `self`."""
    known: dict[Any, Any] = {}

    def call(self: Tensor, src: Tensor, *plain: Any) -> Tensor:
        sizes, storage = self._sizes, self._shared or self._storage
        if sizes != src._sizes or storage is src._shared:
            return general(self, src, *plain)
        geometry = (sizes, self._strides, src._strides)
        try:
            copier = known[geometry]
        except KeyError:
            copier = None
            if 0 not in self._strides:
                copier = find_copier(src, self.dtype, geometry[:2])
            if len(known) < PLANS_KEPT:
                known[geometry] = copier
        if copier is None:
            return general(self, src, *plain)
        copier(typed_buffer(self), self._offset, (src,), ())
        storage.version += 1
        return self

    return call


def find_copier(source: Tensor, wanted: dtypes.dtype, out: plans.Geometry) -> Runner | None:
    """The copy of tensors of a geometry into another; None if it is left to NumPy."""
    kernels = cast_kernels(source.dtype, wanted)
    if kernels is None:
        return None
    if source.dtype is wanted and source._sizes == out[0] and 0 < prod(out[0]) <= MOST_PLACES:
        return make_mover(wanted, (source._sizes, source._strides), out)
    plan = plans.plan_pointwise(((source._sizes, source._strides),), out, in_runs=True)
    is_common = source.dtype is wanted or (source.dtype in FLOATING and wanted in FLOATING)
    if not plan.numel or (plan.numel < threads.GRAIN and not is_common):
        return None
    return make_runner(kernels, plan)
