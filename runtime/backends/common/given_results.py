"""Results that the caller gives, in place and out=: when they are refused, copies into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import resizing
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import operator as registered
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import Call, Dispatch, Reduction, TensorCall


def check_apart(operator: Dispatch, places: Sequence[int], self: Tensor, *args: Any) -> None:
    """Refuse arguments in the memory of self, which is written, at places of the call.

    A kernel that reads its source while it writes would depend on the order.
    """
    for place in places:
        overlap.check_apart(operator.base_name, self, args[place - 1])


def check_out(operator: Dispatch, out: Tensor, args: Sequence[Any]) -> None:
    """Refuse an `out` that shows elements of the operands which may not be there.

    Nothing would depend on it here, but PyTorch's kernels write while they read.
    """
    if operator.out_overlap == "apart":
        for place in kept_apart(operator):
            overlap.check_apart(operator.base_name, out, args[place])
    if operator.out_overlap != "anything":
        overlap.check_whole(operator.base_name, out, args)


def kept_apart(operator: Dispatch) -> list[int]:
    """The places of the operands that may not be in the memory of what is written."""
    kinds = enumerate(operator.arguments.items())
    return [i for i, (name, kind) in kinds if kind == "operand" and name not in operator.aliasing]


def make_copying_call(operator: Dispatch, call: TensorCall) -> Call:
    """In place by computing the result and copying it into self."""

    def call_inplace(self: Tensor, *args: Any) -> Tensor:
        result = call(self, *args)
        if tuple(result._sizes) != tuple(self._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self._sizes, result._sizes)
        promotion.check_out(result.dtype, self.dtype)
        return copy_below(self, result)

    return call_inplace


def copy_below(out: Tensor, result: Tensor) -> Tensor:
    """Copy below autograd: the wrapper around the in-place call does the recording."""
    call: TensorCall = registered.operators["copy_"].calls[
        signatures.without_grad(out._key), signatures.without_grad(result._key)
    ]
    return call(out, result, False)


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
    make_room(operator, out, tuple(result._sizes), result.dtype, args)
    return ops.copy_(out, result)


def make_room(
    operator: Dispatch,
    out: Tensor,
    sizes: tuple[int, ...],
    dtype: dtypes.dtype,
    args: Sequence[Any],
) -> None:
    """Refuse a tensor given as out= that cannot take a result, and resize it if need be."""
    promotion.check_out(dtype, out.dtype, operator.out_rule)
    if operator.out_overlap != "anything":
        overlap.check_self(operator.base_name, out)
    if tuple(out._sizes) != sizes:
        resizing.resize_out(operator.base_name, out, sizes)
    check_out(operator, out, args)


def make_reduction_out_call(operator: Reduction, call: Call) -> Call:
    """out= of a reduction: a dtype that is asked for must be that of `out`."""
    names = tuple(operator.arguments)
    dtype_at = names.index("dtype") if "dtype" in names else None

    def call_out(out: Tensor, *args: Any) -> Tensor:
        result = call(*args)
        is_asked_for = dtype_at is not None and args[dtype_at] is not None
        promotion.check_out(result.dtype, out.dtype, "exact" if is_asked_for else operator.out_rule)
        if tuple(out._sizes) != tuple(result._sizes):
            resizing.resize_out(operator.base_name, out, result._sizes)
        return ops.copy_(out, result)

    return call_out
