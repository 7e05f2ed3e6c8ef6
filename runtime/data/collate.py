"""Samples put together to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import torchgen_out as torch


def default_convert(data: Any) -> Any:
    """Turn NumPy arrays into tensors, at any depth; leave the rest as it is."""
    if isinstance(data, np.ndarray) and data.dtype.kind not in "SUO":
        return torch.as_tensor(data)
    if isinstance(data, np.generic) and data.dtype.kind not in "SUO":
        return torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(item) for key, item in data.items()})
    if isinstance(data, tuple):
        return _like_tuple(data, [default_convert(item) for item in data])
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(item) for item in data]
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Put samples together: tensors, arrays and numbers are stacked, at any depth.

    Strings stay a list; mappings and sequences are put together item by item.
    **Raises** TypeError for anything else, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)):
        if first.dtype.kind in "SUO":
            raise TypeError(_unknown(first.dtype))
        return torch.as_tensor(np.stack(batch))
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _like_mapping(
            first, {key: default_collate([sample[key] for sample in batch]) for key in first}
        )
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return _like_tuple(first, columns) if hasattr(first, "_fields") else columns
    raise TypeError(_unknown(type(first)))


def _unknown(kind: Any) -> str:
    return (
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {kind}"
    )


def _like_mapping(original: Any, items: dict[Any, Any]) -> Any:
    try:
        return type(original)(items)
    except TypeError:  # a mapping type that takes no dict
        return items


def _like_tuple(original: Any, items: list[Any]) -> Any:
    return type(original)(*items) if hasattr(original, "_fields") else tuple(items)
