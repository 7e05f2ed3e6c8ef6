"""The memory of tensors as flat bytes for a backend, and back: strided, expanded, CUDA, 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import overlap


class Buffer:
    """The elements of one tensor as a flat array of bytes; of a copy, if they are not dense."""

    __slots__ = ("_copy", "_tensor", "bytes")

    def __init__(self, tensor: Any, holds_elements: bool = True) -> None:
        self._tensor = tensor
        flat = tensor._dense() if tensor.is_cpu else None
        self._copy: Any = None
        if flat is None:
            with torch.no_grad():
                self._copy = _dense_copy(tensor) if holds_elements else _dense_like(tensor)
            flat = self._copy._dense()
        self.bytes = flat.view(np.uint8)

    def store(self) -> None:
        """The bytes have been written: bring them into the tensor, and count the write."""
        tensor = self._tensor
        if self._copy is None:
            tensor._storage.version += 1
            return
        with torch.no_grad():
            tensor.detach().copy_(self._copy)


def _dense_copy(tensor: Any) -> Any:
    copy = tensor.detach().cpu()
    return copy.contiguous() if copy is not tensor else copy.clone()


def _dense_like(tensor: Any) -> Any:
    return torch.empty(tensor.shape, dtype=tensor.dtype)


def check_readable(tensor: Any, name: str) -> None:
    """**Raises** TypeError for what is no tensor; RuntimeError for one without plain memory."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor, "
            f"but got {type(tensor)} instead."
        )
    if tensor.is_sparse or tensor.is_meta:
        kind = "sparse" if tensor.is_sparse else "meta"
        raise RuntimeError(f"`{name}` is a {kind} tensor: only dense ones are sent to other ranks")


def check_writable(tensor: Any, name: str) -> None:
    """The same; **raises** RuntimeError as well if elements of the tensor share memory."""
    check_readable(tensor, name)
    overlap.check_self(name, tensor)
