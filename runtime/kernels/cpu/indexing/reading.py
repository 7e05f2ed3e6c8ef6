"""Reading at places given by index tensors; writing is in `scatter.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.index import program_of
from torchgen_out._runtime.kernels.cpu.folding import as_bits, contiguous
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans, places
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel

Array = Any


@kernel
def _gather_row(out, index, self):
    """One row is read at all places. False for a place outside."""
    size = np.uint64(self.size)
    for j in range(index.size):
        k = np.uint64(index[j])
        if k >= size:
            return False
        out[j] = self[k]
    return True


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """Return self[indices] as a new array, whose dims lie as self's and the indices' do."""
    if len(indices) == 1 and _is_full_mask(self, indices[0]):
        return _compress(self, indices[0])
    plain = places.plain_indices(self.shape, indices)
    dims = [dim for dim, each in enumerate(plain) if each is not None]
    if len(dims) == 1 and (plain[dims[0]].ndim == 1 or plain[dims[0]].flags.c_contiguous):
        return _read_along(self, *dims, plain[dims[0]])
    if self.flags.c_contiguous and all(i is None or i.flags.c_contiguous for i in plain):
        return _read(self, plain)
    order = places.result_order(self, plain)
    found = _read(self, plain).transpose(order)
    return contiguous(found).transpose(np.argsort(order))


def _read_along(self: Array, dim: int, place: Array) -> Array:
    """Slices of one dim, where they are read."""
    flat, sizes = place.reshape(-1), self.shape
    if flat.size and not sizes[dim]:  # a loop over no elements does not look at it
        raise errors.index_out_of_bounds(int(flat[0]), dim, 0)
    shape = *sizes[:dim], flat.size, *sizes[dim + 1 :]
    order = shapes.order_of_slices(sizes, self.strides, dim)
    out = np.empty([shape[each] for each in order], self.dtype).transpose(np.argsort(order))
    _read_slices()(out, self, dim, flat)
    return out if place.ndim == 1 else out.reshape(*sizes[:dim], *place.shape, *sizes[dim + 1 :])


@cache
def _read_slices() -> Any:
    return program_of("_read_slices").kernel_for("torchgen_out._runtime.kernels.cpu")


def _read(self: Array, plain: list[Array | None]) -> Array:
    """The same, row by row. plain: as `places.plain_indices` returns them."""
    linear = places.linear_places(self.shape, plain)
    if linear is None or not self.flags.c_contiguous:
        return self[places.numpy_index(self.shape, plain)]
    first, stop, place = linear
    shape = places.result_shape(self.shape, first, stop, place)
    merged = places.merged(self, first, stop)
    if not place.size or not merged.size:
        return np.empty(shape, self.dtype)
    if merged.shape[0] == merged.shape[2] == 1:
        out = np.empty(shape, self.dtype)
        _take_flat(out, self, place)
        return out
    return merged.take(place.reshape(-1), axis=1, mode="clip").reshape(shape)


def _is_full_mask(self: Array, mask: Array | None) -> bool:
    return (
        mask is not None
        and mask.dtype in (np.bool_, np.uint8)
        and mask.shape == self.shape
        and mask.ndim > 0
    )


def _take_flat(out: Array, self: Array, place: Array) -> None:
    """The elements at valid places of the flattened array. out, place: contiguous."""
    if out.size:
        arrays = as_bits(out).reshape(-1), place.reshape(-1)
        threads.run_rows(_gather_row, arrays, as_bits(contiguous(self)).reshape(-1))


masked_select = PlannedKernel(listing_plans.plan_masked_select, results=0, any_strides=True)


def _compress(self: Array, mask: Array) -> Array:
    """The elements under a mask of the same shape."""
    count = int(np.count_nonzero(mask))
    out = np.empty(count, self.dtype)
    flags = contiguous(mask).reshape(-1).view(np.uint8)
    if count:
        _pack(as_bits(out), as_bits(contiguous(self).reshape(-1)), flags)
    return out


@kernel
def _pack(out, self, mask):
    """Write every element and step on after those wanted: no branch to mispredict."""
    place = 0
    last = out.size - 1
    for i in range(self.size):
        out[place if place < last else last] = self[i]
        place += 1 if mask[i] else 0
        if place > last:
            break


nonzero = PlannedKernel(listing_plans.plan_nonzero, results=0)

repeat_interleave = PlannedKernel(listing_plans.plan_repeat_interleave, results=0)

one_hot = PlannedKernel(listing_plans.plan_one_hot, results=0)
