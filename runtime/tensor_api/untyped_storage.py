"""What users do with a storage: its bytes, by way of a tensor of uint8 over the same memory.

`install` puts these methods beside those that a `Storage` has from below, where no tensor is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cpu import memory
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.size import make_size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.factories import creation, from_data


def _device_of(storage: Storage) -> Any:
    buffer = storage.buffer
    if buffer is None:
        return devices.meta
    return devices.cpu if isinstance(buffer, np.ndarray) else buffer.device


def _bytes_of(storage: Storage) -> Any:
    """All bytes as a vector over the storage."""
    elements: Any = creation.allocate(make_size((0,)), dtypes.uint8, _device_of(storage))
    return elements.set_(storage)


def _made_of(data: Any, device: Any) -> Any:
    """The memory of a storage that a user makes: so many bytes, or these.

    **Raises** RuntimeError for a negative number, and for what is no sequence of ints.
    """
    if isinstance(data, int):
        if data < 0:
            raise RuntimeError(f"UntypedStorage: expected a size of at least 0, got {data}")
        return creation.allocate(make_size((data,)), dtypes.uint8, devices.device(device))._storage
    if not isinstance(data, Sequence):
        raise RuntimeError(f"UntypedStorage: Expected a sequence type, but got {_kind(data)}")
    for item in data:
        if not isinstance(item, int):
            raise RuntimeError(
                f"UntypedStorage: tried to construct a storage from a sequence ({_kind(data)}), "
                f"but one of the items was of type {_kind(item)} instead of int"
            )
    values = from_data.from_data(list(data), dtypes.int64, devices.cpu)
    return values.to(dtypes.uint8).to(device)._storage


def _kind(value: Any) -> str:
    return type(value).__name__


class StorageAPI:
    """The methods; `self` is a `Storage`."""

    def __init__(self: Any, data: Any = 0, *, device: Any = "cpu") -> None:
        """So many bytes of undefined values, or the bytes of a sequence; from inside, memory."""
        self.version = 0
        if data is None or data.__class__ is np.ndarray:
            self.buffer = data
            return
        is_asked = isinstance(data, (int, float, str, Sequence, Tensor))
        self.buffer = _made_of(data, device).buffer if is_asked else data

    @property
    def device(self: Any) -> Any:
        """Where the memory is."""
        return _device_of(self)

    @property
    def is_cuda(self: Any) -> bool:
        """Whether the memory is a GPU's."""
        return bool(_device_of(self).type == "cuda")

    def get_device(self: Any) -> int | None:
        """The index of the GPU; None for the CPU, where tensors say -1."""
        place = _device_of(self)
        return None if place.type == "cpu" else place.index or 0

    def size(self: Any) -> int:
        """How many bytes there are."""
        return int(self.nbytes())

    def __len__(self: Any) -> int:
        return int(self.nbytes())

    def element_size(self: Any) -> int:
        """The size of an element: a byte."""
        return 1

    def resizable(self: Any) -> bool:
        """Whether the memory may be replaced by other."""
        return bool(self.is_resizable)

    def is_pinned(self: Any, device: Any = None) -> bool:
        """Whether the memory is page-locked."""
        return bool(self.is_page_locked)

    def tolist(self: Any) -> list[int]:
        """The bytes as Python numbers."""
        return list(_bytes_of(self).tolist())

    def __iter__(self: Any) -> Iterator[int]:
        return iter(self.tolist())

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        _bytes_of(self)[index] = value

    def __repr__(self: Any) -> str:
        kind = f"device={_device_of(self)}) of size {self.nbytes()}]"
        if self.buffer is None:
            return f"...\n[torch.storage.UntypedStorage({kind}"
        rows = "".join(f" {each}\n" for each in self.tolist())
        return f"{rows}[torch.storage.UntypedStorage({kind}"

    def fill_(self: Any, value: int) -> Any:
        """Set all bytes."""
        _bytes_of(self).fill_(value)
        return self

    def copy_(self: Any, source: Any, non_blocking: bool = False) -> Any:
        """Write the bytes of another storage of this size."""
        _bytes_of(self).copy_(_bytes_of(source), non_blocking)
        return self

    def resize_(self: Any, size: int) -> Any:
        """Change how many bytes there are, for all tensors over them; new ones are undefined.

        **Raises** RuntimeError for memory of somebody else.
        """
        if not self.is_resizable:
            raise errors.not_resizable()
        if size > self.nbytes():
            _bytes_of(self).resize_((size,))
        elif size < self.nbytes():
            memory.replace_buffer(self, _bytes_of(self)[:size].clone().untyped_storage().buffer)
        return self

    def clone(self: Any) -> Any:
        """A copy."""
        return _bytes_of(self).clone().untyped_storage()

    def cpu(self: Any) -> Any:
        """The storage itself, or a copy in the host's memory."""
        return self if _device_of(self).type == "cpu" else _bytes_of(self).cpu().untyped_storage()

    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        """A copy in a GPU's memory."""
        return _bytes_of(self).cuda(device, non_blocking).untyped_storage()

    def pin_memory(self: Any, device: Any = None) -> Any:
        """A copy in page-locked memory."""
        return _bytes_of(self).pin_memory().untyped_storage()

    def share_memory_(self: Any) -> Any:
        """Move the memory to where other processes can see it."""
        _bytes_of(self).share_memory_()
        return self


_OF_CLASSES = ("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__")


def install() -> None:
    """Put the methods on the class of storages, under the names that they have here."""
    for name, member in vars(StorageAPI).items():
        if name not in _OF_CLASSES:
            setattr(Storage, name, member)
        if isinstance(member, FunctionType):
            member.__qualname__ = f"UntypedStorage.{name}"
