"""Gradients of operators that go element by element."""

from __future__ import annotations

from typing import Any, overload

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor

_COMPLEX = [each.index for each in dtypes.ALL if each.is_complex]


@overload
def conj(x: Tensor) -> Tensor: ...
@overload
def conj(x: Any) -> Any: ...
def conj(x: Any) -> Any:
    """Return the complex conjugate; a real tensor or number as it is."""
    if isinstance(x, Tensor):
        return x.conj() if x._key & keys.DTYPE_MASK in _COMPLEX else x
    return x.conjugate() if isinstance(x, complex) else x


def scaled(grad: Tensor, scale: Any) -> Any:
    """The gradient times the conjugate of a number; the gradient itself if that is 1."""
    if scale.__class__ is complex:
        scale = scale.conjugate()
    return grad if scale == 1 else grad * scale


def frexp_backward(grad: Any, exponent: Any) -> Any:
    """grad / 2**exponent, by two powers of 2: one alone may overflow."""
    half = exponent.floor_divide(2)
    return grad.ldexp(-half).ldexp(half - exponent)
