"""Calls of planned kernels that make one tensor of one to three others, or of a list.

Those whose tensors stand elsewhere are in `planned_anywhere.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.backends.cpu.converters import Converters
from torchgen_out._runtime.backends.cpu.pointwise_kernels import typed_buffer
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import Call, Dispatch
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel
from torchgen_out._runtime.kernels.plan import TensorSpec

NO_PLAN = (None, None)
NEVER = (None, *NO_PLAN)
PLANS_KEPT = 1024
"""Geometries that a call remembers; others take the general way."""

MOST_PLANNED = 3
"""How many tensors a planned kernel may take here."""


class PlanTable(dict[Any, tuple[Any, ...]]):
    """By geometry: each result's `Output`, then the plan's run and number, None without a plan.

    prepare: says what the results are for the arguments of a call, or raises.
    """

    def __init__(self, kernel: PlannedKernel, prepare: Callable[[Any], Any]) -> None:
        self.kernel = kernel
        self.prepare = prepare

    def look_up(self, geometry: Any) -> tuple[Any, ...] | None:
        """The plan of what may not be fit to be looked up: that never gets one."""
        try:
            return self.get(geometry)
        except TypeError:
            return NEVER

    def make(self, geometry: Any, args: Any, written: int = 0) -> tuple[Any, ...]:
        """Plan a call seen for the first time.

        written: how many of the first arguments are only written to, and stand for results.
        From now on, and for this call, too: one way, one order of rounding.
        """
        outputs = self.prepare(args)
        if len(self) >= PLANS_KEPT:
            return *outputs, *NO_PLAN
        plan = None
        is_in_order = self.kernel.any_order or all(output.is_contiguous for output in outputs)
        if is_in_order and not any(output.is_rounded for output in outputs):
            outs = [TensorSpec(output.numpy, output.sizes, output.strides) for output in outputs]
            plan = self.kernel.plan(*outs, *map(described, args[written:]))
        entry = self[geometry] = *outputs, *(plan or NO_PLAN)
        return entry


def described(argument: Any) -> Any:
    """What a planner reads of an argument: of tensors, in lists too, the geometry."""
    if isinstance(argument, Tensor):
        return TensorSpec(argument.dtype.numpy, argument._sizes, argument._strides)
    if argument.__class__ in (list, tuple):
        return tuple(map(described, argument))
    return argument


def make_planned_call(kernel: PlannedKernel, general: Call, prepare: Any, operands: int) -> Call:
    """A planned kernel over one to three tensors of any strides, followed by other arguments."""
    maker = (make_unary_call, make_binary_call, make_ternary_call)[operands - 1]
    return maker(PlanTable(kernel, prepare), general)


def make_unary_call(plans: PlanTable, general: Call) -> Call:
    """plans' kernel over one tensor."""
    has_lists = False

    def call(self: Tensor, *plain: Any) -> Any:
        nonlocal has_lists
        if has_lists:
            plain = tuple([tuple(each) if each.__class__ is list else each for each in plain])
        geometry = (self._sizes, self._strides, plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            if has_lists:
                return general(self, *plain)
            has_lists = True  # from now on: who gives lists does so again
            return call(self, *plain)
        if plan is None:
            plan = plans.make(geometry, (self, *plain))
        output, run, number = plan
        if run is None:
            return general(self, *plain)
        a, at_a = self._flat, 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, a, at_a, number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call


def make_pair_call(plans: PlanTable, general: Call, wrap: Any) -> Call:
    """plans' kernel over one tensor, with two results."""
    has_lists = False

    def call(self: Tensor, *plain: Any) -> Any:
        nonlocal has_lists
        if has_lists:
            plain = tuple([tuple(each) if each.__class__ is list else each for each in plain])
        geometry = (self._sizes, self._strides, plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            if has_lists:
                return general(self, *plain)
            has_lists = True  # from now on: who gives lists does so again
            return call(self, *plain)
        if plan is None:
            plan = plans.make(geometry, (self, *plain))
        first, second, run, number = plan
        if run is None:
            return general(self, *plain)
        a, at_a = self._flat, 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        buffer, other = (
            first.empty(first.numel, first.numpy),
            second.empty(second.numel, second.numpy),
        )
        run(buffer, other, a, at_a, number)
        return wrap(
            build(first.key, first.sizes, first.strides, 0, None, buffer),
            build(second.key, second.sizes, second.strides, 0, None, other),
        )

    return call


def make_listing_call(plans: PlanTable, general: Call, wrap: Any) -> Call:
    """plans' kernel over one tensor, with results whose shapes depend on the data."""

    def call(self: Tensor, *plain: Any) -> Any:
        geometry = (self._sizes, self._strides, plain)
        plan = plans.get(geometry)
        if plan is None:
            plan = plans.make(geometry, (self, *plain))
        run, number = plan
        if run is None:
            return general(self, *plain)
        a, at_a = self._flat, 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        results = [make_dense(flat, sizes) for flat, sizes in run(a, at_a, number)]
        if len(results) == 1:
            return results[0]
        return wrap(*results) if wrap else tuple(results)

    return call


def make_dense(flat: Any, sizes: tuple[int, ...]) -> Tensor:
    """A tensor of these elements."""
    layout = dense_layout(sizes)
    key = dtypes.from_numpy(flat.dtype).index | layout.zero_dim
    return build(key, layout.sizes, layout.strides, 0, None, flat)


def make_binary_call(plans: PlanTable, general: Call) -> Call:
    """plans' kernel over two tensors."""

    def call(self: Tensor, other: Tensor, *plain: Any) -> Any:
        geometry = (self._sizes, self._strides, other._sizes, other._strides, plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            return general(self, other, *plain)
        if plan is None:
            plan = plans.make(geometry, (self, other, *plain))
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

    return call


def make_ternary_call(plans: PlanTable, general: Call) -> Call:
    """plans' kernel over three tensors."""

    def call(self: Tensor, other: Tensor, third: Tensor, *plain: Any) -> Any:
        sizes = self._sizes, other._sizes, third._sizes
        geometry = (sizes, self._strides, other._strides, third._strides, plain)
        try:
            plan = plans.get(geometry)
        except TypeError:
            return general(self, other, third, *plain)
        if plan is None:
            plan = plans.make(geometry, (self, other, third, *plain))
        output, run, number = plan
        if run is None:
            return general(self, other, third, *plain)
        a, b, c = self._flat, other._flat, third._flat
        at_a = at_b = at_c = 0
        if a is None:
            a, at_a = typed_buffer(self), self._offset
        if b is None:
            b, at_b = typed_buffer(other), other._offset
        if c is None:
            c, at_c = typed_buffer(third), third._offset
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, a, b, c, at_a, at_b, at_c, number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call


def memory_of(tensors: Sequence[Tensor]) -> list[Any]:
    """Flat arrays that hold the tensors' elements, then where the tensors begin in these."""
    if len(tensors) == 1:
        (only,) = tensors
        flat = only._flat
        return [flat, 0] if flat is not None else [typed_buffer(only), only._offset]
    arrays = [t._flat for t in tensors]
    offsets = [0] * len(arrays)
    for place, array in enumerate(arrays):
        if array is None:
            arrays[place], offsets[place] = typed_buffer(tensors[place]), tensors[place]._offset
    return arrays + offsets


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
    kernel: PlannedKernel, general: Call, prepare: Any, converters: Converters
) -> Call:
    """The planned call of an operator whose second argument, `dim`, stands before other tensors."""
    if list(converters[3:4]) == [Tensor._array]:

        def call_three(self: Tensor, dim: int, a: Tensor, b: Tensor, *plain: Any) -> Any:
            return planned_three(self, a, b, dim, *plain)

        def general_three(self: Tensor, a: Tensor, b: Tensor, dim: int, *plain: Any) -> Any:
            return general(self, dim, a, b, *plain)

        planned_three = make_ternary_call(DimSecondTable(kernel, prepare, 3), general_three)
        return call_three

    def call_two(self: Tensor, dim: int, a: Tensor, *plain: Any) -> Any:
        return planned_two(self, a, dim, *plain)

    def general_two(self: Tensor, a: Tensor, dim: int, *plain: Any) -> Any:
        return general(self, dim, a, *plain)

    planned_two = make_binary_call(DimSecondTable(kernel, prepare, 2), general_two)
    return call_two


class DimSecondTable(PlanTable):
    """Plans of calls whose dim was put behind the tensors."""

    def __init__(self, kernel: PlannedKernel, prepare: Any, operands: int) -> None:
        super().__init__(kernel, prepare)
        self.operands = operands

    def make(self, geometry: Any, args: Any, written: int = 0) -> tuple[Any, ...]:
        """Plan with the arguments in the kernel's order."""
        self_, *others = args[: self.operands]
        dim, *plain = args[self.operands :]
        return super().make(geometry, (self_, dim, *others, *plain), written)


def make_planned_list_call(kernel: PlannedKernel, general: Call, prepare: Any) -> Call:
    """A planned kernel over a list of dense tensors."""
    plans = PlanTable(kernel, prepare)

    def call(tensors: Sequence[Tensor], *plain: Any) -> Any:
        arrays: Sequence[Any]
        sizes: tuple[Size, ...]
        if len(tensors) == 2:  # the most frequent, without the cost of two comprehensions
            first, second = tensors
            arrays, sizes = (first._flat, second._flat), (first._sizes, second._sizes)
        else:
            arrays, sizes = [t._flat for t in tensors], tuple([t._sizes for t in tensors])
        for array in arrays:
            if array is None:  # a view, perhaps a dense one
                arrays = [t._dense() for t in tensors]
                if any(each is None for each in arrays):
                    return general(tensors, *plain)
                break
        geometry = (sizes, plain)
        plan = plans.get(geometry)
        if plan is None:
            plan = plans.make(geometry, (tensors, *plain))
        output, run, number = plan
        if run is None:
            return general(tensors, *plain)
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, *arrays, *[0] * len(arrays), number)
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call


def _number_places(operator: Dispatch, signature: tuple[Any, ...]) -> list[int]:
    """Where floats stand, or may stand, among the arguments."""
    entries = dict(zip(operator.operands, signature, strict=True))
    return [
        place
        for place, (name, kind) in enumerate(operator.arguments.items())
        if kind == "scalar" or entries.get(name) is float
    ]


def keep_zeros_apart(
    planned: Call, general: Call, operator: Dispatch, signature: tuple[Any, ...]
) -> Call:
    """The planned call, but for -0.0: to what remembers plans it is the same number as 0.0."""
    places = _number_places(operator, signature)
    if not places:
        return planned

    def call(*args: Any) -> Any:
        for place in places:
            value = args[place]
            if value == 0 and value.__class__ is float and math.copysign(1, value) < 0:
                return general(*args)
        return planned(*args)

    return call
