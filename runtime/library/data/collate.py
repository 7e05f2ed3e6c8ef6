"""Samples put together to a batch."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
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
        return like_mapping(data, {key: default_convert(item) for key, item in data.items()})
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return [default_convert(item) for item in data]  # a list, for reasons of PyTorch's age
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, [default_convert(item) for item in data])
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
        return like_mapping(
            first, {key: default_collate([sample[key] for sample in batch]) for key in first}
        )
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        is_plain_tuple = isinstance(first, tuple) and not hasattr(first, "_fields")
        return columns if is_plain_tuple else like_sequence(first, columns)
    raise TypeError(_unknown(type(first)))


def _unknown(kind: Any) -> str:
    return (
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {kind}"
    )


def like_mapping(original: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """The items in a mapping like the original; in a dict, if its type cannot be made of them."""
    try:
        if isinstance(original, MutableMapping):  # a copy keeps what else it has, as a default
            made = copy.copy(original)
            made.update(items)
            return made
        kind: Any = type(original)
        return kind(items)
    except TypeError:
        return items


def like_sequence(original: Sequence[Any], items: list[Any]) -> Any:
    """The items in a sequence like the original; in a list, if its type cannot be made of them."""
    kind: Any = type(original)
    if hasattr(original, "_fields"):
        return kind(*items)
    try:
        return kind(items)
    except TypeError:
        return items
