"""Tensors from Python data, arrays and files: tensor, as_tensor, asarray, from_numpy, from_file."""

from __future__ import annotations

import builtins
import os
from array import array
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import number, promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import DenseLayout, dense_layout
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import ForeignStorage, Storage
from torchgen_out._runtime.core.tensor import Tensor, build, make_tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation
from torchgen_out._runtime.tensor_api import conversion, interop

_NUMBERS = (builtins.int, builtins.float, builtins.complex)
_LISTS, _INTS, _BOOLS = {list}, {builtins.int}, {builtins.bool}
_REALS = {builtins.float, builtins.int}
_OF_PYTHON = frozenset((builtins.float, builtins.int, builtins.bool, builtins.complex))


def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a new tensor with a copy of `data`: numbers, nested sequences, arrays, tensors.

    dtype: by default that of an array, bool, int64, the default dtype or its complex counterpart
    for Python's bool, int, float and complex, the highest of those that occur.

    **Raises** ValueError if sequences at one depth differ in length, RuntimeError if a number does
    not fit the dtype, TypeError for other data.

    **Example** `torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)`
    """
    chosen = None if dtype is None else creation.dtype_or(dtype, dtypes.float32)
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), "
            "rather than torch.tensor(sourceTensor).",
        )
        made = copied(data, chosen, device)
    else:
        made = from_data(data, chosen, creation.device_or_default(device))
    if pin_memory:
        made = creation.pinned(made)
    return require_grad(made) if requires_grad else made


def require_grad(made: Tensor) -> Tensor:
    """Make a new tensor take part in autograd.

    Raises: RuntimeError if its dtype is integer or bool.
    """
    if made.dtype.kind not in "fc":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    made._key |= keys.GRAD
    return made


def copied(data: Tensor, wanted: dtype | None, device: Any) -> Tensor:
    """Return a copy of a tensor outside its graph."""
    on = None if device is None else devices.device(device)
    detached: Tensor = ops.detach(data)
    return conversion.to(detached, wanted, on, copy=True)


def from_data(data: Any, wanted: dtype | None, on: device) -> Tensor:
    """Return a new tensor with a copy of numbers, sequences or an array."""
    if data.__class__ is list and wanted is None:
        found = _of_one_kind(data)
        if found is not None:
            return creation.from_flat(*found, on)
    if isinstance(data, np.ndarray):
        order: Any = "K" if 0 not in data.strides else "C"  # what is repeated lies in no order
        own = over_array(np.array(data, order=order, copy=True))
        own._storage = Storage(own._storage.buffer)
        return conversion.to(own, wanted, on)
    if isinstance(data, (*_NUMBERS, np.generic)):
        return _from_number(data, wanted, on)
    if isinstance(data, str) or not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        return _from_foreign(data, wanted, on)
    if isinstance(data, dict):
        raise errors.no_dtype_for(data)
    return _from_sequence(data, wanted, on)


def _of_one_kind(data: list[Any]) -> tuple[np.ndarray, DenseLayout, dtype] | None:
    """Nested lists of Python's floats, perhaps with ints, of its ints below 2**63 or of its bools,
    as the dtype that they have; None for others.

    A float beyond its dtype's range becomes infinite, of which NumPy warns and `array` does not.
    """
    sizes, kinds = [len(data)], set(map(type, data))
    while kinds == _LISTS:
        (size, *others) = set(map(len, data))
        if others:
            return None
        sizes.append(size)
        data = [*chain.from_iterable(data)]
        kinds = set(map(type, data))
    if kinds <= _REALS and kinds != _INTS:
        own = dtypes.default_dtype()
        code = {dtypes.float32: "f", dtypes.float64: "d"}.get(own)
        if code is None:
            return None
        try:
            values = np.array(array(code, data))
        except OverflowError:  # of an int
            return None
    elif kinds in (_INTS, _BOOLS):
        own, values = dtypes.int64 if kinds == _INTS else dtypes.bool, np.array(data)
        if values.dtype != own.numpy:
            return None
    else:
        return None
    return values, dense_layout(tuple(sizes)), own


_COMMON = 200.0
"""The size of numbers that are in the range of every float dtype."""


def _from_number(data: Any, wanted: dtype | None, on: device) -> Tensor:
    if isinstance(data, np.generic):
        own = dtypes.from_numpy(data.dtype)
        return creation.from_values(np.asarray(data), wanted or own, on)
    chosen = wanted or promotion.number_dtype(data)
    _check_number(data, chosen)
    if isinstance(data, builtins.int) and chosen.kind != "i":
        data = float(data) if chosen.kind in "fc" else bool(data)
    if chosen.kind not in "fc" or abs(data) <= _COMMON:
        return creation.allocate((), chosen, on, data)
    with np.errstate(over="ignore"):  # a float dtype takes what is out of its range as infinity
        return creation.allocate((), chosen, on, data)


def _check_number(data: Any, chosen: dtype) -> None:
    if isinstance(data, builtins.complex) and chosen.kind in "if":
        raise errors.real_number_expected()
    if chosen.kind == "i":
        if isinstance(data, builtins.int) and chosen is not dtypes.uint64:
            number.check_long(data)
        number.check_fits(data, chosen)


def _from_foreign(data: Any, wanted: dtype | None, on: device) -> Tensor:
    """Data that describes itself as an array, by one of the protocols."""
    if hasattr(data, "__cuda_array_interface__"):
        return conversion.to(interop.over_device_memory(data), wanted, on, copy=True)
    if isinstance(data, str):
        raise errors.invalid_data_type(data)
    if hasattr(data, "__array_interface__") or hasattr(data, "__array__"):
        return from_data(np.array(data), wanted, on)
    raise errors.no_dtype_for(data)


# Nested sequences.


def _from_sequence(data: Sequence[Any], wanted: dtype | None, on: device) -> Tensor:
    given, leaf = data, _first_leaf(data)
    if isinstance(leaf, Tensor):
        data, leaf = _unwrapped(data)
    if isinstance(leaf, str):
        raise ValueError(f"too many dimensions '{type(leaf).__name__}'")
    values = _array_of(data, None if wanted is None else _long_ints(wanted))
    if wanted is dtypes.uint64 and values.dtype.kind == "f":
        values = _exact_ints(data, values)
    chosen = wanted or _common_dtype(given, values)
    if wanted is not None and values.size:
        _check_values(values, chosen)
    return creation.from_values(values, chosen, on)


def _common_dtype(data: Sequence[Any], values: np.ndarray) -> dtype:
    """The common dtype of all items; NumPy's `values` of them have another one at times.

    A tensor, an array and a number of NumPy's have their own dtypes, a Python number that of its
    type: all count alike, as 0-d tensors among dimensioned ones do not.
    """
    own = dtypes.from_numpy(values.dtype)
    if _OF_PYTHON.issuperset(map(type, data)):
        return _of_python_numbers(own)
    found: dict[Any, None] = {}
    _note_items(data, found)
    each = [_item_dtype(item) for item in found]
    return reduce(promotion.promote_types, each) if each else _of_python_numbers(own)


def _note_items(data: Sequence[Any], found: dict[Any, None]) -> None:
    """Note the classes of the numbers in nested sequences, and the dtypes of what else is there."""
    classes = set(map(type, data))
    numbers = [cls for cls in classes if _is_number(cls)]
    found.update(dict.fromkeys(numbers))
    if len(numbers) == len(classes):
        return
    for item in data:
        if isinstance(item, (list, tuple, range)):
            _note_items(item, found)
        elif isinstance(item, Tensor):
            found[item.dtype] = None
        elif not _is_number(type(item)):
            own = dtypes.from_numpy(np.asarray(item).dtype)
            found[own if isinstance(item, np.ndarray) else _of_python_numbers(own)] = None


def _is_number(cls: type) -> builtins.bool:
    return cls in _OF_PYTHON or issubclass(cls, np.generic)


def _item_dtype(noted: Any) -> dtype:
    """The dtype of what `_note_items` noted."""
    if isinstance(noted, dtype):
        return noted
    if noted in _OF_PYTHON:
        return promotion.number_dtype(noted())
    return dtypes.from_numpy(np.dtype(noted))


def _of_python_numbers(own: dtype) -> dtype:
    """What Python numbers become that NumPy gives this dtype."""
    if own is dtypes.float64:
        return dtypes.default_dtype()
    return dtypes.default_dtype().to_complex() if own is dtypes.complex128 else own


def _first_leaf(data: Any) -> Any:
    while isinstance(data, (list, tuple, range)):
        if not len(data):
            return None
        data = data[0]
    return data


def _long_ints(wanted: dtype) -> Any:
    """What ints of more than 63 bits become on their way to a dtype; None if that is an error."""
    if wanted is dtypes.uint64:
        return np.uint64
    return {"f": float, "c": float, "b": bool}.get(wanted.kind)


def _array_of(data: Sequence[Any], of_long_ints: Any = None) -> np.ndarray:
    """The numbers as an array; NumPy says in one call whether that is possible.

    of_long_ints: what ints of more than 63 bits become, if that is no error.
    """
    try:
        values = np.array(data)
    except (RuntimeError, TypeError):  # of a tensor that NumPy does not take
        values = np.array(_unwrapped(data)[0])
    except ValueError:
        _unwrapped(data)
        _check_lengths(data)
        raise
    if values.dtype.kind == "O" and any(isinstance(each, Tensor) for each in values.flat):
        values = np.array(_unwrapped(data)[0])
    if values.dtype.kind == "O" or values.dtype == np.uint64:
        target = of_long_ints or _highest_type(values)
        if target is not None and (values.dtype.kind == "u" or _are_numbers(values)):
            return values.astype(target)
        _check_items(data)
        raise errors.unsupported_numpy_dtype(values.dtype)
    if of_long_ints is None and values.dtype.kind == "f" and values.size:
        _check_long_ints(data, values)
    if values.dtype.kind in "US":
        raise TypeError("expected numbers, got 'str' among them")
    return values


def _exact_ints(data: Sequence[Any], values: np.ndarray) -> np.ndarray:
    """The numbers for uint64, of which NumPy makes floats if not all are below 2**63."""
    numbers = np.array(data, dtype=object)
    if not numbers.size or _highest_type(numbers) is not None:
        return values
    for each in (numbers.max(), numbers.min()):
        number.check_fits(each, dtypes.uint64)
    return (numbers % 2**64).astype(np.uint64)


def _are_numbers(values: np.ndarray) -> bool:
    return all(isinstance(each, _NUMBERS) for each in values.flat)


def _highest_type(values: np.ndarray) -> type | None:
    """complex or float, if there is one among the objects."""
    for each in (complex, float):
        if any(isinstance(value, each) for value in values.flat):
            return each
    return None


def _check_long_ints(data: Any, values: np.ndarray) -> None:
    """NumPy makes floats of ints that have no dtype in common, as 1 and 2**63.

    Raises: ValueError if there are no floats among the numbers.
    """
    if isinstance(_first_leaf(data), builtins.int) and np.abs(values).max() >= 2.0**63:
        numbers = np.array(data, dtype=object)
        if _highest_type(numbers) is None:
            _check_items(data)


def _check_lengths(data: Any) -> None:
    """Find the place where nested sequences do not form a box.

    Raises: ValueError or TypeError naming it.
    """
    shape: list[int] = []
    head = data
    while isinstance(head, (list, tuple)):
        shape.append(len(head))
        head = head[0] if len(head) else None

    def check(part: Any, dim: int) -> None:
        if dim == len(shape):
            if isinstance(part, (list, tuple)):
                kind = "a real number" if isinstance(head, float) else "an integer"
                raise TypeError(f"'{type(part).__name__}' object cannot be interpreted as {kind}")
            return
        if not isinstance(part, (list, tuple)):
            raise TypeError("not a sequence")
        if len(part) != shape[dim]:
            raise ValueError(
                f"expected sequence of length {shape[dim]} at dim {dim} (got {len(part)})"
            )
        for item in part:
            check(item, dim + 1)

    check(data, 0)


def _check_items(data: Any) -> None:
    """Find the item that is no number.

    Raises: RuntimeError or ValueError naming it.
    """
    if isinstance(data, (list, tuple)):
        for item in data:
            _check_items(item)
    elif isinstance(data, builtins.int):
        _check_number(data, dtypes.int64)
    elif not isinstance(data, (*_NUMBERS, np.generic, np.ndarray)):
        raise errors.no_dtype_for(data)


def _check_values(values: np.ndarray, chosen: dtype) -> None:
    """Numbers must fit the dtype that was asked for, rounding aside."""
    if values.dtype.kind == "c" and chosen.kind in "if":
        raise errors.real_number_expected()
    if chosen.kind == "i" and not (chosen is dtypes.int64 and values.dtype.kind == "i"):
        number.check_fits(values.max().item(), chosen)
        number.check_fits(values.min().item(), chosen)


def _number_of(tensor: Any) -> Any:
    """The number of a tensor among numbers. **Raises** ValueError if it has not just one."""
    if tensor.numel() != 1:
        raise errors.one_element_expected()
    return tensor.item()


def _unwrapped(data: Any) -> tuple[list[Any], Any]:
    """The same nested lists with every 0-d tensor replaced by its number, and the first number."""

    def unwrap(part: Any) -> Any:
        if isinstance(part, Tensor):
            return _number_of(part)
        return [unwrap(item) for item in part] if isinstance(part, (list, tuple)) else part

    unwrapped = unwrap(data)
    return unwrapped, _first_leaf(unwrapped)


# Shared memory.


def from_numpy(ndarray: np.ndarray, /) -> Tensor:
    """Return a tensor over the memory of an array: writing to one writes to the other.

    **Raises** TypeError if it is no array or of a dtype without counterpart, ValueError if its
    strides are negative or do not count whole elements.
    """
    if not isinstance(ndarray, np.ndarray):
        got = type(ndarray)
        name = got.__name__ if got.__module__ == "builtins" else f"{got.__module__}.{got.__name__}"
        raise TypeError(f"expected np.ndarray (got {name})")
    if not ndarray.flags.writeable:
        _warn_of_constants("NumPy array")
    return over_array(ndarray)


def _warn_of_constants(what: str) -> None:
    """Warn of memory that must not be written to, by tensors neither."""
    warn(
        f"The given {what} is not writable, and tensors do not know that: writing to the "
        "tensor is undefined behavior. Copy it to protect its data.",
    )


def over_array(array: np.ndarray) -> Tensor:
    """Return a tensor over the memory of an array."""
    if array.__class__ is not np.ndarray:  # a matrix stays one of two dims
        array = array.view(np.ndarray)
    place = _place_of(array.dtype, array.shape, array.strides)
    own = place.dtype.numpy
    if place.is_dense:
        flat = array.reshape(-1)
        flat = flat if flat.dtype is own else flat.view(own)
        return build(place.key, place.sizes, place.strides, 0, ForeignStorage(flat), flat)
    if array.flags.f_contiguous:
        window = array.T.reshape(-1)
    else:
        extent = 1 + sum((n - 1) * step for n, step in zip(array.shape, place.strides, strict=True))
        window = np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,))
    storage = ForeignStorage(window if window.dtype is own else window.view(own))
    return build(place.key, place.sizes, place.strides, 0, storage)


class _Place(NamedTuple):
    """The dtype, key, sizes and strides of a tensor over an array, and whether these are dense."""

    dtype: dtype
    key: int
    sizes: Size
    strides: tuple[int, ...]
    is_dense: bool


@lru_cache(maxsize=1024)
def _place_of(
    numpy_dtype: Any, shape: tuple[builtins.int, ...], steps: tuple[builtins.int, ...]
) -> _Place:
    own = dtypes.from_numpy(numpy_dtype)
    strides = []
    for size, stride in zip(shape, steps, strict=True):
        if stride < 0 and size > 1:
            raise errors.negative_numpy_stride()
        if stride % own.itemsize:
            raise errors.fractional_numpy_stride()
        strides.append(abs(stride) // own.itemsize)
    key = keys.pack(own.index, devices.CPU, 0, not shape)
    sizes = Size(shape)
    return _Place(own, key, sizes, tuple(strides), shapes.is_contiguous(sizes, strides))


def as_tensor(
    data: Any, dtype: dtype | None = None, device: device | str | int | None = None
) -> Tensor:
    """Return `data` as a tensor, without a copy where dtype and device allow.

    A tensor stays in its graph; an array shares its memory.
    """
    on = None if device is None else devices.device(device)
    chosen = None if dtype is None else creation.dtype_or(dtype, dtypes.float32)
    if isinstance(data, Tensor):
        return conversion.to(data, chosen, on)
    if isinstance(data, np.ndarray):
        on = on or devices.default_device()
        made = over_array(data)
        if chosen is None and on.type_index == devices.CPU:
            return made
        return conversion.to(made, chosen, on)
    if hasattr(data, "__cuda_array_interface__"):
        return conversion.to(interop.over_device_memory(data), chosen, on)
    return from_data(data, chosen, creation.device_or_default(on))


def frombuffer(
    buffer: Any,
    *,
    dtype: dtype,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """Return a 1-d tensor over the memory of an object with the buffer protocol.

    **Raises** ValueError if the buffer does not hold `count` elements from byte `offset` on.
    """
    dtype = creation.dtype_or(dtype, dtypes.float32)
    size = memoryview(buffer).nbytes
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise errors.buffer_offset(offset, size)
    if count < 0 and (size - offset) % dtype.itemsize:
        raise errors.buffer_remainder(size - offset, dtype.itemsize)
    if count > 0 and offset + count * dtype.itemsize > size:
        raise errors.buffer_too_short(count, size - offset)
    values = np.frombuffer(buffer, dtype.numpy, count, offset)
    if not values.flags.writeable:
        _warn_of_constants("buffer")
    made = make_tensor(values, values.shape, dtype)
    made._shared = ForeignStorage(values)
    return require_grad(made) if requires_grad else made


def from_file(
    filename: str | os.PathLike[str],
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a 1-d tensor over the first `size` elements of a file, in the CPU's memory.

    shared: what is written to the tensor is written to the file, which grows if it is smaller.
    **Raises** RuntimeError if a file that is not shared is smaller.
    """
    chosen = creation.dtype_or(dtype, dtypes.default_dtype())
    mapped = Storage.from_file(filename, bool(shared), (size or 0) * chosen.itemsize)
    values = mapped.buffer.view(chosen.numpy)
    made = make_tensor(values, values.shape, chosen)
    made._shared = ForeignStorage(values)
    return require_grad(made) if requires_grad else made


def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return `obj` as a tensor: tensors, arrays, DLPack exporters and buffers share memory.

    copy: True always copies, False raises where memory cannot be shared, None copies if need be.
    """
    made = as_tensor(obj, dtype, device)
    if copy is not None:
        shares = isinstance(obj, Tensor) and made._storage is obj._storage
        shares = shares or (isinstance(obj, np.ndarray) and np.shares_memory(made._array(), obj))
        if not copy and not shares:
            raise ValueError("asarray: cannot alias the memory of the input, and copy=False")
        if copy and shares:
            made = copied(made, None, None)
    made = ops.detach(made) if made is obj and not requires_grad and made._edge else made
    return require_grad(made) if requires_grad and not made._key & keys.GRAD else made
