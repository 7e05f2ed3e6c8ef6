"""Windows of pooling, seen with three spatial dims: missing ones stand in front, of size 1."""

from __future__ import annotations

from typing import Any

Triple = tuple[int, int, int]


def triple(value: Any, count: int, missing: int) -> Triple:
    """Three numbers of one or `count`; `missing` for the dims in front."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        values *= count
    return (missing,) * (3 - count) + values


def windows_of(count: int, kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, Any, Any]:
    """Size, step and padding in three dims."""
    size = triple(kernel_size, count, 1)
    step = size if stride is None or stride == [] or stride == () else triple(stride, count, 1)
    return size, step, triple(padding, count, 0)
