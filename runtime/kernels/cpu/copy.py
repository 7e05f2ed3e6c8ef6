"""Copies, casts and fills on the CPU; 16-bit floats arrive as float32 where their value matters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

Array = np.ndarray


def cast_into(out: Array, source: Array) -> None:
    """Write `source`, broadcast, cast as in C: floats lose their fraction, bool is non-zero."""
    if out.dtype.kind in "iu" and source.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):
            out[...] = _real_part(source) if source.dtype.kind == "c" else source
    elif source.dtype.kind == "c" and out.dtype.kind not in "cb":
        out[...] = _real_part(source)
    elif source.dtype.itemsize > out.dtype.itemsize and out.dtype.kind in "fc":
        with np.errstate(over="ignore"):
            out[...] = source
    else:
        out[...] = source


def _real_part(source: Array) -> Array:
    warnings.warn(
        "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2
    )
    return source.real


def copy_(self: Array, src: Array, non_blocking: bool = False) -> None:
    """Copy `src`, broadcast to self's sizes."""
    if self.dtype == src.dtype:
        self[...] = src
    else:
        cast_into(self, src)


def clone(out: Array, self: Array, memory_format: Any = None) -> None:
    """Copy all elements."""
    out[...] = self


def to_copy(out: Array, self: Array, *options: Any) -> None:
    """Copy all elements, cast to the dtype of `out`."""
    cast_into(out, self)


def fill_(self: Array, value: Any) -> None:
    """Set all elements to one number or to the element of a 0-d array."""
    if self.dtype.kind in "fc" and value.__class__ is float:
        self.fill(value)
    else:
        cast_into(self, np.asarray(value))


def zero_(self: Array) -> None:
    """Set all elements to zero."""
    self.fill(0)


def complex_(out: Array, real: Array, imag: Array) -> None:
    """Join real and imaginary parts."""
    out.real = real
    out.imag = imag
