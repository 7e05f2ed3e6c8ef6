"""Host memory: of tensors, of new ones, and of results given by the caller."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.kernels.cpu import pool


def empty(sizes: Sequence[int], dtype: dtypes.dtype) -> Tensor:
    """A contiguous tensor of undefined values."""
    layout = dense_layout(tuple(sizes))
    buffer = pool.empty(layout.numel, dtype.numpy)
    key = dtype.index | layout.zero_dim
    return build(key, layout.sizes, layout.strides, 0, None, buffer)


def memory_of(tensor: Tensor, is_dense: bool) -> tuple[Any, int]:
    """An array that holds the tensor's elements, and where they begin.

    is_dense: whether they lie densely in row-major order, which the tensor then remembers.
    """
    flat, start = tensor._flat, tensor._offset
    if flat is not None:
        return flat, 0
    buffer = (tensor._storage if tensor._shared is None else tensor._shared).buffer
    dtype = dtypes.BY_INDEX[tensor._key & keys.DTYPE_MASK].numpy
    if buffer.dtype is not dtype:
        buffer = buffer.view(dtype)
    if not is_dense:
        return buffer, start
    count = prod(tensor._sizes)
    flat = tensor._flat = buffer if buffer.size == count else buffer[start : start + count]
    return flat, 0


def typed_buffer(tensor: Tensor) -> Any:
    """The storage's buffer seen as the tensor's dtype."""
    buffer = (tensor._storage if tensor._shared is None else tensor._shared).buffer
    dtype = dtypes.BY_INDEX[tensor._key & keys.DTYPE_MASK].numpy
    return buffer if buffer.dtype is dtype else buffer.view(dtype)


def grow(storage: Storage, count: int, dtype: dtypes.dtype) -> None:
    """Have memory for at least so many elements, which keeps what it holds.

    Raises: RuntimeError if it is too small and somebody else's.
    """
    if count * dtype.itemsize <= storage.nbytes():
        return
    if not storage.is_resizable:
        raise errors.not_resizable()
    grown = np.empty(count, dtype.numpy)
    old = storage.buffer.view(np.uint8)
    grown.view(np.uint8)[: old.size] = old
    replace_buffer(storage, grown)


def replace_buffer(storage: Storage, buffer: Any) -> None:
    """Give a storage another buffer, to be seen by all tensors over it."""
    storage.buffer = buffer
    for each in gc.get_referrers(storage):
        if isinstance(each, Tensor):
            each._flat = None  # it was of the old memory


def share(tensor: Tensor) -> None:
    """Move the memory of a tensor to where processes share it, unless it is there."""
    is_alone = tensor._shared is None or sys.getrefcount(tensor._shared) == _REFERENCES_OF_ONE
    storage = tensor._storage
    own = storage.buffer
    if not own.nbytes or shared_memory.memory_of(own) is not None:
        return
    shared = np.asarray(shared_memory.create(own.nbytes)).view(own.dtype)
    shared[:] = own
    if is_alone:  # the search for others takes 10 ms
        storage.buffer, tensor._flat = shared, None
    else:
        replace_buffer(storage, shared)


_REFERENCES_OF_ONE = 2
"""To a storage that one tensor has, counted while it is asked for."""
