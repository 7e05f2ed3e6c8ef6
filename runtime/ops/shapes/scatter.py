"""Shapes and checks of operators that write into a tensor at given places or under a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import deprecation, number
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.ops.shapes.indexing import INDEX_DTYPES, check_index_dtype, numel_at

Answer = tuple[tuple[int, ...], dtypes.dtype]
Laid = tuple[tuple[int, ...], dtypes.dtype, tuple[int, ...]]

COMBINE = ("add", "multiply")
REDUCE = ("sum", "prod", "mean", "amax", "amin", "max", "min")
INDEX_REDUCE = ("prod", "mean", "amax", "amin")


def scatter(self: Any, dim: int, index: Any, src: Any) -> Answer:
    """The shape of self. `index` fits into self, but along `dim`, and into `src`.

    Raises: IndexError for dim, RuntimeError for dtypes, ndim or sizes.
    """
    if src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    return _check_places(self, dim, index, src)


def combine_elements(self: Any, dim: int, index: Any, src: Any, reduce: str) -> Answer:
    """The shape of self. Raises: as `scatter`."""
    return scatter(self, dim, index, src)


def scatter_value(self: Any, dim: int, index: Any, value: Any) -> Answer:
    """The shape of self. Raises: as `scatter`, and RuntimeError for a value out of range."""
    _check_number(self, value)
    return _check_places(self, dim, index, None)


def scatter_combine(self: Any, dim: int, index: Any, src: Any, reduce: str) -> Answer:
    """The shape of self. Raises: as `scatter`, and RuntimeError for an unknown `reduce`."""
    _check_combine(reduce)
    deprecation.reduced_by_scatter()
    return scatter(self, dim, index, src)


def scatter_value_combine(self: Any, dim: int, index: Any, value: Any, reduce: str) -> Answer:
    """The shape of self. Raises: as `scatter_combine`."""
    _check_combine(reduce)
    _check_number(self, value)
    return _check_places(self, dim, index, None)


def _check_combine(reduce: str) -> None:
    if reduce not in COMBINE:
        raise RuntimeError("reduce argument must be either add or multiply.")


def scatter_reduce(
    self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> Answer:
    """The shape of self. Raises: as `scatter`, and RuntimeError for an unknown `reduce`."""
    if reduce not in REDUCE:
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin.")
    _check_reducible("scatter_reduce", self.dtype, reduce)
    return scatter(self, dim, index, src)


def _check_reducible(name: str, dtype: dtypes.dtype, reduce: str) -> None:
    """Complex numbers have no order, booleans no mean."""
    if dtype.is_complex and reduce in ("amax", "amin", "max", "min"):
        raise errors.dtype_not_supported(f"{name}_{reduce}", dtype, "types with an order")
    if dtype is dtypes.bool and reduce == "mean":
        raise errors.dtype_not_supported(f"{name}_mean", dtype, "numbers")


def _check_places(self: Any, dim: int, index: Any, src: Any) -> Answer:
    dim = shapes.normalize_dim(dim, self.ndim)
    if 0 in index.shape:
        return self.shape, self.dtype
    check_index_dtype("scatter", index)
    if (index.ndim or 1) != (self.ndim or 1):
        raise errors.index_ndim_mismatch("self")
    if src is not None and (index.ndim or 1) != (src.ndim or 1):
        raise errors.index_ndim_mismatch("src")
    counts = _at_least_1d(index.shape)
    fits_self = all(
        count <= size
        for i, (count, size) in enumerate(zip(counts, _at_least_1d(self.shape), strict=True))
        if i != dim
    )
    fits_src = src is None or all(
        count <= size for count, size in zip(counts, _at_least_1d(src.shape), strict=True)
    )
    if not (fits_self and fits_src):
        raise errors.index_larger_than(index.shape, self.shape, dim, src and src.shape)
    return self.shape, self.dtype


def _at_least_1d(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of a tensor of which a 0-d one counts as a vector of one element."""
    return shape or (1,)


def index_add(self: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Answer:
    """The shape of self. Raises: IndexError or RuntimeError for dim, index or sizes."""
    return _check_slices("index_add_", self, dim, index, source)


def index_reduce(
    self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Answer:
    """The shape of self. Raises: as `index_add`, and RuntimeError for an unknown `reduce`."""
    if reduce not in INDEX_REDUCE:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    _check_reducible("index_reduce", self.dtype, reduce)
    deprecation.in_beta("index_reduce")
    return _check_slices("index_reduce_", self, dim, index, source)


def _check_slices(name: str, self: Any, dim: int, index: Any, source: Any) -> Answer:
    dim = shapes.normalize_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{errors.scalar_type_name(index.dtype)} and size: {list(index.shape)}"
        )
    if index.dtype not in INDEX_DTYPES:
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: "
            f"{errors.scalar_type_name(index.dtype)}"
        )
    if source.dtype is not self.dtype:
        raise RuntimeError(
            f"{name}(): self ({errors.scalar_type_name(self.dtype)}) and source "
            f"({errors.scalar_type_name(source.dtype)}) must have the same scalar type"
        )
    count = numel_at(index.shape, 0)
    if source.ndim == 0 and count != 1:
        raise errors.dim_of_scalar(dim)
    given = source.shape[dim] if dim < source.ndim else 1
    if count != given:
        raise RuntimeError(
            f"{name}(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({given}), for dim: {dim}"
        )
    if _without(self.shape, dim) != _without(source.shape, dim) or self.ndim != source.ndim:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )
    return self.shape, self.dtype


def _without(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    return (*shape[:dim], *shape[dim + 1 :])


def index_copy(self: Any, dim: int, index: Any, source: Any) -> Answer:
    """The shape of self. Raises: IndexError or RuntimeError for dim, index, source or sizes."""
    dim = shapes.normalize_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    count = numel_at(index.shape, 0)
    if source.ndim == 0 and count != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {count})"
        )
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({source.ndim}), "
            f"destination dimensionality ({self.ndim})"
        )
    if index.dtype is not dtypes.int64:
        raise errors.long_index_expected("index_copy_", index.dtype)
    if source.dtype is not self.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{errors.scalar_type_name(self.dtype)} and (source) "
            f"{errors.scalar_type_name(source.dtype)}"
        )
    own, given = _without(self.shape, dim), _without(source.shape, dim)
    if own != given:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, own))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, given))} at dimension {dim}."
        )
    if source.ndim and count != source.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
            f"({source.shape[dim]})"
        )
    return self.shape, self.dtype


def index_fill(self: Any, dim: int, index: Any, value: Any) -> Laid:
    """Laid out as self. Raises: IndexError or RuntimeError for dim, index or value."""
    shapes.normalize_dim(dim, self.ndim)
    if index.dtype is not dtypes.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    _check_fill_value("index_fill_", self, value)
    return _laid_as(self)


def _check_fill_value(name: str, self: Any, value: Any) -> None:
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    is_complex = isinstance(value, complex) or (hasattr(value, "shape") and value.dtype.kind == "c")
    if is_complex and self.dtype.kind != "c":
        raise RuntimeError(
            f"{name}(): Converting complex Scalar to non-complex type is not supported"
        )
    _check_number(self, value)


def _check_number(self: Any, value: Any) -> None:
    if not hasattr(value, "shape"):
        number.check_fits(value, self.dtype)


def masked_scatter(self: Any, mask: Any, source: Any) -> Answer:
    """The shape to which self and mask broadcast. Raises: RuntimeError for dtypes."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{errors.scalar_type_name(mask.dtype)}"
        )
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{errors.scalar_type_name(self.dtype)} and {errors.scalar_type_name(source.dtype)}"
        )
    return shapes.broadcast_shapes(mask.shape, self.shape), self.dtype


def masked_copy(self: Any, before: Any, count: Any, source: Any) -> Answer:
    """The shape of self. What calls it has looked at the arguments."""
    return self.shape, self.dtype


def put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Laid:
    """Laid out as self. Raises: RuntimeError for dtypes, IndexError if the counts differ."""
    if index.dtype is not dtypes.int64:
        raise errors.long_index_expected("put_", index.dtype)
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{errors.scalar_type_name(self.dtype)} and source.dtype = "
            f"{errors.scalar_type_name(source.dtype)}"
        )
    given, wanted = shapes.numel(source.shape), shapes.numel(index.shape)
    if given != wanted:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {given}, index.numel() = {wanted}"
        )
    return _laid_as(self)


def index_put(self: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Laid:
    """Laid out as self. What depends on the indices' values is the kernel's to check."""
    if self.dtype is not values.dtype:
        raise errors.index_put_dtypes(self.dtype, values.dtype)
    return _laid_as(self)


def put_slices(self: Any, dim: int, index: Any, values: Any, accumulate: bool) -> Laid:
    """Laid out as self. What calls it has looked at the sizes."""
    return _laid_as(self)


def combine_slices(self: Any, dim: int, index: Any, source: Any, reduce: str) -> Laid:
    """The same."""
    return _laid_as(self)


def merged_places(first: Any, second: Any, inside: Any) -> Answer:
    """The shape to which indices broadcast."""
    return shapes.broadcast_shapes(first.shape, second.shape), dtypes.int64


def _laid_as(self: Any) -> Laid:
    """The shape of self; dims in its order, where other operators lay theirs one by one."""
    return self.shape, self.dtype, shapes.dense_strides(self._sizes, self._strides)
