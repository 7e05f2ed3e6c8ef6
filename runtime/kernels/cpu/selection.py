"""Reductions that pick an element (the first of the greatest, NaN above all), and counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.build import kernel
from runtime.kernels.cpu.folding import buffer_of, fold, is_last, rows_of, settle

Array = Any


def argmax(out: Array, self: Array, dim: int | None = None, keepdim: bool = False) -> None:
    """Write the first place of the greatest element."""
    _arg(out, self, dim, np.argmax, _max_columns)


def argmin(out: Array, self: Array, dim: int | None = None, keepdim: bool = False) -> None:
    """Write the first place of the smallest element; NaN wins here too."""
    _arg(out, self, dim, np.argmin, _min_columns)


def _arg(out: Array, self: Array, dim: int | None, search: Any, columns: Any) -> None:
    if dim is None or self.ndim == 0:
        out[...] = search(self)
    elif is_last(self, dim):
        out[...] = search(self, axis=dim).reshape(out.shape)
    else:
        values = np.empty(out.shape, self.dtype)
        _select_columns(values, out, self, dim, columns)


def max_dim(values: Array, indices: Array, self: Array, dim: int, keepdim: bool = False) -> None:
    """Write the greatest value along `dim` and its first place."""
    _value_and_index(values, indices, self, dim, np.argmax, _max_columns)


def min_dim(values: Array, indices: Array, self: Array, dim: int, keepdim: bool = False) -> None:
    """Write the smallest value along `dim` and its first place."""
    _value_and_index(values, indices, self, dim, np.argmin, _min_columns)


def _value_and_index(
    values: Array, indices: Array, self: Array, dim: int, search: Any, columns: Any
) -> None:
    if not values.size:
        return
    if self.ndim == 0:
        values[...], indices[...] = self, 0
    elif is_last(self, dim):
        rows = rows_of(self)
        places = search(rows, axis=1)
        found = np.empty(places.size, self.dtype)
        _pick(found, rows, places)
        indices[...] = places.reshape(indices.shape)
        values[...] = found.reshape(values.shape)
    else:
        _select_columns(values, indices, self, dim, columns)


@kernel
def _pick(values, rows, places):
    for row in range(places.size):
        values[row] = rows[row, places[row]]


def _select_columns(values: Array, indices: Array, self: Array, dim: int, columns: Any) -> None:
    if not values.size:
        return
    folded = fold(self, dim)
    shape = folded.shape[0], folded.shape[2]
    value_buffer, index_buffer = buffer_of(values), buffer_of(indices)
    arrays = value_buffer.reshape(shape), index_buffer.reshape(shape), folded
    if shape[0] > 1 and folded.size > threads.GRAIN:
        threads.run_ranges(_parts_of(columns, arrays), shape[0], folded.size)
    else:
        columns(*arrays)
    settle(values, value_buffer)
    settle(indices, index_buffer)


def _parts_of(kernel: Any, arrays: tuple[Array, ...]) -> Any:
    return lambda start, stop: kernel(*[array[start:stop] for array in arrays])


@kernel
def _max_columns(values, indices, self):
    """Walk row by row and keep the best of every column: the inner loop vectorises."""
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            values[o, i] = self[o, 0, i]
            indices[o, i] = 0
        for j in range(1, self.shape[1]):
            for i in range(self.shape[2]):
                value, best = self[o, j, i], values[o, i]
                better = (value > best) | ((value != value) & (best == best))
                values[o, i] = value if better else best
                indices[o, i] = j if better else indices[o, i]


@kernel
def _min_columns(values, indices, self):
    """The same for the smallest."""
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            values[o, i] = self[o, 0, i]
            indices[o, i] = 0
        for j in range(1, self.shape[1]):
            for i in range(self.shape[2]):
                value, best = self[o, j, i], values[o, i]
                better = (value < best) | ((value != value) & (best == best))
                values[o, i] = value if better else best
                indices[o, i] = j if better else indices[o, i]


def bincount(self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """Return the number of occurrences of each integer, or the sums of their weights."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim != 1 or (self.size and self.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if not self.size:
        return np.zeros(minlength, np.int64)
    counts = np.bincount(self, weights, minlength)
    if weights is None:
        return counts.astype(np.int64, copy=False)
    return counts.astype(np.float32 if weights.dtype == np.float32 else np.float64, copy=False)


def histc(out: Array, self: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> None:
    """Count the elements of each of `bins` equal intervals; the last one is closed."""
    low, high = float(min), float(max)
    if low == high and self.size:
        low, high = float(self.min()), float(self.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    counts = np.zeros(bins, np.int64)
    _count_bins(counts, np.ascontiguousarray(self).reshape(-1), low, high)
    out[...] = counts


@kernel
def _count_bins(counts, values, low, high):
    scale = counts.size / (high - low)
    for i in range(values.size):
        value = values[i]
        if value >= low and value <= high:
            place = np.int64((value - low) * scale)
            counts[min(place, counts.size - 1)] += 1
