"""Elements as Python numbers and as NumPy arrays. See `dlpack` for other libraries."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import deprecation, sparse
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.kernels import narrow
from torchgen_out._runtime.kernels.cpu import narrow_arrays
from torchgen_out._runtime.ops.composite.sparse import conversion as sparse_conversion

_DEVICE_BITS = keys.DEVICE_MASK << keys.DEVICE_SHIFT
_NOT_ON_HOST = _DEVICE_BITS | keys.LAYOUT_MASK << keys.LAYOUT_SHIFT
# The dtype of buffers whose items are the numbers: not of narrow types, which hold bit patterns.
_NO_NUMBERS = np.dtype("V1")
_ITEM_DTYPES = [_NO_NUMBERS] * len(dtypes.BY_INDEX)
for _each in dtypes.ALL:
    if not narrow.is_narrow(_each):
        _ITEM_DTYPES[_each.index] = _each.numpy


def host_values(tensor: Tensor) -> np.ndarray:
    """Return the elements as an ndarray in which narrow types have become wide.

    It shares memory where that is possible: not to be written to.
    """
    if tensor.is_meta:
        raise errors.no_data_on_meta()
    if not tensor.is_cpu:
        tensor = tensor.cpu()
    values: np.ndarray = tensor._array()
    dtype = tensor.dtype
    return narrow_arrays.widen(values, dtype) if narrow.is_narrow(dtype) else values


def item(self: Tensor) -> Any:
    """Return the only element as a Python number.

    **Raises** RuntimeError if there are no or several elements.
    """
    key, flat = self._key, self._flat
    if not key & _NOT_ON_HOST and flat is not None and flat.size == 1:
        if flat.dtype == _ITEM_DTYPES[key & keys.DTYPE_MASK]:
            return flat.item()
    elif not key & _NOT_ON_HOST and (key & keys.ZERO_DIM or self.numel() == 1):
        buffer = self._storage.buffer
        if buffer.dtype == _ITEM_DTYPES[key & keys.DTYPE_MASK]:
            return buffer.item(self._offset)
    count = self.numel()
    if count != 1:
        raise errors.item_of_many(count)
    if self.is_meta:
        raise errors.item_on_meta()
    if sparse.is_sparse(self):
        self = sparse_conversion.to_dense(self)
    return host_values(self).item()


def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers; a 0-d tensor gives a number."""
    key, flat, sizes = self._key, self._flat, self._sizes
    if flat is None or key & _NOT_ON_HOST or flat.dtype != _ITEM_DTYPES[key & keys.DTYPE_MASK]:
        return host_values(self).tolist()
    if key & keys.ZERO_DIM:
        return flat.item()
    return flat.tolist() if len(sizes) == 1 else flat.reshape(sizes).tolist()


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """Return the elements as an ndarray over the same memory.

    bfloat16 needs the package ml_dtypes. force: detach and bring to the CPU if need be, copying.

    **Raises** RuntimeError if the tensor requires grad and gradients are recorded, TypeError if it
    is not in host memory.
    """
    if self.is_meta and force:
        raise errors.no_data_on_meta()
    if self.layout is not layouts.strided:
        raise errors.to_numpy()
    if not self.is_cpu:
        if not force:
            raise errors.numpy_of_device(self.device)
        self = self.cpu()
    if self._key & keys.GRAD and not force and grad_mode.state.enabled:
        raise errors.numpy_of_grad()
    values: np.ndarray = self._array()
    own = self.dtype
    return values.view(numpy_view(own)) if narrow.is_narrow(own) else values


def numpy_view(own: dtypes.dtype) -> Any:
    """Return the dtype as which NumPy takes the elements of a narrow type.

    **Raises** TypeError for one that it does not have.
    """
    if own is dtypes.float16:
        return np.float16
    if own is dtypes.bfloat16:
        return bfloat16_of_numpy()
    raise errors.not_of_numpy(own)


def bfloat16_of_numpy() -> Any:
    """Return the bfloat16 of NumPy arrays, which the optional package ml_dtypes brings.

    **Raises** TypeError without that package.
    """
    # DEVIATION: PyTorch refuses bfloat16 arrays; its users convert first.
    try:
        import ml_dtypes
    except ImportError:
        raise errors.bfloat16_needs_package() from None
    return ml_dtypes.bfloat16


def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """Return an ndarray for NumPy's functions (`__array__`).

    **Raises** ValueError if a copy is needed and `copy=False`.
    """
    values = numpy(self)
    if dtype is None or values.dtype == dtype:
        return values.copy() if copy else values
    if copy is False:
        raise errors.array_needs_copy(values.dtype, dtype)
    return values.astype(dtype)


def pin_memory(self: Tensor) -> Tensor:
    """Return a copy in page-locked memory, outside autograd.

    **Raises** RuntimeError without a device that could read it, or for a tensor not in host memory.
    """
    try:
        backend = backends.pinning()
    except RuntimeError as error:
        raise errors.no_accelerator() from error
    if not self.is_cpu:
        raise errors.pin_of_device(self.device)
    return backend.pin(self)


def cuda_array_interface(self: Tensor) -> dict[str, Any]:
    """Return the description of a CUDA tensor's memory, version 3; work of its stream goes on.

    **Raises** AttributeError for tensors elsewhere, or without a NumPy dtype; RuntimeError if it
    requires grad.
    """
    if not self.is_cuda or self.dtype is dtypes.bfloat16:
        raise AttributeError(f"no __cuda_array_interface__ of {self.dtype} on {self.device}")
    if self._key & keys.GRAD:
        raise errors.numpy_of_grad()
    numpy_dtype = np.dtype(np.float16) if self.dtype is dtypes.float16 else self.dtype.numpy
    item = self.dtype.itemsize
    return {
        "typestr": numpy_dtype.str,
        "shape": tuple(self._sizes),
        "strides": tuple([stride * item for stride in self._strides]),
        "data": (self.data_ptr(), False),
        "stream": backends.of(self).stream_number(self.device.index or 0),
        "version": 3,
    }


def _let_go(described: Any) -> None:
    """Nothing: as long as this call is to come, the object lives, and with it its memory."""


def over_device_memory(described: Any) -> Tensor:
    """Return a tensor over the memory that an object describes by `__cuda_array_interface__`.

    **Raises** TypeError if the memory is read-only, of a dtype without counterpart, or masked.
    """
    facts = described.__cuda_array_interface__
    address, is_read_only = facts["data"]
    if is_read_only:
        raise errors.read_only_device_memory()
    own = dtypes.from_numpy(np.dtype(facts["typestr"]))
    sizes = tuple(facts["shape"])
    strides = shapes.contiguous_strides(sizes)
    if facts.get("strides") is not None:
        if any(step % own.itemsize for step in facts["strides"]):
            raise errors.fractional_numpy_stride()
        strides = tuple([step // own.itemsize for step in facts["strides"]])
    keep = functools.partial(_let_go, described)
    layout = (own, sizes, strides, keep)
    stream = facts.get("stream")
    on = None if address else 0
    made: Tensor = backend_of(devices.CUDA).adopt(address, *layout, on=on, stream=stream)
    return made


# Python's conversions. Each takes a tensor of one element.


def as_bool(self: Tensor) -> bool:
    """`bool(tensor)`."""
    flat = self._flat
    if (flat is None or flat.size != 1) and self.numel() != 1:
        raise errors.ambiguous_bool(self.numel())
    return bool(item(self))


def as_number(self: Tensor) -> Any:
    """The element, for `int(tensor)` and the like."""
    flat = self._flat
    if (flat is None or flat.size != 1) and self.numel() != 1:
        raise errors.one_element_expected()
    if self._key & keys.GRAD and grad_mode.state.enabled:
        deprecation.number_with_gradient()
    return item(self)


def as_int(self: Tensor) -> int:
    """`int(tensor)`."""
    value = as_number(self)
    return value if value.__class__ is int else int(_without_imag(value, dtypes.int64))


def as_float(self: Tensor) -> float:
    """`float(tensor)`."""
    value = as_number(self)
    return value if value.__class__ is float else float(_without_imag(value, dtypes.float64))


def _without_imag(value: Any, target: dtypes.dtype) -> Any:
    if isinstance(value, complex):
        if value.imag:
            raise errors.number_overflows(target)
        return value.real
    return value


def as_index(self: Tensor) -> int:
    """`operator.index(tensor)`: integers and bool only."""
    if self.numel() != 1 or self.dtype.kind not in "bi":
        raise errors.not_an_index()
    return int(item(self))


def get_device(self: Tensor) -> int:
    """Return the index of the device; -1 for the CPU."""
    if self._key & _DEVICE_BITS == devices.CPU:
        return -1
    return self.device.index or 0
