"""Tensors by name in safetensors files: no code, no pickles, readable by many programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import make_tensor
from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.destination import atomic_path

_DTYPES: dict[str, dtypes.dtype] = {
    "F64": dtypes.float64,
    "F32": dtypes.float32,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F8_E4M3": dtypes.float8_e4m3fn,
    "F8_E5M2": dtypes.float8_e5m2,
    "F8_E8M0": dtypes.float8_e8m0fnu,
    "I64": dtypes.int64,
    "I32": dtypes.int32,
    "I16": dtypes.int16,
    "I8": dtypes.int8,
    "U64": dtypes.uint64,
    "U32": dtypes.uint32,
    "U16": dtypes.uint16,
    "U8": dtypes.uint8,
    "BOOL": dtypes.bool,
    "C64": dtypes.complex64,
}


def _package() -> Any:
    try:
        import safetensors
    except ImportError:
        raise ImportError(
            "safetensors files need the safetensors package: pip install safetensors"
        ) from None
    return safetensors


def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Write tensors by name, whole or not at all; each is stored dense and for itself.

    **Raises** ImportError without the safetensors package, TypeError for a dtype that the format
    lacks.
    """
    package = _package()
    arrays, specs = {}, {}
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES.values():
            raise TypeError(f"save_file: safetensors files have no {tensor.dtype} ('{name}')")
        arrays[name] = np.ascontiguousarray(tensor.detach().cpu()._array())
        specs[name] = _spec(package, tensor, arrays[name])
    with atomic_path(filename) as path:
        package.serialize_file(specs, str(path), metadata=metadata)


def _spec(package: Any, tensor: Any, array: Any) -> Any:
    """What the package wants to know of one tensor; its releases differ in form."""
    given = {"dtype": tensor.dtype.name, "shape": list(tensor.shape)}
    if hasattr(package, "TensorSpec"):
        return package.TensorSpec(**given, data_ptr=array.ctypes.data, data_len=array.nbytes)
    return {**given, "data": array.tobytes()}


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Any]:
    """Read all tensors of a file by name.

    **Raises** ImportError without the safetensors package, LoadError if the file is damaged or
    has a dtype that this library lacks.
    """
    package = _package()
    with open(filename, "rb") as file:
        try:
            content = package.deserialize(file.read())
        except package.SafetensorError as error:
            raise errors.damaged(str(error)) from None
    loaded = {}
    for name, entry in content:
        dtype = _DTYPES.get(entry["dtype"])
        if dtype is None:
            raise errors.LoadError(
                f"load_file: tensor '{errors.shown(name)}' has elements of type "
                f"{errors.shown(entry['dtype'])}, which this library does not have; it reads "
                + ", ".join(_DTYPES)
            )
        buffer = np.frombuffer(bytearray(entry["data"]), dtype.numpy)
        tensor: Any = make_tensor(buffer, entry["shape"], dtype)
        loaded[name] = tensor if str(device) == "cpu" else tensor.to(device)
    return loaded
