"""The Meta backend: shapes and dtypes without data."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import pointwise_signature
from torchgen_out._runtime.backends.common.dispatch import common_dtype
from torchgen_out._runtime.backends.common.reduction_plan import plan_dims, reduction_types
from torchgen_out._runtime.backends.protocol import Backend
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, make_tensor
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import (
    FUNCTION,
    OUT,
    Call,
    Dispatch,
    Pointwise,
    Reduction,
)
from torchgen_out._runtime.kernels import plan as plans


def meta_tensor(sizes: Any, dtype: dtypes.dtype) -> Tensor:
    """A contiguous tensor without data."""
    return make_tensor(None, sizes, dtype, devices.meta)


class MetaBackend(Backend):
    """Makes calls that compute geometry only."""

    name = "Meta"

    def pointwise(self, operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
        """The broadcast shape, dims laid out as a real backend would."""
        special = pointwise_signature.specialise(operator, signature)

        def call(*args: Any) -> Any:
            tensors = [arg for arg in args if isinstance(arg, Tensor)]
            plan = plans.plan_pointwise(tuple([(t._sizes, t._strides) for t in tensors]))
            results = []
            for _ in range(operator.outputs):
                result = meta_tensor(plan.sizes, special.result)
                result._strides = plan.strides
                results.append(result)
            return results[0] if len(results) == 1 else tuple(results)

        return _variant(operator, call, variant)

    def reduction(self, operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
        """The sizes without the reduced dims."""
        own = signatures.dtype_of(signature[0])
        names = tuple(operator.arguments)

        def call(*args: Any) -> Tensor:
            given = dict(zip(names, args, strict=True))
            result = reduction_types(operator.promotion, own, given.get("dtype"))[1]
            dim = given.get("dim")
            plan = plan_dims(
                args[0]._sizes,
                tuple(dim) if isinstance(dim, list) else dim,
                bool(given.get("keepdim", False)),
            )
            if operator.parts[0] is None:
                plan.check_not_empty(operator.base_name, dim)
            return meta_tensor(plan.sizes, result)

        return _variant(operator, call, variant)

    def dispatch(self, operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
        """What the operator's shape function says.

        Raises: NotImplementedError for a shape that depends on data.
        """
        meta, common = operator.meta, common_dtype(operator, signature)
        if meta is None:
            raise errors.no_meta(operator.base_name)

        def call(*args: Any) -> Any:
            specs = meta(*args)
            if operator.mutates:
                return args[0]
            if operator.outputs == 1:
                specs = (specs,)
            results = [_described(spec, common) for spec in specs]
            if operator.outputs == 1:
                return results[0]
            return operator.wrap(*results) if operator.wrap else tuple(results)

        return _variant(operator, call, variant)

    def empty(self, sizes: tuple[int, ...], dtype: dtypes.dtype, on: devices.device) -> Tensor:
        """A contiguous tensor without values."""
        return meta_tensor(sizes, dtype)

    def transfer(self, tensor: Tensor, target: devices.device, non_blocking: bool) -> Tensor:
        """What a copy of the tensor would be.

        Raises: RuntimeError for a copy with data.
        """
        if target.type_index != devices.META:
            raise errors.no_data_on_meta()
        made = meta_tensor(tensor._sizes, tensor.dtype)
        made._strides = shapes.dense_strides(tensor._sizes, tensor._strides)
        return made

    def grow(self, storage: Storage, count: int, dtype: dtypes.dtype) -> None:
        """There is no memory."""


def _described(spec: Any, common: dtypes.dtype | None) -> Tensor:
    """The tensor of which a shape function says (sizes, dtype[, strides])."""
    sizes, dtype, *strides = spec
    chosen = dtype or common
    assert chosen is not None
    made = meta_tensor(sizes, chosen)
    if strides:
        made._strides = tuple(strides[0])
    return made


def _variant(operator: Pointwise | Reduction | Dispatch, call: Call, variant: str) -> Call:
    """In-place and out= calls check the shape and return the tensor given."""
    if variant == FUNCTION:
        return call

    def call_into(out: Any, *args: Any) -> Any:
        result = call(out, *args) if variant != OUT else call(*args)
        if isinstance(result, Tensor):
            if variant != OUT:
                rule = operator.promotion
                promotion.check_inplace(operator.base_name, rule, result.dtype, out.dtype)
            else:
                promotion.check_out(result.dtype, out.dtype, operator.out_rule)
            if tuple(result._sizes) != tuple(out._sizes):
                raise errors.inplace_shape(operator.base_name, out._sizes, result._sizes)
        return out

    return call_into
