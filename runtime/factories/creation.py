"""Bodies of the factories: tensors from sizes, ranges and fill values (data: `from_data`).

The arguments stand in schema order. `dtype`, `layout`, `device` and `pin_memory` mean the default
dtype, strided, the default device and ordinary memory where they are None.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, SupportsIndex

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import number, promotion, sparse
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import DenseLayout, dense_layout
from torchgen_out._runtime.core.device import DeviceLike, device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.kernels import narrow, threads
from torchgen_out._runtime.kernels.cpu import narrow_arrays, pool
from torchgen_out._runtime.kernels.cpu.copy import shaping
from torchgen_out._runtime.kernels.cpu.copy.copy import BLOCKED, fill

Number = bool | int | float | complex
Options = Any

_empty, _zeros, _new, _defaults = np.empty, np.zeros, object.__new__, devices.defaults
SHORT = 1 << 12
"""Elements whose memory may begin anywhere: who computes nothing needs no compiled code."""
UNTOUCHED = 1 << 26
"""Bytes beyond which zeros are left to the system, which makes a page when it is touched first."""
_device = devices.device
NUMBERS = (float, int, bool, complex)
_NO_SIZES = make_size(())
_INT64 = np.dtype(np.int64)
_AS_THEY_ARE = frozenset(
    [each for each in dtypes.ALL if each.opmath is each and (each.is_signed or each.kind == "b")]
)
"""What a buffer stores numbers in without further ado."""


# Arguments.


def dtype_or(given: dtype | type | None, default: dtype) -> dtype:
    """Return the dtype asked for; Python's float, int, bool and complex name one too."""
    if given is None:
        return default
    if isinstance(given, dtype):
        return given
    if given in dtypes.BY_PYTHON_TYPE:
        return dtypes.BY_PYTHON_TYPE[given]
    raise errors.dtype_expected(given)


def device_or_default(given: device | str | int | None) -> device:
    """Return the device asked for, or the default device."""
    return devices.default_device() if given is None else devices.device(given)


def sizes_of(size: int | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """Return the sizes asked for.

    Raises: TypeError if one is no int, RuntimeError if one is negative.
    """
    if size.__class__ is not tuple:
        size = tuple(size) if isinstance(size, (list, tuple)) else (_index(size),)
    for each in size:
        if each.__class__ is not int or each < 0:
            break
    else:
        return size  # type: ignore[return-value]
    sizes = tuple([_index(each) for each in size])
    for each in sizes:
        if each < 0:
            raise errors.negative_size(each, sizes)
    return sizes


def _index(size: Any) -> int:
    if not hasattr(size.__class__, "__index__"):
        raise errors.size_not_int(size)
    index: int = size.__index__()
    return index


def number_of(value: Any) -> Number:
    """Return a Python number, also from a 0-d tensor or one of NumPy's.

    Raises: TypeError for one that requires grad, which the result would not pass on.
    """
    if value.__class__ is float or value.__class__ is int:
        return value
    if isinstance(value, Tensor):
        if value.requires_grad:
            raise errors.number_expected("a Scalar argument", value)
        value = value.item()
    elif isinstance(value, np.generic):
        value = value.item()
    found: Number = value
    return found


# Memory.


def allocate(
    sizes: tuple[int, ...], dtype: dtype, on: device, value: Number | None = None
) -> Tensor:
    """Return a contiguous tensor of undefined elements, or of one value."""
    if on.type_index == devices.CPU:
        place = dense_layout(sizes)
        return allocate_dense(place.numel, place.sizes, place.strides, dtype, value)
    made = backends.on(on).empty(sizes, dtype, on)
    return made if value is None else made.fill_(value)


def allocate_dense(
    numel: int, sizes: Size, strides: tuple[int, ...], dtype: dtype, value: Number | None
) -> Tensor:
    """Return a tensor of a dense geometry in memory of the CPU, undefined or of one value."""
    if value.__class__ is int and not value:
        buffer = (_zeros if numel < BLOCKED else _zeroed)(numel, dtype.numpy)
    else:
        buffer = (_empty if numel < SHORT else pool.empty)(numel, dtype.numpy)
        if value is not None:
            is_plain = dtype in _AS_THEY_ARE and value.__class__ is not complex
            bits = value if is_plain else bits_of(value, dtype)
            if numel == 1:
                buffer[0] = bits
            else:
                fill(buffer, bits)
    made = _new(Tensor)
    made._key = dtype.index if sizes else dtype.index | keys.ZERO_DIM
    made._sizes = sizes
    made._strides = strides
    made._offset = 0
    made._shared = None
    made._flat = buffer
    made._base = None
    made._edge = None
    made._meta = None
    return made


def _zeroed(numel: int, dtype: Any) -> Any:
    """Many zeros: written by all threads, or, of whole pages without end, by the system."""
    if threads.get_num_threads() == 1 or numel * dtype.itemsize > UNTOUCHED:
        return _zeros(numel, dtype)
    buffer = pool.empty(numel, dtype)
    fill(buffer, 0)
    return buffer


def from_values(
    values: np.ndarray, dtype: dtype, on: device, pin_memory: bool | None = None
) -> Tensor:
    """Return a tensor holding an array's values, cast to `dtype` and brought to a device.

    The array becomes the tensor's memory where its dtype allows.
    """
    flat = values if values.ndim == 1 else values.reshape(-1)
    return from_flat(flat, dense_layout(values.shape), dtype, on, pin_memory)


def from_flat(
    flat: np.ndarray,
    place: DenseLayout,
    dtype: dtype,
    on: device,
    pin_memory: bool | None = None,
) -> Tensor:
    """Return the same of values one after the other."""
    if flat.dtype is not dtype.numpy:
        flat = cast_values(flat, dtype)
    made = build(dtype.index | place.zero_dim, place.sizes, place.strides, 0, None, flat)
    if on.type_index != devices.CPU:
        made = made.to(on)
    return pinned(made) if pin_memory else made


def cast_values(flat: np.ndarray, dtype: dtype) -> np.ndarray:
    """Return a vector of numbers as a buffer of `dtype` holds them."""
    if flat.dtype.kind in "biu":
        wide = flat.astype(dtype.opmath.numpy)
        return narrow_arrays.narrow(wide, dtype) if narrow.is_narrow(dtype) else wide
    with np.errstate(over="ignore", invalid="ignore"):
        if narrow.is_narrow(dtype):
            return narrow_arrays.narrow(flat.astype(dtype.opmath.numpy), dtype)
        return flat.astype(dtype.numpy, copy=False)


# Constant values.


def empty(
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
    value: Number | None = None,
) -> Tensor:
    """A tensor of undefined elements, or of one value."""
    if layout is not None and layout is not layouts.strided:
        if value:
            raise errors.layout_not_strided(layout)
        return without_entries(size, dtype, layout, device)
    own = dtypes.default_dtype() if dtype is None else dtype_or(dtype, dtypes.float32)
    if device is None:
        on = _defaults.stack[-1]
    else:
        on = device if device.__class__ is _device else devices.device(device)
    if on.type_index == devices.CPU:
        place = dense_layout(sizes_of(size))
        made = allocate_dense(place.numel, place.sizes, place.strides, own, value)
    else:
        made = allocate(sizes_of(size), own, on, value)
    if pin_memory:
        made = pinned(made)
    if memory_format is None or memory_format is formats.contiguous_format:
        return made
    strides = shapes.channels_last_strides(made._sizes, memory_format.name)
    if strides is None:
        raise errors.format_needs_rank(memory_format.name, formats.RANK[memory_format])
    return with_strides(made, strides)


def pinned(made: Tensor) -> Tensor:
    """Return a new contiguous tensor in page-locked memory; on the meta device there is none.

    Raises: RuntimeError for one on a device, or where CUDA cannot be used.
    """
    if made.is_meta:
        return made
    if not made.is_cpu:
        raise errors.pin_of_device(made.device)
    return backends.pinning().pin(made)


def with_strides(made: Tensor, strides: Sequence[int]) -> Tensor:
    """Return a new tensor's memory in another order of dims."""
    return build(made._key, made._sizes, tuple(strides), 0, made._storage)


def without_entries(
    size: Sequence[int], dtype: dtype | None, layout: layout, device: DeviceLike | None
) -> Tensor:
    """A sparse tensor all of whose elements are zero.

    Raises: RuntimeError for compressed rows or columns of fewer than two dims; NotImplementedError
    for blocks, of which nobody says how large they are.
    """
    sizes = sizes_of(size)
    own = dtypes.default_dtype() if dtype is None else dtype_or(dtype, dtypes.float32)
    on = _defaults.stack[-1] if device is None else devices.device(device)

    if layout is layouts.sparse_coo:
        indices = allocate(Size((len(sizes), 0)), dtypes.int64, on, 0)
        values = allocate(Size((0,)), own, on)
        return sparse.build_sparse(sizes, sparse.Pattern(indices, True), values)
    if layout not in (layouts.sparse_csr, layouts.sparse_csc):
        raise errors.layout_not_strided(layout)
    return no_compressed(sizes, own, layout, on)


def no_compressed(
    sizes: tuple[int, ...],
    dtype: dtype,
    layout: layout,
    on: device,
    blocks: tuple[int, int] | None = None,
    dense: tuple[int, ...] = (),
) -> Tensor:
    """A tensor of compressed rows or columns without entries. dense: the last sizes, of values.

    Raises: RuntimeError for fewer than two dims beside the dense ones.
    """
    *batch, rows, columns = sizes[: len(sizes) - len(dense)] if len(sizes) > 1 else (0, 0)
    if len(sizes) - len(dense) < 2:
        raise errors.too_few_dims(layout, len(sizes))
    is_by_rows = layout in (layouts.sparse_csr, layouts.sparse_bsr)
    lines = (rows if is_by_rows else columns) // (blocks[not is_by_rows] if blocks else 1)
    offsets = allocate(Size((*batch, lines + 1)), dtypes.int64, on, 0)
    plain = allocate(Size((*batch, 0)), dtypes.int64, on, 0)
    values = allocate(Size((*batch, 0, *(blocks or ()), *dense)), dtype, on)
    pattern = sparse.CompressedPattern(layout, offsets, plain, blocks)
    return sparse.build_sparse(sizes, pattern, values)


def zeros(
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of zeros."""
    return empty(size, dtype, layout, device, pin_memory, None, 0)


def ones(
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of ones."""
    return empty(size, dtype, layout, device, pin_memory, None, 1)


def full(
    size: Sequence[int],
    fill_value: Any,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of one value, whose type tells the dtype unless it is given."""
    value = fill_value
    if value.__class__ not in NUMBERS:
        value = number_of(fill_value)
        if not isinstance(value, NUMBERS):
            raise errors.number_expected("full(): argument 'fill_value' (position 2)", value)
    chosen = promotion.number_dtype(value) if dtype is None else dtype_or(dtype, dtypes.float32)
    number.check_fits(value, chosen)
    return empty(size, chosen, layout, device, pin_memory, None, value)


def scalar_tensor(
    s: Any,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A 0-d tensor of the default dtype unless another is given."""
    own = dtypes.default_dtype() if dtype is None else dtype_or(dtype, dtypes.float32)
    if s.__class__ not in NUMBERS or (layout is not None and layout is not layouts.strided):
        return full((), s, own, layout, device, pin_memory)
    number.check_fits(s, own)
    on = _defaults.stack[-1] if device is None else devices.device(device)
    if on.type_index == devices.CPU and not pin_memory:
        return allocate_dense(1, _NO_SIZES, (), own, s)
    made = allocate((), own, on, s)
    return pinned(made) if pin_memory else made


def bits_of(value: Number, own: dtype) -> Number:
    """Return what a buffer stores for a number that fits: the bit pattern of a narrow type."""
    if value.__class__ is complex and own.kind != "c":
        value = value.real
    if narrow.is_narrow(own):
        return narrow_arrays.bits_of(value, own)
    is_unsigned = own.kind == "i" and not own.is_signed
    return int(value.real) % 256**own.itemsize if is_unsigned else value


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of undefined values whose dims stand in memory in the order `physical_layout`.

    Raises: RuntimeError if that names not each dim once.
    """
    place = _permuted(sizes_of(size), tuple(physical_layout))
    return _undefined(place, dtype, device, pin_memory)


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of undefined values with the given strides, in as much memory as they need."""
    return _undefined(_strided(sizes_of(size), tuple(stride)), dtype, device, pin_memory)


_Place = tuple[Size, tuple[int, ...], int, int]
"""Sizes, strides, how many elements of memory they take, and the key's bit for no dims."""


def _undefined(
    place: _Place, dtype: dtype | None, device: DeviceLike | None, pin_memory: bool | None
) -> Tensor:
    """A tensor of undefined values in memory of its own."""
    sizes, strides, extent, zero_dim = place
    if device is None:
        on = _defaults.stack[-1]
    else:
        on = device if device.__class__ is _device else devices.device(device)
    own = dtypes.default_dtype() if dtype is None else dtype_or(dtype, dtypes.float32)
    if on.type_index != devices.CPU or pin_memory:
        made = allocate((extent,), own, on)
        memory = (pinned(made) if pin_memory else made)._storage
        return build(made._key | zero_dim, sizes, strides, 0, memory)
    memory, made = _new(Storage), _new(Tensor)
    memory.buffer = (_empty if extent < SHORT else pool.empty)(extent, own.numpy)
    memory.version = 0
    made._key = own.index | zero_dim
    made._sizes = sizes
    made._strides = strides
    made._offset = 0
    made._shared = memory
    made._flat = None
    made._base = None
    made._edge = None
    made._meta = None
    return made


@lru_cache(maxsize=1024)
def _strided(sizes: tuple[int, ...], strides: tuple[int, ...]) -> _Place:
    if len(sizes) != len(strides):
        raise errors.strides_do_not_match(sizes, strides)
    zero_dim = 0 if sizes else keys.ZERO_DIM
    return make_size(sizes), strides, shapes.extent_of(sizes, strides), zero_dim


@lru_cache(maxsize=1024)
def _permuted(sizes: tuple[int, ...], order: tuple[int, ...]) -> _Place:
    if sorted(order) != list(range(len(sizes))):
        raise RuntimeError(
            f"empty_permuted: physical_layout must name each of {len(sizes)} dims once, "
            f"got {list(order)}"
        )
    strides = [0] * len(sizes)
    ordered = shapes.contiguous_strides(tuple(sizes[dim] for dim in order))
    for dim, stride in zip(order, ordered, strict=True):
        strides[dim] = stride
    return _strided(sizes, tuple(strides))


# Matrices.


def eye(n: int, *options: Options) -> Tensor:
    """The identity matrix."""
    return eye_rectangular(n, n, *options)


def eye_rectangular(
    n: int,
    m: int,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Ones on the main diagonal, zeros elsewhere."""
    if n < 0 or m < 0:
        name, size = ("n", n) if n < 0 else ("m", m)
        raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    on = _defaults.stack[-1] if device is None else devices.device(device)
    if on.type_index == devices.CPU and layout is None:
        own = dtypes.default_dtype() if dtype is None else dtype_or(dtype, dtypes.float32)
        if n * m <= shaping.MOST_PLACES:
            flat, place = _identity(n, m, own)
            return from_flat(flat.copy(), place, own, on, pin_memory)
        place = dense_layout((n, m))
        flat = (_zeros if n * m < BLOCKED else _zeroed)(n * m, own.numpy)
        flat[: min(n, m) * m : m + 1] = bits_of(1, own)
        return from_flat(flat, place, own, on, pin_memory)
    made = empty((n, m), dtype, layout, on, pin_memory, None, 0)
    made.diagonal().fill_(1)
    return made


@lru_cache(maxsize=256)
def _identity(n: int, m: int, own: dtype) -> tuple[np.ndarray, DenseLayout]:
    """What a buffer stores of a small identity matrix, and its geometry."""
    found = np.zeros((n, m), own.numpy)
    np.fill_diagonal(found, bits_of(1, own))
    return found.reshape(-1), dense_layout((n, m))


def tril_indices(*arguments: Any) -> Tensor:
    """The positions on and below a diagonal: a row of row numbers, a row of column numbers."""
    return _triangle(False, *arguments)


def triu_indices(*arguments: Any) -> Tensor:
    """The positions on and above a diagonal: a row of row numbers, a row of column numbers."""
    return _triangle(True, *arguments)


def _triangle(
    is_upper: bool,
    row: int,
    col: int,
    offset: int,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    if row < 0 or col < 0:
        name, size = ("row", row) if row < 0 else ("col", col)
        raise RuntimeError(f"{name} must be non-negative, got{size}")
    if not row or not col:
        row = col = 0
    if row * col > shaping.MOST_PLACES:
        shapes.check_storable((row, col))
        flat, place = _triangle_places(row, col, offset, is_upper)
    else:
        flat, place = _kept_places(row, col, offset, is_upper)
        flat = flat.copy()
    chosen = dtypes.int64 if dtype is None else dtype_or(dtype, dtypes.int64)
    on = _defaults.stack[-1] if device is None else devices.device(device)
    return from_flat(flat, place, chosen, on, pin_memory)


def _triangle_places(
    row: int, col: int, offset: int, is_upper: bool
) -> tuple[np.ndarray, DenseLayout]:
    """The row numbers of one side of a matrix and then the column numbers; their geometry."""
    places = shaping.triangle_places(row, col, offset, is_upper)
    return places, dense_layout((2, places.size // 2))


_kept_places = lru_cache(maxsize=256)(_triangle_places)
