"""Calls of kernels that work where memory lies: shapes asked, results made, arrays given.

A result given by the user is written to directly where its memory allows that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import resizing
from torchgen_out._runtime.backends.common.dispatch import common_dtype
from torchgen_out._runtime.backends.cuda import copying, memory, pointwise
from torchgen_out._runtime.backends.cuda.dispatch import allocate, array_of, finish, stages_of
from torchgen_out._runtime.backends.cuda.queue import LibraryQueue
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Dispatch
from torchgen_out._runtime.kernels.cuda.direct import Direct

Otherwise = Callable[..., Any] | None
"""otherwise(*results, *arguments): computes with tensors what a kernel leaves to it."""


def make_call(
    operator: Dispatch,
    kernel: Direct,
    signature: tuple[Any, ...],
    variant: str,
    otherwise: Otherwise = None,
) -> Call:
    """The call of a kernel for CUDA tensors of one signature."""
    run = DirectCall(operator, kernel, common_dtype(operator, signature), otherwise)
    if variant == OUT:
        return run.into
    return run.in_place if variant == INPLACE else run.new


class DirectCall:
    """One operator's kernel, and the dtype in which its operands meet (None: as they are)."""

    def __init__(
        self,
        operator: Dispatch,
        kernel: Direct,
        common: dtypes.dtype | None,
        otherwise: Otherwise,
    ) -> None:
        assert operator.meta is not None
        self.operator, self.meta, self.common = operator, operator.meta, common
        self.kernel, self.own_name = kernel.kernel, kernel.own
        self.in_any_order = kernel.in_any_order
        self.otherwise = otherwise
        self.names = tuple(operator.arguments)

    def new(self, *args: Any) -> Any:
        """Make the results and compute them."""
        queue, ready, specs = self._prepare(args)
        made = [allocate(spec, self.common, queue.index) for spec in specs]
        self._run(queue, made, ready)
        return self._wrapped(made)

    def into(self, out: Any, *args: Any) -> Any:
        """Compute into results that are there, resized if need be."""
        queue, ready, specs = self._prepare(args)
        given = (out,) if self.operator.outputs == 1 else tuple(out)
        for each, spec in zip(given, specs, strict=True):
            self._check_out(each, queue.index, *spec)
        if all(self._fits(each, spec, ready) for each, spec in zip(given, specs, strict=True)):
            self._run(queue, given, ready)
        else:
            self._run_and_copy(queue, given, specs, ready)
        for each in given:
            each._storage.version += 1
        return self._wrapped(given)

    def in_place(self, self_: Tensor, *args: Any) -> Tensor:
        """Compute into the first operand."""
        queue, ready, specs = self._prepare((self_, *args))
        sizes, dtype = specs[0][:2]
        if tuple(sizes) != tuple(self_._sizes):
            raise errors.inplace_shape(self.operator.base_name + "_", self_._sizes, sizes)
        promotion.check_out(dtype or self._common(), self_.dtype)
        if self._fits(self_, specs[0], ready):
            self._run(queue, [self_], ready)
        else:
            self._run_and_copy(queue, [self_], specs, ready)
        self_._storage.version += 1
        return self_

    # -- parts ----------------------------------------------------------------------------------

    def _prepare(self, args: tuple[Any, ...]) -> tuple[LibraryQueue, list[Any], list[Any]]:
        """(the queue, the arguments on its device and in their common dtype, what to make)."""
        specs = self.meta(*args)
        places = [i for i, each in enumerate(args) if isinstance(each, Tensor)]
        index, tensors = pointwise.on_one_device([args[i] for i in places])
        moved = list(args)
        for place, tensor in zip(places, tensors, strict=True):
            moved[place] = self._cast(self.names[place], tensor)
        queue = LibraryQueue(index, self.operator.base_name)
        return queue, moved, specs if self.operator.outputs > 1 else [specs]

    def _cast(self, name: str, tensor: Tensor) -> Tensor:
        wanted = self.common if name in self.operator.promoted else None
        if wanted is None or tensor.dtype is wanted:
            return tensor
        made = memory.empty(tuple(tensor._sizes), wanted, copying.index_of(tensor))
        copying.copy_on_device(made, tensor)
        return made

    def _common(self) -> dtypes.dtype:
        assert self.common is not None
        return self.common

    def _run(self, queue: LibraryQueue, outs: Sequence[Tensor], args: Sequence[Any]) -> None:
        given = [array_of(arg) if isinstance(arg, Tensor) else arg for arg in args]
        stages = list(map(array_of, outs)) if self.in_any_order else stages_of(queue, outs)
        if self.kernel(queue, *stages, *given) is not False:
            finish(queue, outs, stages)
        else:
            assert self.otherwise is not None, "a kernel leaves to nobody what it cannot compute"
            self.otherwise(*outs, *args)

    def _run_and_copy(
        self, queue: LibraryQueue, outs: Sequence[Tensor], specs: list[Any], args: Sequence[Any]
    ) -> None:
        made = [allocate(spec, self.common, queue.index) for spec in specs]
        self._run(queue, made, args)
        for out, result in zip(outs, made, strict=True):
            copying.copy_on_device(out, result)

    def _check_out(
        self, out: Tensor, index: int, sizes: Any, dtype: Any, strides: Any = None
    ) -> None:
        """Refuse a result that cannot hold the values; resize one that is too small."""
        promotion.check_out(dtype or self._common(), out.dtype, self.operator.out_rule)
        if not out.is_cuda or copying.index_of(out) != index:
            raise errors.same_device_expected(f"cuda:{index}", out.device)
        if tuple(out._sizes) != tuple(sizes):
            resizing.resize_out(self.operator.base_name, out, sizes)

    def _fits(self, out: Tensor, spec: Any, args: Sequence[Any]) -> bool:
        """Whether the kernel may write to `out`: its dtype, dense, and no operand's memory."""
        if out.dtype is not (spec[1] or self.common) or len(spec) > 2:
            return False
        if not shapes.is_dense(out._sizes, out._strides):
            return False
        return not any(
            arg._storage.buffer.block is out._storage.buffer.block
            and not (name == self.own_name and _is_same(arg, out))
            for name, arg in zip(self.names, args, strict=True)
            if isinstance(arg, Tensor)
        )

    def _wrapped(self, results: Sequence[Tensor]) -> Any:
        if self.operator.outputs == 1:
            return results[0]
        wrap = self.operator.wrap
        return wrap(*results) if wrap else tuple(results)


def _is_same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors see the same elements in the same places."""
    return (a._offset, tuple(a._sizes), a._strides) == (b._offset, tuple(b._sizes), b._strides)
