"""Sums, means and maxima of bags of a table's rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.indexing.places import as_int64, check_range
from torchgen_out._runtime.kernels.typed import typed

Array = Any


def embedding_bag(
    out: Array,
    bag_sizes: Array,
    weight: Array,
    indices: Array,
    offsets: Array,
    per_sample_weights: Array | None,
    is_mean: bool,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool = False,
) -> None:
    """Write the bags' sums or means, and how many rows each has.

    Raises: RuntimeError for an index that is no row, or offsets that do not ascend from 0.
    """
    factors = np.empty(0, out.dtype) if per_sample_weights is None else per_sample_weights
    results = out, bag_sizes
    _run(
        fold_bags,
        results,
        weight,
        indices,
        offsets,
        contiguous(factors),
        is_mean,
        padding_idx,
    )


def embedding_bag_max(
    out: Array,
    max_indices: Array,
    weight: Array,
    indices: Array,
    offsets: Array,
    padding_idx: int,
) -> None:
    """Write each column's largest element of each bag, and its row.

    Raises: as `embedding_bag`.
    """
    _run(keep_greatest_of_bags, (out, max_indices), weight, indices, offsets, padding_idx)


def _run(
    loop: Any,
    results: tuple[Array, Array],
    weight: Array,
    indices: Array,
    offsets: Array,
    *rest: Any,
) -> None:
    """Run a loop over bags, which threads share, once all indices and offsets are known good."""
    flat, starts, out = as_int64(indices), as_int64(offsets), results[0]
    check_range(flat, len(weight), lambda bad: errors.bag_index(bad, len(weight)))
    edges = np.empty(starts.size + 1, np.int64)
    if not fill_edges(edges, starts, flat.size):
        raise errors.bag_offsets(starts[0], starts[-1], flat.size)
    if not ascends(edges):
        raise RuntimeError("embedding_bag: offsets must not descend")
    if not starts.size:
        return
    work = (flat.size + starts.size) * out.shape[1]
    arrays = *results, contiguous(weight), flat, edges, *rest
    threads.run_ranges(loop.of(out.dtype), len(out), work, *arrays)


@kernel
def fill_edges(edges, starts, count):
    """Where bags begin and, behind the last, how many indices there are. Returns whether the first
    begins at 0, and the last one inside."""
    for b in range(starts.size):
        edges[b] = starts[b]
    edges[starts.size] = count
    return starts.size == 0 or (starts[0] == 0 and starts[starts.size - 1] <= count)


@kernel
def ascends(edges):
    """Whether none is less than the one before."""
    descends = False
    for b in range(edges.size - 1):
        descends |= edges[b + 1] < edges[b]
    return not descends


@typed
def fold_bags(first, last, out, bag_sizes, weight, indices, edges, factors, is_mean, padding_idx):
    """Bag b has the rows indices[edges[b]:edges[b + 1]]; padding does not count."""
    for b in range(first, last):
        size = add_rows(out, b, weight, indices, edges[b], edges[b + 1], factors, padding_idx)
        bag_sizes[b] = size
        if is_mean and size > 0:
            for i in range(out.shape[1]):
                out[b, i] /= T(size)


@typed
def keep_greatest_of_bags(first, last, out, max_indices, weight, indices, edges, padding_idx):
    """The same of maxima."""
    for b in range(first, last):
        places = indices[edges[b] : edges[b + 1]]
        keep_greatest(out[b], max_indices[b], weight, places, padding_idx)


@typed
def keep_greatest(row, chosen, weight, places, padding_idx):
    """Each column's greatest element, and its row: -1 where there is none."""
    row[:], size = T(0), 0
    for k in range(places.size):
        place = places[k]
        if place == padding_idx:
            continue
        source = weight[place]
        for i in range(row.size):
            is_greater = size == 0 or source[i] > row[i] or source[i] != source[i]
            row[i] = source[i] if is_greater else row[i]
            chosen[i] = place if is_greater else chosen[i]
        size += 1
    if size == 0:
        chosen[:] = -1


@typed
def add_rows(out, bag, weight, indices, start, stop, factors, padding_idx):
    """out[bag] = the sum of the bag's rows, times their factors if there are any.

    Rows are not taken out, as that counts references; four at a time are added to what is stored.
    """
    b, width, size, k = np.uint64(bag), np.uint64(weight.shape[1]), 0, start
    for i in range(width):
        out[b, i] = T(0)
    while k < stop:
        p = np.uint64(indices[k])
        if padding_idx < 0 and factors.size == 0 and k + 4 <= stop:
            q, r, s = (
                np.uint64(indices[k + 1]),
                np.uint64(indices[k + 2]),
                np.uint64(indices[k + 3]),
            )
            for i in range(width):
                out[b, i] = out[b, i] + weight[p, i] + weight[q, i] + weight[r, i] + weight[s, i]
            size += 4
            k += 4
            continue
        if indices[k] != padding_idx:
            for i in range(width):
                out[b, i] += factors[k] * weight[p, i] if factors.size else weight[p, i]
            size += 1
        k += 1
    return size
