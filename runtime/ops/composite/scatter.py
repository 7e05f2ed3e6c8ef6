"""Writing to places that index tensors or masks name, for backends without kernels for it.

Statements do the work: each of these sees its operands as they do. All may be given self as `out`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.finfo import iinfo
from torchgen_out._runtime.dispatch import ops


def _begin(out: Any, self: Any) -> None:
    """Begin with the elements of self, unless they are there."""
    if out is not self:
        out.copy_(self)


# -- combining ----------------------------------------------------------------------------------


def scatter_reduce(
    out: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> None:
    """Combine `src` into places along `dim` by sum, prod, mean, amax or amin."""
    _begin(out, self)
    if not index.numel():
        return
    if not include_self:
        ops.scatter_(out, dim, index, _identity(reduce, out.dtype))
    if reduce != "mean":
        ops._combine_elements_(out, dim, index, src, reduce)
        return
    counts = ops.full(out._sizes, int(include_self), dtype=dtypes.int64, device=out.device)
    ops.scatter_add_(counts, dim, index, counts.new_ones(()).expand(index.shape))
    _average(out, counts, lambda sums: ops.scatter_add_(sums, dim, index, src.to(sums.dtype)))


def index_reduce(
    out: Any, self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> None:
    """Combine the slices of `source` into the slices that `index` names."""
    _begin(out, self)
    if not index.numel():
        return
    if not include_self:
        nothing = out.new_full((), _identity(reduce, out.dtype)).expand(source.shape)
        ops.index_copy_(out, dim, index.to(dtypes.int64), nothing)
    if reduce != "mean":
        ops._combine_slices_(out, dim, index, source, reduce)
        return
    sizes = [size if each == dim % out.ndim else 1 for each, size in enumerate(out._sizes)]
    counts = ops.full((prod(sizes),), int(include_self), dtype=dtypes.int64, device=out.device)
    ops.index_add_(counts, 0, index, counts.new_ones(()).expand((index.numel(),)))
    counts = counts.view(sizes)
    _average(out, counts, lambda sums: ops.index_add_(sums, dim, index, source.to(sums.dtype)))


def _average(out: Any, counts: Any, add: Callable[[Any], Any]) -> None:
    """Have values added, and divide by their counts, integers downwards; round to 16 bits once."""
    sums = out.to(out.dtype.opmath)
    add(sums)
    counts.clamp_(min=1)
    if out.dtype.kind in "fc":
        sums.div_(counts)
    else:
        sums.floor_divide_(counts)
    _begin(out, sums)


def _identity(reduce: str, dtype: dtypes.dtype) -> Any:
    """The value that changes none that it is combined with."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    is_greatest = reduce in ("amax", "max")
    if dtype.kind == "f":
        return -inf if is_greatest else inf
    if dtype is dtypes.bool:
        return not is_greatest
    return iinfo(dtype).min if is_greatest else iinfo(dtype).max


# -- replacing, adding --------------------------------------------------------------------------


def index_fill(out: Any, self: Any, dim: int, index: Any, value: Any) -> None:
    """Fill the slices that `index` names with a number, or with the element of a 0-d tensor."""
    _begin(out, self)
    sizes = list(out._sizes) or [1]
    sizes[dim] = index.numel()
    number = value.to(out.dtype) if hasattr(value, "shape") else out.new_full((), value)
    ops._put_slices_(out, dim, index, number.expand(sizes), False)


def index_put(
    out: Any, self: Any, indices: Sequence[Any], values: Any, accumulate: bool = False
) -> None:
    """out[indices] = values, or += with every repeated place counted."""
    found = _places(out, indices)
    outer, inner = found.outer, found.inner
    full = (*outer, *found.index._sizes, *inner)
    spread = _spread(values, full)
    _begin(out, self)
    if not spread.numel():
        return
    turned = out.permute(found.order)
    target = turned.reshape((*outer, found.size, *inner))
    source = spread.reshape((*outer, found.index.numel(), *inner))
    ops._put_slices_(target, len(outer), found.index.reshape((-1,)), source, accumulate)
    if target._storage is not out._storage:
        turned.copy_(target.view(turned._sizes))


def _spread(values: Any, sizes: tuple[int, ...]) -> Any:
    """Values broadcast to what is indexed.

    Raises: RuntimeError if they do not broadcast.
    """
    given = tuple(values._sizes)
    while len(given) > len(sizes) and given[0] == 1:
        given = given[1:]
    try:
        fits = tuple(shapes.broadcast_shapes(given, sizes)) == sizes
    except RuntimeError:
        fits = False
    if not fits:
        raise errors.values_do_not_broadcast(values._sizes, sizes)
    return values.reshape(given).expand(sizes)


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


def _places(self: Any, indices: Sequence[Any]) -> Places:
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
            _check_mask(sizes, index, dim)
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


def _check_mask(sizes: tuple[int, ...], mask: Any, first: int) -> None:
    for k, size in enumerate(mask._sizes):
        if first + k >= len(sizes):
            raise errors.too_many_indices(len(sizes), first + mask.ndim)
        if size != sizes[first + k]:
            raise errors.mask_mismatch(mask.shape, k, sizes, first + k)


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


def masked_scatter(out: Any, self: Any, mask: Any, source: Any) -> None:
    """Write the elements of `source` in order to the places where `mask` is true.

    Nobody waits for their number: if it is too large, whoever waits next is told.
    """
    _begin(out, self)
    target = out.reshape((-1,))
    flags = mask.expand(out._sizes).reshape((-1,))
    count = flags.cumsum(0)
    ops._masked_copy_(target, count.add(flags, alpha=-1), count, source.reshape((-1,)))
    if target._storage is not out._storage:
        out.copy_(target.view(out._sizes))
