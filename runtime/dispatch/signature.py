"""Signatures: what of a call's arguments chooses its code.

A tensor contributes its key, a Python number its type, an absent argument None, a list of tensors
the tuple of its members' entries.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core.tensor import Tensor

Entry = Any
"""int (a tensor's key), type (a Python number), None, or a tuple of entries."""

NUMBERS = (builtins.float, builtins.int, builtins.bool, builtins.complex)
NUMBER_DTYPES: dict[Any, Callable[[], dtypes.dtype]] = {
    builtins.bool: lambda: dtypes.bool,
    builtins.int: lambda: dtypes.int64,
    builtins.float: dtypes.default_dtype,
    builtins.complex: lambda: dtypes.default_dtype().to_complex(),
}


def kind_of(value: Any) -> Entry:
    """The entry of an argument that is a tensor (of any class) or a number.

    Raises: AttributeError for anything else; bindings turn it into their own TypeError.
    """
    cls = value.__class__
    if cls in NUMBERS:
        return cls
    if isinstance(value, Tensor):
        return value._key
    for number in (builtins.bool, builtins.int, builtins.float, builtins.complex):
        if isinstance(value, number):
            return number
    if hasattr(cls, "__index__") and getattr(value, "ndim", 0) == 0:
        return builtins.bool if cls.__name__ in ("bool", "bool_") else builtins.int
    if cls.__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return {"b": builtins.bool, "c": builtins.complex}.get(value.dtype.kind, builtins.float)
    raise AttributeError(f"{cls.__name__} is no tensor and no number")


def optional_kind_of(value: Any) -> Entry:
    """The entry of a tensor, a number or None."""
    return None if value is None else kind_of(value)


def tensors_of(values: Any) -> Entry:
    """The entry of a list of tensors.

    Raises: AttributeError if it is no list or tuple, or a member is no tensor; TypeError if one
    is None.
    """
    if type(values) is not list and type(values) is not tuple:
        _check_sequence(values)
    try:
        return tuple([value._key for value in values])
    except AttributeError:
        if any(value is None for value in values):
            raise errors.tensor_missing_in_list(values) from None
        raise


def list_of(values: Any) -> Entry:
    """The entry of a list of tensors of which some may be None.

    Raises: AttributeError if it is no list or tuple, or a member is neither a tensor nor None.
    """
    if type(values) is not list and type(values) is not tuple:
        _check_sequence(values)
    return tuple([None if value is None else value._key for value in values])


def _check_sequence(values: Any) -> None:
    """A tensor, too, can be iterated over, but is no list of tensors."""
    if not isinstance(values, (list, tuple)):
        raise AttributeError(f"{type(values).__name__} is no list or tuple")


def tensor_keys(signature: Iterable[Entry]) -> Iterator[int]:
    """The keys of all tensors of a signature, those in lists included."""
    for entry in signature:
        if entry.__class__ is tuple:
            yield from tensor_keys(entry)
        elif entry.__class__ is int:
            yield entry


def has_grad(entry: Entry) -> builtins.bool:
    """Whether any tensor of a signature takes part in autograd."""
    if entry.__class__ is int:
        return bool(entry & keys.GRAD)
    return entry.__class__ is tuple and any(map(has_grad, entry))


def has_overrides(entry: Entry) -> builtins.bool:
    """Whether any tensor of a signature is of a class that answers for itself."""
    if entry.__class__ is int:
        return bool(entry & keys.OVERRIDES)
    return entry.__class__ is tuple and any(map(has_overrides, entry))


def without_grad(entry: Entry) -> Entry:
    """The entry as seen below autograd."""
    return without(keys.GRAD, entry)


def without(bit: int, entry: Entry) -> Entry:
    """The entry without a bit of its tensors' keys."""
    if entry.__class__ is int:
        return entry & ~bit
    if entry.__class__ is tuple:
        return tuple([without(bit, each) for each in entry])
    return entry


def needs_grad(entry: Entry) -> Any:
    """Whether the argument takes part in autograd; None if absent; for a list, a flag a member."""
    if entry is None:
        return None
    if entry.__class__ is tuple:
        return tuple([needs_grad(each) for each in entry])
    return entry.__class__ is int and bool(entry & keys.GRAD)


def dtype_of(entry: Entry) -> dtypes.dtype:
    """The dtype of a tensor's or a number's entry."""
    if entry.__class__ is int:
        return dtypes.BY_INDEX[entry & keys.DTYPE_MASK]
    return NUMBER_DTYPES[entry]()


def promotion_entries(signature: Iterable[Entry]) -> list[tuple[dtypes.dtype, int]]:
    """(dtype, rank) of all tensors and numbers, as `runtime.core.promotion` takes them."""
    entries = []
    for entry in signature:
        if entry is None:
            continue
        if entry.__class__ is tuple:
            entries += promotion_entries(entry)
        elif entry.__class__ is int:
            rank = promotion.ZERO_DIM if entry & keys.ZERO_DIM else promotion.DIMENSIONED
            entries.append((dtype_of(entry), rank))
        else:
            entries.append((dtype_of(entry), promotion.NUMBER))
    return entries


def device_index(
    signature: Iterable[Entry],
    across_devices: builtins.bool = False,
    host_lists: builtins.bool = False,
) -> int | None:
    """The device type shared by the tensors; None without tensors.

    A zero-dimensional CPU tensor goes along with any device; all do if the operator works across
    devices, and those of a list, beside others that lie on it, if they may lie on the host.
    Raises: RuntimeError if devices differ.
    """
    found = _device_types(signature)
    if len(found) > 1 and 0 in found:
        single = _device_types(entry for entry in signature if entry.__class__ is not tuple)
        if found[0] or across_devices or (host_lists and single.get(0, True)):
            del found[0]
    if len(found) > 1:
        raise errors.same_device_expected(*(devices.type_name(index) for index in list(found)[:2]))
    return next(iter(found), None)


def _device_types(signature: Iterable[Entry]) -> dict[int, builtins.bool]:
    """The device types of tensors, and whether all that lie on each are zero-dimensional."""
    found: dict[int, builtins.bool] = {}
    for key in tensor_keys(signature):
        index = key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK
        found[index] = found.get(index, True) and bool(key & keys.ZERO_DIM)
    return found
