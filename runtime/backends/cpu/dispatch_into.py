"""Calls of hand-written kernels that write into a tensor they are given: in place and out=."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common.given_results import keep_apart
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
from torchgen_out._runtime.core import overlap
from torchgen_out._runtime.core.tensor import Tensor
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
