"""Calls of pointwise operators on the CPU: the loops behind a call's form, and their plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import pointwise_signature, resizing
from torchgen_out._runtime.backends.common.output import Output
from torchgen_out._runtime.backends.common.pointwise_formula import PointwiseFormula
from torchgen_out._runtime.backends.common.pointwise_signature import PointwiseSignature
from torchgen_out._runtime.backends.cpu import pool
from torchgen_out._runtime.backends.cpu.pointwise_kernels import LoopKernels, memory_of, plan_loop
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import call_text
from torchgen_out._runtime.dispatch.call_spec import NEW, UPDATE, WRITE, CallSpec, Role
from torchgen_out._runtime.dispatch.launch_cache import LaunchCache
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Pointwise
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads


def make_call(operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of `operator` for CPU tensors of one signature."""
    special = pointwise_signature.specialise(operator, signature)
    if variant == OUT:
        return make_out_call(special)
    if variant == INPLACE:
        promotion.check_inplace(
            operator.base_name, operator.promotion, special.result, special.inputs[0]
        )
        return PointwiseCall(special, special.inputs[:1], UPDATE).make()
    zero_dim = all(entry & keys.ZERO_DIM for entry in signature if entry.__class__ is int)
    outputs = (special.result,) * operator.outputs
    return PointwiseCall(special, outputs, NEW, zero_dim).make()


def make_out_call(special: PointwiseSignature) -> Call:
    """call(out, ...), by the dtype of `out`."""
    by_dtype: dict[int, Call] = {}

    def call(out: Tensor, *args: Any) -> Tensor:
        index = out._key & keys.DTYPE_MASK
        found = by_dtype.get(index)
        if found is None:
            dtype = dtypes.BY_INDEX[index]
            promotion.check_out(special.result, dtype, special.operator.out_rule)
            found = by_dtype[index] = PointwiseCall(special, (dtype,), WRITE).make()
        result: Tensor = found(out, *args)
        return result

    return call


ROLES = {"tensor": Role.TENSOR, "scalar": Role.SCALAR, "raw": Role.RAW, "absent": Role.ABSENT}


class PointwiseCall:
    """What is known of a pointwise operator's calls for one signature, and dtypes of the results.

    zero_dim: whether no operand has dims.
    """

    def __init__(
        self,
        special: PointwiseSignature,
        outputs: tuple[dtypes.dtype, ...],
        mode: str,
        zero_dim: bool = False,
    ) -> None:
        self.special, self.outputs, self.mode = special, outputs, mode
        self.formula = PointwiseFormula(special, outputs)
        base = special.operator.base_name
        self.name = f"{base}_" if mode == UPDATE else base
        result = () if mode != WRITE else (Role.TENSOR,)
        self.roles = (*result, *[ROLES[kind] for kind in special.arguments])
        self.keys = [keys.pack(dtype.index, 0, 0, zero_dim) for dtype in outputs]

    def make(self, at_defaults: bool = True) -> Call:
        """The function that is called; at_defaults: a simpler one where scalars have theirs."""
        formula = self.formula
        is_simple = at_defaults and formula.at_defaults is not None
        is_simple &= len(formula.defaults) == self.roles.count(Role.SCALAR)
        kernels = LoopKernels(formula.at_defaults if is_simple else formula.spec)
        is_new = self.mode == NEW
        spec = CallSpec(
            self.roles,
            results=len(self.outputs),
            mode=self.mode,
            at_places=True,
            dense=True,
            defaults=is_simple,
        )
        scalars = spec.names(Role.SCALAR)
        converters = zip(scalars, formula.converters, strict=True)
        defaults = zip(scalars, formula.defaults, strict=True) if is_simple else ()
        in_place = PointwiseCall(self.special, self.outputs, UPDATE) if self.mode == WRITE else None
        small = min([pool.ALIGNED_BYTES // dtype.itemsize for dtype in self.outputs])
        launches = OutCache if self.mode == WRITE else LaunchCache
        return call_text.make_call(
            spec,
            launches(partial(self.prepare if is_new else self.prepare_into, kernels)),
            memory_of=memory_of,
            load=kernels.inplace_kernel if self.mode == UPDATE else kernels.flat_kernel,
            run_flat=threads.run_flat,
            work=kernels.work,
            small=min(kernels.serial_below, small) if is_new else kernels.serial_below,
            empty=np.empty,
            pooled=pool.empty,
            check=partial(_check_operands, self.name),
            full=later(partial(self.make, False)),
            update=later(in_place.make) if in_place else None,
            **{f"default_{name}": each for name, each in defaults},
            **{f"convert_{name}": convert for name, convert in converters},
            **{f"dtype{i}": dtype.numpy for i, dtype in enumerate(self.outputs)},
            **{f"key{i}": key for i, key in enumerate(self.keys)},
        )

    def prepare(self, kernels: LoopKernels, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The loop for operands that were not met before, and its results."""
        tensors = self.tensors(args)
        plan = plans.plan_pointwise(_geometries(tensors), in_runs=True)
        outputs = [
            Output((plan.sizes, dtype, plan.strides), None, pool.array_maker)
            for dtype in self.outputs
        ]
        is_dense = all(shapes.is_contiguous(each._sizes, each._strides) for each in tensors)
        return *outputs, *plan_loop(kernels, plan, len(outputs)), is_dense

    def prepare_into(self, kernels: LoopKernels, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The loop into a tensor that is there; it is resized if it is only written.

        Raises: RuntimeError if it is too small, or overlaps itself or an input in part.
        """
        out, *tensors = self.tensors(args)
        is_update = self.mode == UPDATE
        inputs = [out, *tensors] if is_update else tensors
        sizes = shapes.broadcast_shapes(*[each._sizes for each in inputs])
        if tuple(sizes) != tuple(out._sizes):
            if is_update:
                raise errors.inplace_shape(self.name, out._sizes, sizes)
            resizing.resize_out(self.name, out, sizes)
        overlap.check_operands(self.name, out, tensors)
        plan = plans.plan_pointwise(_geometries(inputs), (out._sizes, out._strides), in_runs=True)
        is_dense = all(shapes.is_contiguous(t._sizes, t._strides) for t in (out, *tensors))
        return *plan_loop(kernels, plan, is_update=is_update), is_dense

    def tensors(self, args: tuple[Any, ...]) -> list[Tensor]:
        """The tensors among the arguments of a call."""
        pairs = zip(args, self.roles, strict=True)
        return [each for each, role in pairs if role is Role.TENSOR]


class OutCache(LaunchCache):
    """Launches into results that are resized if need be: what is then done is not remembered."""

    __slots__ = ()

    def find(self, key: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The launch of a call that was not found."""
        sizes = args[0]._sizes
        found = super().find(key, args)
        if args[0]._sizes is not sizes:
            del self[key]
        return found


def later(make: Callable[[], Call]) -> Call:
    """A call that is made when it is first needed."""
    made: list[Call] = []

    def call(*args: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](*args)

    return call


def _check_operands(name: str, out: Tensor, *tensors: Tensor) -> None:
    overlap.check_operands(name, out, tensors)


def _geometries(tensors: list[Tensor]) -> tuple[plans.Geometry, ...]:
    return tuple([(each._sizes, each._strides) for each in tensors])
