"""The names by which messages call a dtype."""

from __future__ import annotations

_SCALAR_TYPE_NAMES = {
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex32": "ComplexHalf",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "bool": "Bool",
    "bfloat16": "BFloat16",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float8_e5m2": "Float8_e5m2",
    "float8_e4m3fn": "Float8_e4m3fn",
    "float8_e5m2fnuz": "Float8_e5m2fnuz",
    "float8_e4m3fnuz": "Float8_e4m3fnuz",
    "float8_e8m0fnu": "Float8_e8m0fnu",
}

_C_NAMES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex32": "c10::complex<c10::Half>",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "bool": "bool",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long",
    "float8_e5m2": "c10::Float8_e5m2",
    "float8_e4m3fn": "c10::Float8_e4m3fn",
    "float8_e5m2fnuz": "c10::Float8_e5m2fnuz",
    "float8_e4m3fnuz": "c10::Float8_e4m3fnuz",
    "float8_e8m0fnu": "c10::Float8_e8m0fnu",
}


def scalar_type_name(dtype: object) -> str:
    """Return the name by which PyTorch's messages call a dtype: "Float" for float32."""
    return _SCALAR_TYPE_NAMES[_own_name(dtype)]


def c_name(dtype: object) -> str:
    """Return the C++ type by which some messages call a dtype: "float" for float32."""
    return _C_NAMES[_own_name(dtype)]


def fixed_width_name(dtype: object) -> str:
    """Return the C++ type by which messages about ranges call a dtype: "int64_t" for int64."""
    name = _own_name(dtype)
    return f"{name}_t" if "int" in name else _C_NAMES[name]


def _own_name(dtype: object) -> str:
    return repr(dtype).removeprefix("torch.")
