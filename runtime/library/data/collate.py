"""Samples put together to a batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from functools import partial
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


Collate = Callable[..., Any]
CollateMap = Mapping[type | tuple[type, ...], Collate]


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Put samples together by the function for their type, mappings and sequences item by item.

    collate_fn_map: what is called as `function(batch, collate_fn_map=collate_fn_map)`, by the
    first sample's own type, else by the first key of which it is an instance.
    **Raises** TypeError for other types, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    function = _function_for(first, collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    part = partial(collate, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return like_mapping(first, {key: part([each[key] for each in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [part(column) for column in zip(*batch, strict=True)]
        is_plain_tuple = isinstance(first, tuple) and not hasattr(first, "_fields")
        return columns if is_plain_tuple else like_sequence(first, columns)
    raise TypeError(_unknown(type(first)))


def _function_for(first: Any, functions: CollateMap) -> Collate | None:
    function = functions.get(type(first))
    if function is None:
        for kind in functions:
            if isinstance(first, kind):
                return functions[kind]
    return function


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack tensors. **Raises** RuntimeError for sparse ones."""
    if batch[0].layout is not torch.strided:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    return torch.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack arrays. **Raises** TypeError for arrays of strings or objects."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(_unknown(batch[0].dtype))
    return torch.as_tensor(np.stack(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """A tensor of float64."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """A tensor of integers or truth values."""
    return torch.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """The samples as they are."""
    return batch


collate_numpy_scalar_fn = collate_numpy_array_fn
default_collate_fn_map: dict[type | tuple[type, ...], Collate] = {
    torch.Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""How `default_collate` puts samples of a type together; programs add types of their own."""


def default_collate(batch: Sequence[Any]) -> Any:
    """Put samples together: tensors, arrays and numbers are stacked, at any depth.

    Strings stay a list; mappings and sequences are put together item by item.
    **Raises** TypeError for anything else, RuntimeError for sequences of different lengths.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


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
        if isinstance(original, MutableSequence):  # a copy keeps what else it has
            made = copy.copy(original)
            for i, item in enumerate(items):
                made[i] = item
            return made
        return kind(items)
    except TypeError:
        return items
