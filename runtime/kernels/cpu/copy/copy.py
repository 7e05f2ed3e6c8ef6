"""Copies, casts and fills on the CPU; 16-bit floats arrive as float32 where their value matters.

NumPy moves the elements; large dense arrays are split among the threads, large transposed ones into
blocks that stay in the cache.
"""

from __future__ import annotations

from functools import cache
from operator import methodcaller
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.copy import warn_of_discarding
from torchgen_out._runtime.kernels.cpu.copy.strided_copy import copy_flat
from torchgen_out._runtime.kernels.cpu.folding import as_bits
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import Cast, Filling, planned, view_of
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = np.ndarray

BLOCKED = 1 << 17  # elements from which on threads, or blocks of transposed memory, are faster
BLOCK_ROWS, BLOCK_COLUMNS = 128, 64

FILLED = 1 << 13
"""Elements from which on an array is set by a loop of vectors: NumPy takes twice as long."""
SHARED = 5 << 17
"""Bytes from which on threads share that: one writes them in 4 us, two in as many."""

EXACT = 1 << 53
"""Up to here a whole number is a float64, and rounded once where a float32 is wanted."""


def assign(out: Array, source: Array) -> None:
    """Write `source`, broadcast to `out`, cast as NumPy does."""
    if out.size < BLOCKED or source.shape != out.shape:
        out[...] = source
    elif out.flags.c_contiguous and source.flags.c_contiguous:
        _assign_dense(out, source)
    elif out.flags.f_contiguous and source.flags.f_contiguous:
        _assign_dense(out.T, source.T)
    else:
        _assign_transposed(out, source)


def _assign_dense(out: Array, source: Array) -> None:
    if out.dtype == source.dtype and threads.get_num_threads() > 1:
        copy_flat(out.reshape(-1), source.reshape(-1))
    else:
        out[...] = source


def _assign_transposed(out: Array, source: Array) -> None:
    """Write a large array of the same shape, in blocks where the arrays' fast dims differ."""
    if out.ndim == 3 and out.shape[0] * BLOCKED <= out.size:
        for part, source_part in zip(out, source, strict=True):
            _assign_transposed(part, source_part)
    elif out.ndim == 2 and _is_transposed(out, source):
        _assign_blocks(out, source)
    else:
        out[...] = source


def _is_transposed(out: Array, source: Array) -> bool:
    return (out.strides[0] > out.strides[1]) != (source.strides[0] > source.strides[1])


def _assign_blocks(out: Array, source: Array) -> None:
    for row in range(0, out.shape[0], BLOCK_ROWS):
        rows, source_rows = out[row : row + BLOCK_ROWS], source[row : row + BLOCK_ROWS]
        for column in range(0, out.shape[1], BLOCK_COLUMNS):
            columns = slice(column, column + BLOCK_COLUMNS)
            rows[:, columns] = source_rows[:, columns]


def fill(out: Array, value: Any) -> None:
    """Set all elements to one number of the array's dtype."""
    if out.size < FILLED or not out.flags.forc:
        out.fill(value)
        return
    flat = out if out.ndim == 1 else out.ravel("K")
    if _is_float_of(flat.dtype, value):
        _share(_float_entry(flat.dtype), flat, float(value))
        return
    flat = as_bits(flat)
    bits = np.empty(1, flat.dtype)
    bits.view(out.dtype)[0] = value
    _share(_bits_entry(flat.dtype), flat, bits)


def _share(entry: Any, out: Array, number: Any) -> None:
    if out.nbytes < SHARED:
        entry(out, number)
    else:
        threads.run_flat(entry, (out,), (number,))


def _is_float_of(dtype: Any, value: Any) -> bool:
    """Whether a float64 is rounded to the dtype as the value is."""
    kind = value.__class__
    return dtype.char in "fd" and (kind is float or (kind is int and -EXACT <= value <= EXACT))


@cache
def _bits_entry(dtype: Any) -> Any:
    return _fill_all.entry_point((dtype, dtype))


@cache
def _float_entry(dtype: Any) -> Any:
    return _fill_float.entry_point((dtype, float))


@kernel
def _fill_all(out, number):
    bits = number[0]  # read once: `out` might hold it, and each store would change it
    for i in range(out.size):
        out[i] = bits


@kernel
def _fill_float(out, value):
    number = out.dtype.type(value)
    for i in range(out.size):
        out[i] = number


def cast_into(out: Array, source: Array) -> None:
    """Write `source`, broadcast, cast as in C: floats lose their fraction, bool is non-zero."""
    if source.dtype.kind == "c" and out.dtype.kind not in "cb":
        source = _real_part(source)
    own, wanted = source.dtype, out.dtype
    if own.kind in "fc" and wanted.kind in "iufc" and not _is_widening(own, wanted):
        _assign_quietly(out, source)
    else:
        assign(out, source)


@np.errstate(invalid="ignore", over="ignore")
def _assign_quietly(out: Array, source: Array) -> None:
    assign(out, source)


def _is_widening(own: Any, wanted: Any) -> bool:
    return own.kind == wanted.kind and own.itemsize <= wanted.itemsize


def _real_part(source: Array) -> Array:
    warn_of_discarding()
    return source.real


@Cast
def copy_(self: Array, src: Array, non_blocking: bool = False) -> None:
    """Copy `src`, broadcast to self's sizes."""
    if self.dtype == src.dtype:
        assign(self, src)
    else:
        cast_into(self, src)


@Cast
def to_copy(out: Array, self: Array, *options: Any) -> None:
    """Copy all elements, cast to the dtype of `out`."""
    cast_into(out, self)


def _fill(self: Array, value: Any) -> None:
    """Set all elements to one number or to the element of a 0-d array."""
    fill(self, _element(self.dtype, value))


def _fill_few(self: Array, value: Any) -> None:
    self.fill(_element(self.dtype, value))


def _element(own: Any, value: Any) -> Any:
    """A number as NumPy fills memory of a dtype with it."""
    number = value.__class__
    if (number is float and own.kind in "fc") or (number is int and own.kind == "i"):
        return value
    element = np.empty((), own)
    cast_into(element, np.asarray(value))
    return element[()]


def _fill_much(few: Any, arrays: tuple[Array], values: tuple[Any], work: None) -> None:
    (out,), (value,) = arrays, values
    fill(out, value if _is_float_of(out.dtype, value) else _element(out.dtype, value))


fill_ = Filling(_fill, few=_fill_few, much=_fill_much)


def _zero(self: Array) -> None:
    """Set all elements to zero."""
    fill(self, 0)


def _zero_much(few: Any, arrays: tuple[Array], values: tuple[()], work: None) -> None:
    fill(arrays[0], 0)


zero_ = Filling(_zero, few=methodcaller("fill", 0), much=_zero_much)


@kernel
def join_parts(start, stop, out, real, imag):
    """out[i] = real[i] + imag[i] * 1j."""
    for i in range(start, stop):
        out[i] = complex(real[i], imag[i])


@planned(any_order=True, any_strides=True)
def complex_(result: TensorSpec, real: TensorSpec, imag: TensorSpec) -> LaunchPlan:
    """Join real and imaginary parts."""
    if real[1:] == imag[1:] == result[1:]:
        count = result.numel
        flat = out(0, count), operand(0, count), operand(1, count)
        return plan_ranges(join_parts, count, count, [result], [real, imag], *flat)

    def run(out: Array, a: Array, b: Array, at_a: int, at_b: int, params: Any) -> None:
        joined = view_of(out, 0, result)
        joined.real, joined.imag = view_of(a, at_a, real), view_of(b, at_b, imag)

    return LaunchPlan(run, None)
