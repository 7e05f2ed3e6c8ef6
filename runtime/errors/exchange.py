"""Errors of data from and for elsewhere: NumPy arrays, buffers, DLPack."""

from __future__ import annotations

from torchgen_out._runtime.errors.dtype_names import scalar_type_name


def no_dtype_for(data: object) -> RuntimeError:
    """`tensor` was given something that is no number, sequence or array."""
    return RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def unsupported_numpy_dtype(numpy_dtype: object) -> TypeError:
    """A NumPy array's dtype has no counterpart here."""
    return TypeError(
        f"can't convert np.ndarray of type {numpy_dtype}. The only supported types are: float64, "
        "float32, float16, bfloat16, complex64, complex128, int64, int32, int16, int8, uint64, "
        "uint32, uint16, uint8, and bool."
    )


def foreign_byte_order() -> ValueError:
    """A NumPy array is stored in the other byte order."""
    return ValueError(
        "given numpy array has byte order different from the native byte order. "
        "Conversion between byte orders is currently not supported."
    )


def negative_numpy_stride() -> ValueError:
    """An array that is read backwards cannot be shared."""
    return ValueError(
        "At least one stride in the given numpy array is negative, and tensors with negative "
        "strides are not currently supported. (You can probably work around this by making a copy "
        "of your array with array.copy().)"
    )


def fractional_numpy_stride() -> ValueError:
    """An array's strides do not count whole elements."""
    return ValueError(
        "given numpy array strides not a multiple of the element byte size. "
        "Copy the numpy array to reallocate the memory."
    )


def buffer_offset(offset: int, size: int) -> ValueError:
    """frombuffer: the first byte lies outside."""
    return ValueError(
        f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
        f"({size} bytes) minus 1"
    )


def buffer_remainder(size: int, itemsize: int) -> ValueError:
    """frombuffer: the bytes do not divide into elements."""
    return ValueError(
        f"buffer length ({size} bytes) after offset must be a multiple of element size ({itemsize})"
    )


def buffer_too_short(count: int, size: int) -> ValueError:
    """frombuffer: fewer elements than asked for."""
    return ValueError(
        f"requested buffer length ({count} elements) must not be greater than actual buffer "
        f"length ({size} bytes)"
    )


def numpy_of_grad() -> RuntimeError:
    """An array would lose the tensor's history."""
    return RuntimeError(
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    )


def numpy_of_device(device: object) -> TypeError:
    """An array lives in host memory."""
    return TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )


def bfloat16_needs_package() -> TypeError:
    """NumPy has no bfloat16 of its own."""
    return TypeError(
        "Got unsupported ScalarType BFloat16: install ml_dtypes, or convert with .float() first"
    )


def not_of_numpy(dtype: object) -> TypeError:
    """NumPy has no such dtype."""
    return TypeError(f"Got unsupported ScalarType {scalar_type_name(dtype)}")


def array_needs_copy(own: object, wanted: object) -> ValueError:
    """__array__ was asked for another dtype without a copy."""
    return ValueError(f"Unable to avoid copy: the tensor is {own}, an array of {wanted} was asked")


def exporter_cannot_copy(exporter: object) -> BufferError:
    """An exporter of an old DLPack version does not know `copy`."""
    return BufferError(f"{type(exporter).__name__}.__dlpack__ does not take copy=")


def invalid_data_type(data: object) -> TypeError:
    """A string was given as a tensor's data."""
    return TypeError(f"new(): invalid data type '{type(data).__name__}'")


def no_export_without_copy(own: object, wanted: object) -> BufferError:
    """A DLPack capsule was asked for on a device to which the tensor cannot be taken."""
    return BufferError(f"cannot export a tensor of {own} to {wanted}: only to the CPU, copied")


def read_only_device_memory() -> TypeError:
    """Another library's memory on a device must not be written to."""
    return TypeError("the read only flag is not supported, should always be False")


def no_shared_memory() -> RuntimeError:
    """Processes are to share tensors, on Windows."""
    return RuntimeError(
        "sharing memory between processes is not provided on Windows: load data in this process "
        "(num_workers=0), or hand arrays over by a file"
    )
