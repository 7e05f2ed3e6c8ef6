"""Calls of hand-written kernels that write into a tensor they are given: in place and out=."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cpu import memory
from torchgen_out._runtime.backends.cpu.casting import make_cast_into_call
from torchgen_out._runtime.backends.cpu.converters import (
    Converters,
    convert_all,
    generator_or_default,
)
from torchgen_out._runtime.backends.cpu.dispatch_output import Output
from torchgen_out._runtime.backends.cpu.dispatch_short import (
    make_dense_copying_call,
    make_dense_filling_call,
)
from torchgen_out._runtime.backends.cpu.planned_anywhere import (
    find_places,
    make_drawing_call,
    make_planned_into_call,
)
from torchgen_out._runtime.backends.cpu.planned_calls import PlanTable, keep_zeros_apart
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import operator as registered
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import Call, Dispatch
from torchgen_out._runtime.kernels.cpu import narrow_arrays
from torchgen_out._runtime.kernels.cpu.planned import Cast, Elementwise, PlannedKernel


def plan_into(
    operator: Dispatch, kernel: Any, general: Call, converters: Converters, reads_self: bool
) -> Call:
    """The planned way of a kernel that writes into self, if it has one."""
    places = find_places(converters, first=0 if reads_self else 1)
    if (
        not isinstance(kernel, PlannedKernel)
        or places is None
        or converters[0] is not Tensor._array
    ):
        return general

    def prepare(args: tuple[Any, ...]) -> list[Output]:
        self = args[0]
        _check_shape(operator, self, args)
        return [Output((self._sizes, self.dtype), None, operator.half_as_stored)]

    plans = PlanTable(kernel, prepare)
    *plain, last = converters[1:]
    if last is generator_or_default and not (any(plain) or reads_self):
        return make_drawing_call(plans, general)
    return make_planned_into_call(plans, general, places)


def _check_shape(operator: Dispatch, self: Tensor, args: tuple[Any, ...]) -> None:
    """Raise what the shape function has against the arguments, or a result of another shape."""
    answer = operator.meta(*args) if operator.meta else None
    if answer is not None and tuple(answer[0]) != tuple(self._sizes):
        raise errors.inplace_shape(operator.base_name + "_", self._sizes, answer[0])


def make_mutating_call(
    operator: Dispatch, kernel: Any, converters: Converters, signature: tuple[Any, ...]
) -> Call:
    """The schema itself writes to self (`copy_`, `normal_`)."""
    meta = operator.meta
    own = signatures.dtype_of(signature[0])
    rounded = own.opmath is not own and not operator.half_as_stored

    def call(self: Tensor, *args: Any) -> Tensor:
        if meta is not None:
            meta(self, *args)
        overlap.check_self(operator.base_name, self)
        arguments = convert_all(converters, (self, *args))
        kernel(*arguments)
        if rounded:
            self._array()[...] = narrow_arrays.narrow(arguments[0], own)
        self._storage.version += 1
        return self

    if isinstance(kernel, Cast):
        cast = make_cast_into_call(call)
        is_copy = all(signatures.dtype_of(key) is own for key in signatures.tensor_keys(signature))
        return make_dense_copying_call(kernel, cast) if is_copy and not rounded else cast
    if isinstance(kernel, Elementwise) and not rounded:
        return make_dense_filling_call(kernel, call, meta)
    return plan_into(operator, kernel, call, converters, reads_self=False)


def make_aliasing_call(
    operator: Dispatch, kernel: Any, converters: Converters, signature: tuple[Any, ...]
) -> Call:
    """In place, by a kernel that may be given `out is self`."""
    own = signatures.dtype_of(signature[0])
    rounded = own.opmath is not own and not operator.half_as_stored

    def call(self: Tensor, *args: Any) -> Tensor:
        _check_shape(operator, self, (self, *args))
        overlap.check_self(operator.base_name, self)
        arguments = convert_all(converters, (self, *args))
        kernel(arguments[0], *arguments)
        if rounded:
            self._array()[...] = narrow_arrays.narrow(arguments[0], own)
        self._storage.version += 1
        return self

    planned = plan_into(operator, kernel, call, converters, reads_self=True)
    return keep_apart(operator, keep_zeros_apart(planned, call, operator, signature))


def keep_apart(operator: Dispatch, call: Call) -> Call:
    """The call in place that refuses arguments in self's memory, but for those that may be there.

    A kernel that reads its source while it writes would depend on the order.
    """
    places = [place - 1 for place in _kept_apart(operator)]

    def call_apart(self: Tensor, *args: Any) -> Tensor:
        for place in places:
            overlap.check_apart(operator.base_name, self, args[place])
        return call(self, *args)  # type: ignore[no-any-return]

    return call_apart if places else call


def check_out(operator: Dispatch, out: Tensor, args: Sequence[Any]) -> None:
    """Refuse an `out` that shows elements of the operands which may not be there.

    Nothing would depend on it here, but PyTorch's kernels write while they read.
    """
    if operator.out_overlap == "apart":
        for place in _kept_apart(operator):
            overlap.check_apart(operator.base_name, out, args[place])
    if operator.out_overlap != "anything":
        overlap.check_whole(operator.base_name, out, args)


def _kept_apart(operator: Dispatch) -> list[int]:
    """The places of the operands that may not be in the memory of what is written."""
    kinds = enumerate(operator.arguments.items())
    return [i for i, (name, kind) in kinds if kind == "operand" and name not in operator.aliasing]


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
            return store(operator, out, results, args)
        pairs = zip(out, results, strict=True)
        stored = [store(operator, each, result, args) for each, result in pairs]
        return operator.wrap(*stored) if operator.wrap else tuple(stored)

    return call_out


def store(operator: Dispatch, out: Tensor, result: Tensor, args: Sequence[Any] = ()) -> Tensor:
    """Copy a result into a tensor given as out=, which is resized if need be."""
    promotion.check_out(result.dtype, out.dtype, operator.out_rule)
    if operator.out_overlap != "anything":
        overlap.check_self(operator.base_name, out)
    if tuple(out._sizes) != tuple(result._sizes):
        memory.resize_out(operator.base_name, out, result._sizes)
    check_out(operator, out, args)
    return ops.copy_(out, result)  # type: ignore[no-any-return]
