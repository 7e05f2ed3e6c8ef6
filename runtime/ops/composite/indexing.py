"""Composites of the indexing family."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import store_out
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import calls, ops


def take_along_dim(self: Any, indices: Any, dim: int | None = None) -> Any:
    """`gather` after broadcasting self and `indices` in all dims but `dim`.

    With a `dim`, indices count round its size, as in PyTorch: -1 is the last.

    **Raises** RuntimeError for the dtype of `indices` or unequal ndim.
    """
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{errors.scalar_type_name(indices.dtype)}"
        )
    if dim is None:
        return self.reshape((-1,)).gather(0, indices.reshape((-1,)))
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = shapes.normalize_dim(dim, self.ndim)
    own, given = _broadcast_but(dim, self._sizes, indices._sizes)
    if size := self._sizes[dim]:
        indices = indices.remainder(size)
    if own != self._sizes:
        self = self.expand(own)
    if given != indices._sizes:
        indices = indices.expand(given)
    return self.gather(dim, indices)


@lru_cache(maxsize=1024)
def _broadcast_but(
    dim: int, a: tuple[int, ...], b: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of two tensors that are broadcast in all dims but one."""
    common = shapes.broadcast_shapes(*[(*each[:dim], 1, *each[dim + 1 :]) for each in (a, b)])
    own, given = ((*common[:dim], each[dim], *common[dim + 1 :]) for each in (a, b))
    return own, given


def nonzero(self: Any, as_tuple: bool = False, out: Any = None) -> Any:
    """The places of nonzero elements: a row each, or a vector per dim.

    Raises: RuntimeError for vectors with out=, which is one tensor.
    """
    if out is None:
        return nonzero_vectors(self) if as_tuple else _nonzero_rows(self)
    if not isinstance(out, Tensor):
        raise errors.out_expected("nonzero", out)
    if as_tuple:
        raise errors.out_with_as_tuple()
    return store_out("nonzero", out, _nonzero_rows(self), "exact", apart=[self])


def _nonzero_rows(self: Tensor) -> Tensor:
    mask = _nonzero_mask(self)
    rows: Tensor = calls._nonzero[mask._key](mask)
    return rows


def nonzero_vectors(self: Tensor) -> tuple[Tensor, ...]:
    """The places of nonzero elements: a vector per dim, one for a tensor of none."""
    mask = _nonzero_mask(self)
    return tuple(ops._nonzero(mask if mask.ndim else mask.unsqueeze(0)).unbind(1))


def _nonzero_mask(self: Tensor) -> Tensor:
    """The tensor itself, if its bits tell which elements are zero: of 16-bit floats, -0 is, too."""
    own = self.dtype
    return self if own.opmath is own else self.ne(0)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """One index per dim of `shape` for each index into its elements in row-major order."""
    if indices.dtype.kind != "i":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    if any(size >= 2**63 for size in sizes):
        raise ValueError(f"'shape' must fit into 64 bits, but got {sizes}")
    steps = shapes.contiguous_strides(sizes)
    indices = indices.to(dtypes.int64)
    return tuple(
        [
            indices.floor_divide(step) % size if size else indices
            for step, size in zip(steps, sizes, strict=True)
        ]
    )


# -- for backends that have no kernel for it ----------------------------------------------------


def one_hot(self: Any, num_classes: int = -1) -> Any:
    """Return rows of zeros with a one at each class.

    Where the number of classes is given, nothing waits: one outside is noted, its row is zero.

    Raises: RuntimeError for another dtype than int64, or if the greatest class, which is waited
    for where their number is not given, is negative.
    """
    if self.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return self.new_empty((*self._sizes, num_classes))
    if num_classes == -1:
        low, high = (int(each) for each in ops.aminmax(self))
        if low < 0:
            raise RuntimeError("Class values must be non-negative.")
        num_classes = high + 1
    elif num_classes < 1:
        raise RuntimeError("Class values must be smaller than num_classes.")
    zeros = self.new_zeros((*self._sizes, num_classes))
    return ops.scatter(zeros, -1, self.unsqueeze(-1), 1)


def repeat_interleave(repeats: Any, output_size: int | None = None) -> Any:
    """Return index i repeats[i] times."""
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    ends = repeats.to(dtypes.int64).cumsum(0)
    total = int(ends.select(0, -1)) if repeats.numel() else 0
    if repeats.numel() and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")
    places = ops.arange(total, device=repeats.device)
    return ops.searchsorted(ends, places, right=True).to(repeats.dtype)


def index(self: Any, indices: Sequence[Any]) -> Any:
    """Return self[indices]. An index outside is noted, and zero is read."""
    found = places_of(self, indices)
    outer, inner = found.outer, found.inner
    seen = self.permute(found.order).reshape((*outer, found.size, *inner))
    picked = ops._read_slices(seen, len(outer), found.index.reshape((-1,)))
    return picked.reshape((*outer, *found.index._sizes, *inner))


class Places(NamedTuple):
    """An indexing expression as one index.

    order: the dims of the tensor, the indexed ones together. outer, size, inner: the sizes before
    these, their product, and the sizes behind. index: where along them, of the shape of what is
    picked there; negative numbers count from the end.
    """

    order: tuple[int, ...]
    outer: tuple[int, ...]
    size: int
    inner: tuple[int, ...]
    index: Any


class _Index(NamedTuple):
    """One index of an expression, or a mask as where it is true: the dims that it takes."""

    dims: tuple[int, ...]
    size: int
    index: Any


def places_of(self: Any, indices: Sequence[Any]) -> Places:
    """Make an indexing expression one index. Masks are waited for.

    Raises: IndexError for too many indices, wrong dtypes, masks that do not fit.
    """
    sizes = tuple(self._sizes)
    found = _plain(sizes, indices)
    dims = [dim for each in found for dim in each.dims]
    are_neighbours = not dims or dims == list(range(dims[0], dims[-1] + 1))
    first = dims[0] if dims and are_neighbours else 0
    rest = [dim for dim in range(len(sizes)) if dim not in dims]
    outer, inner = rest[:first], rest[first:]
    size, index = _merged(found)
    return Places(
        (*outer, *dims, *inner),
        tuple([sizes[dim] for dim in outer]),
        size,
        tuple([sizes[dim] for dim in inner]),
        index,
    )


def _plain(sizes: tuple[int, ...], indices: Sequence[Any]) -> list[_Index]:
    """The indices that there are, with the dims that each takes; a mask may take several."""
    found: list[_Index] = []
    dim = 0
    for index in indices:
        taken = 1
        if index is None:
            pass
        elif index.dtype.kind == "i" and index.dtype.itemsize >= 4:
            found.append(_Index((dim,), sizes[dim] if dim < len(sizes) else 0, index))
        elif index.dtype in (dtypes.bool, dtypes.uint8):
            shapes.check_mask(sizes, index._sizes, dim)
            places = ops._nonzero(index.reshape((-1,))).squeeze(1)
            taken = index.ndim
            found.append(_Index(tuple(range(dim, dim + taken)), index.numel(), places))
        else:
            raise errors.index_dtype()
        dim += taken
    if not found:
        raise errors.no_index()
    if dim > len(sizes):
        raise errors.too_many_indices(len(sizes), dim)
    return found


def _merged(found: list[_Index]) -> tuple[int, Any]:
    """Indices of several dims as places in these taken as one, and how many there are."""
    shapes_given = [each.index._sizes for each in found]
    try:
        shapes.broadcast_shapes(*shapes_given)
    except RuntimeError:
        raise errors.indices_do_not_broadcast(shapes_given) from None
    (_, size, places), *others = found
    one = None
    for _, count, index in others:
        one = ops.ones((1, 1), dtype=dtypes.int64, device=index.device) if one is None else one
        places = ops._merged_places(places, index, one.expand((size, count)))
        size *= count
    return size, places
