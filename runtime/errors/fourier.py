"""Errors of Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.errors.dtype_names import scalar_type_name


def no_data_points(count: int) -> RuntimeError:
    """A transform over no points was asked for."""
    return RuntimeError(f"Invalid number of data points ({count}) specified")


def unknown_norm(norm: str) -> RuntimeError:
    """`norm` is none of its words."""
    return RuntimeError(
        f'Invalid normalization mode: "{norm}"; expected "forward", "backward" or "ortho"'
    )


def fft_dtype(dtype: object) -> RuntimeError:
    """A dtype has no transform."""
    return RuntimeError(f"Unsupported dtype {scalar_type_name(dtype)}")


def real_transform_of_complex(operator: str, dtype: object) -> RuntimeError:
    """A transform of real numbers was given complex ones."""
    return RuntimeError(
        f"{operator} expects a real input tensor, but got {scalar_type_name(dtype)}"
    )


def repeated_fft_dims() -> RuntimeError:
    """A dim is named twice."""
    return RuntimeError("FFT dims must be unique")


def shape_and_dim_differ(s: Sequence[int], dim: Sequence[int]) -> RuntimeError:
    """`s` and `dim` have different lengths."""
    return RuntimeError(
        "When given, dim and shape arguments must have the same length, "
        f"got {list(dim)} and {list(s)}"
    )


def shape_too_long(count: int, ndim: int) -> RuntimeError:
    """`s` has more sizes than the input has dims."""
    return RuntimeError(
        f"Got shape with {count} values but input tensor only has {ndim} dimensions."
    )


def no_axis(operator: str) -> RuntimeError:
    """A transform that halves its last dim was given none."""
    return RuntimeError(f"{operator} must transform at least one axis")
