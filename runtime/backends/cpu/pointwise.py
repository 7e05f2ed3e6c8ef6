"""Calls of pointwise operators on the CPU: which loop, over which memory, into what result.

The usual calls (one or two dense tensors of one shape) have a short path of their own; all
others are planned once per geometry (`runtime.kernels.plan`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime import errors
from runtime.backends import pointwise_signature
from runtime.backends.cpu import memory
from runtime.backends.pointwise_signature import PointwiseSignature
from runtime.core import dtype as dtypes
from runtime.core import key as keys
from runtime.core import promotion
from runtime.core import shape as shapes
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import INPLACE, OUT, Call, Pointwise
from runtime.kernels import plan as plans
from runtime.kernels import threads
from runtime.kernels.cpu.pointwise import PointwiseSpec, contiguous_kernel, strided_kernel

_new = object.__new__
_empty = np.empty
GRAIN = threads.GRAIN
PLANS_KEPT = 1024
"""Geometries that a call remembers before it leaves them to the shared, slower cache."""


def make_call(operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of `operator` for CPU tensors of one signature."""
    special = pointwise_signature.specialise(operator, signature)
    if variant == OUT:
        return make_out_call(special)
    if variant == INPLACE:
        return make_inplace_call(special)
    kernels = PointwiseKernels(special, (special.result,) * operator.outputs)
    general = make_general_call(kernels)
    zero_dim = all(entry & keys.ZERO_DIM for entry in signature if entry.__class__ is int)
    if operator.outputs == 1:
        maker = _SHORT_PATHS.get(special.arguments)
        if maker:
            return maker(kernels, general, kernels.result_key(zero_dim))
    return general


class PointwiseKernels:
    """The kernels of one formula for one signature and result dtype, built when first used."""

    def __init__(self, special: PointwiseSignature, outputs: tuple[dtypes.dtype, ...]) -> None:
        self.operator = special.operator
        self.arguments = special.arguments
        self.outputs = outputs
        self.compute = special.compute
        self.convert = pointwise_signature.scalar_converter(special.compute)
        self.spec = PointwiseSpec(
            special.formula, special.arguments, special.inputs, outputs, special.compute.opmath
        )
        self.storage_dtype = outputs[0].numpy
        self.defaults, self.at_defaults = self._simpler(special)
        self._contiguous: Any = None
        self._strided: dict[Any, Any] = {}

    def _simpler(self, special: PointwiseSignature) -> tuple[tuple[Any, ...], Any]:
        """The default values of the scalars, and the spec of the formula with these put in.

        (None, None) where the formula gains nothing from it.
        """
        operator = special.operator
        if special.formula is not operator.formulas.get(()) or operator.at_defaults is None:
            return (), None  # a formula without scalars, too, has nothing to gain
        arguments = tuple(
            kind
            for name, kind in zip(operator.arguments, special.arguments, strict=True)
            if name not in operator.defaults
        )
        spec = PointwiseSpec(
            operator.at_defaults,
            arguments,
            special.inputs,
            self.outputs,
            special.compute.opmath,
        )
        return tuple(operator.defaults.values()), spec

    def contiguous(self, *args: Any) -> None:
        """Run the flat loop; compile or load it first."""
        if self._contiguous is None:
            self._contiguous = contiguous_kernel(self.spec)
        self._contiguous(*args)

    def flat_kernel(self) -> Any:
        """The flat loop itself."""
        if self._contiguous is None:
            self._contiguous = contiguous_kernel(self.spec)
        return self._contiguous

    def flat_kernel_at_defaults(self) -> Any:
        """The flat loop without the scalars, for their defaults; None where it is no simpler."""
        return contiguous_kernel(self.at_defaults) if self.at_defaults else None

    def strided_kernel(self, form: tuple[int, ...], at_defaults: bool = False) -> Any:
        """The loop over any geometry, for inner strides of some form."""
        found = self._strided.get((form, at_defaults))
        if found is None:
            spec = self.at_defaults if at_defaults and self.at_defaults else self.spec
            found = self._strided[form, at_defaults] = strided_kernel(spec, form)
        return found

    def result_key(self, zero_dim: bool) -> int:
        """The key of a new result."""
        return keys.pack(self.outputs[0].index, 0, 0, zero_dim)

    def split(self, args: tuple[Any, ...]) -> tuple[list[Tensor], list[Any]]:
        """The tensors among a call's arguments, and its scalars, converted."""
        tensors, scalars = [], []
        for value, kind in zip(args, self.arguments, strict=True):
            if kind == "tensor":
                tensors.append(value)
            elif kind == "scalar":
                scalars.append(self.convert(value))
            elif kind == "raw":
                scalars.append(value)
        return tensors, scalars


def make_general_call(kernels: PointwiseKernels) -> Call:
    """Any number of operands, any geometry, any number of results."""
    outputs = kernels.outputs
    storage_dtypes = [dtype.numpy for dtype in outputs]
    output_keys = [keys.pack(dtype.index, 0, 0, False) for dtype in outputs]
    geometries: dict[Any, plans.PointwisePlan] = {}

    def call(*args: Any) -> Any:
        tensors, scalars = kernels.split(args)
        flat = _common_flat(tensors)
        if flat is not None:
            first = tensors[0]
            sizes, strides, numel = first._sizes, first._strides, flat[0].size
            buffers = [_empty(numel, dtype) for dtype in storage_dtypes]
            threads.run_flat(kernels.flat_kernel(), (*buffers, *flat), tuple(scalars))
            contiguous = True
        else:
            geometry = tuple([each for t in tensors for each in (t._sizes, t._strides)])
            plan = geometries.get(geometry)
            if plan is None:
                plan = plans.plan_pointwise(tuple([(t._sizes, t._strides) for t in tensors]))
                if len(geometries) < PLANS_KEPT:
                    geometries[geometry] = plan
            sizes, strides, contiguous = plan.sizes, plan.strides, plan.contiguous
            buffers = [_empty(plan.numel, dtype) for dtype in storage_dtypes]
            run(kernels, plan, buffers, (0,) * len(buffers), tensors, scalars)
        zero_dim = 0 if sizes else keys.ZERO_DIM
        results = tuple(
            [
                build(
                    key | zero_dim,
                    sizes,
                    strides,
                    0,
                    Storage(buffer),
                    buffer if contiguous else None,
                )
                for key, buffer in zip(output_keys, buffers, strict=True)
            ]
        )
        return results[0] if len(results) == 1 else results

    return call


def _common_flat(tensors: list[Tensor]) -> list[Any] | None:
    """The flat arrays of dense tensors of one shape; None if they are anything else."""
    sizes = tensors[0]._sizes
    arrays = []
    for tensor in tensors:
        if tensor._sizes != sizes:
            return None
        flat = tensor._flat
        if flat is None and (flat := tensor._dense()) is None:
            return None
        arrays.append(flat)
    return arrays


def run(
    kernels: PointwiseKernels,
    plan: plans.PointwisePlan,
    buffers: list[Any],
    out_offsets: tuple[int, ...],
    tensors: list[Tensor],
    scalars: list[Any],
) -> None:
    """Run the loop that the plan calls for."""
    if plan.numel == 0:
        return
    inputs = [_typed_buffer(t) for t in tensors]
    offsets = (*out_offsets, *[t._offset for t in tensors])
    if plan.dense:
        flat = [
            buffer[offset : offset + plan.numel]
            for buffer, offset in zip(buffers + inputs, offsets, strict=True)
        ]
        threads.run_flat(kernels.flat_kernel(), tuple(flat), tuple(scalars))
        return
    form = plan.form if len(buffers) == 1 else plan.form[:1] * (len(buffers) - 1) + plan.form
    kernel = kernels.strided_kernel(form)
    kernel(plan.loop_for(len(buffers)), offsets, *buffers, *inputs, *scalars)


def _typed_buffer(tensor: Tensor) -> Any:
    """The storage's buffer seen as the tensor's dtype."""
    buffer = tensor._storage.buffer
    dtype = dtypes.BY_INDEX[tensor._key & keys.DTYPE_MASK].numpy
    return buffer if buffer.dtype == dtype else buffer.view(dtype)


# -- short paths ----------------------------------------------------------------------------


def make_unary_call(kernels: PointwiseKernels, general: Call, key: int) -> Call:
    """f(self) over a dense tensor."""
    dtype = kernels.storage_dtype
    kernel = kernels.flat_kernel()

    def call(self: Tensor) -> Tensor:
        flat = self._flat
        if flat is None and (flat := self._dense()) is None:
            return general(self)  # type: ignore[no-any-return]
        size = flat.size
        buffer = _empty(size, dtype)
        if size < GRAIN:
            kernel(buffer, flat)
        else:
            threads.run_flat(kernel, (buffer, flat))
        storage = _new(Storage)
        storage.buffer = buffer
        storage.version = 0
        result = _new(Tensor)
        result._key = key
        result._sizes = self._sizes
        result._strides = self._strides
        result._offset = 0
        result._storage = storage
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    return call


def make_unary_scalars_call(kernels: PointwiseKernels, general: Call, key: int) -> Call:
    """f(self, *scalars) over a dense tensor."""
    dtype = kernels.storage_dtype
    kernel = kernels.flat_kernel()
    convert = kernels.convert

    def call(self: Tensor, *scalars: Any) -> Tensor:
        flat = self._flat
        if flat is None and (flat := self._dense()) is None:
            return general(self, *scalars)  # type: ignore[no-any-return]
        size = flat.size
        buffer = _empty(size, dtype)
        if size < GRAIN:
            kernel(buffer, flat, *map(convert, scalars))
        else:
            threads.run_flat(kernel, (buffer, flat), tuple(map(convert, scalars)))
        storage = _new(Storage)
        storage.buffer = buffer
        storage.version = 0
        result = _new(Tensor)
        result._key = key
        result._sizes = self._sizes
        result._strides = self._strides
        result._offset = 0
        result._storage = storage
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
    simple = kernels.flat_kernel_at_defaults()
    kernel = simple or kernels.flat_kernel()
    defaults = kernels.defaults
    convert = kernels.convert

    def call(self: Tensor, other: Tensor, *scalars: Any) -> Tensor:
        if scalars == defaults:
            return plain(self, other)
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return strided(self, other, scalars)
        buffer = _empty(a.size, dtype)
        threads.run_flat(kernels.flat_kernel(), (buffer, a, b), tuple(map(convert, scalars)))
        return build(key, self._sizes, self._strides, 0, Storage(buffer), buffer)

    def plain(self: Tensor, other: Tensor, _: Any = None) -> Tensor:
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return strided(self, other, defaults)
        size = a.size
        buffer = _empty(size, dtype)
        if size < GRAIN:
            kernel(buffer, a, b)
        else:
            threads.run_flat(kernel, (buffer, a, b))
        storage = _new(Storage)
        storage.buffer = buffer
        storage.version = 0
        result = _new(Tensor)
        result._key = key
        result._sizes = self._sizes
        result._strides = self._strides
        result._offset = 0
        result._storage = storage
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
    own_dtype, other_dtype = (each.numpy for each in kernels.spec.inputs)
    base_key = kernels.result_key(False)
    convert = kernels.convert
    defaults = kernels.defaults

    def call(self: Tensor, other: Tensor, scalars: tuple[Any, ...]) -> Tensor:
        geometry = (self._sizes, self._strides, other._sizes, other._strides)
        plan = geometries.get(geometry)
        if plan is None:
            plan = plans.plan_pointwise((geometry[:2], geometry[2:]))
            if len(geometries) < PLANS_KEPT:
                geometries[geometry] = plan
        a, b = self._storage.buffer, other._storage.buffer
        if plan.dense or not plan.numel or a.dtype != own_dtype or b.dtype != other_dtype:
            return general(self, other, *scalars)  # type: ignore[no-any-return]
        buffer = _empty(plan.numel, dtype)
        offsets = (0, self._offset, other._offset)
        if scalars == defaults:
            kernels.strided_kernel(plan.form, True)(plan.loop, offsets, buffer, a, b)
        else:
            kernel = kernels.strided_kernel(plan.form)
            kernel(plan.loop, offsets, buffer, a, b, *map(convert, scalars))
        sizes = plan.sizes
        return build(
            base_key if sizes else base_key | keys.ZERO_DIM,
            sizes,
            plan.strides,
            0,
            Storage(buffer),
            buffer if plan.contiguous else None,
        )

    return call


_SHORT_PATHS = {
    ("tensor",): make_unary_call,
    ("tensor", "scalar"): make_unary_scalars_call,
    ("tensor", "scalar", "scalar"): make_unary_scalars_call,
    ("tensor", "tensor"): make_binary_call,
    ("tensor", "tensor", "scalar"): make_binary_call,
}


# -- in-place and out= ----------------------------------------------------------------------


def make_inplace_call(special: PointwiseSignature) -> Call:
    """f(self, ...) written to self."""
    operator = special.operator
    out_dtype = special.inputs[0]
    name = operator.base_name + "_"
    promotion.check_out(special.result, out_dtype)
    kernels = PointwiseKernels(special, (out_dtype,))
    in_order = special.arguments[0] == "tensor"

    def call(self: Tensor, *args: Any) -> Tensor:
        tensors, scalars = kernels.split((self, *args))
        flat = _common_flat(tensors) if in_order else None
        if flat is None or tensors[0] is not self:
            write(kernels, name, self, tensors, scalars)
        else:
            for other in tensors:
                if other is not self and other._storage is self._storage:
                    _check_overlap(name, self, tensors)
            threads.run_flat(kernels.flat_kernel(), (flat[0], *flat), tuple(scalars))
        self._storage.version += 1
        return self

    first, others = special.arguments[:2], special.arguments[2:]
    if first == ("tensor", "tensor") and set(others) <= {"scalar"}:
        return make_inplace_binary_call(kernels, call)
    return call


def make_inplace_binary_call(kernels: PointwiseKernels, general: Call) -> Call:
    """f(self, other, *scalars) written to self, over dense tensors of one shape."""
    simple = kernels.flat_kernel_at_defaults()
    defaults = kernels.defaults
    convert = kernels.convert

    def call(self: Tensor, other: Tensor, *scalars: Any) -> Tensor:
        a, b = self._flat, other._flat
        if (
            a is None
            or b is None
            or self._sizes != other._sizes
            or self._storage is other._storage
            or a.size >= GRAIN
        ):
            return general(self, other, *scalars)  # type: ignore[no-any-return]
        if simple is not None and scalars == defaults:
            simple(a, a, b)
        else:
            kernels.flat_kernel()(a, a, b, *map(convert, scalars))
        self._storage.version += 1
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
            promotion.check_out(special.result, dtype)
            kernels = by_dtype[index] = PointwiseKernels(special, (dtype,))
        tensors, scalars = kernels.split(args)
        sizes = shapes.broadcast_shapes(*(t._sizes for t in tensors))
        if tuple(out._sizes) != tuple(sizes):
            memory.resize_out(operator.base_name, out, sizes)
        write(kernels, operator.base_name, out, tensors, scalars)
        out._storage.version += 1
        return out

    return call


def write(
    kernels: PointwiseKernels, name: str, out: Tensor, tensors: list[Tensor], scalars: list[Any]
) -> None:
    """Run the loop into an existing tensor.

    Raises: RuntimeError if `out` is too small, or overlaps itself or an input in part.
    """
    sizes = shapes.broadcast_shapes(out._sizes, *(t._sizes for t in tensors))
    if tuple(sizes) != tuple(out._sizes):
        raise errors.inplace_shape(name, out._sizes, sizes)
    _check_overlap(name, out, tensors)
    plan = plans.plan_pointwise(
        tuple([(t._sizes, t._strides) for t in tensors]), (out._sizes, out._strides)
    )
    run(kernels, plan, [_typed_buffer(out)], (out._offset,), tensors, scalars)


def _check_overlap(name: str, out: Tensor, inputs: list[Tensor]) -> None:
    if 0 in out._strides and shapes.repeats(out._sizes, out._strides):
        raise errors.overlapping_write(name)
    for each in inputs:
        if (
            each is not out
            and each._storage is out._storage
            and shapes.partly_overlap(
                (out._sizes, out._strides, out._offset),
                (each._sizes, each._strides, each._offset),
            )
        ):
            raise errors.partly_overlapping(name)
