"""The pickle inside a `.pt` file: tensors as references to storages, under PyTorch's names."""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torchgen_out as torch
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import is_sparse, storage_of
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.library.serialization import module_names
from torchgen_out._runtime.library.serialization.rebuilding import IS_BUFFER
from torchgen_out._runtime.library.serialization.storage_types import STORAGE_NAMES, TYPES
from torchgen_out._runtime.tensor_api import subclassing
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage
from torchgen_out.nn.parameter import Buffer, Parameter


class Global(NamedTuple):
    """A name that the file mentions and that need not exist here."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.module}.{self.name} is a name in a file, not a function")


REBUILD_TENSOR = Global("torch._utils", "_rebuild_tensor_v2")
REBUILD_TENSOR_OVER_BYTES = Global("torch._utils", "_rebuild_tensor_v3")
REBUILD_META_TENSOR = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
REBUILD_SPARSE_TENSOR = Global("torch._utils", "_rebuild_sparse_tensor")
REBUILD_PARAMETER = Global("torch._utils", "_rebuild_parameter")
REBUILD_PARAMETER_WITH_STATE = Global("torch._utils", "_rebuild_parameter_with_state")
REBUILD_SUBCLASS = Global("torch._tensor", "_rebuild_from_type_v2")
UNTYPED_STORAGE = Global("torch.storage", "UntypedStorage")
SIZE, DEVICE = Global("torch", "Size"), Global("torch", "device")
LAYOUT = Global("torch.serialization", "_get_layout")
CLASSES = {
    torch.Tensor: Global("torch", "Tensor"),
    Parameter: Global("torch.nn.parameter", "Parameter"),
    Storage: UNTYPED_STORAGE,
    **{kind: Global("torch", name) for name, kind in TYPES.items()},
}


def _parts_of(tensor: Any) -> tuple[Any, ...]:
    """What a sparse tensor is rebuilt from: indices, values, sizes, and whether they are in
    order."""
    storage = storage_of(tensor)
    pattern = storage.pattern
    parts = (*pattern.parts, storage.values, tensor.shape)
    return (*parts, pattern.is_coalesced) if tensor.is_sparse else parts


class StorageRecord(NamedTuple):
    """The bytes of one storage, and what the pickle says of them."""

    key: str
    dtype: dtypes.dtype
    location: str
    buffer: Any

    @property
    def count(self) -> int:  # type: ignore[override]  # of elements; nobody counts in the tuple
        """Number of elements."""
        return int(self.buffer.nbytes) // self.dtype.itemsize


class _Reference:
    """Stands for a storage where the pickle mentions it."""

    def __init__(self, record: StorageRecord, kind: Global) -> None:
        self.record = record
        self.kind = kind


if TYPE_CHECKING:

    class _PythonPickler(pickle.Pickler):
        """Python's own pickler as far as it is used here; typeshed knows the one in C alone."""

        dispatch: ClassVar[dict[Any, Any]]

        def save(self, obj: Any, save_persistent_id: bool = True) -> None: ...
        def save_global(self, obj: Any, name: str | None = None) -> None: ...
        def write(self, data: bytes) -> Any: ...
        def memoize(self, obj: Any) -> None: ...

else:
    _PythonPickler = pickle._Pickler


class TensorPickler(_PythonPickler):
    """Writes objects as PyTorch does. `records` are the storages that the tensors look into."""

    dispatch: ClassVar[dict[Any, Any]] = _PythonPickler.dispatch.copy()

    def __init__(self, file: Any, protocol: int = 2, is_legacy: bool = False) -> None:
        super().__init__(file, protocol=protocol)
        self.records: dict[tuple[int, int], StorageRecord] = {}
        self._is_legacy = is_legacy

    def persistent_id(self, obj: Any) -> Any:
        """A storage is written as ("storage", type, key, location, number of elements)."""
        if isinstance(obj, Storage):
            obj = TypedStorage(wrap_storage=obj, dtype=dtypes.uint8)
        if isinstance(obj, TypedStorage):
            obj = self._reference(obj._elements)
        if not isinstance(obj, _Reference):
            return None
        record = obj.record
        reference = ("storage", obj.kind, record.key, record.location, record.count)
        return (*reference, None) if self._is_legacy else reference

    def save_pers(self, pid: Any) -> None:
        """Write a reference; as a tuple in protocol 0, too, whose own form is a line of text."""
        self.save(pid, save_persistent_id=False)
        self.write(pickle.BINPERSID)

    def reducer_override(self, obj: Any) -> Any:
        """What tensors, parameters, sizes and devices are rebuilt from."""
        if isinstance(obj, torch.Tensor):
            return self._reduce_any_tensor(obj)
        if isinstance(obj, Size):
            return SIZE, (tuple(obj),)
        if isinstance(obj, devices.device):
            return DEVICE, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, layouts.layout):
            return LAYOUT, (str(obj),)
        return NotImplemented

    def _reduce_any_tensor(self, obj: Any) -> Any:
        cls, attributes = type(obj), obj.__dict__
        if cls is Parameter:
            parts: tuple[Any, ...] = (obj.detach(), obj.requires_grad, OrderedDict())
            if attributes:
                return REBUILD_PARAMETER_WITH_STATE, (*parts, attributes)
            return REBUILD_PARAMETER, parts
        if subclassing.overrides_method(cls, "__reduce_ex__"):
            return NotImplemented
        # A subclass is asked about operators, not about its memory.
        with overrides.DisableTorchFunctionSubclass():
            function, given = self._reduce_tensor(obj)
        if cls is Buffer:
            cls, attributes = torch.Tensor, {**attributes, IS_BUFFER: True}
        if cls is torch.Tensor and not attributes:
            return function, given
        return REBUILD_SUBCLASS, (function, cls, given, attributes)

    def _reduce_tensor(self, tensor: Any) -> Any:
        requires_grad = tensor.requires_grad
        if is_sparse(tensor):
            return REBUILD_SPARSE_TENSOR, (tensor.layout, _parts_of(tensor))
        if tensor.device.type == "meta":
            shape = tuple(tensor._sizes), tuple(tensor._strides)
            return REBUILD_META_TENSOR, (tensor.dtype, *shape, requires_grad)
        geometry = (tensor._offset, tuple(tensor._sizes), tuple(tensor._strides))
        if tensor.dtype in STORAGE_NAMES:
            reference = self._reference(tensor)
            return REBUILD_TENSOR, (reference, *geometry, requires_grad, OrderedDict())
        content = TypedStorage(
            wrap_storage=tensor.untyped_storage(), dtype=dtypes.uint8, device=tensor.device
        )
        reference = _Reference(self._record(content._elements), UNTYPED_STORAGE)
        hooks: OrderedDict[Any, Any] = OrderedDict()  # not of a written type: pickle keeps that
        options = (requires_grad, hooks, tensor.dtype)
        return REBUILD_TENSOR_OVER_BYTES, (reference, *geometry, *options)

    def _reference(self, elements: Any) -> _Reference:
        """Mention the storage of elements of a dtype that has a type of storages."""
        kind = Global("torch", STORAGE_NAMES[elements.dtype])
        return _Reference(self._record(elements), kind)

    def _record(self, tensor: Any) -> StorageRecord:
        """The record of the memory that a tensor looks into, made when it is first met."""
        storage, dtype = tensor.untyped_storage(), tensor.dtype
        place = (storage.data_ptr(), storage.nbytes())
        record = self.records.get(place)
        if record is None:
            location, buffer = "cpu", storage.buffer
            if tensor.device.type != "cpu":
                location = str(tensor.device)
                buffer = TypedStorage.of_tensor(tensor).cpu().untyped().buffer
            record = StorageRecord(str(len(self.records)), dtype, location, buffer)
            self.records[place] = record
        elif record.dtype is not dtype and record.buffer.nbytes:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        return record if record.dtype is dtype else record._replace(dtype=dtype)

    def _save_name(self, obj: Any, name: Global) -> None:
        self.write(pickle.GLOBAL + f"{name.module}\n{name.name}\n".encode())
        self.memoize(obj)

    def _save_global(self, obj: Global) -> None:
        self._save_name(obj, obj)

    def _save_dtype(self, obj: dtypes.dtype) -> None:
        self._save_name(obj, Global("torch", obj.name))

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a class under PyTorch's name, if it is one of PyTorch's."""
        known = CLASSES.get(obj) if isinstance(obj, type) else None
        if known is None and isinstance(obj, type):
            module = module_names.of(obj.__module__)
            if module != obj.__module__ and "." not in obj.__qualname__:
                known = Global(module, obj.__qualname__)
        if known is None:
            super().save_global(obj, name)
        else:
            self._save_name(obj, known)

    dispatch[Global] = _save_global
    dispatch[dtypes.dtype] = _save_dtype


def _pickler_of(module: Any) -> Any:
    """A pickler that writes tensors as above and everything else as `module` does.

    **Raises** TypeError if that one is written in C, and cannot be told how names are written.
    """
    if module is pickle:
        return TensorPickler
    if not issubclass(module.Pickler, _PythonPickler):
        raise TypeError(
            f"save: {module.__name__}.Pickler must be derived from pickle._Pickler, the one in "
            "Python, to write tensors as PyTorch does"
        )
    table = {**module.Pickler.dispatch, **_own_dispatch()}
    return type("TensorPickler", (TensorPickler, module.Pickler), {"dispatch": table})


def _own_dispatch() -> dict[Any, Any]:
    common = _PythonPickler.dispatch
    return {kind: f for kind, f in TensorPickler.dispatch.items() if common.get(kind) is not f}


def dumps(
    obj: Any, pickle_module: Any = pickle, protocol: int = 2, is_legacy: bool = False
) -> tuple[bytes, list[StorageRecord]]:
    """Return the pickle of an object and the storages that it refers to."""
    chunks: list[bytes] = []

    class Chunks:
        write = staticmethod(chunks.append)

    pickler = _pickler_of(pickle_module)(Chunks, protocol, is_legacy)
    try:
        pickler.dump(obj)
    except struct.error as error:  # protocol 2 holds lengths in four bytes
        raise pickle.PicklingError(f"an item is too large for the file format: {error}") from None
    return b"".join(bytes(chunk) for chunk in chunks), list(pickler.records.values())
