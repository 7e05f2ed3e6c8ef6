"""Short paths of the usual pointwise calls: one or two dense tensors of one shape.

A kernel is compiled or loaded by the first call that runs it, which puts it in its own place. A
result's fields are set one by one here, because a constructor call costs as much as all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.backends.cpu import pool
from runtime.backends.cpu.pointwise_kernels import PointwiseKernels, typed_buffer
from runtime.core import key as keys
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import Call
from runtime.kernels import plan as plans
from runtime.kernels import threads

_new = object.__new__
_empty = np.empty
GRAIN = threads.GRAIN
PLANS_KEPT = 1024
"""Geometries that a call remembers before it leaves them to the shared, slower cache."""


def make_unary_call(kernels: PointwiseKernels, general: Call, key: int) -> Call:
    """f(self) over a dense tensor."""
    dtype = kernels.storage_dtype

    def kernel(*arrays: Any) -> None:
        nonlocal kernel
        kernel = kernels.flat_kernel()
        kernel(*arrays)

    def call(self: Tensor) -> Tensor:
        flat = self._flat
        if flat is None and (flat := self._dense()) is None:
            return general(self)  # type: ignore[no-any-return]
        size = flat.size
        if size < GRAIN:
            buffer = _empty(size, dtype)
            kernel(buffer, flat)
        else:
            buffer = pool.empty(size, dtype)
            threads.run_flat(kernel, (buffer, flat))
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


def make_unary_scalars_call(kernels: PointwiseKernels, general: Call, key: int) -> Call:
    """f(self, *scalars) over a dense tensor."""
    dtype = kernels.storage_dtype
    convert = kernels.convert

    def kernel(*args: Any) -> None:
        nonlocal kernel
        kernel = kernels.flat_kernel()
        kernel(*args)

    def call(self: Tensor, *scalars: Any) -> Tensor:
        flat = self._flat
        if flat is None and (flat := self._dense()) is None:
            return general(self, *scalars)  # type: ignore[no-any-return]
        size = flat.size
        if size < GRAIN:
            buffer = _empty(size, dtype)
            kernel(buffer, flat, *convert(scalars))
        else:
            buffer = pool.empty(size, dtype)
            threads.run_flat(kernel, (buffer, flat), tuple(convert(scalars)))
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


def make_binary_call(kernels: PointwiseKernels, general: Call, key: int) -> Call:
    """f(self, other, *scalars) over dense tensors of one shape."""
    dtype = kernels.storage_dtype
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
        threads.run_flat(kernels.flat_kernel(), (buffer, a, b), tuple(convert(scalars)))
        return build(key, self._sizes, self._strides, 0, None, buffer)

    def plain(self: Tensor, other: Tensor, _: Any = None) -> Tensor:
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return strided(self, other, defaults)
        size = a.size
        if size < GRAIN:
            buffer = _empty(size, dtype)
            kernel(buffer, a, b)
        else:
            buffer = pool.empty(size, dtype)
            threads.run_flat(kernel, (buffer, a, b))
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
    kernels: PointwiseKernels, general: Call
) -> Callable[[Tensor, Tensor, tuple[Any, ...]], Tensor]:
    """f(self, other, *scalars) over two tensors that need a plan."""
    geometries: dict[Any, plans.PointwisePlan] = {}
    dtype = kernels.storage_dtype
    base_key = kernels.result_key(False)
    defaults = kernels.defaults

    def call(self: Tensor, other: Tensor, scalars: tuple[Any, ...]) -> Tensor:
        geometry = (self._sizes, self._strides, other._sizes, other._strides)
        plan = geometries.get(geometry)
        if plan is None:
            plan = plans.plan_pointwise((geometry[:2], geometry[2:]))
            if len(geometries) < PLANS_KEPT:
                geometries[geometry] = plan
        numel = plan.numel
        if not numel or numel >= GRAIN or scalars != defaults:
            return general(self, other, *scalars)  # type: ignore[no-any-return]
        a, b = self._flat, other._flat
        at_a = at_b = 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        if b is None:
            b, at_b = typed_buffer(other), other._offset
        buffer = _empty(numel, dtype)
        if plan.flat:
            kernel = kernels.flat_kernel(plan.flat_form, True)
            kernel(buffer, a[at_a:] if at_a else a, b[at_b:] if at_b else b)
        else:
            kernel = kernels.strided_kernel(plan.form, plan.tiled, True)
            counter = plan.counter() if plan.outer_dims else plan.loop
            kernel(plan.loop, counter, plan.runs, 0, at_a, at_b, buffer, a, b)
        sizes = plan.sizes
        return build(
            base_key if sizes else base_key | keys.ZERO_DIM,
            sizes,
            plan.strides,
            0,
            None if plan.contiguous else Storage(buffer),
            buffer if plan.contiguous else None,
        )

    return call


def make_ternary_call(kernels: PointwiseKernels, general: Call, key: int) -> Call:
    """f(first, a, b, *scalars) with one or two results, a and b being dense and of one shape.

    So are most fused derivatives of two operands; first is their gradient, which after a sum is
    one element repeated.
    """
    output_keys = [
        keys.pack(dtype.index, 0, 0, False) | key & keys.ZERO_DIM for dtype in kernels.outputs
    ]
    storage_dtypes = [dtype.numpy for dtype in kernels.outputs]
    dtype, convert = storage_dtypes[0], kernels.convert

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
        if not 0 < size < GRAIN:
            return general(first, a, b, *scalars)
        kernel = dense
        if x is None:
            if any(first._strides):
                return general(first, a, b, *scalars)
            at = first._offset
            x, kernel = typed_buffer(first)[at : at + 1], repeated
        numbers = convert(scalars) if scalars else ()
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
