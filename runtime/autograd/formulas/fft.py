"""Gradients of Fourier transforms.

The transform's matrix is symmetric, so its adjoint is the transform of the opposite sign, scaled
the same. Where half of a transform stands for the whole, its inner elements count twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def fft_r2c_backward(
    grad: Tensor, dim: Sequence[int], normalization: int, onesided: bool, sizes: Sequence[int]
) -> Any:
    """The real part of the transform back, of zeros in the half that was left out."""
    last = dim[-1]
    missing = sizes[last] - grad._sizes[last]
    if onesided and missing:
        more = [*grad._sizes[:last], missing, *grad._sizes[last + 1 :]]
        grad = ops.cat([grad, grad.new_zeros(more)], last)
    return ops._fft_c2c(grad, dim, normalization, False).real


def fft_c2r_backward(grad: Tensor, dim: Sequence[int], normalization: int) -> Any:
    """The half transform; all but the first and, of an even size, the last element twice."""
    size = grad._sizes[dim[-1]]
    half = ops._fft_r2c(grad, dim, normalization, True)
    twice = half.narrow(dim[-1], 1, (size - 1) // 2)
    parts = [half.narrow(dim[-1], 0, 1), 2 * twice]
    if size % 2 == 0:
        parts.append(half.narrow(dim[-1], size // 2, 1))
    return ops.cat(parts, dim[-1])
