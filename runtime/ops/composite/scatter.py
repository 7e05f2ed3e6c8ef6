"""Writing to places that index tensors or masks name, for backends without kernels for it.

Statements do the work: each of these sees its operands as they do. All may be given self as `out`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.finfo import iinfo
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.indexing import places_of


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
    found = places_of(out, indices)
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
