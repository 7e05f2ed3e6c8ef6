"""Tensors in another dtype, memory order or on another device: `to` and what stands on it."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.device import DeviceLike, device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.sparse import is_sparse
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import conversion as sparse


def to_by_arguments(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Return the tensor in another dtype, on another device, or in another memory format.

    One of `to(dtype, non_blocking=False, copy=False)`, `to(device=None, dtype=None,
    non_blocking=False, copy=False)`, `to(other, non_blocking=False, copy=False)`; each also takes
    `memory_format=`. The tensor itself is returned if it is what is asked for, unless `copy`.

    **Example** `x.to("cuda", torch.float16)`, `x.to(y)`, `x.to(torch.int64)`
    """
    if args and args[0].__class__ is type and args[0] in dtypes.BY_PYTHON_TYPE:
        args = (dtypes.BY_PYTHON_TYPE[args[0]], *args[1:])
    if len(args) == 1 and not kwargs:
        target = args[0]
        if target.__class__ is dtype:
            return to_dtype(self, target)
        if not isinstance(target, Tensor):
            return to(self, None, target)
    if args and (isinstance(args[0], dtype) or (args[0] is None and len(args) == 1)):
        args = (None, *args)
    elif args and isinstance(args[0], Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    elif "other" in kwargs:
        other = kwargs.pop("other")
        args = (other.device, other.dtype, *args)
    return to_on_device(self, *args, **kwargs)


def to_on_device(
    self: Tensor,
    device: DeviceLike | None = None,
    dtype: dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    *,
    memory_format: memory_format | None = None,
) -> Tensor:
    """`to` with all arguments, in PyTorch's order."""
    wanted = dtypes.meant_by(dtype)
    if wanted is None and dtype is not None:
        raise errors.dtype_expected(dtype)
    return to(self, wanted, device, non_blocking, copy, memory_format)


def to(
    self: Tensor,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """The tensor itself if it is what is asked for, otherwise a converted copy."""
    if device is not None and device.__class__ is not devices.device:
        device = devices.device(device)
    same_dtype = dtype is None or self._key & keys.DTYPE_MASK == dtype.index
    if device is not None and device is not self.device and not _is_this_device(self, device):
        return _to_device(self, dtype, device, non_blocking, memory_format)
    if copy or not same_dtype or not _is_in_format(self, memory_format):
        return ops._to_copy(self, dtype=dtype, memory_format=memory_format)
    return self


def _is_in_format(self: Tensor, wanted: memory_format | None) -> bool:
    """Whether dims follow each other as asked for; as in PyTorch, there may be gaps.

    The strides tell, so that a contiguous map of one pixel is not channels-last.
    """
    if wanted is None or wanted is formats.preserve_format:
        return True
    is_last = shapes.is_channels_last(self._sizes, self._strides)
    return wanted is (formats.OF_RANK[self.ndim] if is_last else formats.contiguous_format)


def to_dtype(self: Tensor, dtype: dtype, memory_format: memory_format | None = None) -> Tensor:
    """The tensor in another dtype; itself if it has it."""
    if self._key & keys.DTYPE_MASK == dtype.index and memory_format is None:
        return self
    return to(self, dtype, memory_format=memory_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of another."""
    if not isinstance(other, Tensor):
        raise errors.wrong_argument_type("type_as", "other", 0, "tensor", other)
    if self._key == other._key and self.is_cpu:
        return self
    return to(self, other.dtype, other.device)


def _is_this_device(self: Tensor, wanted: device) -> bool:
    """cpu:0 is the CPU; an accelerator without an index means the tensor's own."""
    own = self.device
    return own.type == wanted.type and (wanted.index is None or own.index is None)


def _to_device(
    self: Tensor,
    dtype: dtype | None,
    target: device,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Tensor:
    if is_sparse(self):
        return to(sparse.move(self, target, non_blocking), dtype)
    is_recorded = self._key & keys.GRAD and grad_mode.is_grad_enabled()
    move = ToCopy.apply if is_recorded else transfer
    return to(move(self, target, non_blocking), dtype, memory_format=memory_format)


def transfer(self: Tensor, target: device, non_blocking: bool) -> Tensor:
    """A copy on another device, by the backend of the one that is not the host.

    Between devices of two types it goes by way of the host.
    """
    own, wanted = self.device.type_index, target.type_index
    if own and wanted not in (own, devices.META):
        self = backends.of(self).transfer(self, devices.cpu, False)
        if not wanted:
            return self
    return backends.on(target).transfer(self, target, non_blocking)


class ToCopy(Function):
    """A copy on another device; the gradient goes back."""

    @staticmethod
    def forward(ctx: Any, self: Tensor, target: device, non_blocking: bool) -> Tensor:
        """Copy."""
        ctx.source = self.device
        return transfer(self, target, non_blocking)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Copy back."""
        return to(grad, None, ctx.source), None, None
