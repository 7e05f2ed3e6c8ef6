"""The names by which PyTorch's files call the storages of each dtype."""

from __future__ import annotations

from runtime.core import dtype as dtypes

STORAGE_NAMES: dict[dtypes.dtype, str] = {
    dtypes.float64: "DoubleStorage",
    dtypes.float32: "FloatStorage",
    dtypes.float16: "HalfStorage",
    dtypes.bfloat16: "BFloat16Storage",
    dtypes.int64: "LongStorage",
    dtypes.int32: "IntStorage",
    dtypes.int16: "ShortStorage",
    dtypes.int8: "CharStorage",
    dtypes.uint8: "ByteStorage",
    dtypes.bool: "BoolStorage",
    dtypes.complex64: "ComplexFloatStorage",
    dtypes.complex128: "ComplexDoubleStorage",
}

DTYPES: dict[str, dtypes.dtype] = {name: dtype for dtype, name in STORAGE_NAMES.items()}
