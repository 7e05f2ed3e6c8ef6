"""Calls of pointwise operators on the CPU: which loop, over which memory, into what result.

The usual calls have short paths (`pointwise_short`), writing to existing tensors is
`pointwise_into`; all others are planned once per geometry (`runtime.kernels.plan`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_out._runtime.backends.common import pointwise_signature
from torchgen_out._runtime.backends.cpu import pool
from torchgen_out._runtime.backends.cpu.pointwise_into import make_inplace_call, make_out_call
from torchgen_out._runtime.backends.cpu.pointwise_kernels import (
    PLANS_KEPT,
    PointwiseKernels,
    Runner,
    common_flat,
    flat_inputs,
    make_runner,
    run,
)
from torchgen_out._runtime.backends.cpu.pointwise_short import (
    SHORT_PATHS,
    TERNARY,
    make_ternary_call,
)
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import build
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Pointwise
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads


def make_call(operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of `operator` for CPU tensors of one signature."""
    special = pointwise_signature.specialise(operator, signature)
    if variant == OUT:
        return make_out_call(special)
    if variant == INPLACE:
        return make_inplace_call(special)
    kernels = PointwiseKernels(special, (special.result,) * operator.outputs)
    general = (make_single_call if operator.outputs == 1 else make_general_call)(kernels)
    zero_dim = all(entry & keys.ZERO_DIM for entry in signature if entry.__class__ is int)
    if operator.outputs == 1:
        maker = SHORT_PATHS.get(special.arguments)
        if maker:
            return maker(kernels, general, kernels.result_key(zero_dim))
    if operator.outputs <= 2 and special.arguments in TERNARY:
        return make_ternary_call(kernels, general, kernels.result_key(zero_dim))
    return general


class Found(NamedTuple):
    """What a call remembers of a geometry: the loop, and the memory and fields of the result."""

    runner: Runner
    empty: Any
    numel: int
    key: int
    sizes: Size
    strides: tuple[int, ...]
    contiguous: bool


def make_single_call(kernels: PointwiseKernels) -> Call:
    """Any number of operands, any geometry, one result."""
    (dtype,) = kernels.outputs
    storage_dtype, base_key = dtype.numpy, keys.pack(dtype.index, 0, 0, False)
    geometries: dict[Any, Found] = {}
    only_tensors = set(kernels.arguments) == {"tensor"}

    def find(geometry: Any, tensors: Any) -> Found:
        plan = plans.plan_pointwise(tuple([(t._sizes, t._strides) for t in tensors]), in_runs=True)
        found = Found(
            make_runner(kernels, plan),
            pool.array_maker(plan.numel * storage_dtype.itemsize),
            plan.numel,
            base_key if plan.sizes else base_key | keys.ZERO_DIM,
            plan.sizes,
            plan.strides,
            plan.contiguous,
        )
        if len(geometries) < PLANS_KEPT:
            geometries[geometry] = found
        return found

    def call(*args: Any) -> Any:
        tensors, scalars = (args, ()) if only_tensors else kernels.split(args)
        geometry: tuple[Any, ...]
        if len(tensors) == 1:
            geometry = tensors[0]._sizes, tensors[0]._strides
        else:
            geometry = tuple([each for t in tensors for each in (t._sizes, t._strides)])
        found = geometries.get(geometry) or find(geometry, tensors)
        runner, empty, numel, key, sizes, strides, contiguous = found
        buffer = empty(numel, storage_dtype)
        runner(buffer, 0, tensors, scalars)
        if contiguous:
            return build(key, sizes, strides, 0, None, buffer)
        return build(key, sizes, strides, 0, Storage(buffer))

    return call


def make_general_call(kernels: PointwiseKernels) -> Call:
    """Any number of operands, any geometry, several results."""
    outputs = kernels.outputs
    storage_dtypes = [dtype.numpy for dtype in outputs]
    output_keys = [keys.pack(dtype.index, 0, 0, False) for dtype in outputs]
    geometries: dict[Any, plans.PointwisePlan] = {}
    only_tensors = set(kernels.arguments) == {"tensor"}

    def call(*args: Any) -> Any:
        tensors, scalars = (args, ()) if only_tensors else kernels.split(args)
        flat = common_flat(tensors)
        if flat is not None:
            first = tensors[0]
            sizes, strides, numel = first._sizes, first._strides, flat[0].size
            buffers = [pool.empty(numel, dtype) for dtype in storage_dtypes]
            all_arrays = (*buffers, *flat)
            threads.run_flat(kernels.flat_kernel(), all_arrays, tuple(scalars), work=kernels.work)
            contiguous = True
        else:
            geometry = tuple([each for t in tensors for each in (t._sizes, t._strides)])
            plan = geometries.get(geometry)
            if plan is None:
                plan = plans.plan_pointwise(
                    tuple([(t._sizes, t._strides) for t in tensors]), in_runs=True
                )
                if len(geometries) < PLANS_KEPT:
                    geometries[geometry] = plan
            sizes, strides, contiguous = plan.sizes, plan.strides, plan.contiguous
            buffers = [pool.empty(plan.numel, dtype) for dtype in storage_dtypes]
            if plan.flat and 0 < plan.numel < kernels.serial_below:
                arrays = flat_inputs(plan, tensors)
                kernels.flat_kernel(plan.flat_form)(*buffers, *arrays, *scalars)
            else:
                run(kernels, plan, buffers, (0,) * len(buffers), tensors, scalars)
        zero_dim = 0 if sizes else keys.ZERO_DIM
        return tuple(
            [
                build(
                    key | zero_dim,
                    sizes,
                    strides,
                    0,
                    None if contiguous else Storage(buffer),
                    buffer if contiguous else None,
                )
                for key, buffer in zip(output_keys, buffers, strict=True)
            ]
        )

    return call
