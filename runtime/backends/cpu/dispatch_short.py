"""Short paths of hand-written kernels: two or three tensors and nothing else, shapes seen before.

As in `pointwise_short`, a result's fields are set one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.backends.cpu.pointwise_kernels import typed_buffer
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import Call
from runtime.kernels.cpu.planned import Planned

_new = object.__new__
_empty = np.empty
PLANS_KEPT = 1024
"""Geometries that a call remembers; others take the general way."""


def make_two_tensor_call(kernel: Any, general: Call, remembered: dict[Any, Any]) -> Call:
    """kernel(out, self, other) over dense tensors. remembered: the general call's results."""

    def call(self: Tensor, other: Tensor) -> Any:
        a, b = self._flat, other._flat
        outputs = remembered.get(((self._sizes, self._strides), (other._sizes, other._strides)))
        if outputs is None or a is None or b is None:
            return general(self, other)
        (output,) = outputs
        if output.is_rounded or not output.is_contiguous:
            return general(self, other)
        buffer = _empty(output.numel, output.numpy)
        sizes = output.sizes
        kernel(buffer.reshape(sizes), a.reshape(self._sizes), b.reshape(other._sizes))
        return build(output.key, sizes, output.strides, 0, None, buffer)

    return call


def make_planned_call(
    kernel: Planned, general: Call, prepare: Callable[[Any], Any], operands: int
) -> Call:
    """A planned kernel over two or three tensors of any strides; absent operands come last.

    prepare: says what the result is for these arguments, or raises.
    """
    plans: dict[Any, Any] = {}

    def first_call(geometry: Any, *args: Any) -> Any:
        output = prepare(args)
        plan = None
        if output.is_contiguous and not output.is_rounded:
            geometries = [None if each is None else (each._sizes, each._strides) for each in args]
            plan = kernel.planner(output.numpy, *geometries)
        if plan is None:
            return general(*args)
        if len(plans) < PLANS_KEPT:
            plans[geometry] = output, *plan
        return general(*args)

    def call_two(self: Tensor, other: Tensor, *absent: None) -> Any:
        geometry = (self._sizes, self._strides, other._sizes, other._strides)
        plan = plans.get(geometry)
        if plan is None:
            return first_call(geometry, self, other, *absent)
        output, run, numbers = plan
        a, b = self._flat, other._flat
        at_a = at_b = 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        if b is None:
            b, at_b = typed_buffer(other), other._offset
        buffer = _empty(output.numel, output.numpy)
        run(buffer, a, b, at_a, at_b, numbers)
        result = _new(Tensor)
        result._key = output.key
        result._sizes = output.sizes
        result._strides = output.strides
        result._offset = 0
        result._shared = None
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    def call_three(self: Tensor, other: Tensor, third: Tensor) -> Any:
        tensors = (self, other, third)
        geometry = tuple([each for t in tensors for each in (t._sizes, t._strides)])
        plan = plans.get(geometry)
        if plan is None:
            return first_call(geometry, *tensors)
        output, run, numbers = plan
        arrays = [typed_buffer(t) if t._flat is None else t._flat for t in tensors]
        places = [t._offset if t._flat is None else 0 for t in tensors]
        buffer = _empty(output.numel, output.numpy)
        run(buffer, *arrays, *places, numbers)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call_two if operands == 2 else call_three
