"""Backward formulas too long for a line of derivatives.yaml: functions of gradients and arguments.

Each returns the gradient of one argument (of several, a tuple), made of differentiable operators.
A gradient may have the broadcast shape: the engine sums and casts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.core import shape as shapes
from runtime.core.tensor import Tensor
from runtime.dispatch import ops


def conj(x: Any) -> Any:
    """Return the complex conjugate; a real tensor or number as it is."""
    if isinstance(x, Tensor):
        return x.conj() if x.dtype.is_complex else x
    return x.conjugate() if isinstance(x, complex) else x


# -- reductions -------------------------------------------------------------------------------


def restore_reduced_dims(x: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """Give the result of a reduction over `dim` (None or empty: all) its lost dims of size 1.

    sizes: of what was reduced.
    """
    if keepdim or not sizes:
        return x
    ndim = len(sizes)
    reduced = shapes.normalize_dims(dim, ndim)
    kept = [1 if i in reduced else size for i, size in enumerate(sizes)]
    return x.reshape(kept)


def sum_backward(grad: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """The gradient of a sum: every element that was added gets the sum's."""
    return restore_reduced_dims(grad, sizes, dim, keepdim).expand(sizes)


def as_strided_backward(
    grad: Tensor,
    sizes: Sequence[int],
    strides: Sequence[int],
    offset: int,
    view_sizes: Sequence[int],
    view_strides: Sequence[int],
    view_offset: int,
) -> Tensor:
    """The gradient of the tensor with the first geometry from that of a view with the second.

    Elements that the view shows more than once receive the sum.
    """
    start = min(offset, view_offset)
    extent = max(
        _last_element(sizes, strides, offset), _last_element(view_sizes, view_strides, view_offset)
    )
    flat = ops.zeros((extent + 1 - start,), dtype=grad.dtype, device=grad.device)
    places = ops.arange(extent + 1 - start, device=grad.device)
    shown = places.as_strided(view_sizes, view_strides, view_offset - start).reshape(-1)
    flat = flat.index_add(0, shown, grad.reshape(-1))
    return flat.as_strided(sizes, strides, offset - start)


def _last_element(sizes: Sequence[int], strides: Sequence[int], offset: int) -> int:
    if 0 in sizes:
        return offset - 1
    return offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
