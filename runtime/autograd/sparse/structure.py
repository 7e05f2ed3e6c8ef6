"""The two steps that autograd records of every sparse operator: values out, values in.

What lies between them are operators on dense tensors, with gradients of their own. The gradient of
a sparse tensor is sparse and has its entries: elements without an entry are no parameters.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import engine, grad_mode, hooks
from torchgen_out._runtime.autograd.function import BackwardFunction, Function
from torchgen_out._runtime.autograd.sparse import compressed, entries
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.sparse import AnyPattern, CompressedPattern, Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def pattern_of(tensor: Tensor) -> AnyPattern:
    """Where the entries are."""
    return sparse.storage_of(tensor).pattern


def coo_pattern(tensor: Tensor) -> Pattern:
    """Where the entries of a COO tensor are."""
    pattern = pattern_of(tensor)
    assert isinstance(pattern, Pattern)
    return pattern


def compressed_pattern(tensor: Tensor) -> CompressedPattern:
    """Where the entries of a compressed tensor are."""
    pattern = pattern_of(tensor)
    assert isinstance(pattern, CompressedPattern)
    return pattern


def is_coo(tensor: Any) -> bool:
    """Whether a value is a COO tensor."""
    return isinstance(tensor, Tensor) and tensor.layout is layouts.sparse_coo


def is_compressed(tensor: Any) -> bool:
    """Whether a value is a CSR, CSC, BSR or BSC tensor."""
    return isinstance(tensor, Tensor) and tensor.layout.index > layouts.sparse_coo.index


def is_dense(value: Any) -> bool:
    """Whether a value is a strided tensor."""
    return isinstance(value, Tensor) and not sparse.is_sparse(value)


def values(tensor: Tensor) -> Tensor:
    """The values, recorded; they share the tensor's memory."""
    if tensor._key & keys.GRAD and grad_mode.state.enabled:
        made: Tensor = Values.apply(tensor)
        return made
    return sparse.storage_of(tensor).values


def with_pattern(sizes: Any, pattern: AnyPattern, given: Tensor) -> Tensor:
    """A sparse tensor of these values, recorded."""
    if given._key & keys.GRAD and grad_mode.state.enabled:
        made: Tensor = Build.apply(given, sizes, pattern)
        return made
    return sparse.build_sparse(sizes, pattern, given)


def with_values(tensor: Tensor, given: Tensor) -> Tensor:
    """A sparse tensor with other values in the same places."""
    return with_pattern(tensor._sizes, pattern_of(tensor), given)


class Values(Function):
    """Sparse tensor -> its values."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        """Hand out the values."""
        ctx.sizes, ctx.pattern = tensor._sizes, pattern_of(tensor)
        return ops.alias(sparse.storage_of(tensor).values)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """The gradient has the same entries, each place once.

        Entries of one place have equal gradients: what follows knows their sum only.
        """
        pattern = ctx.pattern
        if pattern.is_coalesced or _goes_to_build(ctx):
            return with_pattern(ctx.sizes, pattern, grad)
        merged = entries.merge(pattern, ctx.sizes)
        return with_pattern(ctx.sizes, merged.pattern, grad.index_select(0, merged.one_of_each))


def _goes_to_build(node: Any) -> bool:
    """Whether a gradient goes to where its pattern came from, and nobody else sees it on its
    way."""
    source = node.edges[0][0]
    return (
        isinstance(source, BackwardFunction)
        and getattr(source, "pattern", None) is node.pattern
        and source.extras is hooks.SEVERAL_OUTPUTS
        and not engine.is_restricted()
    )


class Build(Function):
    """Values -> sparse tensor."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, sizes: Any, pattern: AnyPattern) -> Tensor:
        """Put the values in their places."""
        ctx.set_materialize_grads(False)
        ctx.sizes, ctx.pattern = sizes, pattern
        return sparse.build_sparse(sizes, pattern, ops.detach(given))

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None) -> tuple[Tensor | None, None, None]:
        """What of the gradient lies where the entries are."""
        found = None if grad is None else values_at(grad, ctx.sizes, ctx.pattern)
        return found, None, None


def values_at(tensor: Tensor, sizes: Any, pattern: AnyPattern) -> Tensor:
    """The elements of a tensor where a pattern has entries; zero where a sparse one has none."""
    if sparse.is_sparse(tensor) and pattern_of(tensor) is pattern:
        return values(tensor)
    if isinstance(pattern, CompressedPattern):
        where = compressed.of_entries(pattern, sizes)
        return compressed.folded_values(pattern, _elements_at(tensor, sizes, where))
    return _elements_at(tensor, sizes, pattern)


def _elements_at(tensor: Tensor, sizes: Any, pattern: Pattern) -> Tensor:
    if is_dense(tensor):
        return entries.gather(tensor, pattern, sizes)
    return _found_in(coalesced(as_coo(tensor)), pattern, sizes)


def _found_in(tensor: Tensor, pattern: Pattern, sizes: Any) -> Tensor:
    """A coalesced tensor's values where the entries of a pattern are, zero where it has none."""
    own, given = coo_pattern(tensor), values(tensor)
    if entries.sparse_dims(own) != entries.sparse_dims(pattern):
        raise errors.different_shapes("sparse_mask", tensor._sizes, sizes)
    if not entries.count_of(own):
        return given.new_zeros((entries.count_of(pattern), *given._sizes[1:]))
    at, found = entries.lookup(own, pattern, sizes)
    chosen = given.index_select(0, at)
    lead = (entries.count_of(pattern), *[1] * (chosen.ndim - 1))
    return chosen.masked_fill(found.logical_not().reshape(lead), 0)


def as_coo(tensor: Tensor) -> Tensor:
    """A sparse tensor of any layout by its entries, in the order in which they are stored."""
    if is_coo(tensor):
        return tensor
    pattern = compressed_pattern(tensor)
    where = compressed.of_entries(pattern, tensor._sizes)
    return with_pattern(tensor._sizes, where, compressed.flat_values(pattern, values(tensor)))


def coalesced(tensor: Tensor) -> Tensor:
    """The tensor with entries in order, those of one place added; itself if it is so."""
    pattern = coo_pattern(tensor)
    if pattern.is_coalesced:
        return tensor
    made, sums = entries.in_order(pattern, tensor._sizes, values(tensor))
    return with_pattern(tensor._sizes, made, sums)
