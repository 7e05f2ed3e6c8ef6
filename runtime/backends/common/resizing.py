"""Tensors that are given other sizes, over memory that grows if it must."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn


def resize(tensor: Tensor, sizes: Sequence[int], strides: tuple[int, ...] | None = None) -> None:
    """Give a tensor other sizes; its memory grows if it must and keeps its values.

    strides: those of a dense tensor, else it is contiguous.
    Raises: RuntimeError for sizes that cannot be, or memory that is somebody else's.
    """
    sizes = dense_layout(tuple(sizes)).sizes
    if tuple(sizes) == tuple(tensor._sizes):
        return
    storage = tensor._storage
    if storage.buffer is not None:
        backends.of(tensor).grow(storage, tensor._offset + shapes.numel(sizes), tensor.dtype)
    storage.version += 1
    tensor._sizes = sizes
    tensor._strides = shapes.contiguous_strides(sizes) if strides is None else strides
    tensor._flat = None
    tensor._key = tensor._key & ~keys.ZERO_DIM | (0 if sizes else keys.ZERO_DIM)


def resize_out(
    operator: str, out: Tensor, sizes: Sequence[int], strides: tuple[int, ...] | None = None
) -> None:
    """Resize a tensor given as out=; warn if it held elements."""
    warn_of_resizing(operator, out, sizes)
    resize(out, sizes, strides)


def warn_of_resizing(operator: str, out: Tensor, sizes: Sequence[int]) -> None:
    """Warn if a tensor that is given as out= and has other sizes holds elements."""
    if out.numel():
        warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out._sizes)}, which does not match the required output shape {list(sizes)}. "
            f"Pass {operator}() an empty tensor, or one of the required shape.",
        )
