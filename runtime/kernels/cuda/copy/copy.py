"""Copies, casts and fills on CUDA: pointwise loops around formulas that do nothing.

The entries of native_functions.yaml name what is to be done here; `runtime.backends.cuda.copying`
does it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.queue import MOVED_AS, Array, Queue


@dataclass(frozen=True)
class Copy:
    """Makes a new tensor of another's elements, cast and laid out as the shape function says."""


@dataclass(frozen=True)
class CopyInto:
    """Writes the elements of another tensor, which may be anywhere, into one that is there."""


@dataclass(frozen=True)
class Fill:
    """Sets all elements to a number; without one, to zero."""

    has_value: bool


to_copy = Copy()
copy_ = CopyInto()
fill_ = Fill(has_value=True)
zero_ = Fill(has_value=False)


def element(x):
    """The element itself: loading and storing convert it."""
    return x


def whole(x):
    """What is left of a float without its fraction; integers of few bits then wrap around."""
    return np.int64(x)


def real_part(x):
    """The real part."""
    return x.real


def whole_real_part(x):
    """The real part without its fraction."""
    return np.int64(x.real)


def constant(value):
    """The same for all."""
    return value


def copy_spec(own: dtypes.dtype, wanted: dtypes.dtype) -> PointwiseSpec:
    """The formula and the types that turn elements of one dtype into those of another."""
    if own is wanted:
        moved = MOVED_AS.get(own.itemsize, own)
        return PointwiseSpec(element, ("tensor",), (moved,), (moved,), moved)
    formula, compute = _cast(own, wanted)
    return PointwiseSpec(formula, ("tensor",), (own,), (wanted,), compute)


def _cast(own: dtypes.dtype, wanted: dtypes.dtype) -> tuple[object, dtypes.dtype]:
    """The formula of a cast, and the dtype in which it sees the element."""
    if wanted is dtypes.bool:
        return element, own.opmath
    if own.is_complex and not wanted.is_complex:
        return (whole_real_part if wanted.kind == "i" else real_part), own.opmath
    if own.is_floating_point and wanted.kind == "i":
        return whole, own.opmath
    if own.is_floating_point and wanted.is_floating_point:
        return element, dtypes.float64 if dtypes.float64 in (own, wanted) else dtypes.float32
    return element, wanted.opmath


def fill_spec(dtype: dtypes.dtype) -> PointwiseSpec:
    """The formula and the types that set elements to a number."""
    return PointwiseSpec(constant, ("scalar",), (), (dtype,), dtype.opmath)


def complex_(queue: Queue, out: Array, real: Array, imag: Array) -> None:
    """Join real and imaginary parts: each is copied to its places among the other's."""
    parts = Array(out.address, out.dtype.to_real(), out.sizes, out.strides)
    strides = [2 * stride for stride in out.strides]
    for place, part in enumerate((real, imag)):
        queue.copy(parts.at(place, out.sizes, strides), part)
