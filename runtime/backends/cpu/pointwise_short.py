"""Short paths of the usual pointwise calls: one or two dense tensors of one shape.

A kernel is compiled or loaded by the first call that runs it, which puts it in its own place. A
result's fields are set one by one here, because a constructor call costs as much as all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.backends.cpu import pool
from torchgen_out._runtime.backends.cpu.pointwise_kernels import (
    PLANS_KEPT,
    PointwiseKernels,
    typed_buffer,
)
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import Call, TensorCall
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads

_new = object.__new__
_empty, _zeros = np.empty, partial(np.zeros, dtype=np.int64)


def make_unary_call(kernels: PointwiseKernels, general: TensorCall, key: int) -> Call:
    """f(self) over a dense tensor."""
    dtype, small, work = kernels.storage_dtype, kernels.small, kernels.work

    def kernel(*arrays: Any) -> None:
        nonlocal kernel
        kernel = kernels.flat_kernel()
        kernel(*arrays)

    def call(self: Tensor) -> Tensor:
        flat = self._flat
        if flat is None:
            return general(self)
        size = flat.size
        if size < small:
            buffer = _empty(size, dtype)
            kernel(buffer, flat)
        else:
            buffer = pool.empty(size, dtype)
            threads.run_flat(kernel, (buffer, flat), work=work)
        result = _new(Tensor)
        result._key = key
        result._sizes = self._sizes
        result._strides = self._strides
        result._offset = 0
        result._shared = None
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    return call


def make_unary_scalars_call(kernels: PointwiseKernels, general: TensorCall, key: int) -> Call:
    """f(self, *scalars) over a dense tensor."""
    dtype, small, work = kernels.storage_dtype, kernels.small, kernels.work
    convert = kernels.convert

    def kernel(*args: Any) -> None:
        nonlocal kernel
        kernel = kernels.flat_kernel()
        kernel(*args)

    def call(self: Tensor, *scalars: Any) -> Tensor:
        flat = self._flat
        if flat is None:
            return general(self, *scalars)
        size = flat.size
        if size < small:
            buffer = _empty(size, dtype)
            kernel(buffer, flat, *convert(scalars))
        else:
            buffer = pool.empty(size, dtype)
            threads.run_flat(kernel, (buffer, flat), tuple(convert(scalars)), work=work)
        result = _new(Tensor)
        result._key = key
        result._sizes = self._sizes
        result._strides = self._strides
        result._offset = 0
        result._shared = None
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    return call


def make_binary_call(kernels: PointwiseKernels, general: TensorCall, key: int) -> Call:
    """f(self, other, *scalars) over dense tensors of one shape."""
    dtype, small, work = kernels.storage_dtype, kernels.small, kernels.work
    strided = make_binary_strided_call(kernels, general)
    defaults = kernels.defaults
    convert = kernels.convert

    def kernel(*arrays: Any) -> None:
        nonlocal kernel
        kernel = kernels.flat_kernel(at_defaults=True)
        kernel(*arrays)

    def call(self: Tensor, other: Tensor, *scalars: Any) -> Tensor:
        if scalars == defaults:
            return plain(self, other)
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return strided(self, other, scalars)
        buffer = pool.empty(a.size, dtype)
        numbers = tuple(convert(scalars))
        threads.run_flat(kernels.flat_kernel(), (buffer, a, b), numbers, work=work)
        return build(key, self._sizes, self._strides, 0, None, buffer)

    def plain(self: Tensor, other: Tensor, _: Any = None) -> Tensor:
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return strided(self, other, defaults)
        size = a.size
        if size < small:
            buffer = _empty(size, dtype)
            kernel(buffer, a, b)
        else:
            buffer = pool.empty(size, dtype)
            threads.run_flat(kernel, (buffer, a, b), work=work)
        result = _new(Tensor)
        result._key = key
        result._sizes = self._sizes
        result._strides = self._strides
        result._offset = 0
        result._shared = None
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    def call_one(self: Tensor, other: Tensor, scalar: Any) -> Tensor:
        return plain(self, other) if scalar == default else call(self, other, scalar)

    if not defaults and "scalar" not in kernels.arguments:
        return plain
    if len(defaults) == 1:
        (default,) = defaults
        return call_one
    return call


def make_binary_strided_call(
    kernels: PointwiseKernels, general: TensorCall
) -> Callable[[Tensor, Tensor, tuple[Any, ...]], Tensor]:
    """f(self, other, *scalars) over two tensors that need a plan."""
    routes: dict[Any, Route] = {}
    dtype, small, defaults = kernels.storage_dtype, kernels.small, kernels.defaults

    def call(self: Tensor, other: Tensor, scalars: tuple[Any, ...]) -> Tensor:
        a, b = self._flat, other._flat
        if a is None or b is None:
            geometry: Any = (self._sizes, self._strides, other._sizes, other._strides)
        else:
            geometry = (self._sizes, other._sizes)
        route = routes.get(geometry)
        if route is None:
            route = _find_route(kernels, self, other)
            if len(routes) < PLANS_KEPT:
                routes[geometry] = route
        kernel, loop, counted, runs, numel, key, sizes, strides, contiguous = route
        if not 0 < numel < small or scalars != defaults:
            return general(self, other, *scalars)
        at_a = at_b = 0
        is_dense = loop is None and contiguous  # then a view remembers it for the next call
        if a is None and not (is_dense and (a := self._dense()) is not None):
            a, at_a = typed_buffer(self), self._offset
        if b is None and not (is_dense and (b := other._dense()) is not None):
            b, at_b = typed_buffer(other), other._offset
        buffer = _empty(numel, dtype)
        if loop is None:
            kernel(buffer, a[at_a:] if at_a else a, b[at_b:] if at_b else b)
        else:
            kernel(loop, _zeros(counted) if counted else loop, runs, 0, at_a, at_b, buffer, a, b)
        if contiguous:
            return build(key, sizes, strides, 0, None, buffer)
        return build(key, sizes, strides, 0, Storage(buffer))

    return call


class Route(NamedTuple):
    """A kernel for two operands of one geometry, and what it makes of them."""

    kernel: Any
    loop: Any
    """None for a flat one."""
    counted: int
    """Outer dims that the kernel counts; its counter must be of this call alone."""
    runs: int
    numel: int
    key: int
    sizes: Size
    strides: tuple[int, ...]
    contiguous: bool


def _find_route(kernels: PointwiseKernels, a: Tensor, b: Tensor) -> Route:
    plan = plans.plan_pointwise(((a._sizes, a._strides), (b._sizes, b._strides)), in_runs=True)
    kernel = (
        kernels.flat_kernel(plan.flat_form, True)
        if plan.flat
        else kernels.strided_kernel(plan.form, plan.tiled, True)
    )
    return Route(
        kernel,
        None if plan.flat else plan.loop,
        plan.outer_dims,
        plan.runs,
        plan.numel,
        kernels.result_key(not plan.sizes),
        plan.sizes,
        plan.strides,
        plan.contiguous,
    )


def make_ternary_call(kernels: PointwiseKernels, general: TensorCall, key: int) -> Call:
    """f(first, a, b, *scalars) with one or two results, a and b being dense and of one shape.

    So are most fused derivatives of two operands; first is their gradient, which after a sum is
    one element repeated.
    """
    output_keys = [
        keys.pack(dtype.index, 0, 0, False) | key & keys.ZERO_DIM for dtype in kernels.outputs
    ]
    storage_dtypes = [dtype.numpy for dtype in kernels.outputs]
    dtype, small, work = storage_dtypes[0], kernels.small, kernels.work
    convert = kernels.convert

    def dense(*arrays: Any) -> None:
        nonlocal dense
        dense = kernels.flat_kernel()
        dense(*arrays)

    def repeated(*arrays: Any) -> None:
        nonlocal repeated
        repeated = kernels.flat_kernel((0, 1, 1))
        repeated(*arrays)

    def call(first: Tensor, a: Tensor, b: Tensor, *scalars: Any) -> Any:
        sizes = a._sizes
        x, flat, other = first._flat, a._flat, b._flat
        if flat is None or other is None or b._sizes != sizes or first._sizes != sizes:
            return general(first, a, b, *scalars)
        size = flat.size
        if not size:
            return general(first, a, b, *scalars)
        kernel = dense
        if x is None:
            if any(first._strides):
                return general(first, a, b, *scalars)
            at = first._offset
            x, kernel = typed_buffer(first)[at : at + 1], repeated
        numbers = convert(scalars) if scalars else ()
        if size >= small:
            buffers = [pool.empty(size, each) for each in storage_dtypes]
            arrays = (*buffers, x, flat, other)
            threads.run_flat(kernel, arrays, tuple(numbers), work=work)
            made = [
                build(each, sizes, a._strides, 0, None, buffer)
                for each, buffer in zip(output_keys, buffers, strict=True)
            ]
            return made[0] if len(made) == 1 else tuple(made)
        buffer = _empty(size, dtype)
        if len(output_keys) == 1:
            kernel(buffer, x, flat, other, *numbers)
            return build(output_keys[0], sizes, a._strides, 0, None, buffer)
        second = _empty(size, storage_dtypes[1])
        kernel(buffer, second, x, flat, other, *numbers)
        return (
            build(output_keys[0], sizes, a._strides, 0, None, buffer),
            build(output_keys[1], sizes, a._strides, 0, None, second),
        )

    return call


SHORT_PATHS = {
    ("tensor",): make_unary_call,
    ("tensor", "scalar"): make_unary_scalars_call,
    ("tensor", "scalar", "scalar"): make_unary_scalars_call,
    ("tensor", "tensor"): make_binary_call,
    ("tensor", "tensor", "scalar"): make_binary_call,
}
TERNARY = (("tensor", "tensor", "tensor"), ("tensor", "tensor", "tensor", "scalar"))
