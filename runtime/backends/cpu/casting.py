"""Copies and casts by compiled loops: between floating dtypes, and of transposed memory.

Dense copies without a cast are left to NumPy's, which are as fast, and so are casts from floats to
integers, of which C leaves open what becomes of numbers out of range.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from runtime.backends.cpu.pointwise_kernels import LoopKernels, run, typed_buffer
from runtime.core import dtype as dtypes
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import Call
from runtime.kernels import plan as plans
from runtime.kernels import threads
from runtime.kernels.cpu.planned import Cast
from runtime.kernels.cpu.pointwise import PointwiseSpec

FLOATING = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
BY_SIZE = {1: dtypes.uint8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
"""What elements are moved as that keep their dtype."""


def cast(x):
    """The element itself: loading and storing convert it."""
    return x


@cache
def cast_kernels(own: dtypes.dtype, wanted: dtypes.dtype) -> LoopKernels | None:
    """The loops from one dtype to another; None for those that are left to NumPy."""
    if own is wanted:
        moved = BY_SIZE.get(own.itemsize)
        return None if moved is None else _kernels(moved, moved, moved)
    if own not in FLOATING or wanted not in FLOATING:
        return None
    wide = dtypes.float64 in (own, wanted)
    return _kernels(own, wanted, dtypes.float64 if wide else dtypes.float32)


def _kernels(own: dtypes.dtype, wanted: dtypes.dtype, compute: dtypes.dtype) -> LoopKernels:
    return LoopKernels(PointwiseSpec(cast, ("tensor",), (own,), (wanted,), compute))


def make_cast_call(
    kernel: Cast, general: Call, prepare: Callable[[Any], Any], is_plain: bool
) -> Call:
    """call(self, ...): a copy, of the dtype and geometry that `prepare` says.

    is_plain: whether the kernel takes the tensor's own array, as it is.
    """
    known: dict[Any, Any] = {}

    def call(self: Tensor, *plain: Any) -> Any:
        geometry = (self._sizes, self._strides, plain)
        found = known.get(geometry)
        if found is None:
            output = prepare((self, *plain))
            out = output.sizes, output.strides
            found = known[geometry] = output, *choose(self, output.dtype, out)
        output, kernels, plan = found
        flat = self._flat
        if kernels is not None:
            buffer = output.empty(output.numel, output.numpy)
            if plan.flat and flat is not None and flat.size < threads.GRAIN:
                kernels.flat_kernel()(buffer, flat)
            else:
                run(kernels, plan, [buffer], (0,), (self,), ())
        elif is_plain and flat is not None and output.is_contiguous and not output.is_rounded:
            buffer = output.empty(output.numel, output.numpy)
            kernel.kernel(buffer, flat, *plain)
        else:
            return general(self, *plain)
        if output.is_contiguous:
            return build(output.key, output.sizes, output.strides, 0, None, buffer)
        return build(output.key, output.sizes, output.strides, 0, Storage(buffer))

    return call


def make_cast_into_call(general: Call) -> Call:
    """call(self, src, ...): `src` copied into `self`."""

    def call(self: Tensor, src: Tensor, *plain: Any) -> Tensor:
        kernels = None
        if self._sizes == src._sizes and self._storage is not src._storage:
            kernels, plan = choose(src, self.dtype, (self._sizes, self._strides))
        if kernels is None or 0 in self._strides:
            return general(self, src, *plain)  # type: ignore[no-any-return]
        run(kernels, plan, [typed_buffer(self)], (self._offset,), (src,), ())
        self._storage.version += 1
        return self

    return call


def choose(
    source: Tensor, wanted: dtypes.dtype, out: plans.Geometry
) -> tuple[LoopKernels | None, plans.PointwisePlan | None]:
    """The loops and the plan of a copy; None for both if NumPy does it as well."""
    kernels = cast_kernels(source.dtype, wanted)
    if kernels is None:
        return None, None
    plan = plans.plan_pointwise(((source._sizes, source._strides),), out)
    if not plan.numel or (source.dtype is wanted and not plan.tiled):
        return None, None
    return kernels, plan
