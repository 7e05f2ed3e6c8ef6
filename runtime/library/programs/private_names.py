"""Functions of the package with a leading underscore, which programs call all the same."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public

__all__ = [
    "_assert_async", "_assert_scalar", "_check", "_check_index", "_check_is_size",
    "_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with", "_check_type",
    "_check_value", "_check_with", "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo", "_register_device_module", "_segment_reduce",
    "_shape_as_tensor",
]  # fmt: skip

Message = Callable[[], object] | None


def _register_device_module(device_type: str, module: Any) -> None:
    """Let `torch.<device_type>` be a module, for a backend from outside.

    **Raises** RuntimeError if there is one.
    """
    name = torch.device(device_type).type
    if hasattr(torch, name):
        raise RuntimeError(
            f"The runtime module of '{name}' has already been registered with "
            f"'{getattr(torch, name)}'"
        )
    setattr(torch, name, module)
    sys.modules[f"{torch.__name__}.{name}"] = module


def _check_with(error: builtins.type[Exception], cond: Any, message: Message) -> None:
    """Raise `error`, with what `message()` returns, unless `cond` holds.

    **Raises** TypeError for a condition that is no bool, and for a message that cannot be called.
    """
    if isinstance(cond, torch.Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use "
            "torch._check_tensor_all() to assert that all elements are true."
        )
    if not isinstance(cond, builtins.bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error("Expected cond to be True, but got False.")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error(str(message()))


def _check(cond: Any, message: Message = None) -> None:
    """Raise a RuntimeError unless `cond` holds."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """Raise an IndexError unless `cond` holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """Raise a ValueError unless `cond` holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """Raise a TypeError unless `cond` holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """Raise a NotImplementedError unless `cond` holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Message = None, *, max: int | None = None) -> None:
    """Raise a RuntimeError for a negative size, or one above `max`."""
    _check(i >= 0 and (max is None or i <= max), message)


def _check_tensor_all_with(
    error: builtins.type[Exception], cond: Any, message: Message = None
) -> None:
    """Raise `error` unless all elements of a bool tensor hold. **Raises** TypeError for others."""
    if not isinstance(cond, torch.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not torch.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error, cond.all().item(), message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """Raise a RuntimeError unless all elements of a bool tensor hold."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise a RuntimeError if the one element of a tensor is zero."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _assert_scalar(cond: Any, assert_msg: str) -> None:
    """Raise a RuntimeError unless a number holds."""
    if not cond:
        raise RuntimeError(assert_msg)


def _shape_as_tensor(input: Any) -> Any:
    """Return the sizes of a tensor as a tensor."""
    return torch.tensor(tuple(input.shape), dtype=torch.int64)


def _convert_indices_from_coo_to_csr(input: Any, size: int, *, out_int32: bool = False) -> Any:
    """Return where each of `size` rows begins in the sorted row numbers `input`, and the end.

    Shape: (N) -> (size + 1). **Raises** RuntimeError for more dims.
    """
    if input.dim() > 1:
        raise RuntimeError(
            f"Input is supposed to be a vector, but got {input.dim()} dimensional tensor."
        )
    rows = torch.arange(size + 1, dtype=input.dtype, device=input.device)
    return torch.searchsorted(input, rows, out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Any, col_indices: Any, *, out_int32: bool = False, transpose: bool = False
) -> Any:
    """Return row and column of each element, from where rows begin and from its columns.

    Shape: (R + 1), (N) -> (2, N); with `transpose` the columns come first.
    """
    rows = torch.arange(len(crow_indices) - 1, device=crow_indices.device)
    pair = [rows.repeat_interleave(crow_indices.diff()), col_indices]
    found = torch.stack(pair[::-1] if transpose else pair)
    return found.to(torch.int32 if out_int32 else torch.int64)


_segment_reduce = torch.segment_reduce


public.place_all("private_names", globals())
