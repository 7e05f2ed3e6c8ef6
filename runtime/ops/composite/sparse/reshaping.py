"""Dims of sparse tensors moved, repeated and regrouped; rows of a sparse table."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import conversion, views
from torchgen_out._runtime.ops.views import sizes as geometry


def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    """Some dims at other places; the rest keeps its order.

    Raises: RuntimeError for dims named twice, or as many sources as there are no destinations.
    """
    given = [[each] if isinstance(each, int) else list(each) for each in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should "
            f"contain the same number of dims as destination ({given[1]} dims)"
        )
    sources, targets = ([shapes.normalize_dim(dim, self.ndim) for dim in each] for each in given)
    for name, each in (("source", sources), ("destination", targets)):
        if len(set(each)) != len(each):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({each})")
    order = [dim for dim in range(self.ndim) if dim not in sources]
    for target, dim in sorted(zip(targets, sources, strict=True)):
        order.insert(target, dim)
    return views.permute(self, order)


def view(self: Tensor, size: Sequence[int]) -> Tensor:
    """The same elements under other dims with indices; dims of the values stay.

    Raises: RuntimeError for other elements or dims; NotImplementedError for compressed layouts.
    """
    sizes = shapes.infer_size(size, self.numel())
    if sizes == tuple(self._sizes):
        return conversion.alias(self)
    if structure.is_compressed(self):
        raise errors.no_rule_for_layout("view", self.layout)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    own, rest = self._sizes[:count], self._sizes[count:]
    lead = sizes[: len(sizes) - len(rest)]
    if tuple(sizes[len(lead) :]) != tuple(rest) or prod(lead) != prod(own):
        raise errors.no_rule_for_layout("view", self.layout, f"dims of values {list(rest)} stay")
    places = entries.positions(pattern, self._sizes) if count else _no_places(pattern)
    indices = entries.indices_at(places, lead) if lead else pattern.indices.narrow(0, 0, 0)
    return structure.with_pattern(sizes, Pattern(indices, pattern.is_coalesced), given)


def _no_places(pattern: Pattern) -> Tensor:
    return pattern.indices.new_zeros((entries.count_of(pattern),))


def expand(self: Tensor, size: Sequence[int], implicit: bool = False) -> Tensor:
    """The tensor repeated along new dims and those of size 1: entries with indices are copied.

    Raises: RuntimeError for other sizes.
    """
    sizes, _, _ = geometry.expand(self, size)
    missing = len(sizes) - self.ndim
    for _ in range(missing):
        self = views.unsqueeze(self, 0)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    count = entries.sparse_dims(pattern)
    if tuple(sizes[count:]) != tuple(self._sizes[count:]):
        given = given.expand((-1, *sizes[count:]))
    for dim in range(count - 1, -1, -1):
        if sizes[dim] != self._sizes[dim]:
            pattern, given = _repeated(pattern, given, dim, sizes[dim])
    return structure.with_pattern(sizes, pattern, given)


def _repeated(pattern: Pattern, given: Tensor, dim: int, times: int) -> tuple[Pattern, Tensor]:
    """The entries for each index of a dim that had one."""
    number = entries.count_of(pattern)
    on = pattern.indices.device
    which = ops.arange(number, device=on).repeat((times,))
    rows = pattern.indices.index_select(1, which)
    rows.select(0, dim).copy_(ops.arange(times, device=on).repeat_interleave(number))
    is_ordered = pattern.is_coalesced and (dim == 0 or number < 2)
    return Pattern(rows, is_ordered), given.index_select(0, which)


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a sparse table, as a sparse tensor.

    Raises: NotImplementedError for sparse indices, and for other gradients than plain ones.
    """
    if not structure.is_coo(weight) or not structure.is_dense(indices):
        raise errors.no_rule_for_layout("embedding", indices.layout, "the table may be COO")
    if scale_grad_by_freq or padding_idx >= 0:
        raise errors.no_rule_for_layout("embedding", weight.layout, "with plain gradients only")
    found = views.index_select(weight, 0, indices.reshape((-1,)))
    return view(found, [*indices._sizes, *weight._sizes[1:]])


def view_as_real(self: Tensor) -> Tensor:
    """Complex values as pairs of real ones, along a new dim of the values."""
    pairs = ops.view_as_real(structure.values(self))
    return structure.with_pattern([*self._sizes, 2], structure.pattern_of(self), pairs)
