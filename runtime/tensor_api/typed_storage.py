"""Storages as PyTorch first showed them, flat memory of one dtype: `torch.FloatStorage`.

A typed storage is a view: the memory is the tensors' own, so what is written shows in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import make_size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.factories import creation, from_data


class TypedStorage:
    """Flat memory of one dtype. `_elements` is a vector over all of it."""

    __slots__ = ("_elements",)

    def __init__(
        self,
        data: Any = 0,
        *,
        dtype: dtype | None = None,
        device: Any = None,
        wrap_storage: Storage | None = None,
    ) -> None:
        of = dtypes.default_dtype() if dtype is None else dtype
        on = devices.device("cpu" if device is None else device)
        if wrap_storage is not None:
            self._elements: Any = creation.allocate(make_size((0,)), of, on)
            self._elements.set_(wrap_storage)
        elif hasattr(data.__class__, "__index__"):
            self._elements = creation.allocate(make_size((data.__index__(),)), of, on)
        elif isinstance(data, (list, tuple)) or hasattr(data, "__array_interface__"):
            self._elements = from_data.from_data(list(data), of, on)
        else:
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'")

    @classmethod
    def _of(cls, elements: Any) -> TypedStorage:
        made = object.__new__(TypedStorage)
        made._elements = elements
        return made

    @classmethod
    def of_tensor(cls, tensor: Tensor) -> TypedStorage:
        """All the memory that a tensor looks into, in the tensor's dtype."""
        whole: Any = tensor
        return cls._of(whole.detach().new_empty(0).set_(tensor.untyped_storage()))

    # -- what it is -------------------------------------------------------------------------

    @property
    def dtype(self) -> dtype:
        """The dtype of the elements."""
        found: dtype = self._elements.dtype
        return found

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return self._elements.device

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is a GPU's."""
        return bool(self._elements.is_cuda)

    def size(self) -> int:
        """How many elements there are."""
        return int(self._elements.numel())

    __len__ = size

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    def nbytes(self) -> int:
        """The size of the memory in bytes."""
        return self.size() * self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.untyped().data_ptr())

    def untyped(self) -> Storage:
        """The memory itself."""
        found: Storage = self._elements.untyped_storage()
        return found

    def pickle_storage_type(self) -> str:
        """The name of the type, "FloatStorage"."""
        return errors.scalar_type_name(self.dtype) + "Storage"

    def type(self, dtype: Any = None) -> Any:
        """The name of the type, "torch.FloatStorage"; or a copy in another dtype."""
        if dtype is not None:
            return self._of(self._elements.to(dtype))
        where = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"torch.{where}{self.pickle_storage_type()}"

    def is_shared(self) -> bool:
        """Whether other processes can have the memory, too."""
        return bool(self._elements.is_shared())

    def share_memory_(self) -> TypedStorage:
        """Move the memory to where other processes can see it."""
        self._elements.share_memory_()
        return self

    def is_pinned(self) -> bool:
        """Whether the memory is page-locked."""
        return bool(self._elements.is_pinned())

    def pin_memory(self) -> TypedStorage:
        """A copy in page-locked memory."""
        return self._of(self._elements.pin_memory())

    # -- elements ---------------------------------------------------------------------------

    def _place(self, index: Any) -> int:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not hasattr(index.__class__, "__index__"):
            raise TypeError(f"can't index a storage with {type(index).__name__}")
        place, size = index.__index__(), self.size()
        if not -size <= place < size:
            raise IndexError(f"index {place} out of range for storage of size {size}")
        return int(place)

    def __getitem__(self, index: Any) -> Any:
        return self._elements[self._place(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        place = slice(None) if index == slice(None) else self._place(index)
        self._elements[place] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return list(self._elements.tolist())

    def __repr__(self) -> str:
        rows = "".join(f" {each}\n" for each in self.tolist())
        kind = f"dtype={self.dtype}, device={self.device}"
        return f"{rows}[torch.storage.TypedStorage({kind}) of size {self.size()}]"

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements."""
        self._elements.fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Write the elements of another storage, cast."""
        self._elements.copy_(source._elements, non_blocking)
        return self

    def resize_(self, size: int) -> None:
        """Change how many elements there are; new ones are undefined."""
        self._elements.resize_((size,))

    def clone(self) -> TypedStorage:
        """A copy."""
        return self._of(self._elements.clone())

    def cpu(self) -> TypedStorage:
        """The storage itself, or a copy in the host's memory."""
        return self if self.device.type == "cpu" else self._of(self._elements.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """A copy in a GPU's memory."""
        return self._of(self._elements.cuda(device, non_blocking))

    def _cast(self, of: dtypes.dtype) -> TypedStorage:
        return self._of(self._elements.to(of))

    def double(self) -> TypedStorage:
        """A copy in float64; the storage's own memory if it is that."""
        return self._cast(dtypes.float64)

    def float(self) -> TypedStorage:
        """The same in float32."""
        return self._cast(dtypes.float32)

    def half(self) -> TypedStorage:
        """The same in float16."""
        return self._cast(dtypes.float16)

    def long(self) -> TypedStorage:
        """The same in int64."""
        return self._cast(dtypes.int64)

    def int(self) -> TypedStorage:
        """The same in int32."""
        return self._cast(dtypes.int32)

    def short(self) -> TypedStorage:
        """The same in int16."""
        return self._cast(dtypes.int16)

    def char(self) -> TypedStorage:
        """The same in int8."""
        return self._cast(dtypes.int8)

    def byte(self) -> TypedStorage:
        """The same in uint8."""
        return self._cast(dtypes.uint8)

    def bool(self) -> TypedStorage:
        """The same as truth values."""
        return self._cast(dtypes.bool)


class StorageType(type):
    """The metaclass of the old types: a storage is an instance if its dtype is right."""

    dtype: dtype

    def __instancecheck__(cls, instance: object) -> Any:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """The first `size` elements of a file; `shared` memory is written back."""
        whole = Storage.from_file(filename, shared, size * cls.dtype.itemsize)
        return TypedStorage(wrap_storage=whole, dtype=cls.dtype)

    def __call__(cls, data: Any = 0) -> TypedStorage:
        """A storage of so many elements of undefined values, or of the given ones."""
        return TypedStorage(data, dtype=cls.dtype)


def _define(of: dtype) -> Any:
    name = errors.scalar_type_name(of) + "Storage"
    doc = f"The type of {of.name} storages; calling it makes one."
    return StorageType(name, (), {"dtype": of, "__module__": "torchgen_out", "__doc__": doc})


FloatStorage = _define(dtypes.float32)
DoubleStorage = _define(dtypes.float64)
HalfStorage = _define(dtypes.float16)
BFloat16Storage = _define(dtypes.bfloat16)
ByteStorage = _define(dtypes.uint8)
CharStorage = _define(dtypes.int8)
ShortStorage = _define(dtypes.int16)
IntStorage = _define(dtypes.int32)
LongStorage = _define(dtypes.int64)
BoolStorage = _define(dtypes.bool)
ComplexFloatStorage = _define(dtypes.complex64)
ComplexDoubleStorage = _define(dtypes.complex128)
UntypedStorage = Storage


public.place("", TypedStorage)
