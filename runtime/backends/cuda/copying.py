"""Calls of copies, casts and fills on CUDA: what `runtime.kernels.cuda.copy.copy` describes."""

from __future__ import annotations

from functools import cache
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver, memory, streams, transfer
from torchgen_out._runtime.backends.cuda.launching import Loops, address_of
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import Call, Dispatch
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.common.copy import warn_of_discarding
from torchgen_out._runtime.kernels.cuda.copy import copy
from torchgen_out._runtime.kernels.cuda.copy.copy import Copy, CopyInto, Fill


def make_call(operator: Dispatch, kernel: Copy | CopyInto | Fill) -> Call:
    """The call of a copy or fill."""
    if isinstance(kernel, Copy):
        return make_copy_call(operator)
    if isinstance(kernel, CopyInto):
        return make_copy_into_call(operator)
    return make_fill_call(operator, kernel)


def make_copy_call(operator: Dispatch) -> Call:
    """call(self, ...): a new tensor, of the dtype and strides that the shape function says."""
    assert operator.meta is not None
    meta = operator.meta

    def call(self: Tensor, *plain: Any) -> Tensor:
        sizes, dtype, strides = meta(self, *plain)
        made = memory.empty(tuple(sizes), dtype, index_of(self))
        if tuple(strides) != made._strides:
            made = build(made._key, made._sizes, tuple(strides), 0, made._storage)
        copy_on_device(made, self)
        return made

    return call


def make_copy_into_call(operator: Dispatch) -> Call:
    """call(self, src, non_blocking): `src` broadcast and cast into self."""
    assert operator.meta is not None
    meta = operator.meta

    def call(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
        meta(self, src, non_blocking)
        if 0 in self._strides and shapes.repeats(self._sizes, self._strides):
            raise errors.overlapping_write(operator.base_name)
        copy_anywhere(self, src, non_blocking)
        self._storage.version += 1
        return self

    return call


def make_fill_call(operator: Dispatch, kernel: Fill) -> Call:
    """call(self[, value]): all elements set."""
    assert operator.meta is not None
    meta = operator.meta

    def call(self: Tensor, *value: Any) -> Tensor:
        meta(self, *value)
        if value and isinstance(value[0], Tensor):
            copy_anywhere(self, value[0], False)
        else:
            fill(self, value[0] if value else 0)
        self._storage.version += 1
        return self

    assert kernel.has_value == ("value" in operator.arguments)
    return call


def copy_anywhere(self: Tensor, src: Tensor, non_blocking: bool) -> None:
    """Write `src`, broadcast and cast, into self; one of them or both lie on a device.

    Between memories the elements travel densely and in their own dtype; what is left to do is done
    where self lies.
    """
    if self.device is src.device:
        copy_on_device(self, src)
        return
    if _can_travel(self, src):
        transfer.copy_dense(self, src, non_blocking)
        return
    arrived = transfer.to_device(src, self.device, non_blocking)
    if self.is_cpu:
        transfer.copy_on_host(self, arrived)
    else:
        copy_on_device(self, arrived)


def _can_travel(self: Tensor, src: Tensor) -> bool:
    """Whether the bytes of one are those of the other."""
    return (
        self.dtype is src.dtype
        and self._sizes == src._sizes
        and self._strides == src._strides
        and shapes.is_dense(self._sizes, self._strides)
    )


def copy_on_device(self: Tensor, src: Tensor) -> None:
    """Write `src`, broadcast and cast, into self on the same device."""
    if not self.numel():
        return
    if _can_travel(self, src):
        size = self.numel() * self.dtype.itemsize
        index = index_of(self)
        stream = streams.current_handle(index)
        driver.current().copy(index, address_of(self), address_of(src), size, stream)
        return
    if src.dtype.is_complex and self.dtype.kind not in "cb":
        warn_of_discarding()
    source = src if src._storage is not self._storage else _apart(src)
    geometry = (source._sizes, source._strides)
    plan = plans.plan_pointwise((geometry,), (self._sizes, self._strides))
    loops = copy_loops(source.dtype, self.dtype, index_of(self))
    loops.run(plan, [address_of(self)], [address_of(source)], ())


def _apart(src: Tensor) -> Tensor:
    """A copy of `src`, which shares memory with the target."""
    made = memory.empty(tuple(src._sizes), src.dtype, index_of(src))
    copy_on_device(made, src)
    return made


def fill(self: Tensor, value: Any) -> None:
    """Set all elements to a number."""
    if not self.numel():
        return
    index, dtype = index_of(self), self.dtype
    if not value and shapes.is_dense(self._sizes, self._strides):
        size = self.numel() * dtype.itemsize
        stream = streams.current_handle(index)
        driver.current().fill(index, address_of(self), 0, size, stream)
        return
    plan = plans.plan_pointwise((), (self._sizes, self._strides))
    fill_loops(dtype, index).run(plan, [address_of(self)], [], (value,))


@cache
def copy_loops(own: dtypes.dtype, wanted: dtypes.dtype, index: int) -> Loops:
    """The loops from one dtype to another."""
    return Loops(copy.copy_spec(own, wanted), index)


@cache
def fill_loops(dtype: dtypes.dtype, index: int) -> Loops:
    """The loops that set elements."""
    return Loops(copy.fill_spec(dtype), index)


def index_of(tensor: Tensor) -> int:
    """The index of the device on which a tensor lies."""
    return int(tensor._storage.buffer.device_index)
