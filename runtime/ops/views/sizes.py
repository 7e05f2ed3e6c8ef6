"""Views that keep the order of the elements and change the sizes: view, expand, squeeze and kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import dense_layout, inferred_layout
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.view_call import layout_only

Geometry: TypeAlias = tuple[Size, tuple[int, ...], int]


@layout_only
def view(self: Tensor, size: Sequence[int]) -> Geometry:
    """See the elements, in their order, as `size`; one size may be -1.

    **Raises** RuntimeError if the element count does not fit, or if the strides cannot express it.
    """
    flat = self._flat
    if flat is not None and (size.__class__ is tuple or size.__class__ is Size):
        # A view of a dense tensor by its whole size is usual, and so is seeing that size again.
        dense = inferred_layout(size, flat.size) if -1 in size else dense_layout(size)
        if dense.numel == flat.size > 0 and (not self._strides or self._strides[-1] == 1):
            return dense.sizes, dense.strides, self._offset
    sizes = tuple(self._sizes)
    count = shapes.numel(sizes)
    new_sizes = shapes.infer_size(size, count)
    strides = self._strides
    # Dense, and the one stride that dense tensors may have otherwise (of a last dim of size 1)
    # and that shows in the result, is usual: the result's strides are the usual ones.
    if count and self._flat is not None and (not strides or strides[-1] == 1):
        return make_size(new_sizes), shapes.contiguous_strides(new_sizes), self._offset
    new_strides = shapes.view_strides(sizes, strides, new_sizes)
    if new_strides is None:
        raise errors.view_incompatible()
    return make_size(new_sizes), new_strides, self._offset


@layout_only
def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Geometry:
    """Split one dim into several; one of `sizes` may be -1.

    **Raises** RuntimeError if `sizes` is empty or does not multiply up to the dim's size.
    """
    own = list(self._sizes)
    dim = shapes.normalize_dim(dim, len(own))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not own:
        raise RuntimeError("unflatten: expected a tensor with at least one dim, got a 0-d tensor")
    try:
        inner = shapes.infer_size(sizes, own[dim])
    except RuntimeError as error:
        if "is invalid for input of size" not in str(error):
            raise
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({own[dim]}) in the input tensor"
        ) from None
    return view(self, (*own[:dim], *inner, *own[dim + 1 :]))


@layout_only
def expand(self: Tensor, size: Sequence[int], implicit: bool = False) -> Geometry:
    """Repeat dims of size 1 (and new leading dims) by a stride of 0; -1 keeps a size.

    **Raises** RuntimeError if there are too few sizes, or if one differs from a size that is not 1.
    """
    if len(size) < len(self._sizes):
        raise _too_few_sizes(self, size)
    return *_expanded(self._sizes, self._strides, size), self._offset


def _expanded(
    sizes: Size, strides: tuple[int, ...], size: Sequence[int]
) -> tuple[Size, tuple[int, ...]]:
    missing = len(size) - len(sizes)
    new_sizes, new_strides = list(size), [0] * missing
    position = missing
    for own, stride in zip(sizes, strides, strict=True):
        wanted = new_sizes[position]
        if wanted == -1:
            new_sizes[position] = own
        elif wanted != own:
            if own != 1 or wanted < 0:
                raise _not_expandable(size, sizes)
            stride = 0
        new_strides.append(stride)
        position += 1
    if missing and sizes:
        _place_leading_dims(new_sizes, new_strides, missing)
    elif missing and min(new_sizes) < 0:
        raise _no_such_size(new_sizes)
    return make_size(new_sizes), tuple(new_strides)


def _place_leading_dims(sizes: list[int], strides: list[int], missing: int) -> None:
    """New dims of size 1 take the stride that a contiguous tensor has there, as PyTorch's do."""
    for position in range(missing - 1, -1, -1):
        if sizes[position] == 1:
            strides[position] = sizes[position + 1] * strides[position + 1]
        elif sizes[position] < 0:
            raise _no_such_size(sizes)


def _no_such_size(sizes: list[int]) -> RuntimeError:
    position = max(position for position, size in enumerate(sizes) if size < 0)
    return RuntimeError(
        f"The expanded size of the tensor ({sizes[position]}) isn't allowed in a leading, "
        f"non-existing dimension {position}"
    )


def _too_few_sizes(self: Tensor, size: Sequence[int]) -> RuntimeError:
    name = errors.scalar_type_name(self.dtype) + "Tensor"
    own = ", ".join(map(str, self._sizes))
    wanted = ", ".join(map(str, size))
    return RuntimeError(
        f"expand(torch.{name}{{[{own}]}}, size=[{wanted}]): the number of sizes provided "
        f"({len(size)}) must be greater or equal to the number of dimensions in the tensor "
        f"({len(self._sizes)})"
    )


def _not_expandable(size: Sequence[int], sizes: Sequence[int]) -> RuntimeError:
    """The last dim that does not fit, which is the first at which PyTorch looks."""
    missing = len(size) - len(sizes)
    position, own = next(
        (position, own)
        for position, own in reversed(list(enumerate(sizes, missing)))
        if size[position] not in (-1, own) and (own != 1 or size[position] < 0)
    )
    return errors.expand_mismatch(size[position], own, position, size, sizes)


@layout_only
def unsqueeze(self: Tensor, dim: int) -> Geometry:
    """Insert a dim of size 1 before `dim`; -1 appends it."""
    sizes, strides = list(self._sizes), list(self._strides)
    ndim = len(sizes)
    if dim < 0:
        dim += ndim + 1
    if not 0 <= dim <= ndim:
        raise errors.dim_out_of_range(dim - ndim - 1 if dim < 0 else dim, ndim + 1)
    strides.insert(dim, sizes[dim] * strides[dim] if dim < ndim else 1)
    sizes.insert(dim, 1)
    return make_size(sizes), tuple(strides), self._offset


@layout_only
def squeeze(self: Tensor) -> Geometry:
    """Drop every dim of size 1."""
    sizes = list(self._sizes)
    if 1 not in sizes:
        return self._sizes, self._strides, self._offset
    strides = [stride for size, stride in zip(sizes, self._strides, strict=True) if size != 1]
    return make_size([size for size in sizes if size != 1]), tuple(strides), self._offset


@layout_only
def squeeze_dim(self: Tensor, dim: int) -> Geometry:
    """Drop one dim if its size is 1."""
    sizes = list(self._sizes)
    ndim = len(sizes)
    if not -ndim <= dim < ndim:
        shapes.normalize_dim(dim, ndim)  # raises, unless for dim 0 or -1 of a 0-d tensor
    elif sizes[dim] == 1:
        strides = list(self._strides)
        del sizes[dim], strides[dim]
        return make_size(sizes), tuple(strides), self._offset
    return self._sizes, self._strides, self._offset


@layout_only
def squeeze_dims(self: Tensor, dim: Sequence[int]) -> Geometry:
    """Drop those of the named dims whose size is 1.

    **Raises** IndexError if a dim is out of range, RuntimeError if one is named twice.
    """
    sizes, strides = list(self._sizes), self._strides
    named: list[int] = []
    for each in dim:
        each = shapes.normalize_dim(each, len(sizes))
        if each in named:
            raise errors.dim_repeated(each)
        named.append(each)
    kept = [each for each in range(len(sizes)) if each not in named or sizes[each] != 1]
    return (
        make_size([sizes[each] for each in kept]),
        tuple([strides[each] for each in kept]),
        self._offset,
    )
