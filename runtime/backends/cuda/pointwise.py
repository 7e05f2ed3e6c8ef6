"""Calls of pointwise operators on CUDA tensors: new results, in place, and out=."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import pointwise_signature, resizing
from torchgen_out._runtime.backends.common.pointwise_formula import PointwiseFormula
from torchgen_out._runtime.backends.common.pointwise_signature import PointwiseSignature
from torchgen_out._runtime.backends.cuda import memory, transfer
from torchgen_out._runtime.backends.cuda.launching import Loops, address_of, device_index
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Pointwise
from torchgen_out._runtime.kernels import plan as plans


def make_call(operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of `operator` for CUDA tensors of one signature."""
    special = pointwise_signature.specialise(operator, signature)
    if variant == OUT:
        return make_out_call(special)
    if variant == INPLACE:
        return make_inplace_call(special)
    formula = Formula(special, (special.result,) * operator.outputs)

    def call(*args: Any) -> Any:
        tensors, scalars = formula.split(args)
        index, tensors = on_one_device(tensors)
        plan = plan_of(tensors)
        results = [memory.empty(plan.sizes, dtype, index) for dtype in formula.outputs]
        formula.run(index, plan, results, tensors, scalars)
        if not plan.contiguous:
            results = [
                build(each._key, each._sizes, plan.strides, 0, each._storage) for each in results
            ]
        return results[0] if len(results) == 1 else tuple(results)

    return call


class Formula(PointwiseFormula):
    """One formula for one signature and result dtypes; its loops are made per device."""

    def __init__(self, special: PointwiseSignature, outputs: tuple[dtypes.dtype, ...]) -> None:
        super().__init__(special, outputs)
        self._loops: dict[tuple[int, bool], Loops] = {}

    def run(
        self,
        index: int,
        plan: plans.PointwisePlan,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        scalars: Sequence[Any],
    ) -> None:
        """Compute `outputs` on a device. Default scalars may have a simpler formula."""
        simpler = self.at_defaults is not None and tuple(scalars) == self.defaults
        loops = self._loops.get((index, simpler))
        if loops is None:
            spec = self.at_defaults if simpler else self.spec
            loops = self._loops[index, simpler] = Loops(spec, index)
        loops.run(
            plan,
            [address_of(each) for each in outputs],
            [address_of(each) for each in inputs],
            () if simpler else scalars,
        )


def plan_of(tensors: Sequence[Tensor], out: Tensor | None = None) -> plans.PointwisePlan:
    """The plan of a loop over tensors, into a new result or an existing one."""
    geometry = None if out is None else (out._sizes, out._strides)
    return plans.plan_pointwise(tuple([(t._sizes, t._strides) for t in tensors]), geometry)


def on_one_device(tensors: Sequence[Tensor]) -> tuple[int, list[Tensor]]:
    """(index of the device, tensors on it): a CPU tensor without dims goes along.

    Raises: RuntimeError if devices differ.
    """
    indices = {device_index(each) for each in tensors}
    if len(indices) == 1:
        (index,) = indices
        if index is not None:
            return index, list(tensors)
    found = [each.device for each in tensors if not each.is_cpu]
    first = found[0]
    for other in found[1:]:
        if other is not first:
            raise errors.same_device_expected(first, other)
    moved = [transfer.to_device(t, first, False) if t.is_cpu else t for t in tensors]
    return first.index or 0, moved


def make_inplace_call(special: PointwiseSignature) -> Call:
    """f(self, ...) written to self."""
    operator = special.operator
    name = operator.base_name + "_"
    out_dtype = special.inputs[0]
    promotion.check_inplace(operator.base_name, operator.promotion, special.result, out_dtype)
    formula = Formula(special, (out_dtype,))

    def call(self: Tensor, *args: Any) -> Tensor:
        tensors, scalars = formula.split((self, *args))
        write(formula, name, self, tensors, scalars)
        self._storage.version += 1
        return self

    return call


def make_out_call(special: PointwiseSignature) -> Call:
    """call(out, ...): f(...) written to `out`, which is resized if need be."""
    operator = special.operator
    by_dtype: dict[int, Formula] = {}

    def call(out: Tensor, *args: Any) -> Tensor:
        index = out._key & keys.DTYPE_MASK
        formula = by_dtype.get(index)
        if formula is None:
            dtype = dtypes.BY_INDEX[index]
            promotion.check_out(special.result, dtype, operator.out_rule)
            formula = by_dtype[index] = Formula(special, (dtype,))
        tensors, scalars = formula.split(args)
        sizes = shapes.broadcast_shapes(*(t._sizes for t in tensors))
        if tuple(out._sizes) != tuple(sizes):
            resizing.resize_out(operator.base_name, out, sizes)
        write(formula, operator.base_name, out, tensors, scalars)
        out._storage.version += 1
        return out

    return call


def write(
    formula: Formula, name: str, out: Tensor, tensors: list[Tensor], scalars: Sequence[Any]
) -> None:
    """Run the loop into an existing tensor.

    Raises: RuntimeError if `out` is too small, elsewhere, or overlaps itself or an input in part.
    """
    sizes = shapes.broadcast_shapes(out._sizes, *(t._sizes for t in tensors))
    if tuple(sizes) != tuple(out._sizes):
        raise errors.inplace_shape(name, out._sizes, sizes)
    if out._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK != devices.CUDA:
        raise errors.same_device_expected(tensors[0].device, out.device)
    overlap.check_operands(name, out, tensors)
    index, (_, *inputs) = on_one_device([out, *tensors])
    formula.run(index, plan_of(inputs, out), [out], inputs, scalars)
