"""Errors of shapes: dims, sizes, strides, and what broadcasts to what."""

from __future__ import annotations

from collections.abc import Sequence


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    """`dim` does not name a dim of a tensor with `ndim` dims; a 0-d tensor has dims -1 and 0."""
    bound = max(ndim, 1)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
        f"but got {dim})"
    )


def too_many_elements(sizes: Sequence[int]) -> RuntimeError:
    """Sizes, or the strides that follow from them, are beyond what 64 bits count."""
    return RuntimeError(
        f"numel: integer multiplication overflow. Storage size calculation overflowed with "
        f"sizes={list(sizes)}"
    )


def invalid_geometry(sizes: Sequence[int], strides: Sequence[int]) -> RuntimeError:
    """Negative sizes or strides, or an extent beyond what 64 bits count."""
    return RuntimeError(
        f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}"
    )


def dim_of_scalar(dim: int) -> IndexError:
    """A dim of a tensor without dims was named where only a real dim will do."""
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def dim_repeated(dim: int) -> RuntimeError:
    """A list of dims names one dim twice."""
    return RuntimeError(f"dim {dim} appears multiple times in the list of dims")


def too_many_dims() -> RuntimeError:
    """Dims were to be chosen from more than PyTorch can number."""
    return RuntimeError("only tensors with up to 64 dims are supported where dims are named")


def broadcast_mismatch(size_a: int, size_b: int, dim: int) -> RuntimeError:
    """Two sizes at `dim` (of the broadcast shape) are neither equal nor 1."""
    return RuntimeError(
        f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b}) "
        f"at non-singleton dimension {dim}"
    )


def expand_mismatch(
    wanted: int, size: int, dim: int, target: Sequence[int], own: Sequence[int]
) -> RuntimeError:
    """A tensor cannot be expanded to the sizes of the result."""
    return RuntimeError(
        f"The expanded size of the tensor ({wanted}) must match the existing size ({size}) at "
        f"non-singleton dimension {dim}.  Target sizes: {list(target)}.  "
        f"Tensor sizes: {list(own)}"
    )


def expand_to_fewer_dims(own: Sequence[int], target: Sequence[int]) -> RuntimeError:
    """A tensor has more dims than the result it should expand to."""
    return RuntimeError(
        f"expand(size={list(target)}): the number of sizes provided ({len(target)}) must be "
        f"greater or equal to the number of dimensions in the tensor ({len(own)})"
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


def negative_size(size: int, sizes: Sequence[int]) -> RuntimeError:
    """A tensor is to be created with a negative size."""
    return RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")


def strides_do_not_match(sizes: Sequence[int], strides: Sequence[int]) -> RuntimeError:
    """empty_strided: as many strides as sizes are needed."""
    return RuntimeError(
        f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides "
        f"({len(strides)})"
    )


def format_needs_rank(format_name: str, ndim: int) -> RuntimeError:
    """A memory format suits another number of dims."""
    return RuntimeError(f"required rank {ndim} tensor to use {format_name} format")


def slice_of_zero_dim() -> IndexError:
    """A tensor without dims was sliced."""
    return IndexError("slice() cannot be applied to a 0-dim tensor.")


def slice_does_not_fit(
    own: Sequence[int], sizes: Sequence[int], dim: int, start: int
) -> RuntimeError:
    """A slice is to be put where it does not fit."""
    return RuntimeError(
        f"a slice of sizes {list(own)} does not fit into sizes {list(sizes)} from {start} on along "
        f"dim {dim}"
    )


def diagonal_of_one_dim(dim1: int, dim2: int) -> RuntimeError:
    """Both dims of a diagonal are the same."""
    return RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
