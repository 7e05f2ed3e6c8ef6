"""DLPack: tensors handed to, and taken from, other libraries without a copy.

NumPy makes the capsules that go out; those that come in are read here, since NumPy would refuse
bfloat16 and give older exporters' memory back read-only.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import weakref
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import ForeignStorage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.kernels import narrow
from torchgen_out._runtime.tensor_api import conversion

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """Kinds of devices, by the numbers that DLPack gives them."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLCUDAManaged = 13


_ON_HOST = (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost)
_ON_DEVICE = (DLDeviceType.kDLCUDA, DLDeviceType.kDLCUDAManaged)


_INT, _UINT, _FLOAT, _COMPLEX, _BOOL = 0, 1, 2, 5, 6
_CODES = {"b": _BOOL, "f": _FLOAT, "c": _COMPLEX}
_OWN_CODES = {
    dtypes.bfloat16: 4,
    dtypes.float8_e4m3fn: 10,
    dtypes.float8_e4m3fnuz: 11,
    dtypes.float8_e5m2: 12,
    dtypes.float8_e5m2fnuz: 13,
    dtypes.float8_e8m0fnu: 14,
}
"""Of types that are not told by their size."""


def _type_code(of: dtype) -> tuple[int, int]:
    """(code, bits) of a dtype."""
    code = _OWN_CODES.get(of)
    if code is None:
        code = _CODES.get(of.kind, _INT if of.is_signed else _UINT)
    return code, of.itemsize * 8


_BY_CODE = {_type_code(each): each for each in dtypes.ALL}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# Name of a fresh capsule, its content, and its name once somebody owns the content. The names are
# kept here because a capsule does not copy its name.
_KINDS = (
    (b"dltensor_versioned", _Versioned, b"used_dltensor_versioned"),
    (b"dltensor", _Managed, b"used_dltensor"),
)


def _python_function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, ctypes.py_object, *arguments)((name, ctypes.pythonapi))


_is_valid = _python_function("PyCapsule_IsValid", ctypes.c_int, ctypes.c_char_p)
_get_pointer = _python_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_char_p)
_set_name = _python_function("PyCapsule_SetName", ctypes.c_int, ctypes.c_char_p)


def _open(capsule: Any) -> tuple[Any, bytes]:
    """The content of a fresh capsule, and the name that marks it as taken."""
    for name, structure, used in _KINDS:
        if _is_valid(capsule, name):
            return structure.from_address(_get_pointer(capsule, name)), used
    raise RuntimeError(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
        "once, so you might have already constructed a tensor from it once."
    )


# Out.


def dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]:
    """Return (device type, device index) in DLPack's numbers.

    **Raises** ValueError for a device that DLPack does not know.
    """
    found = backends.of(self).dlpack_type
    if found is not None:
        return DLDeviceType(found), self.device.index or 0
    raise ValueError(f"Unknown device type {self.device.type} for Dlpack")


def to_dlpack(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a DLPack capsule over the memory of this tensor, which lives until it is released.

    stream: of a CUDA tensor, the stream that is to wait for it, by DLPack's numbers: None and 1
    are the default stream, -1 none. dl_device: where the memory should lie; elsewhere than the
    tensor, it is a copy.

    **Raises** BufferError if the tensor requires grad, or cannot be had on that device.
    """
    if self._key & keys.GRAD:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if not self.is_cpu:
        if backends.of(self).dlpack_type is None:
            raise BufferError(f"no DLPack export from device {self.device}")
        return _export_from_device(self, stream, max_version, dl_device, copy)
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    return _export(self, self._array(), max_version, dl_device=dl_device, copy=copy)


def _export(self: Tensor, values: np.ndarray, max_version: Any, **options: Any) -> Any:
    """The capsule that NumPy makes of a tensor's elements, with the tensor's dtype."""
    if self.dtype is dtypes.float16:
        values = values.view(np.float16)
    capsule = values.__dlpack__(max_version=max_version, **options)
    if narrow.is_narrow(self.dtype):
        _open(capsule)[0].tensor.code, _ = _type_code(self.dtype)
    return capsule


def _export_from_device(
    self: Tensor, stream: int | None, max_version: Any, dl_device: Any, copy: bool | None
) -> Any:
    own = dlpack_device(self)
    if dl_device is not None and tuple(dl_device) != own:
        if tuple(dl_device) != (DLDeviceType.kDLCPU, 0) or copy is False:
            raise errors.no_export_without_copy(own, dl_device)
        return to_dlpack(self.cpu(), max_version=max_version)
    exported = ops.clone(self) if copy else self
    backends.of(exported).hand_over(exported, stream)
    capsule = _export(exported, _described(exported), max_version)
    described = _open(capsule)[0].tensor
    described.device_type, described.device_id = own
    return capsule


def _described(self: Tensor) -> np.ndarray:
    """An array with the addresses and strides of a device's memory: not to be read.

    It keeps the tensor, as long as somebody has the capsule that NumPy makes of it.
    """
    extent = sum((n - 1) * step for n, step in zip(self._sizes, self._strides, strict=True)) + 1
    item = self.dtype.itemsize
    nbytes = extent * item if self.numel() else 0
    memory: Any = (ctypes.c_ubyte * nbytes).from_address(self.data_ptr())
    memory.owner = self
    strides = tuple([stride * item for stride in self._strides])
    return np.ndarray(tuple(self._sizes), self.dtype.numpy, memory, 0, strides)


# In.


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor over the memory of another library's array, or of a DLPack capsule.

    copy: True copies, False raises if the exporter would have to.

    **Example** `torch.from_dlpack(numpy.arange(3))`
    """
    wanted = None if device is None else devices.device(device)
    is_exporter = hasattr(ext_tensor, "__dlpack__")
    made = _take(_ask(ext_tensor, copy) if is_exporter else ext_tensor)
    if copy and not is_exporter:
        return ops.clone(made)
    return made if wanted is None else conversion.to(made, device=wanted)


def _ask(exporter: Any, copy: bool | None) -> Any:
    """A capsule, of the newest version that the exporter speaks; a device's stream waits for it."""
    options: dict[str, Any] = {} if copy is None else {"copy": copy}
    kind, index = _device_of(exporter)
    if kind == DLDeviceType.kDLCUDA:
        options["stream"] = backend_of(devices.CUDA).stream_number(index)
    try:
        return exporter.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        if options.pop("copy", None) is not None:
            raise errors.exporter_cannot_copy(exporter) from None
        return exporter.__dlpack__(**options)


def _device_of(exporter: Any) -> tuple[int, int]:
    """The kind and the index of the device; the CPU's of an exporter that does not say it."""
    ask = getattr(exporter, "__dlpack_device__", None)
    return (DLDeviceType.kDLCPU, 0) if ask is None else ask()


def _take(capsule: Any) -> Tensor:
    """Own the content of a capsule: its memory is released with the last tensor over it."""
    content, used = _open(capsule)
    described = content.tensor
    kind = described.device_type
    if kind not in _ON_HOST and kind not in _ON_DEVICE:
        raise BufferError(f"from_dlpack: device type {kind} has no backend here")
    own = _BY_CODE.get((described.code, described.bits))
    if own is None or described.lanes != 1:
        raise BufferError(f"Unsupported DLPack type: code {described.code}, {described.bits} bits")
    sizes = Size(described.shape[: described.ndim])
    strides = _strides_of(described, sizes)
    if kind in _ON_DEVICE:
        made = _adopted(content, own, sizes, strides)
        _set_name(capsule, used)
        return made
    buffer = _buffer_of(content, own, sizes, strides)
    _set_name(capsule, used)
    key = keys.pack(own.index, devices.CPU, 0, not sizes)
    return build(key, sizes, strides, 0, ForeignStorage(buffer))


def _adopted(content: Any, own: dtype, sizes: Size, strides: tuple[int, ...]) -> Tensor:
    """A tensor on a device; the exporter has let the current stream wait already."""
    described = content.tensor
    release = functools.partial(_release, content.deleter, ctypes.addressof(content))
    address = (described.data or 0) + described.byte_offset
    layout = (own, sizes, strides, release)
    index = described.device_id
    made: Tensor = backend_of(devices.CUDA).adopt(address, *layout, on=index, stream=None)
    return made


def _strides_of(described: Any, sizes: Size) -> tuple[int, ...]:
    if described.strides:
        return tuple(described.strides[: described.ndim])
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _buffer_of(content: Any, own: dtype, sizes: Size, strides: tuple[int, ...]) -> np.ndarray:
    """The memory as a 1-d array that releases it."""
    described = content.tensor
    extent = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True)) + 1
    if 0 in sizes or not described.data:
        _release(content.deleter, ctypes.addressof(content))
        return np.empty(0, own.numpy)
    address = described.data + described.byte_offset
    memory: Any = (ctypes.c_ubyte * (extent * own.itemsize)).from_address(address)
    finalizer = weakref.finalize(memory, _release, content.deleter, ctypes.addressof(content))
    finalizer.atexit = False
    return np.frombuffer(memory, own.numpy)


def _release(deleter: int | None, address: int) -> None:
    if deleter:
        _Deleter(deleter)(address)


public.place_all("utils.dlpack", globals())
