"""Composites that cut tensors: positions given as a tensor, and NumPy's h, v and d forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes


def narrow_at(self: Any, dim: int, start: Any, length: int) -> Any:
    """`narrow` from the position that an integer tensor without dims holds."""
    if start._sizes or start.dtype.kind != "i":
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return self.narrow(dim, int(start.item()), length)


def tensor_split_at(self: Any, tensor_indices_or_sections: Any, dim: int = 0) -> Any:
    """`tensor_split` with the number of sections or the indices in an int64 tensor."""
    given = tensor_indices_or_sections
    if len(given._sizes) > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {len(given._sizes)} dims"
        )
    if given.dtype is not dtypes.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, "
            f"but got {errors.scalar_type_name(given.dtype)}"
        )
    return self.tensor_split(given.tolist(), dim)


def hsplit(self: Any, indices_or_sections: int | Sequence[int]) -> Any:
    """Cut along dim 1 (dim 0 of a vector) into equal sections or at indices."""
    _check_ndim("hsplit", self, 1)
    return _split("hsplit", self, indices_or_sections, 0 if len(self._sizes) == 1 else 1)


def vsplit(self: Any, indices_or_sections: int | Sequence[int]) -> Any:
    """Cut along dim 0 into equal sections or at indices."""
    _check_ndim("vsplit", self, 2)
    return _split("vsplit", self, indices_or_sections, 0)


def dsplit(self: Any, indices_or_sections: int | Sequence[int]) -> Any:
    """Cut along dim 2 into equal sections or at indices."""
    _check_ndim("dsplit", self, 3)
    return _split("dsplit", self, indices_or_sections, 2)


def _check_ndim(name: str, self: Any, least: int) -> None:
    if len(self._sizes) < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, "
            f"but got a tensor with {len(self._sizes)} dimensions!"
        )


def _split(name: str, self: Any, indices_or_sections: int | Sequence[int], dim: int) -> Any:
    if isinstance(indices_or_sections, int):
        sections, size = indices_or_sections, self.size(dim)
        if sections == 0 or size % sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {size} is not divisible by the split_size {sections}!"
            )
    return self.tensor_split(indices_or_sections, dim)
