"""Errors of indices: expressions in brackets, and operators that take index tensors."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.errors.dtype_names import c_name, scalar_type_name


def int_out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An int index lies outside its dim."""
    return IndexError(_outside(index, dim, size))


def index_out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An index tensor of an indexing expression names a place that is not there."""
    if not size:
        return IndexError("index is out of bounds for dimension with size 0")
    return IndexError(_outside(index, dim, size))


def scatter_index_out_of_bounds(index: int, dim: int, size: int) -> RuntimeError:
    """An index of `gather` or `scatter` names a place that is not there."""
    return RuntimeError(_outside(index, dim, size))


def slice_out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An index of `index_copy_` names a slice that is not there."""
    return IndexError(f"index_copy_(): {_outside(index, dim, size)}")


def _outside(index: int, dim: int, size: int) -> str:
    return f"index {index} is out of bounds for dimension {dim} with size {size}"


def negative_repeats() -> RuntimeError:
    """`repeat_interleave` is told to repeat something less than no times."""
    return RuntimeError("repeats can not be negative")


def index_out_of_range_in_self() -> IndexError:
    """An index of `index_select` or `embedding` names a slice that is not there."""
    return IndexError("index out of range in self")


def flat_index_out_of_range(index: int, numel: int) -> IndexError:
    """An index of `take` or `put_` lies outside the flattened tensor."""
    return IndexError(
        f"out of range: tried to access index {index} on a tensor of {numel} elements."
    )


def index_of_zero_dim() -> IndexError:
    """A 0-d tensor was indexed."""
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"
    )


def invalid_index(item: object) -> IndexError:
    """Something that is no index."""
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(item).__name__})"
    )


def no_index() -> IndexError:
    """An indexing expression holds no index tensor at all."""
    return IndexError("at least one index must be provided")


def too_many_indices(ndim: int, count: int) -> IndexError:
    """An indexing expression speaks of more dims than there are."""
    return IndexError(f"too many indices for tensor of dimension {ndim} (got {count})")


def index_dtype() -> IndexError:
    """An index tensor holds neither integers nor booleans."""
    return IndexError("tensors used as indices must be long, int, byte or bool tensors")


def long_index_expected(name: str, got: object) -> RuntimeError:
    """An operator that takes int64 indices only was given others."""
    return RuntimeError(
        f"{name}(): Expected a long tensor for index, but got {scalar_type_name(got)}"
    )


def mask_mismatch(mask: Sequence[int], mask_dim: int, shape: Sequence[int], dim: int) -> IndexError:
    """A boolean index has another size than the dim it stands for."""
    return IndexError(
        f"The shape of the mask {list(mask)} at index {mask_dim} does not match the shape of the "
        f"indexed tensor {list(shape)} at index {dim}"
    )


def indices_do_not_broadcast(index_shapes: Sequence[Sequence[int]]) -> IndexError:
    """Index tensors of one expression do not broadcast against each other."""
    listed = ", ".join(str(list(shape)) for shape in index_shapes)
    return IndexError(
        f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
    )


def values_do_not_broadcast(values: Sequence[int], target: Sequence[int]) -> RuntimeError:
    """The values to write do not broadcast to the places indexed."""
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(values)} cannot be broadcast to indexing "
        f"result of shape {list(target)}"
    )


def index_ndim_mismatch(other: str) -> RuntimeError:
    """The index of `gather` or `scatter` has another number of dims than the tensor `other`."""
    return RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")


def index_larger_than(
    index: Sequence[int], self: Sequence[int], dim: int, src: Sequence[int] | None
) -> RuntimeError:
    """The index of `scatter` does not fit into self or into src."""
    message = f"Expected index {list(index)} to be no larger than self {list(self)} "
    message += f"apart from dimension {dim}"
    if src is not None:
        message += f" and to be no larger size than src {list(src)}"
    return RuntimeError(message)


def cannot_assign(value: object, dtype: object) -> TypeError:
    """tensor[index] = value: the value is neither a number nor a tensor."""
    got = type(value)
    name = got.__name__ if got.__module__ == "builtins" else f"{got.__module__}.{got.__name__}"
    return TypeError(f"can't assign a {name} to a torch.{scalar_type_name(dtype)}Tensor")


def index_dtype_of(name: str, dtype: object) -> RuntimeError:
    """A tensor of indices is none of integers."""
    return RuntimeError(
        f"Expected tensor for argument '{name}' to have one of the following scalar types: Long, "
        f"Int; but got {scalar_type_name(dtype)} instead"
    )


def bag_index(index: object, rows: int) -> RuntimeError:
    """A bag names a row that the table does not have."""
    return RuntimeError(
        f"embedding_bag: input takes value {index} which is not in the valid range [0, {rows})"
    )


def bag_offsets(first: object, last: object, count: int) -> RuntimeError:
    """Bags begin elsewhere than at the first index, or behind the last."""
    if first != 0:
        return RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {first}"
        )
    return RuntimeError(
        f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {last}"
    )


def boolean_mask_expected(name: str, got: object) -> RuntimeError:
    """A mask is of another dtype than bool; an index of bytes is none where one value is filled."""
    return RuntimeError(
        f"{name} only supports boolean masks, but got mask with dtype {c_name(got)}"
    )


def index_put_dtypes(own: object, values: object) -> RuntimeError:
    """What is written at indices is of another dtype than the tensor."""
    return RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{scalar_type_name(own)} for the destination and {scalar_type_name(values)} for the "
        "source."
    )
