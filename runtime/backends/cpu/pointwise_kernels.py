"""The loops of one pointwise operator for one signature, and running them over tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from torchgen_out._runtime.backends.common.pointwise_formula import PointwiseFormula
from torchgen_out._runtime.backends.common.pointwise_signature import PointwiseSignature
from torchgen_out._runtime.backends.cpu import pool
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu.loops.pointwise import (
    contiguous_kernel,
    inplace_kernel,
    strided_kernel,
    tiled_kernel,
    work_of,
)

PLANS_KEPT = 1024
"""Geometries that a call remembers; others are planned anew."""


class LoopKernels:
    """The loops around one formula for known dtypes, built when first used.

    at_defaults: the spec of a simpler formula, for when all scalars have their defaults.
    """

    def __init__(self, spec: PointwiseSpec, at_defaults: PointwiseSpec | None = None) -> None:
        self.spec = spec
        self.at_defaults = at_defaults
        self._contiguous: dict[Any, Any] = {}
        self._inplace: dict[bool, Any] = {}
        self._strided: dict[Any, Any] = {}
        self.work = work_of(spec)
        self.serial_below = -(-2 * threads.GRAIN // self.work)
        """Elements that are not worth a second thread."""
        self.runners: dict[Any, Runner] = {}
        """By geometry, of the result and of all operands, for results that are there."""

    def flat_kernel(self, form: tuple[int, ...] = (), at_defaults: bool = False) -> Any:
        """The flat loop, compiled or loaded now. form: the inputs' strides, unless all are 1.

        at_defaults: without the scalars, where that is simpler for their defaults.
        """
        found = self._contiguous.get((form, at_defaults))
        if found is None:
            spec = self.at_defaults if at_defaults and self.at_defaults else self.spec
            found = self._contiguous[form, at_defaults] = contiguous_kernel(spec, form)
        return found

    def inplace_kernel(self, at_defaults: bool = False) -> Any:
        """The flat loop that writes over its first input."""
        found = self._inplace.get(at_defaults)
        if found is None:
            spec = self.at_defaults if at_defaults and self.at_defaults else self.spec
            found = self._inplace[at_defaults] = inplace_kernel(spec)
        return found

    def strided_kernel(self, form: tuple[int, ...], tiled: bool, at_defaults: bool = False) -> Any:
        """The loop over any geometry, for inner strides of some form."""
        found = self._strided.get((form, tiled, at_defaults))
        if found is None:
            spec = self.at_defaults if at_defaults and self.at_defaults else self.spec
            found = (tiled_kernel if tiled else strided_kernel)(spec, form)
            self._strided[form, tiled, at_defaults] = found
        return found


class PointwiseKernels(LoopKernels, PointwiseFormula):
    """The kernels of one formula for one signature and result dtype, built when first used."""

    def __init__(self, special: PointwiseSignature, outputs: tuple[dtypes.dtype, ...]) -> None:
        PointwiseFormula.__init__(self, special, outputs)
        LoopKernels.__init__(self, self.spec, self.at_defaults)
        self.storage_dtype = outputs[0].numpy
        self.small = min(self.serial_below, pool.ALIGNED_BYTES // self.storage_dtype.itemsize)
        """Elements below which a result needs neither a second thread nor memory that is aligned.
        """

    def result_key(self, zero_dim: bool) -> int:
        """The key of a new result."""
        return keys.pack(self.outputs[0].index, 0, 0, zero_dim)


def common_flat(tensors: Sequence[Tensor]) -> list[Any] | None:
    """The flat arrays of tensors of one shape that are known to be dense; None if one is not."""
    sizes = tensors[0]._sizes
    arrays = []
    for tensor in tensors:
        flat = tensor._flat
        if flat is None or tensor._sizes != sizes:
            return None
        arrays.append(flat)
    return arrays


def run(
    kernels: LoopKernels,
    plan: plans.PointwisePlan,
    buffers: list[Any],
    out_offsets: tuple[int, ...],
    tensors: Sequence[Tensor],
    scalars: Sequence[Any],
) -> None:
    """Run the loop that the plan calls for."""
    if plan.numel == 0:
        return
    if plan.flat:
        outputs = [
            buffer[offset : offset + plan.numel]
            for buffer, offset in zip(buffers, out_offsets, strict=True)
        ]
        arrays = (*outputs, *flat_inputs(plan, tensors))
        kernel = kernels.flat_kernel(plan.flat_form)
        threads.run_flat(kernel, arrays, tuple(scalars), work=kernels.work)
        return
    inputs = [typed_buffer(t) for t in tensors]
    offsets = (*out_offsets, *[t._offset for t in tensors])
    form = plan.form if len(buffers) == 1 else plan.form[:1] * (len(buffers) - 1) + plan.form
    kernel = kernels.strided_kernel(form, plan.tiled)
    parts = threads.part_count(int(plan.loop_sizes[0]), plan.numel * kernels.work)
    if parts == 1:
        loop = plan.loop_for(len(buffers))
        kernel(loop, plan.counter(), plan.runs, *offsets, *buffers, *inputs, *scalars)
        return
    calls = [
        (loop, plan.counter(), runs, *map(add, offsets, places), *buffers, *inputs, *scalars)
        for loop, runs, places in split_loop(plan, len(buffers), parts)
    ]
    threads.run_calls(kernel, calls)


Runner = Callable[[Any, int, Sequence[Tensor], Sequence[Any]], None]
"""runner(buffer, at, tensors, scalars): a loop with one result, from place `at` of a buffer on."""


def make_runner(kernels: LoopKernels, plan: plans.PointwisePlan) -> Runner:
    """`run` for one result, for a plan that is kept; a small loop is called with no detour."""
    numel, loop, runs, outer = plan.numel, plan.loop, plan.runs, plan.outer_dims

    def run_any(buffer: Any, at: int, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        run(kernels, plan, [buffer], (at,), tensors, scalars)

    def run_flat(buffer: Any, at: int, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        arrays = []
        for tensor in tensors:
            own, start = elements_of(tensor)
            arrays.append(own[start:] if start else own)
        kernel(buffer[at : at + numel], *arrays, *scalars)

    def run_one(buffer: Any, at: int, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        own, start = elements_of(tensors[0])
        counter = np.zeros(outer, np.int64) if outer else loop
        kernel(loop, counter, runs, at, start, buffer, own, *scalars)

    def run_several(
        buffer: Any, at: int, tensors: Sequence[Tensor], scalars: Sequence[Any]
    ) -> None:
        arrays, places = zip(*map(elements_of, tensors), strict=True)
        counter = np.zeros(outer, np.int64) if outer else loop
        kernel(loop, counter, runs, at, *places, buffer, *arrays, *scalars)

    if not 0 < numel < kernels.serial_below:
        return run_any
    if plan.flat:
        kernel = kernels.flat_kernel(plan.flat_form)
        return run_flat
    kernel = kernels.strided_kernel(plan.form, plan.tiled)
    return run_one if len(plan.form) == 2 else run_several


def elements_of(tensor: Tensor) -> tuple[Any, int]:
    """An array that holds the tensor's elements, and where they begin."""
    flat = tensor._flat
    return (typed_buffer(tensor), tensor._offset) if flat is None else (flat, 0)


@lru_cache(maxsize=PLANS_KEPT)
def split_loop(
    plan: plans.PointwisePlan, outputs: int, parts: int
) -> list[tuple[Any, int, tuple[int, ...]]]:
    """(loop, runs, place of each operand) of each thread's part: parts of the outermost dim."""
    loop = plan.loop_for(outputs)
    dims, size = int(loop[0]), int(loop[1])
    steps = [int(stride) for stride in loop[1 + dims :: dims]]
    edges = [size * part // parts for part in range(parts + 1)]
    is_outer = dims > (2 if plan.tiled else 1)
    split = []
    for start, stop in pairwise(edges):
        own = loop.copy()
        own[1] = stop - start
        runs = plan.runs // size * (stop - start) if is_outer else plan.runs
        split.append((own, runs, tuple([start * step for step in steps])))
    return split


def flat_inputs(plan: plans.PointwisePlan, tensors: Sequence[Tensor]) -> list[Any]:
    """The elements of each tensor in the order of memory, or the one that it repeats."""
    arrays = []
    for tensor, stride in zip(tensors, plan.form[1:], strict=True):
        flat = tensor._flat
        if flat is None:
            start = tensor._offset
            flat = typed_buffer(tensor)[start : start + (plan.numel if stride else 1)]
        arrays.append(flat)
    return arrays


def typed_buffer(tensor: Tensor) -> Any:
    """The storage's buffer seen as the tensor's dtype."""
    buffer = tensor._storage.buffer
    dtype = dtypes.BY_INDEX[tensor._key & keys.DTYPE_MASK].numpy
    return buffer if buffer.dtype is dtype else buffer.view(dtype)
