"""The names of `torch.types`, which annotations use."""

from __future__ import annotations

import builtins
import os
from typing import IO, TypeAlias

from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage, UntypedStorage

__all__ = [
    "BoolLikeType",
    "Device",
    "FileLike",
    "FloatLikeType",
    "IntLikeType",
    "Number",
    "Storage",
    "_TensorOrTensors",
    "_bool",
    "_complex",
    "_device",
    "_dtype",
    "_float",
    "_int",
    "_layout",
    "_size",
]  # fmt: skip

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = device | str | builtins.int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = TypedStorage | UntypedStorage
IntLikeType, FloatLikeType, BoolLikeType = builtins.int, builtins.float, builtins.bool
_TensorOrTensors: TypeAlias = Tensor | tuple[Tensor, ...] | list[Tensor]
_size: TypeAlias = Size | list[builtins.int] | tuple[builtins.int, ...]
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_device, _dtype, _layout = device, dtype, layout
