"""Tensor methods that change which memory a tensor sees, or write to it element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode, graph
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.backends.common import resizing
from torchgen_out._runtime.backends.cpu import memory
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import is_sparse, storage_of
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation, from_data
from torchgen_out._runtime.tensor_api import interop


def resize_(self: Tensor, *sizes: Any, memory_format: memory_format | None = None) -> Tensor:
    """Give the tensor other sizes, over its own memory, which grows if need be.

    memory_format: the order in which it sees the memory; by default the elements lie in a row.
    **Raises** RuntimeError if it requires grad.
    """
    if memory_format is formats.preserve_format:
        raise RuntimeError("resize_(): there is no memory format to preserve, say which")
    if self._key & keys.GRAD:
        raise errors.resize_of_grad()
    wanted = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    resizing.resize(self, creation.sizes_of(wanted))
    if memory_format is not None:
        self._strides = _strides_in(self._sizes, memory_format)
        self._flat = None
    return self


def resize_as_(
    input: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None
) -> Tensor:
    """Give the tensor the sizes of another, with `preserve_format` also its memory format."""
    if memory_format is formats.preserve_format:
        order = formats.OF_RANK.get(the_template.ndim, formats.contiguous_format)
        is_last = shapes.is_channels_last(the_template._sizes, the_template._strides)
        memory_format = order if is_last else formats.contiguous_format
    return resize_(input, the_template._sizes, memory_format=memory_format)


def resize(self: Any, *sizes: Any) -> Tensor:
    """The elements in other sizes, for as many elements. Prefer `reshape`."""
    warn("non-inplace resize is deprecated")
    resized: Tensor = self.contiguous().view(*sizes)
    return resized


def resize_as(self: Any, tensor: Tensor) -> Tensor:
    """The elements in the sizes of another tensor. Prefer `reshape_as`."""
    warn("non-inplace resize_as is deprecated")
    resized: Tensor = self.contiguous().view(tensor._sizes)
    return resized


def _strides_in(sizes: Size, order: memory_format) -> tuple[int, ...]:
    if order is formats.contiguous_format:
        return shapes.contiguous_strides(sizes)
    strides = shapes.channels_last_strides(sizes, order.name)
    if strides is None:
        raise RuntimeError(f"required rank {formats.RANK[order]} tensor to use {order.name} format")
    return strides


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """Look into the memory of another tensor or storage from here on.

    **Raises** RuntimeError for another dtype, a geometry that cannot be, or a leaf that requires
    grad, whose gradient would be that of other elements.
    """
    if self._key & keys.GRAD and grad_mode.state.enabled:
        graph.check_inplace(self)
    if source is None:
        source = creation.allocate(Size((0,)), self.dtype, self.device)
    if hasattr(source, "untyped"):  # a typed storage
        source = source.untyped()
    if not isinstance(source, (Tensor, Storage)):
        raise errors.wrong_argument_type("set_", "source", 0, "Tensor or Storage", source)
    if isinstance(source, Tensor):
        if source.dtype is not self.dtype:
            raise errors.set_of_another_dtype(source.dtype, self.dtype)
        storage, offset = source._storage, source._offset
        sizes, strides = source._sizes, source._strides
        if size is not None:
            offset = storage_offset
    else:
        storage, offset = source, storage_offset
        count = 0 if source.buffer is None else source.nbytes() // self.dtype.itemsize
        sizes, strides = Size((count,)), (1,)
    if size is not None:
        sizes = Size(size)
        strides = shapes.contiguous_strides(sizes) if stride is None else tuple(stride)
    _fit(storage, sizes, strides, offset, self)
    _forget(self, storage)
    self._storage, self._offset, self._sizes, self._strides = storage, offset, sizes, strides
    self._key = self._key & ~keys.ZERO_DIM | (0 if sizes else keys.ZERO_DIM)
    self._flat = None
    return self


def _fit(storage: Storage, sizes: Size, strides: Any, offset: int, self: Tensor) -> None:
    """Make sure that a storage has all elements of a geometry.

    Raises: RuntimeError for what cannot be, or needs more than memory that is somebody else's.
    """
    if len(sizes) != len(strides):
        raise RuntimeError(f"unequal size length ({len(sizes)}) and stride length ({len(strides)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    shapes.check_countable(sizes)
    extent = shapes.extent_of(sizes, strides)
    if extent and storage.buffer is not None:
        backends.of(self).grow(storage, offset + extent, self.dtype)


def _forget(self: Tensor, storage: Storage) -> None:
    """Count what follows as a write: whoever saved the tensor, or a view of it, has to notice.

    The other storage's version is moved on, too, where it is one that may have been saved.
    """
    own = self._storage
    if own is not storage:
        own.version += 1
        storage.version = max(storage.version, own.version)


def share_memory_(self: Tensor) -> Tensor:
    """Move the tensor, and all that look into the same memory, to where other processes can see it.

    They do when it is sent to them through `torch.multiprocessing`, or when they are forked.
    """
    if is_sparse(self):
        storage = storage_of(self)
        for part in (*storage.pattern.parts, storage.values):
            share_memory_(part)
    elif self.is_cpu:
        memory.share(self)
    return self


def is_shared(self: Tensor) -> bool:
    """Return whether other processes can have the memory, too."""
    return self.is_cpu and self._storage.is_shared()


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Return whether both tensors see the same elements of the same memory."""
    return (
        self._storage is tensor._storage
        and self._offset == tensor._offset
        and self._sizes == tensor._sizes
        and self._strides == tensor._strides
    )


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by what a Python function makes of it. Slow."""
    return _rewrite(self, "apply_", callable, interop.tolist(self.detach().reshape(-1)))


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element by what a Python function makes of it and of another tensor's. Slow."""
    own = interop.tolist(self.detach().reshape(-1))
    other = interop.tolist(ops.expand(tensor.detach(), self._sizes).reshape(-1))
    return _rewrite(self, "map_", callable, own, other)


def _rewrite(self: Tensor, method: str, callable: Any, *columns: list[Any]) -> Tensor:
    if self._key & keys.GRAD:
        raise errors.python_write_to_grad(method)
    values = [callable(*elements) for elements in zip(*columns, strict=True)]
    made = from_data.from_data(values, self.dtype, self.device)
    ops.copy_(self, made.reshape(self._sizes))
    return self
