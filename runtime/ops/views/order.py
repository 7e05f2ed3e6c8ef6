"""Views that reorder dims: transpose, permute and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import deprecation
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.view_call import layout_only

Geometry: TypeAlias = tuple[Size, tuple[int, ...], int]
Dims: TypeAlias = int | tuple[int, ...] | list[int]


@layout_only
def transpose(self: Tensor, dim0: int, dim1: int) -> Geometry:
    """Swap two dims. **Raises** IndexError if one is out of range."""
    sizes, strides = list(self._sizes), list(self._strides)
    try:
        sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
        strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    except IndexError:  # out of range, or the dims 0 and -1 that even a 0-d tensor has
        normalize_dim(dim0, len(sizes))
        normalize_dim(dim1, len(sizes))
    return make_size(sizes), tuple(strides), self._offset


@layout_only
def t(self: Tensor) -> Geometry:
    """Swap the dims of a matrix; vectors and scalars stay as they are."""
    sizes = self._sizes
    ndim = len(sizes)
    if ndim == 2:
        rows, columns = sizes
        row_stride, column_stride = self._strides
        return make_size((columns, rows)), (column_stride, row_stride), self._offset
    if ndim > 2:
        raise errors.transpose_ndim(ndim)
    return sizes, self._strides, self._offset


@layout_only
def reverse_dims(self: Tensor) -> Geometry:
    """Reverse the order of all dims (`Tensor.T`); warn unless there are one or two."""
    if len(self._sizes) not in (1, 2):
        deprecation.reversed_dims(len(self._sizes))
    return make_size(reversed(self._sizes)), self._strides[::-1], self._offset


@layout_only
def matrix_transpose(self: Tensor) -> Geometry:
    """Swap the last two dims (`Tensor.mT`). **Raises** RuntimeError for a vector."""
    sizes, strides = list(self._sizes), list(self._strides)
    if len(sizes) > 1:
        sizes[-2], sizes[-1] = sizes[-1], sizes[-2]
        strides[-2], strides[-1] = strides[-1], strides[-2]
    elif sizes:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    else:
        deprecation.transposed_scalar("Tensor.mT", "It is the tensor itself.")
    return make_size(sizes), tuple(strides), self._offset


@layout_only
def permute(self: Tensor, dims: Sequence[int]) -> Geometry:
    """Put the dims in the order `dims`.

    **Raises** RuntimeError unless `dims` names every dim once, IndexError if one is out of range.
    """
    return (*_permuted(self._sizes, self._strides, tuple(dims)), self._offset)


@lru_cache(maxsize=1024)
def _permuted(
    sizes: Size, strides: tuple[int, ...], dims: tuple[int, ...]
) -> tuple[Size, tuple[int, ...]]:
    ndim = len(sizes)
    in_range = len(dims) == ndim and all(-ndim <= dim < ndim for dim in dims)
    if in_range and len({dim % ndim for dim in dims}) == ndim:
        return make_size([sizes[dim] for dim in dims]), tuple([strides[dim] for dim in dims])
    raise _not_a_permutation(dims, ndim)


def _not_a_permutation(dims: Sequence[int], ndim: int) -> Exception:
    """The first thing that is wrong with `dims`, in the order in which PyTorch looks."""
    if len(dims) != ndim:
        return RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. "
            f"input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    seen = set()
    for dim in dims:
        if not -ndim <= dim < ndim:
            return errors.dim_out_of_range(dim, ndim)
        if dim % ndim in seen:
            break
        seen.add(dim % ndim)
    return RuntimeError("permute(): duplicate dims are not allowed.")


@layout_only
def movedim(self: Tensor, source: Dims, destination: Dims) -> Geometry:
    """Move the dims `source` to the places `destination`; the others keep their order.

    **Raises** RuntimeError if the lists differ in length or repeat a dim, IndexError if a dim is
    out of range.
    """
    ndim = len(self._sizes)
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    destinations = list(destination) if isinstance(destination, (list, tuple)) else [destination]
    if len(sources) != len(destinations):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({sources} dims) should contain "
            f"the same number of dims as destination ({destinations} dims)"
        )
    from_dims = [normalize_dim(dim, ndim) for dim in sources]
    to_dims = [normalize_dim(dim, ndim) for dim in destinations]
    for name, dims, given in (
        ("source", from_dims, sources),
        ("destination", to_dims, destinations),
    ):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    if not ndim:
        return self._sizes, self._strides, self._offset
    order = [dim for dim in range(ndim) if dim not in from_dims]
    for place, dim in sorted(zip(to_dims, from_dims, strict=True)):
        order.insert(place, dim)
    sizes, strides = list(self._sizes), self._strides
    return (
        make_size([sizes[dim] for dim in order]),
        tuple([strides[dim] for dim in order]),
        self._offset,
    )
