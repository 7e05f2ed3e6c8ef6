"""Calls of hand-written kernels on the CPU: what form a call has, and how its launches are planned.

Every kernel is planned: one that is a function over arrays runs on views of tensors' memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common.dispatch import (
    case_arguments,
    common_dtype,
    find_kernel,
)
from torchgen_out._runtime.backends.common.given_results import (
    check_apart,
    kept_apart,
    make_copying_call,
    make_out_call,
)
from torchgen_out._runtime.backends.common.output import Output
from torchgen_out._runtime.backends.common.pointwise_calls import are_contiguous
from torchgen_out._runtime.backends.common.roles import argument_roles
from torchgen_out._runtime.backends.cpu import casting
from torchgen_out._runtime.backends.cpu.conversions import Operand, plan_filling, with_conversions
from torchgen_out._runtime.backends.cpu.memory import memory_of
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import generator as generators
from torchgen_out._runtime.core import overlap
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import call_text
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.call_spec import NEW, UPDATE, WRITE, CallSpec, Role
from torchgen_out._runtime.dispatch.launch_cache import LaunchCache
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Dispatch
from torchgen_out._runtime.kernels.cpu import narrow_arrays, pool
from torchgen_out._runtime.kernels.cpu.copy.casting import can_move, mover
from torchgen_out._runtime.kernels.cpu.planned import (
    FEW,
    ArrayKernel,
    Cast,
    Elementwise,
    Filling,
    PlannedKernel,
    viewer,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, element_places

CPU = 0


def make_call(operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a dispatch operator for CPU tensors of one signature."""
    if operator.mutates or (variant == INPLACE and operator.aliasing):
        return DispatchCall(operator, signature, WRITE if operator.mutates else UPDATE).make()
    call = DispatchCall(operator, signature, NEW).make()
    if variant == INPLACE:
        return make_copying_call(operator, call)
    return make_out_call(operator, call) if variant == OUT else call


class DispatchCall:
    """What is known of an operator's calls for one signature.

    wanted: the dtypes in which the kernel takes the tensors, in order.
    """

    def __init__(self, operator: Dispatch, signature: tuple[Any, ...], mode: str) -> None:
        self.operator, self.mode = operator, mode
        self.common = common_dtype(operator, signature)
        kernel = find_kernel(operator, "CPU", CPU, "torchgen_out._runtime.kernels.cpu")
        arrange = case_arguments(operator, CPU)
        if arrange and isinstance(kernel, Elementwise):
            kernel = kernel.case(arrange)
        self.is_cast = isinstance(kernel, Cast)
        self.kernel = self._planned(kernel)
        if arrange and not isinstance(kernel, Elementwise):
            self.kernel = self.kernel.case(arrange, operator.outputs if operator.meta else 0)
        self.roles, self.members = argument_roles(operator, signature)
        first = next(iter(signatures.tensor_keys(signature)), None)
        self.own = dtypes.float32 if first is None else signatures.dtype_of(first)
        entries = dict(zip(operator.operands, signature, strict=True))
        self.found: dict[Any, dtypes.dtype] = {}
        """The dtypes of results that the kernel makes, by those of its arrays."""
        self.wanted = [
            self._wanted(signatures.dtype_of(key), name)
            for name, entry in entries.items()
            for key in signatures.tensor_keys([entry])
        ]
        is_alone = isinstance(kernel, Filling) and self.roles.count(Role.TENSOR) == 1
        self.filling = kernel if is_alone else None
        if self.filling:  # numbers are the kernel's to take, for there is no end of them
            self.roles = (Role.TENSOR, *[Role.RAW] * len(self.roles[1:]))
            self.kernel = on_elements(kernel)

    def _planned(self, kernel: Any) -> PlannedKernel:
        if isinstance(kernel, PlannedKernel):
            return kernel
        operator = self.operator
        if operator.meta is None and not operator.mutates:
            return ArrayKernel(with_arrays(operator.name, kernel), _unplanned, 0, True)
        return ArrayKernel(kernel, _unplanned, operator.outputs, not operator.keeps_format)

    def _wanted(self, own: dtypes.dtype, name: str) -> dtypes.dtype:
        raw = self.operator.half_as_stored
        cast = self.common if name in self.operator.promoted else None
        wanted = own if cast is None else cast
        return wanted if raw else wanted.opmath

    @property
    def is_checked(self) -> bool:
        """Whether the shape function has numbers to look at that no launch is looked up by."""
        return self.filling is not None and self.operator.meta is not None and len(self.roles) > 1

    # -- the function ---------------------------------------------------------------------------

    def make(self) -> Call:
        """The function that is called."""
        operator, mode = self.operator, self.mode
        apart = kept_apart(operator) if mode == UPDATE else []
        spec = CallSpec(
            self.roles,
            results=self.kernel.results if mode == NEW else 1,
            mode=mode,
            members=self.members,
            at_places=self.is_cast,
            dense=self.filling is not None and self.wanted[0] is self.own,
            is_checked=bool(apart) or self.is_checked,
            tells_shared=self.is_cast and mode == WRITE,
            is_wrapped=operator.outputs > 1 and operator.wrap is not None,
        )
        named: Any = operator.wrap
        prepare = self.prepare_into if mode != NEW else self.prepare
        return call_text.make_call(
            spec,
            LaunchCache(prepare),
            memory_of=memory_of,
            source=generators.default_generator,
            wrap=partial(tuple.__new__, named) if spec.results else self.tensors_of,
            check=operator.meta if self.filling else partial(check_apart, operator, apart),
            **self.flat_hooks(),
        )

    def flat_hooks(self) -> dict[str, Any]:
        """How dense memory is filled."""
        filling = self.filling
        if filling is None:
            return {}
        much = filling.much
        return {"load": lambda: filling.few, "small": FEW, "run_flat": much, "work": None}

    def prepare(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The launch that makes new results."""
        operator, raw = self.operator, self.operator.half_as_stored
        outputs = [] if operator.meta is None else self.described(args)
        results = [
            Operand(
                each.dtype,
                each.dtype if raw else each.dtype.opmath,
                each.sizes,
                each.strides,
                not (each.is_contiguous or self.kernel.any_order),
                self.kernel.any_order,
            )
            for each in outputs
        ]
        return *outputs, *self.launch(results, args, args)

    def described(self, args: tuple[Any, ...]) -> list[Output]:
        """The results, as the shape function has them."""
        operator = self.operator
        assert operator.meta is not None
        specs = operator.meta(*args)
        try:
            listed = specs if operator.outputs > 1 else (specs,)
            return [Output(spec, self.common, pool.maker) for spec in listed]
        except (TypeError, ValueError, AttributeError) as error:
            raise errors.wrong_shape_answer(operator.name, operator.outputs, specs) from error

    def prepare_into(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The launch that writes to self, which must have the result's shape."""
        operator, self_ = self.operator, args[0]
        answer = operator.meta(*args) if operator.meta else None
        if answer is not None and tuple(answer[0]) != tuple(self_._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self_._sizes, answer[0])
        overlap.check_self(operator.base_name, self_)
        own, geometry = self_.dtype, (self_._sizes, self_._strides)
        is_gathered = not (are_contiguous([self_]) or self.kernel.any_order)
        result = Operand(own, self.wanted[0], *geometry, is_gathered, self.kernel.any_order)
        return self.launch([result], args, args if self.mode == UPDATE else args[1:])

    def launch(
        self, results: Sequence[Operand], args: tuple[Any, ...], read: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """(run, params, is_dense). read: the arguments that the kernel is given."""
        written = args[: len(args) - len(read)]
        wanted = self.wanted[len(written) :]
        pairs = list(zip(read, self.roles[len(written) :], strict=True))
        tensors = tensors_in([arg for arg, role in pairs if role in (Role.TENSOR, Role.TENSORS)])
        keeps_order = self.kernel.any_strides
        operands = [
            Operand(each.dtype, dtype, each._sizes, each._strides, keeps_order=keeps_order)
            for each, dtype in zip(tensors, wanted, strict=True)
        ]
        is_dense = are_contiguous(tensors_in(args))
        is_given = self.mode != NEW
        if self.is_cast and not self.shares(args):
            copy = casting.plan_cast(results[0], operands[0])
            if copy is not None:
                return *copy, is_dense
        if self.filling is not None and results[0].is_half:
            return *plan_filling(self.filling.few, results[0]), is_dense
        specs = iter([each.spec for each in operands])
        given = [_given(arg, role, specs) for arg, role in pairs if role is not Role.RAW]
        plan = self.kernel.plan(*[each.spec for each in results], *given)
        plan = with_conversions(plan, results, operands, is_given)
        if self.is_cast:
            return partial(_at_places, plan), None, is_dense
        return *plan, is_dense

    def shares(self, args: tuple[Any, ...]) -> bool:
        """Whether a tensor that is written shares its storage with another."""
        own = None if self.mode == NEW else args[0]._shared
        return own is not None and args[1]._shared is own

    def tensors_of(self, found: Sequence[Any]) -> Any:
        """The results of a kernel that makes them: of flat arrays, sizes and perhaps strides."""
        if len(found) == 1:
            return self._tensor(*found[0])
        made = [self._tensor(*each) for each in found]
        wrap = self.operator.wrap
        return wrap(*made) if wrap else tuple(made)

    def _tensor(
        self, flat: Any, sizes: tuple[int, ...], strides: tuple[int, ...] | None = None
    ) -> Tensor:
        own, layout = self.own, dense_layout(sizes)
        if own.opmath is own:
            dtype = self.found.get(flat.dtype)
            if dtype is None:
                dtype = self.found[flat.dtype] = dtypes.from_numpy(flat.dtype)
        elif self.operator.half_as_stored:
            dtype = own if flat.dtype == own.numpy else dtypes.from_numpy(flat.dtype)
        elif flat.dtype == own.opmath.numpy:
            flat, dtype = narrow_arrays.narrow(flat, own), own
        else:
            dtype = dtypes.from_numpy(flat.dtype)
        key = dtype.index | layout.zero_dim
        if strides is not None:
            return build(key, layout.sizes, strides, 0, Storage(flat))
        return build(key, layout.sizes, layout.strides, 0, None, flat)


def tensors_in(args: Sequence[Any]) -> list[Tensor]:
    """The tensors among arguments, those in lists included."""
    found: list[Tensor] = []
    for each in args:
        if isinstance(each, Tensor):
            found.append(each)
        elif each.__class__ in (list, tuple):
            found += [member for member in each if isinstance(member, Tensor)]
    return found


def _given(arg: Any, role: Role, specs: Iterator[TensorSpec]) -> Any:
    """What a planner is given for an argument: of tensors, in lists too, what they are."""
    if role is Role.TENSOR:
        return next(specs)
    if role is Role.TENSORS:
        return tuple([None if each is None else next(specs) for each in arg])
    if role is Role.SOURCE:
        return arg or generators.default_generator
    return tuple(arg) if arg.__class__ is list else arg


def _unplanned(*args: Any) -> None:
    """The planner of a function over arrays."""


def _at_places(plan: LaunchPlan, at_out: int, at: int, out: Any, source: Any) -> None:
    """A launch of one operand, called as loops around a formula are."""
    plan.run(out[at_out:] if at_out else out, source, at, plan.params)


def on_elements(kernel: Filling) -> PlannedKernel:
    """A kernel that sets elements, of any geometry, to what follows them."""

    def elements(out: TensorSpec) -> LaunchPlan:
        view, few, count = viewer(out), kernel.few, out.numel
        if can_move(count, out.dtype.itemsize):
            places, order = element_places(out[1:]), np.arange(count)
            move = mover(out.dtype.itemsize)

        def run(flat: Any, params: None, *values: Any) -> None:
            kernel(view(flat, 0), *values)

        def run_apart(flat: Any, params: None, *values: Any) -> None:
            dense = np.empty(count, out.dtype)
            few(dense, *values)
            move(flat, 0, dense, 0, places, order)

        def run_line(flat: Any, params: None, *values: Any) -> None:
            few(flat[:reach:step], *values)

        def run_few(flat: Any, params: None, *values: Any) -> None:
            few(flat if flat.size == count else flat[:count], *values)

        if out.is_contiguous:
            return LaunchPlan(run_few if count < FEW else run, None)
        steps = [stride for size, stride in zip(*out[1:], strict=True) if size > 1]
        if len(steps) == 1 and steps[0] and 0 < count < FEW:
            step, reach = steps[0], shapes.extent_of(*out[1:])
            return LaunchPlan(run_line, None)
        return LaunchPlan(run_apart if can_move(count, out.dtype.itemsize) else run, None)

    return PlannedKernel(elements, any_order=True)


def with_arrays(name: str, kernel: Call) -> Call:
    """A function that finds the shapes of its results, which must be arrays."""

    def found(*args: Any) -> Any:
        result = kernel(*args)
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if not hasattr(each, "dtype"):
                raise errors.wrong_kernel_result(name, result)
        return result

    found.__name__, found.__doc__ = name, kernel.__doc__
    return found
