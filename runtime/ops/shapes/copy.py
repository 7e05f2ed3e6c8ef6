"""Shapes and dtypes of what moves elements: copies, casts, joins, turns, repeats, paddings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, SupportsInt

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import number, promotion, shape
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.tensor import Tensor

Spec = tuple[Sequence[int], dtype, Sequence[int]]
Ints = SupportsInt | tuple[int, ...] | list[int]


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> None:
    """`src` must broadcast to the sizes of self."""
    if src._sizes != self._sizes:
        sizes = shape.broadcast_shapes(self._sizes, src._sizes)
        if sizes != self._sizes:
            raise errors.inplace_shape("copy_", self._sizes, sizes)


def to_copy(
    self: Tensor,
    dtype: dtype | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> Spec:
    """The same sizes, another dtype, dense strides."""
    own = self.dtype if dtype is None else dtype
    return self._sizes, own, strides_of_copy(self, memory_format)


def strides_of_copy(self: Tensor, wanted: memory_format | None) -> tuple[int, ...]:
    """The strides of a copy: dense, the dims in the order asked for, by default that of self.

    Raises: RuntimeError if the number of dims does not suit a channels-last format.
    """
    if wanted is None or wanted is formats.preserve_format:
        return shape.dense_strides(self._sizes, self._strides)
    if wanted is formats.contiguous_format:
        return shape.contiguous_strides(self._sizes)
    strides = shape.channels_last_strides(self._sizes, wanted.name)
    if strides is None:
        raise errors.format_needs_rank(wanted.name, formats.RANK[wanted])
    return strides


def fill_(self: Tensor, value: Any) -> None:
    """`value` is a number in the dtype's range, or a 0-d tensor."""
    if value.__class__ is float or not isinstance(value, Tensor):
        number.check_fits(value, dtypes.BY_INDEX[self._key & keys.DTYPE_MASK])
    elif value.ndim:
        raise errors.fill_value_not_scalar(value.ndim)


def zero_(self: Tensor) -> None:
    """Nothing can be wrong."""


def complex_(real: Tensor, imag: Tensor) -> tuple[Sequence[int], dtype] | Spec:
    """The broadcast sizes, a full real part's dims in order; a dtype with parts of the inputs'."""
    if not dtypes.is_part(real.dtype) or not dtypes.is_part(imag.dtype):
        raise errors.complex_of(real.dtype, imag.dtype)
    if real.dtype is not imag.dtype:
        raise errors.complex_parts_differ(real.dtype, imag.dtype)
    sizes, joined = shape.broadcast_shapes(real._sizes, imag._sizes), real.dtype.to_complex()
    if sizes != real._sizes:
        return sizes, joined
    return sizes, joined, shape.dense_strides(sizes, real._strides)


Answer = tuple[tuple[int, ...], dtypes.dtype]


def cat(tensors: Sequence[Any], dim: int = 0) -> Answer:
    """The sizes add up along `dim`; tensors of shape (0,) are left out.

    Raises: ValueError for an empty list, RuntimeError if other sizes differ, IndexError for dim.
    """
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    first = None
    total = 0
    for position, tensor in enumerate(tensors):
        shape = tensor.shape
        if not shape:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
        if is_skipped(shape):
            continue
        if first is None:
            first = shape
            dim = shapes.normalize_dim(dim, len(shape))
        else:
            _check_joinable(first, shape, dim, position)
        total += shape[dim]
    if first is None:
        return (0,), common_dtype(tensors)
    return (*first[:dim], total, *first[dim + 1 :]), common_dtype(tensors)


def is_skipped(shape: Sequence[int]) -> bool:
    """Tell whether `cat` ignores a tensor of this shape."""
    return len(shape) == 1 and shape[0] == 0


def _check_joinable(first: Sequence[int], shape: Sequence[int], dim: int, position: int) -> None:
    if len(shape) != len(first):
        raise RuntimeError(
            f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
        )
    for i, (expected, got) in enumerate(zip(first, shape, strict=True)):
        if i != dim and expected != got:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {expected} "
                f"but got size {got} for tensor number {position} in the list."
            )


def common_dtype(tensors: Sequence[Tensor]) -> dtypes.dtype:
    """The dtype to which all tensors of a list are promoted."""
    return _promoted(frozenset([tensor._key & _PROMOTED for tensor in tensors]))


_PROMOTED = keys.DTYPE_MASK | keys.ZERO_DIM
"""What the common dtype depends on, of the keys of tensors."""


@lru_cache(maxsize=1024)
def _promoted(given: frozenset[int]) -> dtypes.dtype:
    return promotion.result_type(
        (
            dtypes.BY_INDEX[key & keys.DTYPE_MASK],
            promotion.ZERO_DIM if key & keys.ZERO_DIM else promotion.DIMENSIONED,
        )
        for key in sorted(given)
    )


def stack(tensors: Sequence[Any], dim: int = 0) -> Answer:
    """A new dim of the number of tensors stands at `dim`.

    Raises: RuntimeError for an empty list or unequal shapes, IndexError for dim.
    """
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0].shape
    dim = shapes.normalize_dim(dim, len(shape) + 1)
    for position, tensor in enumerate(tensors):
        if tensor.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 "
                f"and {list(tensor.shape)} at entry {position}"
            )
    return (*shape[:dim], len(tensors), *shape[dim:]), common_dtype(tensors)


def flip(self: Any, dims: Sequence[int]) -> Spec:
    """The shape and the order of dims stay.

    Raises: IndexError or RuntimeError for dims out of range or repeated.
    """
    shapes.normalize_dims(dims, self.ndim)
    return self.shape, self.dtype, shapes.dense_strides(self._sizes, self._strides)


def roll(self: Any, shifts: Ints, dims: Ints = ()) -> Answer | Spec:
    """The shape stays. Raises: RuntimeError if shifts and dims do not pair up."""
    shifts = as_list(shifts)
    dims = as_list(dims)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if dims and not self.ndim:
        raise errors.dim_of_scalar(dims[0])
    for dim in dims:
        shapes.normalize_dim(dim, self.ndim)
    if not dims:  # as if flat: never channels-last
        return self.shape, self.dtype, shapes.contiguous_strides(self.shape)
    return self.shape, self.dtype


def as_list(value: Ints) -> list[int]:
    """The value of an `int[1]` argument, which may be given as a bare int."""
    return list(value) if isinstance(value, (tuple, list)) else [int(value)]


def repeat(self: Any, repeats: Sequence[int]) -> Answer:
    """Each size times its repeats; more repeats than dims make new dims in front."""
    missing = len(repeats) - self.ndim
    if missing < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    padded = (1,) * missing + tuple(self.shape)
    sizes = tuple([size * count for size, count in zip(padded, repeats, strict=True)])
    for count, size in zip(repeats, sizes, strict=True):
        if count < 0:
            raise errors.negative_size(size, sizes)
    return sizes, self.dtype


def repeat_interleave_int(
    self: Any, repeats: int, dim: int | None = None, output_size: int | None = None
) -> Answer:
    """The size at `dim`, or the number of elements, times `repeats`.

    Raises: IndexError for dim, RuntimeError for negative repeats.
    """
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        return (shapes.numel(self.shape) * repeats,), self.dtype
    if not self.ndim:
        raise errors.dim_of_scalar(0)
    dim = shapes.normalize_dim(dim, self.ndim)
    return (*self.shape[:dim], self.shape[dim] * repeats, *self.shape[dim + 1 :]), self.dtype


def triangle(name: str, self: Any) -> Answer:
    """The shape stays, and has two dims or more."""
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return self.shape, self.dtype


def tril(self: Any, diagonal: int = 0) -> Answer:
    """The shape stays. Raises: RuntimeError below two dims."""
    return triangle("tril", self)


def triu(self: Any, diagonal: int = 0) -> Answer:
    """The shape stays. Raises: RuntimeError below two dims."""
    return triangle("triu", self)


def diag_embed(self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Answer:
    """Two dims of the last size plus |offset| stand at `dim1` and `dim2`.

    Raises: IndexError for dims out of range, RuntimeError if they are one.
    """
    ndim = self.ndim + 1
    first, second = shapes.normalize_dim(dim1, ndim), shapes.normalize_dim(dim2, ndim)
    if first == second:
        raise errors.diagonal_of_one_dim(dim1, dim2)
    side = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for dim in sorted((first, second)):
        sizes.insert(dim, side)
    return tuple(sizes), self.dtype


def put_slice(self: Any, sizes: Sequence[int], dim: int, start: int) -> Answer:
    """What is asked for.

    Raises: IndexError for a dim out of range, RuntimeError for a slice that does not fit in there.
    """
    dim, own = shapes.normalize_dim(dim, len(sizes)), list(self.shape)
    if len(own) < len(sizes):
        own.insert(dim, 1)
    count = sizes[dim]
    first = start + count if start < 0 else start
    fits = len(own) == len(sizes) and 0 <= first <= count - own[dim]
    if not fits or [*own[:dim], *own[dim + 1 :]] != [*sizes[:dim], *sizes[dim + 1 :]]:
        raise errors.slice_does_not_fit(self.shape, sizes, dim, start)
    return tuple(sizes), self.dtype


Sizes = tuple[int, ...]


def pixel_shuffle(self: Any, r: int) -> tuple[Sizes, Any]:
    """(*, C * r * r, H, W) -> (*, C, H, r, W, r)."""
    *batch, channels, height, width = self.shape
    return (*batch, channels // (r * r), height, r, width, r), None


def constant_pad_nd(self: Any, pad: Sequence[int], value: Any = 0) -> tuple[Any, ...]:
    """Shape: the last len(pad) / 2 sizes grow by a pair of numbers each, the last dim first.

    What is only cut off leaves dims in their order, as a slice's copy has them.
    """
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)} while the input has {self.ndim} dimensions."
        )
    sizes = list(self.shape)
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = self.ndim - 1 - i
        if sizes[dim] + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError(
                "narrow(): length must be non-negative. The input size "
                f"{sizes[dim]}, plus negative padding of {before} and {after}, is invalid. Check "
                f"dimension {dim} of your input."
            )
        sizes[dim] += before + after
    number.check_fits(value if isinstance(value, complex) else float(value), self.dtype)
    if max(pad, default=0) > 0:
        return tuple(sizes), self.dtype
    return tuple(sizes), self.dtype, shapes.dense_strides(sizes, self._strides)
