"""Calls of hand-written kernels on the CPU: shapes asked, results allocated, arrays handed over.

A kernel knows arrays, not tensors. 16-bit floats reach it as float32 unless it moves raw bits.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime import errors
from runtime.backends.cpu import memory, pool
from runtime.backends.cpu.casting import make_cast_call, make_cast_into_call
from runtime.backends.cpu.dispatch_short import (
    MOST_PLANNED,
    is_dim_second,
    make_dense_copying_call,
    make_dense_filling_call,
    make_dim_second_call,
    make_planned_call,
    make_planned_list_call,
    make_two_tensor_call,
)
from runtime.core import dtype as dtypes
from runtime.core import generator as generators
from runtime.core import promotion
from runtime.core import shape as shapes
from runtime.core.dense import dense_layout
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor, build, from_array
from runtime.dispatch import operator as registered
from runtime.dispatch import ops
from runtime.dispatch import signature as signatures
from runtime.dispatch.operator import INPLACE, OUT, Call, Dispatch
from runtime.kernels.cpu import half
from runtime.kernels.cpu.planned import Cast, Elementwise, Planned

CPU = 0
GEOMETRIES_KEPT = 1024
"""Shapes per signature for which a call remembers what the shape function said."""

Convert = Callable[[Any], Any]


def find_kernel(operator: Dispatch, backend: str, device_index: int, folder: str) -> Any:
    """The kernel registered from outside, or the one that native_functions.yaml names.

    Raises: NotImplementedError if there is neither.
    """
    registered = operator.kernels.get(device_index)
    if registered is not None:
        return registered
    name = operator.kernel_names.get(backend)
    if name is None:
        raise errors.no_kernel(operator.base_name, backend)
    if ":" in name:
        module, _, function = name.partition(":")
    else:
        module, _, function = f"{folder}.{name}".rpartition(".")
    return getattr(importlib.import_module(module), function)


def make_call(operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a dispatch operator for CPU tensors of one signature."""
    kernel = find_kernel(operator, "CPU", CPU, "runtime.kernels.cpu")
    common = common_dtype(operator, signature)
    converters = argument_converters(operator, signature, common)
    if operator.mutates:
        return make_mutating_call(operator, kernel, converters, signature)
    if variant == INPLACE and operator.aliasing:
        return make_aliasing_call(operator, kernel, converters, signature)
    if operator.meta is None:
        call = make_dynamic_call(operator, kernel, converters, signature)
    else:
        call = make_static_call(operator, kernel, converters, common)
    if variant == INPLACE:
        return make_copying_call(operator, call)
    return make_out_call(operator, call) if variant == OUT else call


# -- dtypes ---------------------------------------------------------------------------------


def common_dtype(operator: Dispatch, signature: tuple[Any, ...]) -> dtypes.dtype | None:
    """The dtype that the rule gives, None without a rule.

    Raises: RuntimeError if dtypes that must agree differ; NotImplementedError for one outside
    the operator's set.
    """
    entries = dict(zip(operator.operands, signature, strict=True))
    promoted = [entries[name] for name in operator.promoted if entries[name] is not None]
    if operator.promotion == "none":
        first = next(iter(signatures.tensor_keys(signature)), None)
        if first is not None:
            _check_dtype(operator, signatures.dtype_of(first))
        return None
    if operator.promotion == "same":
        found = [signatures.dtype_of(key) for key in signatures.tensor_keys(promoted)]
        for other in found[1:]:
            if other is not found[0]:
                raise errors.dtypes_differ(operator.base_name, found[0], other)
        if not found:
            return None
        _check_dtype(operator, found[0])
        return found[0]
    ranked = signatures.promotion_entries(promoted)
    if not ranked:
        return None
    compute, _ = promotion.element_types(operator.promotion, ranked)
    _check_dtype(operator, compute)
    return compute


def _check_dtype(operator: Dispatch, dtype: dtypes.dtype) -> None:
    if dtype.name not in operator.dtypes:
        accepted = ", ".join(d.name for d in dtypes.ALL if d.name in operator.dtypes)
        raise errors.dtype_not_supported(operator.base_name, dtype, accepted)


def argument_converters(
    operator: Dispatch, signature: tuple[Any, ...], common: dtypes.dtype | None
) -> list[Convert | None]:
    """For each argument of the call, what turns it into the kernel's; None leaves it."""
    entries = dict(zip(operator.operands, signature, strict=True))
    converters: list[Convert | None] = []
    for name, kind in operator.arguments.items():
        if kind == "generator":
            converters.append(_generator)
        elif kind != "operand":
            converters.append(None)
        else:
            cast = common if name in operator.promoted else None
            converters.append(_tensor_converter(entries[name], cast, operator.half_is_raw))
    return converters


def _generator(value: Any) -> Any:
    return generators.default_generator if value is None else value


def _arrays(tensors: Sequence[Tensor]) -> list[Any]:
    return [tensor._array() for tensor in tensors]


def _tensor_converter(entry: Any, cast: dtypes.dtype | None, raw: bool) -> Convert | None:
    if entry.__class__ is tuple:
        members = [_tensor_converter(each, cast, raw) for each in entry]
        if set(members) == {Tensor._array}:
            return _arrays
        return lambda values: [
            value if convert is None else convert(value)
            for convert, value in zip(members, values, strict=True)
        ]
    if entry.__class__ is not int:
        return None
    own = signatures.dtype_of(entry)
    if cast is not None and cast is not own:
        if raw or cast.numpy.name != "uint16":
            return lambda tensor: ops._to_copy(tensor, dtype=cast)._array()
        return lambda tensor: ops._to_copy(tensor, dtype=dtypes.float32)._array()
    if own.opmath is not own and not raw:
        return lambda tensor: half.to_float32(tensor._array(), own)
    return Tensor._array


# -- calls ----------------------------------------------------------------------------------


def make_static_call(
    operator: Dispatch, kernel: Any, converters: list[Convert | None], common: dtypes.dtype | None
) -> Call:
    """Shapes are known from the arguments.

    What the shape function says is remembered per geometry and plain arguments, if these can be
    hashed: the checks of a call seen before are not made again.
    """
    meta, several, wrap = operator.meta, operator.outputs > 1, operator.wrap
    raw = operator.half_is_raw
    remembered: dict[Any, list[Output]] = {}
    assert meta is not None

    def prepare(args: tuple[Any, ...]) -> list[Output]:
        specs = meta(*args)
        return [Output(spec, common, raw) for spec in (specs if several else (specs,))]

    def call(*args: Any) -> Any:
        try:
            seen = tuple([a if a.__class__ not in SHAPED else _geometry(a) for a in args])
            outputs = remembered.get(seen)
        except TypeError:  # a list: its members would have to be looked at
            outputs = prepare(args)
        else:
            if outputs is None:
                outputs = prepare(args)
                if len(remembered) < GEOMETRIES_KEPT and all(map(_is_plain, args)):
                    remembered[seen] = outputs
        arguments = [
            arg if convert is None else convert(arg)
            for convert, arg in zip(converters, args, strict=True)
        ]
        if not several:
            return outputs[0].run(kernel, arguments)
        results = [output.allocate() for output in outputs]
        if any(output.is_rounded for output in outputs):
            run_rounded(kernel, results, arguments, raw)
        else:
            kernel(*map(Output.array, outputs, results), *arguments)
        return wrap(*results) if wrap else tuple(results)

    if isinstance(kernel, Planned) and converters[0] is _arrays and not any(converters[1:]):
        return make_planned_list_call(kernel, call, lambda args: prepare(args)[0])
    if isinstance(kernel, Cast):
        is_plain = converters[0] is Tensor._array
        return make_cast_call(kernel, call, lambda args: prepare(args)[0], is_plain)
    if isinstance(kernel, Planned) and not several and is_dim_second(converters):
        return make_dim_second_call(kernel, call, lambda args: prepare(args)[0], converters)
    present = [convert for convert in converters if convert is not None]
    if several or present != converters[: len(present)] or set(present) != {Tensor._array}:
        return call
    if isinstance(kernel, Planned) and len(present) <= MOST_PLANNED:
        return make_planned_call(kernel, call, lambda args: prepare(args)[0], len(present))
    if len(present) == 2 == len(converters):
        return make_two_tensor_call(kernel, call, remembered)
    return call


SHAPED = frozenset({Tensor, list, tuple})


def _geometry(value: Any) -> Any:
    """What of an argument a shape function reads: sizes and strides of tensors, also in lists."""
    if value.__class__ is Tensor:
        return value._sizes, value._strides
    return tuple([_geometry(each) if each.__class__ is Tensor else each for each in value])


def _is_plain(value: Any) -> bool:
    """Whether equal arguments mean equal shapes: True is 1 to a dict, but no tensor subclass is."""
    return value.__class__ is Tensor or not isinstance(value, Tensor)


class Output:
    """One result as the shape function described it: (sizes, dtype[, strides])."""

    __slots__ = (
        "dtype",
        "empty",
        "is_contiguous",
        "is_rounded",
        "key",
        "numel",
        "numpy",
        "sizes",
        "strides",
    )

    def __init__(self, spec: Any, common: dtypes.dtype | None, raw: bool) -> None:
        sizes, dtype, *strides = spec
        layout = dense_layout(tuple(sizes))
        self.dtype = dtype or common
        self.sizes, self.numel = layout.sizes, layout.numel
        self.strides = tuple(strides[0]) if strides else layout.strides
        self.is_contiguous = self.strides == layout.strides
        self.key = self.dtype.index | layout.zero_dim
        self.numpy = self.dtype.numpy
        self.empty = pool.array_maker(self.numel * self.dtype.itemsize)
        self.is_rounded = not raw and self.dtype.opmath is not self.dtype

    def allocate(self) -> Tensor:
        """A tensor of undefined values."""
        buffer = self.empty(self.numel, self.numpy)
        if self.is_contiguous:
            return build(self.key, self.sizes, self.strides, 0, None, buffer)
        return build(self.key, self.sizes, self.strides, 0, Storage(buffer))

    def array(self, out: Tensor) -> Any:
        """The memory of a tensor that `allocate` made."""
        return out._array() if out._flat is None else out._flat.reshape(self.sizes)

    def run(self, kernel: Any, arguments: list[Any]) -> Tensor:
        """Allocate and compute the only result."""
        out = self.allocate()
        if self.is_rounded:
            run_rounded(kernel, [out], arguments, raw=False)
        else:
            kernel(self.array(out), *arguments)
        return out


def convert_all(converters: list[Convert | None], args: tuple[Any, ...]) -> list[Any]:
    """The kernel's arguments."""
    return [
        arg if convert is None else convert(arg)
        for convert, arg in zip(converters, args, strict=True)
    ]


def run_rounded(kernel: Any, outs: list[Tensor], arguments: list[Any], raw: bool) -> None:
    """Run into `outs`; 16-bit results are computed in float32 and rounded."""
    arrays = [
        out._array()
        if raw or out.dtype.opmath is out.dtype
        else np.empty(tuple(out._sizes), np.float32)
        for out in outs
    ]
    kernel(*arrays, *arguments)
    for out, array in zip(outs, arrays, strict=True):
        if not raw and out.dtype.opmath is not out.dtype:
            out._array()[...] = half.from_float32(array, out.dtype)


def make_dynamic_call(
    operator: Dispatch, kernel: Any, converters: list[Convert | None], signature: tuple[Any, ...]
) -> Call:
    """Shapes depend on the data: the kernel allocates."""
    first = next(iter(signatures.tensor_keys(signature)))
    own = signatures.dtype_of(first)
    wrap, raw = operator.wrap, operator.half_is_raw

    def tensor_of(array: Any) -> Tensor:
        if own.opmath is not own:
            if raw and array.dtype == np.uint16:
                return from_array(array, own)
            if not raw and array.dtype == np.float32:
                return from_array(half.from_float32(array, own), own)
        return from_array(array)

    def call(*args: Any) -> Any:
        result = kernel(*convert_all(converters, args))
        if not isinstance(result, (tuple, list)):
            return tensor_of(result)
        tensors = tuple(tensor_of(each) for each in result)
        return wrap(*tensors) if wrap else tensors

    return call


def make_mutating_call(
    operator: Dispatch, kernel: Any, converters: list[Convert | None], signature: tuple[Any, ...]
) -> Call:
    """The schema itself writes to self (`copy_`, `normal_`)."""
    meta = operator.meta
    own = signatures.dtype_of(signature[0])
    rounded = own.opmath is not own and not operator.half_is_raw

    def call(self: Tensor, *args: Any) -> Tensor:
        if meta is not None:
            meta(self, *args)
        _check_own_overlap(operator, self)
        arguments = convert_all(converters, (self, *args))
        kernel(*arguments)
        if rounded:
            self._array()[...] = half.from_float32(arguments[0], own)
        self._storage.version += 1
        return self

    if isinstance(kernel, Cast):
        cast = make_cast_into_call(call)
        is_copy = all(signatures.dtype_of(key) is own for key in signatures.tensor_keys(signature))
        return make_dense_copying_call(kernel, cast) if is_copy and not rounded else cast
    if isinstance(kernel, Elementwise) and not rounded:
        return make_dense_filling_call(kernel, call, meta)
    return call


def make_aliasing_call(
    operator: Dispatch, kernel: Any, converters: list[Convert | None], signature: tuple[Any, ...]
) -> Call:
    """In place, by a kernel that may be given `out is self`."""
    meta = operator.meta
    own = signatures.dtype_of(signature[0])
    rounded = own.opmath is not own and not operator.half_is_raw
    assert meta is not None

    def call(self: Tensor, *args: Any) -> Tensor:
        sizes, _ = meta(self, *args)
        if tuple(sizes) != tuple(self._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self._sizes, sizes)
        _check_own_overlap(operator, self)
        arguments = convert_all(converters, (self, *args))
        kernel(arguments[0], *arguments)
        if rounded:
            self._array()[...] = half.from_float32(arguments[0], own)
        self._storage.version += 1
        return self

    return call


def _check_own_overlap(operator: Dispatch, self: Tensor) -> None:
    if 0 in self._strides and shapes.repeats(self._sizes, self._strides):
        raise errors.overlapping_write(operator.base_name)


def make_copying_call(operator: Dispatch, call: Call) -> Call:
    """In place by computing the result and copying it into self."""

    def call_inplace(self: Tensor, *args: Any) -> Tensor:
        result = call(self, *args)
        if tuple(result._sizes) != tuple(self._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self._sizes, result._sizes)
        promotion.check_out(result.dtype, self.dtype)
        return copy_below(self, result)  # type: ignore[no-any-return]

    return call_inplace


def copy_below(out: Tensor, result: Tensor) -> Tensor:
    """Copy below autograd: the wrapper around the in-place call does the recording."""
    call = registered.operators["copy_"].calls[
        signatures.without_grad(out._key), signatures.without_grad(result._key)
    ]
    return call(out, result, False)  # type: ignore[no-any-return]


def make_out_call(operator: Dispatch, call: Call) -> Call:
    """out= by computing the result and copying it."""

    def call_out(out: Any, *args: Any) -> Any:
        results = call(*args)
        if isinstance(results, Tensor):
            return store(operator.base_name, out, results)
        stored = [
            store(operator.base_name, each, result)
            for each, result in zip(out, results, strict=True)
        ]
        return operator.wrap(*stored) if operator.wrap else tuple(stored)

    return call_out


def store(name: str, out: Tensor, result: Tensor) -> Tensor:
    """Copy a result into a tensor given as out=, which is resized if need be."""
    promotion.check_out(result.dtype, out.dtype)
    if tuple(out._sizes) != tuple(result._sizes):
        memory.resize_out(name, out, result._sizes)
    return ops.copy_(out, result)  # type: ignore[no-any-return]
