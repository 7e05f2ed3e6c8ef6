"""Tensors on devices that are given other sizes."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.backends.cpu.memory import warn_of_resizing
from torchgen_out._runtime.backends.cuda import driver, memory, streams
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.tensor import Tensor


def resize(tensor: Tensor, sizes: Sequence[int]) -> None:
    """Give a tensor other sizes, contiguous; its memory grows if it must and keeps its values."""
    sizes = dense_layout(tuple(sizes)).sizes
    if tuple(sizes) == tuple(tensor._sizes):
        return
    storage = tensor._storage
    storage.version += 1
    dtype = tensor.dtype
    numel = tensor._offset + shapes.numel(sizes)
    if numel * dtype.itemsize > storage.nbytes():
        index = storage.buffer.device_index
        stream = streams.current_handle(index)
        grown = memory.allocator(index).buffer(numel, dtype.numpy, stream)
        if storage.nbytes():
            old = storage.buffer
            driver.current().copy(index, grown.address, old.address, old.nbytes, stream)
        storage.buffer = grown
    tensor._sizes = sizes
    tensor._strides = shapes.contiguous_strides(sizes)
    tensor._flat = None
    tensor._key = tensor._key & ~keys.ZERO_DIM | (0 if sizes else keys.ZERO_DIM)


def resize_out(operator: str, out: Tensor, sizes: Sequence[int]) -> None:
    """Resize a tensor given as out=; warn if it held elements."""
    warn_of_resizing(operator, out, sizes)
    resize(out, sizes)
