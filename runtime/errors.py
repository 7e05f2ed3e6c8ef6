"""Builders of the exceptions that users see: each sentence is written once, here.

A builder returns the exception, the caller raises it: `raise errors.dim_out_of_range(dim, ndim)`.
Classes and the phrases that people search for are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Sequence

# Shapes and dims.


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    """`dim` does not name a dim of a tensor with `ndim` dims; a 0-d tensor has dims -1 and 0."""
    bound = max(ndim, 1)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
        f"but got {dim})"
    )


def dim_repeated(dim: int) -> RuntimeError:
    """A list of dims names one dim twice."""
    return RuntimeError(f"dim {dim} appears multiple times in the list of dims")


def broadcast_mismatch(size_a: int, size_b: int, dim: int) -> RuntimeError:
    """Two sizes at `dim` (of the broadcast shape) are neither equal nor 1."""
    return RuntimeError(
        f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b}) "
        f"at non-singleton dimension {dim}"
    )


def view_incompatible() -> RuntimeError:
    """No strides give the wanted shape over the same memory."""
    return RuntimeError(
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead."
    )


def shape_invalid_for_numel(shape: Sequence[int], numel: int) -> RuntimeError:
    """A tensor of `numel` elements cannot be seen as `shape`."""
    return RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")


def several_inferred_dims() -> RuntimeError:
    """A shape holds -1 more than once."""
    return RuntimeError("only one dimension can be inferred")


def inferred_dim_ambiguous(shape: Sequence[int]) -> RuntimeError:
    """A shape holds -1 and 0 for a tensor without elements: any size would do."""
    return RuntimeError(
        f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
        "dimension size -1 can be any value and is ambiguous"
    )


def invalid_shape_dim(size: int, index: int, shape: Sequence[int]) -> RuntimeError:
    """A shape holds a negative size other than -1."""
    return RuntimeError(f"invalid shape dimension {size} at index {index} of shape {list(shape)}")


def negative_size(size: int, shape: Sequence[int]) -> RuntimeError:
    """A tensor is to be created with a negative size."""
    return RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")


# Dtypes and devices.


def no_complex_dtype(dtype: object) -> RuntimeError:
    """A dtype has no complex dtype with parts of its type."""
    return RuntimeError(f"Unknown Complex ScalarType for {dtype!r}")


def default_dtype_not_floating(prefix: str, got: object) -> TypeError:
    """The default dtype is to be set to something that is no floating-point dtype."""
    return TypeError(
        f"{prefix}only floating-point types are supported as the default type, got {got!r}"
    )


def unsupported_numpy_dtype(numpy_dtype: object) -> TypeError:
    """A NumPy array's dtype has no counterpart here."""
    return TypeError(
        f"can't convert np.ndarray of type {numpy_dtype}. The only supported types are: float64, "
        "float32, float16, bfloat16, complex64, complex128, int64, int32, int16, int8, uint8, "
        "and bool."
    )


def foreign_byte_order() -> ValueError:
    """A NumPy array is stored in the other byte order."""
    return ValueError(
        "given numpy array has byte order different from the native byte order. "
        "Conversion between byte orders is currently not supported."
    )


def unknown_device_type(text: str, known: Sequence[str]) -> RuntimeError:
    """A device string starts with no known device type."""
    return RuntimeError(
        f"Expected one of {', '.join(known)} device type at start of device string: {text}"
    )


def invalid_device_string(text: str) -> RuntimeError:
    """A device string is not `type` or `type:index`."""
    return RuntimeError(f"Invalid device string: '{text}'")


def same_device_expected(device_a: object, device_b: object) -> RuntimeError:
    """Two operands of one operator live on different devices."""
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{device_a} and {device_b}!"
    )


def cannot_cast(source: object, target: object) -> RuntimeError:
    """A result of dtype `source` cannot be stored in a tensor of dtype `target`."""
    return RuntimeError(
        f"result type {source!r} can't be cast to the desired output type {target!r}"
    )


# What messages call a dtype.

_SCALAR_TYPE_NAMES = {
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "bool": "Bool",
    "bfloat16": "BFloat16",
}


def scalar_type_name(dtype: object) -> str:
    """Return the name by which PyTorch's messages call a dtype: "Float" for float32."""
    return _SCALAR_TYPE_NAMES[repr(dtype).removeprefix("torch.")]
