"""Host memory: new tensors, and results given by the caller."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cpu import pool
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.core.user_warnings import warn


def empty(sizes: Sequence[int], dtype: dtypes.dtype) -> Tensor:
    """A contiguous tensor of undefined values."""
    layout = dense_layout(tuple(sizes))
    buffer = pool.empty(layout.numel, dtype.numpy)
    key = dtype.index | layout.zero_dim
    return build(key, layout.sizes, layout.strides, 0, None, buffer)


def resize(tensor: Tensor, sizes: Sequence[int]) -> None:
    """Give a tensor other sizes, contiguous; its memory grows if it must and keeps its values.

    Raises: RuntimeError for sizes that cannot be, or memory that is somebody else's.
    """
    sizes = dense_layout(tuple(sizes)).sizes
    if tuple(sizes) == tuple(tensor._sizes):
        return
    storage = tensor._storage
    if storage.buffer is not None:
        grow(storage, tensor._offset + shapes.numel(sizes), tensor.dtype)
    storage.version += 1
    tensor._sizes = sizes
    tensor._strides = shapes.contiguous_strides(sizes)
    tensor._flat = None
    tensor._key = tensor._key & ~keys.ZERO_DIM | (0 if sizes else keys.ZERO_DIM)


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


def resize_out(operator: str, out: Tensor, sizes: Sequence[int]) -> None:
    """Resize a tensor given as out=; warn if it held elements."""
    warn_of_resizing(operator, out, sizes)
    resize(out, sizes)


def warn_of_resizing(operator: str, out: Tensor, sizes: Sequence[int]) -> None:
    """Warn if a tensor that is given as out= and has other sizes holds elements."""
    if out.numel():
        warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out._sizes)}, which does not match the required output shape {list(sizes)}. "
            f"Pass {operator}() an empty tensor, or one of the required shape.",
        )
