"""Host memory: new tensors, and results given by the caller."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Sequence

import numpy as np

from runtime.backends.cpu import pool
from runtime.core import dtype as dtypes
from runtime.core import key as keys
from runtime.core import shape as shapes
from runtime.core.dense import dense_layout
from runtime.core.size import Size
from runtime.core.tensor import Tensor, build


def empty(sizes: Sequence[int], dtype: dtypes.dtype) -> Tensor:
    """A contiguous tensor of undefined values."""
    layout = dense_layout(tuple(sizes))
    buffer = pool.empty(layout.numel, dtype.numpy)
    key = dtype.index | layout.zero_dim
    return build(key, layout.sizes, layout.strides, 0, None, buffer)


def resize(tensor: Tensor, sizes: Sequence[int]) -> None:
    """Give a tensor other sizes, contiguous; its memory grows if it must and keeps its values."""
    sizes = Size(sizes)
    numel = shapes.numel(sizes)
    storage = tensor._storage
    dtype = tensor.dtype
    needed = (tensor._offset + numel) * dtype.itemsize
    if storage.buffer is not None and needed > storage.nbytes():
        grown = np.empty(tensor._offset + numel, dtype.numpy)
        old = storage.buffer.view(np.uint8)
        grown.view(np.uint8)[: old.size] = old
        storage.buffer = grown
        for each in gc.get_referrers(storage):
            if isinstance(each, Tensor):
                each._flat = None  # it was of the old memory
    tensor._sizes = sizes
    tensor._strides = shapes.contiguous_strides(sizes)
    tensor._flat = None
    tensor._key = tensor._key & ~keys.ZERO_DIM | (0 if sizes else keys.ZERO_DIM)


def resize_out(operator: str, out: Tensor, sizes: Sequence[int]) -> None:
    """Resize a tensor given as out=; warn if it held elements."""
    warn_of_resizing(operator, out, sizes)
    resize(out, sizes)


def warn_of_resizing(operator: str, out: Tensor, sizes: Sequence[int]) -> None:
    """Warn if a tensor that is given as out= and has other sizes holds elements."""
    if out.numel():
        warnings.warn(
            f"{operator}(): an output with one or more elements was resized since it had shape "
            f"{list(out._sizes)}, which does not match the required output shape {list(sizes)}. "
            "Pass an empty tensor, or one of the required shape.",
            stacklevel=5,
        )
