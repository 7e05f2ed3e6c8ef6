"""Calls of hand-written kernels on the CPU that make new tensors.

Shapes are asked, results allocated, arrays handed over; plans take over where there are some.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cpu.casting import make_cast_call
from torchgen_out._runtime.backends.cpu.converters import Converters, arrays_of, convert_all
from torchgen_out._runtime.backends.cpu.dispatch_output import Output, run_staged
from torchgen_out._runtime.backends.cpu.dispatch_short import make_two_tensor_call
from torchgen_out._runtime.backends.cpu.planned_anywhere import (
    find_places,
    make_anywhere_call,
    make_several_call,
)
from torchgen_out._runtime.backends.cpu.planned_calls import (
    MOST_PLANNED,
    PlanTable,
    is_dim_second,
    keep_zeros_apart,
    make_dim_second_call,
    make_listing_call,
    make_pair_call,
    make_planned_call,
    make_planned_list_call,
)
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor, from_array
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import Call, Dispatch
from torchgen_out._runtime.kernels.cpu import narrow_arrays
from torchgen_out._runtime.kernels.cpu.planned import Cast, PlannedKernel

GEOMETRIES_KEPT = 1024
"""Shapes per signature for which a call remembers what the shape function said."""

Prepare = Callable[[tuple[Any, ...]], list[Output]]


def make_static_call(
    operator: Dispatch,
    kernel: Any,
    converters: Converters,
    common: dtypes.dtype | None,
    signature: tuple[Any, ...],
) -> Call:
    """Shapes are known from the arguments."""
    prepare = make_preparation(operator, common)
    remembered: dict[Any, list[Output]] = {}
    call = make_general_call(operator, kernel, converters, prepare, remembered)
    if isinstance(kernel, PlannedKernel):
        planned = make_planned(operator, kernel, call, converters, prepare)
        return keep_zeros_apart(planned, call, operator, signature)
    if isinstance(kernel, Cast):
        is_plain = converters[0] is Tensor._array
        return make_cast_call(kernel, call, lambda args: prepare(args)[0], is_plain)
    if operator.outputs == 1 and list(converters) == [Tensor._array] * 2:
        return make_two_tensor_call(kernel, call, remembered)
    return call


def make_preparation(operator: Dispatch, common: dtypes.dtype | None) -> Prepare:
    """What tells the results of a call from its arguments, or raises what is wrong with them."""
    meta, several, raw = operator.meta, operator.outputs > 1, operator.half_as_stored
    keeps_format = operator.keeps_format
    assert meta is not None

    def prepare(args: tuple[Any, ...]) -> list[Output]:
        specs = meta(*args)
        try:
            listed = specs if several else (specs,)
            return [Output(spec, common, raw, keeps_format) for spec in listed]
        except (TypeError, ValueError, AttributeError) as error:
            raise errors.wrong_shape_answer(operator.name, operator.outputs, specs) from error

    return prepare


def make_general_call(
    operator: Dispatch,
    kernel: Any,
    converters: Converters,
    prepare: Prepare,
    remembered: dict[Any, list[Output]],
) -> Call:
    """The call for any arguments.

    What the shape function says is remembered per geometry and plain arguments, if these can be
    hashed: the checks of a call seen before are not made again.
    """
    several, wrap = operator.outputs > 1, operator.wrap

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
        arguments = convert_all(converters, args)
        if not several:
            return outputs[0].run(kernel, arguments)
        results = [output.allocate() for output in outputs]
        if any(output.is_staged for output in outputs):
            run_staged(kernel, outputs, results, arguments)
        else:
            kernel(*map(Output.array, outputs, results), *arguments)
        return wrap(*results) if wrap else tuple(results)

    return call


def make_planned(
    operator: Dispatch, kernel: PlannedKernel, call: Call, converters: Converters, prepare: Prepare
) -> Call:
    """The shortest planned way for where the tensors stand; `call` where one is converted."""
    if kernel.any_order:
        return make_anywhere(operator, kernel, call, converters, prepare)
    present = [convert for convert in converters if convert is not None]
    are_first = list(converters[: len(present)]) == [Tensor._array] * len(present)
    if operator.outputs == 2 and are_first and len(present) == 1:
        return make_pair_call(PlanTable(kernel, prepare), call, operator.wrap or pair)
    if operator.outputs == 1:
        if present == [arrays_of] == list(converters[:1]):
            return make_planned_list_call(kernel, call, prepare)
        if is_dim_second(converters):
            return make_dim_second_call(kernel, call, prepare, converters)
        if are_first and 0 < len(present) <= MOST_PLANNED:
            return make_planned_call(kernel, call, prepare, len(present))
    return make_anywhere(operator, kernel, call, converters, prepare)


def make_anywhere(
    operator: Dispatch, kernel: PlannedKernel, call: Call, converters: Converters, prepare: Prepare
) -> Call:
    """The planned way for tensors in any place and results in any order."""
    places = find_places(converters)
    if places is None:
        return call
    plans = PlanTable(kernel, prepare)
    if operator.outputs > 1:
        return make_several_call(plans, call, places, operator.wrap)
    if kernel.any_order:
        return make_several_call(plans, call, places, itemgetter(0))
    return make_anywhere_call(plans, call, places)


def pair(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """The results of an operator that gives them no names."""
    return first, second


SHAPED: frozenset[type] = frozenset({Tensor, list, tuple})


def _geometry(value: Any) -> Any:
    """What of an argument a shape function reads: sizes and strides of tensors, also in lists."""
    if value.__class__ is Tensor:
        return value._sizes, value._strides
    return tuple([_geometry(each) if each.__class__ is Tensor else each for each in value])


def _is_plain(value: Any) -> bool:
    """Whether equal arguments mean equal shapes: True is 1 to a dict, but no tensor subclass is."""
    return value.__class__ is Tensor or not isinstance(value, Tensor)


def make_dynamic_call(
    operator: Dispatch, kernel: Any, converters: Converters, signature: tuple[Any, ...]
) -> Call:
    """Shapes depend on the data: the kernel allocates."""
    first = next(iter(signatures.tensor_keys(signature)))
    own = signatures.dtype_of(first)
    wrap, raw = operator.wrap, operator.half_as_stored

    def tensor_of(array: Any) -> Tensor:
        if own.opmath is not own:
            if raw and array.dtype == own.numpy:
                return from_array(array, own)
            if not raw and array.dtype == own.opmath.numpy:
                return from_array(narrow_arrays.narrow(array, own), own)
        return from_array(array)

    def call(*args: Any) -> Any:
        result = kernel(*convert_all(converters, args))
        if not isinstance(result, (tuple, list)):
            if not hasattr(result, "dtype"):
                raise errors.wrong_kernel_result(operator.name, result)
            return tensor_of(result)
        tensors = tuple(tensor_of(each) for each in result)
        return wrap(*tensors) if wrap else tensors

    if isinstance(kernel, PlannedKernel) and list(filter(None, converters)) == [Tensor._array]:
        return make_listing_call(PlanTable(kernel, lambda args: ()), call, wrap)
    return call
