"""Whether two libraries computed the same: results, and the tensors and gradients they left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Work

TOLERANCE = {
    "float64": 1e-6,
    "float32": 1e-3,
    "bfloat16": 2e-2,
    "float16": 5e-3,
    "complex128": 1e-6,
    "complex64": 1e-3,
}
"""Relative to each number, and to the mean size of the numbers beside it."""


def results(work: Work) -> list[Any]:
    """Run the work once; return its results, its tensors and their gradients."""
    found = list(_flattened(work.call()))
    found += work.tensors
    return found + [tensor.grad for tensor in work.tensors if tensor.grad is not None]


def difference(ours: list[Any], theirs: list[Any], is_random: bool = False) -> str:
    """What differs first, in words; empty where nothing does."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for mine, other in zip(ours, theirs, strict=True):
        if str(mine.dtype) != str(other.dtype):
            return f"{mine.dtype} instead of {other.dtype}"
        if tuple(mine.shape) != tuple(other.shape):
            return f"shape {tuple(mine.shape)} instead of {tuple(other.shape)}"
        tolerance = TOLERANCE.get(str(other.dtype).removeprefix("torch."), 0.0)
        if not is_random and (words := _values_differ(_array(mine), _array(other), tolerance)):
            return words
    return ""


def numpy_difference(array: object, theirs: list[Any]) -> str:
    """What NumPy's result differs in from PyTorch's first, in words."""
    if not theirs or array is None:
        return ""
    mine = np.asarray(array[0] if isinstance(array, tuple) else array)
    return _values_differ(mine.reshape(-1), _array(theirs[0]).reshape(-1), 1e-3)


def _flattened(result: Any) -> Iterator[Any]:
    """The tensors of a result, and its numbers as arrays."""
    if isinstance(result, tuple | list):
        for each in result:
            yield from _flattened(each)
    elif result is not None:
        yield result if hasattr(result, "dtype") else np.asarray(result)


def _array(tensor: Any) -> NDArray[Any]:
    if isinstance(tensor, np.ndarray):
        return tensor
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def _values_differ(mine: NDArray[Any], other: NDArray[Any], tolerance: float) -> str:
    if mine.shape != other.shape:
        return f"shape {mine.shape} instead of {other.shape}"
    if other.dtype.kind in "biu":
        wrong = mine != other
    else:
        finite = np.abs(other[np.isfinite(other)])
        scale = float(finite.mean(dtype=np.float64)) if finite.size else 1.0
        wrong = ~np.isclose(mine, other, tolerance, tolerance * scale, equal_nan=True)
    if not wrong.any():
        return ""
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{wrong.sum()} of {wrong.size} numbers, at {where} {mine[where]} instead of {other[where]}"
    )
