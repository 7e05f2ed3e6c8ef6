"""Which tensors show elements of one another: what may not be while one of them is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.shape import Placed
from torchgen_out._runtime.core.tensor import Tensor


def check_self(name: str, out: Tensor) -> None:
    """Raises: RuntimeError if elements of `out` share memory."""
    if 0 in out._strides and shapes.repeats(out._sizes, out._strides):
        raise errors.overlapping_write(name)


def check_apart(name: str, out: Tensor, operand: Any) -> None:
    """Raises: RuntimeError if `out` shows elements of an operand, or of one in a list."""
    if shows(out, operand):
        raise errors.partly_overlapping(name)


def check_whole(name: str, out: Tensor, operand: Any) -> None:
    """As `check_apart`; but `out` may be the operand, or show just its elements in their order."""
    if _shows_part(out, operand):
        raise errors.partly_overlapping(name)


def check_operands(name: str, out: Tensor, inputs: Sequence[Tensor]) -> None:
    """Raises: RuntimeError if `out` overlaps itself, or an input in part."""
    check_self(name, out)
    own = out._shared
    if own is None:
        return
    begin = out._offset
    end = begin + shapes.kept_extent(out._sizes, out._strides)
    for each in inputs:
        if (
            each._shared is own
            and each is not out
            and each._offset < end
            and each._offset + shapes.kept_extent(each._sizes, each._strides) > begin
            and shapes.partly_overlap(_placed(out), _placed(each))
        ):
            raise errors.partly_overlapping(name)


def _placed(tensor: Tensor) -> Placed:
    return tensor._sizes, tensor._strides, tensor._offset


def shows(out: Tensor, operand: Any) -> bool:
    """Whether a tensor, or one of a list, shows elements of `out`."""
    if operand.__class__ is list or operand.__class__ is tuple:
        return any(shows(out, each) for each in operand)
    return operand is out or _share(out, operand, shapes.overlap)


def _shows_part(out: Tensor, operand: Any) -> bool:
    if operand.__class__ is list or operand.__class__ is tuple:
        return any(_shows_part(out, each) for each in operand)
    return operand is not out and _share(out, operand, shapes.partly_overlap)


def _share(out: Tensor, other: Any, overlap: Callable[[Placed, Placed], bool]) -> bool:
    own = out._shared
    if own is None or not isinstance(other, Tensor) or other._shared is not own:
        return False
    if other._key & keys.DTYPE_MASK != out._key & keys.DTYPE_MASK:
        return True
    return overlap(_placed(out), _placed(other))
