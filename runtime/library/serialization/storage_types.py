"""The names by which PyTorch's files call the storages of each dtype."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.tensor_api import typed_storage

_NAMES = {of: errors.scalar_type_name(of) + "Storage" for of in dtypes.ALL}
STORAGE_NAMES = {of: name for of, name in _NAMES.items() if hasattr(typed_storage, name)}
"""Later dtypes have none: their tensors are saved over storages of bytes."""

TYPES: dict[str, Any] = {name: getattr(typed_storage, name) for name in STORAGE_NAMES.values()}
"""The types themselves, by name."""

DTYPE_OF_TYPE: dict[int, dtypes.dtype] = {
    id(Storage): dtypes.uint8,
    **{id(TYPES[name]): dtype for dtype, name in STORAGE_NAMES.items()},
}
"""The dtype of a type of storages, by the type's identity: what a file built is never compared."""
