"""Reductions of neighbouring elements, segment by segment."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from torchgen_out._runtime.core import batched, number
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.factories import creation
from torchgen_out._runtime.ops.composite.view.reshaping import own_view, reshape

OF_NOTHING = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -inf, "min": inf}
"""What each reduction begins with."""
NAMES = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}
"""The reductions of `scatter_reduce`."""


def segment_reduce(
    data: Any,
    reduce: str,
    lengths: Any,
    indices: Any,
    offsets: Any,
    axis: int,
    unsafe: bool,
    initial: Any,
) -> Any:
    """Reduce the segments along `axis` that lengths, or offsets, tell.

    Shape: (*B, N, *R) with lengths (*B, S), where `axis` counts B -> (*B, S, *R).
    Raises: RuntimeError if both or none are given, or if they do not fit the data.
    """
    sizes = tuple(data._sizes)
    axis = normalize_dim(axis, len(sizes))
    _check(sizes, reduce, lengths, indices, offsets, axis)
    if lengths is None:
        lengths = offsets.diff(dim=-1)
    batch, count, rest = sizes[:axis], sizes[axis], sizes[axis + 1 :]
    *_, segments = lengths._sizes
    rows = prod(batch)
    places = _places(reshape(lengths, (-1,)) if batch else lengths)
    if not unsafe and (places._sizes != (rows * count,) or rows > 1):
        _check_lengths(lengths, count)
    flat = reshape(data, (rows * count, *rest)) if batch else data
    first, own = OF_NOTHING[reduce] if initial is None else float(initial), data.dtype
    number.check_fits(first, own)
    shape = rows * segments, *rest
    result = creation.empty(shape, own, None, data.device, None, None, first)
    if rest:
        places = places.reshape((-1, *[1] * len(rest))).expand(flat._sizes)
    call = calls.scatter_reduce_two[result._key, places._key, flat._key]
    result = call(result, 0, places, flat, NAMES[reduce], True)
    if reduce == "mean":
        result = _mean(result, lengths.reshape(-1, *[1] * len(rest)), initial)
    return own_view(result, (*batch, segments, *rest)) if batch else result


def _places(lengths: Any) -> Any:
    """The segment of every element, all of them counted through."""
    try:
        places = calls.repeat_interleave_Tensor[lengths._key](lengths, None)
    except RuntimeError as error:
        raise RuntimeError("lengths contains negative value!") from error
    return places if places.dtype is dtypes.int64 else places.to(dtypes.int64)


def _mean(total: Any, count: Any, initial: Any) -> Any:
    """Sums over their counts; of nothing the initial value, or nan."""
    mean = total / count.to(total.dtype)
    return mean if initial is None else ops.where(count == 0, float(initial), mean)


def _check(
    sizes: tuple[int, ...], reduce: str, lengths: Any, indices: Any, offsets: Any, axis: int
) -> None:
    if reduce not in NAMES:
        raise RuntimeError(f"segment_reduce(): unknown reduction '{reduce}'")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    told = offsets if lengths is None else lengths
    if told.dtype.kind != "i":
        raise RuntimeError(f"segment_reduce(): lengths must be integers, got {told.dtype}")
    own = tuple(told._sizes)
    if not sizes or axis != len(own) - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}."
        )
    if own[:-1] != sizes[: len(own) - 1]:
        raise RuntimeError(
            "segment_reduce(): lengths must have the sizes of data before axis, got "
            f"{list(own)} and {list(sizes)}"
        )


def _check_lengths(lengths: Any, count: int) -> None:
    if batched.any_true(lengths.sum(-1) != count):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )
