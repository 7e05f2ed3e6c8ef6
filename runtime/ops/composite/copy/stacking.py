"""Tensors put together: side by side, on top of each other, into blocks; and all combinations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.ops.composite.view.broadcasting import meshgrid
from torchgen_out._runtime.ops.composite.view.reshaping import own_view
from torchgen_out._runtime.ops.shapes.copy import common_dtype


def _not_empty(name: str, tensors: Sequence[Any]) -> None:
    if not len(tensors):
        raise RuntimeError(f"{name} expects a non-empty TensorList")


def hstack(tensors: Sequence[Any]) -> Any:
    """Along dim 1; vectors along their only dim."""
    if not tensors:
        _not_empty("hstack", tensors)
    parts = [x if x._sizes else _unsqueeze(x, 0) for x in tensors]
    dim = 0 if len(parts[0]._sizes) == 1 else 1
    return calls.cat[tuple([x._key for x in parts])](parts, dim)


def _cat(tensors: list[Any], dim: int) -> Any:
    return calls.cat[tuple([x._key for x in tensors])](tensors, dim)


def _stack(tensors: Sequence[Any], dim: int) -> Any:
    return calls.stack[tuple([x._key for x in tensors])](tensors, dim)


def _are_alike_vectors(tensors: Sequence[Any]) -> bool:
    """Whether stacking asks no views of tensors to be joined, as nothing of these is recorded."""
    sizes = tensors[0]._sizes
    return len(sizes) == 1 and all(
        each._sizes == sizes and not each._key & keys.SEEN for each in tensors
    )


def _unsqueeze(tensor: Any, dim: int) -> Any:
    return calls.unsqueeze[tensor._key](tensor, dim)


def _view(tensor: Any, sizes: tuple[int, ...]) -> Any:
    return calls.view[tensor._key](tensor, sizes)


def vstack(tensors: Sequence[Any]) -> Any:
    """Along dim 0; vectors as rows."""
    if not tensors:
        _not_empty("vstack", tensors)
    if min([len(x._sizes) for x in tensors]) > 1:
        return calls.cat[tuple([x._key for x in tensors])](tensors, 0)
    if _are_alike_vectors(tensors):
        return _stack(tensors, 0)
    return _cat([_as_row(x) for x in tensors], 0)


def _as_row(tensor: Any) -> Any:
    """A vector or a scalar as a matrix of one row."""
    ndim = len(tensor._sizes)
    if ndim > 1:
        return tensor
    return _unsqueeze(tensor, 0) if ndim else _view(tensor, (1, 1))


def dstack(tensors: Sequence[Any]) -> Any:
    """Along dim 2; vectors and matrices as (1, n, 1) and (n, m, 1)."""
    _not_empty("dstack", tensors)
    return _cat([_three_dims(x) for x in tensors], 2)


def _three_dims(tensor: Any) -> Any:
    ndim = len(tensor._sizes)
    if ndim < 2:
        return _view(tensor, (1, *(tensor._sizes or (1,)), 1))
    return _unsqueeze(tensor, -1) if ndim == 2 else tensor


def column_stack(tensors: Sequence[Any]) -> Any:
    """Along dim 1; vectors as columns."""
    _not_empty("column_stack", tensors)
    if _are_alike_vectors(tensors):
        return _stack(tensors, 1)
    return _cat([_as_column(x) for x in tensors], 1)


def _as_column(tensor: Any) -> Any:
    ndim = len(tensor._sizes)
    if ndim > 1:
        return tensor
    return _unsqueeze(tensor, 1) if ndim else _view(tensor, (1, 1))


def block_diag(tensors: Sequence[Any]) -> Any:
    """A matrix with these blocks on its diagonal; vectors are rows."""
    if not len(tensors):
        return ops.zeros((1, 0))
    blocks = []
    for i, tensor in enumerate(tensors):
        if len(tensor._sizes) > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {tensor.ndim} dimensions"
            )
        blocks.append(_as_row(tensor))
    if len({block._key & keys.DTYPE_MASK for block in blocks}) > 1:
        common = common_dtype(tensors)
        blocks = [block if block.dtype is common else block.to(common) for block in blocks]
    widths = [width for _, width in [block._sizes for block in blocks]]
    right, left, rows = sum(widths), 0, []
    for block, own in zip(blocks, widths, strict=True):
        right -= own
        rows.append(calls.constant_pad_nd[block._key](block, (left, right), 0))
        left += own
    return _cat(rows, 0)


def cartesian_prod(tensors: Sequence[Any]) -> Any:
    """All tuples of one element of each vector, as rows."""
    for tensor in tensors:
        if tensor.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(tensors, "ij")
    return own_view(_stack(grids, -1), (math.prod(grids[0]._sizes), len(tensors)))


def combinations(self: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All sets of r elements of a vector, as rows."""
    if self.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(self.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return self.new_empty((0,))
    count = math.comb(max(self.shape[0] + r - 1, 0) if with_replacement else self.shape[0], r)
    self.new_empty((count, r))  # as large as the result: what is too much is refused at once
    is_kept = count * r <= MOST_PLACES_KEPT and not self._key & keys.NOT_HERE
    choose = _kept_choice if is_kept else _chosen
    places = choose(self.shape[0], r, bool(with_replacement), self.device)
    return own_view(self.index_select(0, places), (count, r))


MOST_PLACES_KEPT = 1 << 12
"""Up to how many places combinations are remembered."""


def _chosen(size: int, r: int, again: bool, on: device) -> Any:
    """The places of all combinations, one after the other: each of one place fewer is
    followed by all places behind its last one. again: by that, too."""
    skipped = int(not again)
    rows = ops.arange(size, device=on).reshape((-1, 1))
    for _ in range(r - 1):
        behind = size - skipped - rows.select(1, -1)
        rows = rows.repeat_interleave(behind, 0)
        begins = (behind.cumsum(0) - behind).repeat_interleave(behind)
        places = ops.arange(rows.shape[0], device=on) - begins
        places = places + rows.select(1, -1) + skipped
        rows = ops.cat((rows, places.reshape((-1, 1))), 1)
    return rows.reshape(-1)


_kept_choice = lru_cache(maxsize=64)(_chosen)


# -- sums and differences along a dim ----------------------------------------------------------


def _neighbours(y: Any, dim: int) -> tuple[Any, Any]:
    narrow, rest = calls.narrow[y._key], y.size(dim) - 1
    if rest < 0:
        return narrow(y, dim, 0, 0), narrow(y, dim, 0, 0)
    return narrow(y, dim, 0, rest), narrow(y, dim, 1, rest)


def _place(y: Any, dim: int) -> int:
    """The dim of y counted from the front: x may have more of them."""
    return normalize_dim(dim, y.ndim)


def _steps(name: str, y: Any, x: Any, dim: int) -> Any:
    """The distances of the sample points, to be multiplied with y."""
    if x.ndim == 1 and y.ndim != 1:
        if x.shape[0] != y.size(dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        sizes = [1] * y.ndim
        sizes[dim] = x.shape[0]
        x = x.reshape(sizes)
    elif x.ndim == y.ndim == 1 and x.shape[0] != y.shape[0]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    elif x.ndim < y.ndim:
        x = x.reshape((*[1] * (y.ndim - x.ndim), *x.shape))
    first, second = _neighbours(x, dim)
    return second - first


def trapezoid_x(y: Any, x: Any, dim: int = -1) -> Any:
    """The integral over sample points."""
    dim = _place(y, dim)
    if not y.size(dim):
        return _no_points(y, dim)
    _refuse_bools("trapezoid", y, x)
    first, second = _neighbours(y, dim)
    return ((first + second) * _steps("trapezoid", y, x, dim)).sum(dim) / 2.0


def trapezoid_dx(y: Any, dx: Any = 1, dim: int = -1) -> Any:
    """The integral over points at one distance: the ends count half."""
    if not y.size(dim):
        return _no_points(y, dim)
    _refuse_bools("trapezoid", y)
    ends = y.select(dim, 0) + y.select(dim, -1)
    return (y.sum(dim) - ends * 0.5) * dx


def _refuse_bools(name: str, y: Any, x: Any = None) -> None:
    """Raises: RuntimeError for points or places that are bools."""
    if y.dtype is dtypes.bool or (x is not None and x.dtype is dtypes.bool):
        named = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {named}, but bool is not supported")


def _no_points(y: Any, dim: int) -> Any:
    """The integral over no points."""
    sizes = list(y._sizes)
    del sizes[_place(y, dim)]
    return y.new_zeros(sizes)


def cumulative_trapezoid_x(y: Any, x: Any, dim: int = -1) -> Any:
    """The integrals up to each sample point but the first."""
    _refuse_bools("cumulative_trapezoid", y, x)
    dim = _place(y, dim)
    first, second = _neighbours(y, dim)
    return ((first + second) * _steps("cumulative_trapezoid", y, x, dim)).cumsum(dim) / 2.0


def cumulative_trapezoid_dx(y: Any, dx: Any = 1, dim: int = -1) -> Any:
    """The integrals over points at one distance."""
    _refuse_bools("cumulative_trapezoid", y)
    first, second = _neighbours(y, dim)
    return (first + second).cumsum(dim) * (dx / 2.0)


def diff(self: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The n-th differences of neighbours; of no order the tensor alone, as in PyTorch."""
    if self.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return self.clone()
    result = self
    if prepend is not None or append is not None:
        result = ops.cat([x for x in (prepend, self, append) if x is not None], dim)
    is_bool = result.dtype is dtypes.bool
    for _ in range(n if n == 1 else min(n, result.size(dim))):
        first, second = _neighbours(result, dim)
        result = second.logical_xor(first) if is_bool else second - first
    return result
