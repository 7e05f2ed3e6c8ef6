"""The pickle inside a `.pt` file: tensors as references to storages, under PyTorch's names."""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from typing import Any, NamedTuple

import torchgen_out as torch
from runtime.core import device as devices
from runtime.core import dtype as dtypes
from runtime.core.size import Size
from runtime.nn.parameter import Parameter
from runtime.serialization.storage_types import STORAGE_NAMES


class Global(NamedTuple):
    """A name that the file mentions and that need not exist here."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.module}.{self.name} is a name in a file, not a function")


REBUILD_TENSOR = Global("torch._utils", "_rebuild_tensor_v2")
REBUILD_PARAMETER = Global("torch._utils", "_rebuild_parameter")
SIZE, DEVICE = Global("torch", "Size"), Global("torch", "device")


class StorageRecord(NamedTuple):
    """The bytes of one storage, and what the pickle says of them."""

    key: str
    dtype: dtypes.dtype
    location: str
    buffer: Any


class _Reference:
    """Stands for a storage where the pickle mentions it."""

    def __init__(self, record: StorageRecord) -> None:
        self.record = record


class TensorPickler(pickle._Pickler):  # type: ignore[name-defined, misc]
    """Writes objects as PyTorch does. `records` are the storages that the tensors look into."""

    dispatch = pickle._Pickler.dispatch.copy()  # type: ignore[attr-defined]

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=2)
        self.records: dict[tuple[int, int], StorageRecord] = {}

    def persistent_id(self, obj: Any) -> Any:
        """A storage is written as (“storage”, type, key, location, number of elements)."""
        if not isinstance(obj, _Reference):
            return None
        record = obj.record
        count = record.buffer.nbytes // record.dtype.itemsize
        kind = Global("torch", STORAGE_NAMES[record.dtype])
        return ("storage", kind, record.key, record.location, count)

    def reducer_override(self, obj: Any) -> Any:
        """What tensors, parameters, sizes and devices are rebuilt from."""
        if isinstance(obj, Parameter):
            return REBUILD_PARAMETER, (obj.detach(), obj.requires_grad, OrderedDict())
        if isinstance(obj, torch.Tensor):
            return self._reduce_tensor(obj)
        if isinstance(obj, Size):
            return SIZE, (tuple(obj),)
        if isinstance(obj, devices.device):
            given = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return DEVICE, given
        return NotImplemented

    def _reduce_tensor(self, tensor: Any) -> Any:
        location = "cpu"
        requires_grad = tensor.requires_grad
        if tensor.device.type != "cpu":
            location = str(tensor.device)
            tensor = tensor.detach().cpu()
        geometry = (tensor._offset, tuple(tensor._sizes), tuple(tensor._strides))
        reference = _Reference(self._record(tensor, location))
        return REBUILD_TENSOR, (reference, *geometry, requires_grad, OrderedDict())

    def _record(self, tensor: Any, location: str) -> StorageRecord:
        buffer, dtype = tensor._storage.buffer, tensor.dtype
        place = (buffer.ctypes.data, buffer.nbytes)
        record = self.records.get(place)
        if record is None:
            record = StorageRecord(str(len(self.records)), dtype, location, buffer)
            self.records[place] = record
        elif record.dtype is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        return record

    def _save_global(self, obj: Global) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def _save_dtype(self, obj: dtypes.dtype) -> None:
        self.write(pickle.GLOBAL + f"torch\n{obj.name}\n".encode())
        self.memoize(obj)

    dispatch[Global] = _save_global
    dispatch[dtypes.dtype] = _save_dtype


def dumps(obj: Any) -> tuple[bytes, list[StorageRecord]]:
    """Return the pickle of an object and the storages that it refers to."""
    chunks: list[bytes] = []

    class Chunks:
        write = staticmethod(chunks.append)

    pickler = TensorPickler(Chunks)
    try:
        pickler.dump(obj)
    except struct.error as error:  # protocol 2 holds lengths in four bytes
        raise pickle.PicklingError(f"an item is too large for the file format: {error}") from None
    return b"".join(bytes(chunk) for chunk in chunks), list(pickler.records.values())
