"""Short paths of hand-written kernels, for one to three tensors of shapes seen before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.backends.cpu.pointwise_kernels import typed_buffer
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import Call
from runtime.kernels.cpu.planned import Elementwise, Operand, Planned

NO_PLAN = (None, None)
PLANS_KEPT = 1024
"""Geometries that a call remembers; others take the general way."""


Converters = Sequence[Callable[[Any], Any] | None]

MOST_PLANNED = 3
"""How many tensors a planned kernel may take."""


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
        buffer = output.empty(output.numel, output.numpy)
        sizes = output.sizes
        kernel(buffer.reshape(sizes), a.reshape(self._sizes), b.reshape(other._sizes))
        return build(output.key, sizes, output.strides, 0, None, buffer)

    return call


def make_planned_call(
    kernel: Planned, general: Call, prepare: Callable[[Any], Any], operands: int
) -> Call:
    """A planned kernel over one to three tensors of any strides, followed by other arguments.

    prepare: says what the result is for these arguments, or raises.
    """
    plans: dict[Any, Any] = {}

    def first_call(geometry: Any, tensors: tuple[Tensor, ...], plain: tuple[Any, ...]) -> Any:
        output = prepare((*tensors, *plain))
        plan = None
        if output.is_contiguous and not output.is_rounded:
            shaped = [Operand(t.dtype.numpy, t._sizes, t._strides) for t in tensors]
            out = Operand(output.numpy, output.sizes, output.strides)
            plan = kernel.planner(out, *shaped, *plain)
        if len(plans) >= PLANS_KEPT:
            return general(*tensors, *plain)
        # From now on, and for this call, too: one way, one order of rounding.
        plans[geometry] = output, *(plan or NO_PLAN)
        return call(*tensors, *plain)

    def call_one(self: Tensor, *plain: Any) -> Any:
        geometry = (self._sizes, self._strides, plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            if any(each.__class__ is list for each in plain):
                return call_one(self, *[tuple(p) if p.__class__ is list else p for p in plain])
            return general(self, *plain)
        if plan is None:
            return first_call(geometry, (self,), plain)
        output, run, number = plan
        if run is None:
            return general(self, *plain)
        a, at_a = self._flat, 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, a, at_a, number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    def call_two(self: Tensor, other: Tensor, *plain: Any) -> Any:
        geometry = (self._sizes, self._strides, other._sizes, other._strides, plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            return general(self, other, *plain)
        if plan is None:
            return first_call(geometry, (self, other), plain)
        output, run, number = plan
        if run is None:
            return general(self, other, *plain)
        a, b = self._flat, other._flat
        at_a = at_b = 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        if b is None:
            b, at_b = typed_buffer(other), other._offset
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, a, b, at_a, at_b, number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    def call_three(self: Tensor, other: Tensor, third: Tensor, *plain: Any) -> Any:
        tensors = (self, other, third)
        geometry = (tuple([each for t in tensors for each in (t._sizes, t._strides)]), plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            return general(*tensors, *plain)
        if plan is None:
            return first_call(geometry, tensors, plain)
        output, run, number = plan
        if run is None:
            return general(*tensors, *plain)
        arrays = [typed_buffer(t) if t._flat is None else t._flat for t in tensors]
        places = [t._offset if t._flat is None else 0 for t in tensors]
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, *arrays, *places, number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    call = (call_one, call_two, call_three)[operands - 1]
    return call


def is_dim_second(converters: Converters) -> bool:
    """Whether an operator takes self, dim, and one or two more tensors as they are."""
    present = [*converters[:1], *(convert for convert in converters[2:] if convert is not None)]
    others = converters[2 : len(present) + 1]
    return (
        list(converters[1:2]) == [None]
        and 1 < len(present) <= MOST_PLANNED
        and present == [Tensor._array] * len(present)
        and None not in others
    )


def make_dim_second_call(
    kernel: Planned, general: Call, prepare: Callable[[Any], Any], converters: Converters
) -> Call:
    """The planned call of an operator whose second argument, `dim`, stands before other tensors."""
    if list(converters[3:4]) == [Tensor._array]:

        def call_three(self: Tensor, dim: int, a: Tensor, b: Tensor, *plain: Any) -> Any:
            return planned_three(self, a, b, dim, *plain)

        def general_three(self: Tensor, a: Tensor, b: Tensor, dim: int, *plain: Any) -> Any:
            return general(self, dim, a, b, *plain)

        def prepare_three(args: Any) -> Any:
            self, a, b, dim, *plain = args
            return prepare((self, dim, a, b, *plain))

        planned_three = make_planned_call(kernel, general_three, prepare_three, 3)
        return call_three

    def call_two(self: Tensor, dim: int, a: Tensor, *plain: Any) -> Any:
        return planned_two(self, a, dim, *plain)

    def general_two(self: Tensor, a: Tensor, dim: int, *plain: Any) -> Any:
        return general(self, dim, a, *plain)

    def prepare_two(args: Any) -> Any:
        self, a, dim, *plain = args
        return prepare((self, dim, a, *plain))

    planned_two = make_planned_call(kernel, general_two, prepare_two, 2)
    return call_two


def make_planned_list_call(kernel: Planned, general: Call, prepare: Callable[[Any], Any]) -> Call:
    """A planned kernel over a list of dense tensors: run(out, arrays, number)."""
    plans: dict[Any, Any] = {}

    def first_call(geometry: Any, tensors: Sequence[Tensor], plain: tuple[Any, ...]) -> Any:
        output = prepare((tensors, *plain))
        plan = None
        if output.is_contiguous and not output.is_rounded:
            shaped = [Operand(t.dtype.numpy, t._sizes, t._strides) for t in tensors]
            out = Operand(output.numpy, output.sizes, output.strides)
            plan = kernel.planner(out, shaped, *plain)
        if len(plans) >= PLANS_KEPT:
            return general(tensors, *plain)
        # From now on, and for this call, too: one way, one order of rounding.
        plans[geometry] = output, *(plan or NO_PLAN)
        return call(tensors, *plain)

    def call(tensors: Sequence[Tensor], *plain: Any) -> Any:
        arrays = [t._flat for t in tensors]
        for array in arrays:
            if array is None:
                return general(tensors, *plain)
        geometry = (tuple([t._sizes for t in tensors]), plain)
        plan = plans.get(geometry)
        if plan is None:
            return first_call(geometry, tensors, plain)
        output, run, number = plan
        if run is None:
            return general(tensors, *plain)
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, arrays, number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call


def make_dense_copying_call(kernel: Elementwise, general: Call) -> Call:
    """kernel(self, other, ...) writes to self element by element, over dense tensors."""

    def call(self: Tensor, other: Tensor, *plain: Any) -> Tensor:
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return general(self, other, *plain)  # type: ignore[no-any-return]
        kernel.kernel(a, b, *plain)
        (self._shared or self._storage).version += 1
        return self

    return call


def make_dense_filling_call(kernel: Elementwise, general: Call, check: Call | None) -> Call:
    """kernel(self, ...) writes to self element by element, over a dense tensor."""

    def call(self: Tensor, *plain: Any) -> Tensor:
        flat = self._flat
        if flat is None:
            return general(self, *plain)  # type: ignore[no-any-return]
        if check is not None:
            check(self, *plain)
        kernel.kernel(flat, *plain)
        (self._shared or self._storage).version += 1
        return self

    return call
