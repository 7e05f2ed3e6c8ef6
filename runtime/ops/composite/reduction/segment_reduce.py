"""Reductions of neighbouring elements, segment by segment."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import ops

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
    axis = normalize_dim(axis, data.dim())
    _check(data, reduce, lengths, indices, offsets, axis)
    if lengths is None:
        lengths = offsets.diff(dim=-1)
    batch, count, rest = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    if not unsafe:
        _check_lengths(lengths, count)
    segments = lengths.shape[-1]
    rows = prod(batch)
    places = ops.arange(rows * segments, device=data.device)
    places = places.repeat_interleave(lengths.reshape(-1))
    flat = data.reshape(rows * count, *rest)
    first = OF_NOTHING[reduce] if initial is None else float(initial)
    result = data.new_full((rows * segments, *rest), first)
    places = places.reshape(-1, *[1] * len(rest)).expand(flat.shape)
    result = result.scatter_reduce(0, places, flat, NAMES[reduce])
    if reduce == "mean":
        result = _mean(result, lengths.reshape(-1, *[1] * len(rest)), initial)
    return result.reshape(*batch, segments, *rest)


def _mean(total: Any, count: Any, initial: Any) -> Any:
    """Sums over their counts; of nothing the initial value, or nan."""
    mean = total / count.to(total.dtype)
    return mean if initial is None else ops.where(count == 0, float(initial), mean)


def _check(data: Any, reduce: str, lengths: Any, indices: Any, offsets: Any, axis: int) -> None:
    if reduce not in NAMES:
        raise RuntimeError(f"segment_reduce(): unknown reduction '{reduce}'")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    told = offsets if lengths is None else lengths
    if told.dtype.kind != "i":
        raise RuntimeError(f"segment_reduce(): lengths must be integers, got {told.dtype}")
    if not data.dim() or axis != told.dim() - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}."
        )
    if told.shape[:-1] != data.shape[: told.dim() - 1]:
        raise RuntimeError(
            "segment_reduce(): lengths must have the sizes of data before axis, got "
            f"{list(told.shape)} and {list(data.shape)}"
        )


def _check_lengths(lengths: Any, count: int) -> None:
    if (lengths < 0).any():
        raise RuntimeError("lengths contains negative value!")
    if (lengths.sum(-1) != count).any():
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )
