"""Pointwise calls that write to a tensor which is there: in place, and out=."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import resizing
from torchgen_out._runtime.backends.common.pointwise_signature import PointwiseSignature
from torchgen_out._runtime.backends.cpu.pointwise_kernels import (
    PLANS_KEPT,
    PointwiseKernels,
    Runner,
    common_flat,
    make_runner,
    typed_buffer,
)
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.operator import Call, TensorCall
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads


def make_inplace_call(special: PointwiseSignature) -> Call:
    """f(self, ...) written to self."""
    operator = special.operator
    out_dtype = special.inputs[0]
    name = operator.base_name + "_"
    promotion.check_inplace(operator.base_name, operator.promotion, special.result, out_dtype)
    kernels = PointwiseKernels(special, (out_dtype,))
    in_order = special.arguments[0] == "tensor"

    def call(self: Tensor, *args: Any) -> Tensor:
        tensors, scalars = kernels.split((self, *args))
        flat = _dense_arrays(tensors) if in_order else None
        if flat is None or tensors[0] is not self:
            write(kernels, name, self, tensors, scalars)
        else:
            for other in tensors:
                if other is not self and other._storage is self._storage:
                    overlap.check_operands(name, self, tensors)
            kernel = kernels.inplace_kernel()
            threads.run_flat(kernel, tuple(flat), tuple(scalars), work=kernels.work)
        self._storage.version += 1
        return self

    first, others = special.arguments[:2], special.arguments[2:]
    if first == ("tensor", "tensor") and set(others) <= {"scalar"}:
        return make_inplace_binary_call(kernels, call)
    if first[0] == "tensor" and set(special.arguments[1:]) <= {"scalar"}:
        return make_inplace_unary_call(kernels, call)
    return call


def make_inplace_unary_call(kernels: PointwiseKernels, general: TensorCall) -> Call:
    """f(self, *scalars) written to self, a dense tensor."""
    convert, serial_below = kernels.convert, kernels.serial_below

    def kernel(*args: Any) -> None:
        nonlocal kernel
        kernel = kernels.inplace_kernel()
        kernel(*args)

    def call(self: Tensor, *scalars: Any) -> Tensor:
        flat = self._flat
        if flat is None or flat.size >= serial_below:
            return general(self, *scalars)
        kernel(flat, *convert(scalars)) if scalars else kernel(flat)
        (self._shared or self._storage).version += 1
        return self

    return call


def make_inplace_binary_call(kernels: PointwiseKernels, general: TensorCall) -> Call:
    """f(self, other, *scalars) written to self, over dense tensors of one shape."""
    defaults, serial_below = kernels.defaults, kernels.serial_below
    convert = kernels.convert

    def simple(*arrays: Any) -> None:
        nonlocal simple
        simple = kernels.inplace_kernel(at_defaults=True)
        simple(*arrays)

    def call(self: Tensor, other: Tensor, *scalars: Any) -> Tensor:
        a, b = self._flat, other._flat
        storage = self._shared
        if (
            a is None
            or b is None
            or self._sizes != other._sizes
            or (storage is not None and storage is other._shared)
            or a.size >= serial_below
        ):
            return general(self, other, *scalars)
        if scalars == defaults:
            simple(a, b)
        else:
            kernels.inplace_kernel()(a, b, *convert(scalars))
        (storage or self._storage).version += 1
        return self

    return call


def make_out_call(special: PointwiseSignature) -> Call:
    """call(out, ...): f(...) written to `out`, which is resized if need be."""
    operator = special.operator
    by_dtype: dict[int, PointwiseKernels] = {}

    def call(out: Tensor, *args: Any) -> Tensor:
        index = out._key & keys.DTYPE_MASK
        kernels = by_dtype.get(index)
        if kernels is None:
            dtype = dtypes.BY_INDEX[index]
            promotion.check_out(special.result, dtype, operator.out_rule)
            kernels = by_dtype[index] = PointwiseKernels(special, (dtype,))
        tensors, scalars = kernels.split(args)
        flat = None if out._flat is None else _dense_arrays((out, *tensors))
        if flat is not None and not any(t is not out and _share(t, out) for t in tensors):
            is_first = tensors[0] is out
            kernel = kernels.inplace_kernel() if is_first else kernels.flat_kernel()
            arrays = tuple(flat[1:] if is_first else flat)
            threads.run_flat(kernel, arrays, tuple(scalars), work=kernels.work)
            (out._shared or out._storage).version += 1
            return out
        sizes = shapes.broadcast_shapes(*(t._sizes for t in tensors))
        if tuple(out._sizes) != tuple(sizes):
            resizing.resize_out(operator.base_name, out, sizes)
        write(kernels, operator.base_name, out, tensors, scalars)
        out._storage.version += 1
        return out

    first, others = special.arguments[:2], special.arguments[2:]
    if first == ("tensor", "tensor") and set(others) <= {"scalar"}:
        return make_out_binary_call(by_dtype, call)
    if first[0] == "tensor" and set(special.arguments[1:]) <= {"scalar"}:
        return make_out_unary_call(by_dtype, call)
    return call


def make_out_unary_call(by_dtype: dict[int, PointwiseKernels], general: TensorCall) -> Call:
    """f(self, *scalars) written to another dense tensor. by_dtype: as far as `general` knows."""

    def call(out: Tensor, self: Tensor, *scalars: Any) -> Tensor:
        target, flat = out._flat, self._flat
        kernels = by_dtype.get(out._key & keys.DTYPE_MASK)
        storage = out._shared
        if (
            kernels is None
            or target is None
            or flat is None
            or out._sizes != self._sizes
            or target is flat
            or (storage is not None and storage is self._shared)
            or target.size >= kernels.serial_below
        ):
            return general(out, self, *scalars)
        kernel = kernels.flat_kernel()
        kernel(target, flat, *kernels.convert(scalars)) if scalars else kernel(target, flat)
        (storage or out._storage).version += 1
        return out

    return call


def make_out_binary_call(by_dtype: dict[int, PointwiseKernels], general: TensorCall) -> Call:
    """f(self, other, *scalars) written to a third dense tensor of one shape."""

    def call(out: Tensor, self: Tensor, other: Tensor, *scalars: Any) -> Tensor:
        target, a, b = out._flat, self._flat, other._flat
        kernels = by_dtype.get(out._key & keys.DTYPE_MASK)
        storage = out._shared
        if (
            kernels is None
            or target is None
            or a is None
            or b is None
            or out._sizes != self._sizes
            or out._sizes != other._sizes
            or target is a
            or target is b
            or (storage is not None and (storage is self._shared or storage is other._shared))
            or target.size >= kernels.serial_below
        ):
            return general(out, self, other, *scalars)
        if scalars == kernels.defaults:
            kernels.flat_kernel((), True)(target, a, b)
        else:
            kernels.flat_kernel()(target, a, b, *kernels.convert(scalars))
        (storage or out._storage).version += 1
        return out

    return call


def write(
    kernels: PointwiseKernels, name: str, out: Tensor, tensors: Sequence[Tensor], scalars: list[Any]
) -> None:
    """Run the loop into an existing tensor.

    Raises: RuntimeError if `out` is too small, or overlaps itself or an input in part.
    """
    own = out._shared or out._storage
    geometry = tuple([each for t in (out, *tensors) for each in (t._sizes, t._strides)])
    runner = kernels.runners.get(geometry)
    if runner is None or any(t is not out and t._shared is own for t in tensors):
        runner = _find_runner(kernels, name, out, tensors, geometry)
    runner(typed_buffer(out), out._offset, tensors, scalars)


def _find_runner(
    kernels: PointwiseKernels, name: str, out: Tensor, tensors: Sequence[Tensor], geometry: Any
) -> Runner:
    """The loop for a geometry that was not met before, or whose tensors may overlap."""
    sizes = shapes.broadcast_shapes(out._sizes, *(t._sizes for t in tensors))
    if tuple(sizes) != tuple(out._sizes):
        raise errors.inplace_shape(name, out._sizes, sizes)
    overlap.check_operands(name, out, tensors)
    plan = plans.plan_pointwise(
        tuple([(t._sizes, t._strides) for t in tensors]),
        (out._sizes, out._strides),
        in_runs=True,
    )
    runner = make_runner(kernels, plan)
    if len(kernels.runners) < PLANS_KEPT:
        kernels.runners[geometry] = runner
    return runner


def _dense_arrays(tensors: Sequence[Tensor]) -> list[Any] | None:
    """As `common_flat`, finding out which tensors are dense: views are often written to again."""
    for tensor in tensors:
        if tensor._flat is None and tensor._dense() is None:
            return None
    return common_flat(tensors)


def _share(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have one storage; one that nobody asked for is not shared."""
    return a._shared is not None and a._shared is b._shared
