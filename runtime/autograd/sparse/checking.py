"""Functions of sparse tensors as functions of their values, which differences can be taken of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.autograd.sparse import compressed, structure
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.sparse import AnyPattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def over_values(
    func: Callable[..., Any], inputs: Sequence[Any], masked: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of values in place of sparse tensors, with dense results; and these values.

    masked: whether only the entries that are there vary; else all elements get one.
    """
    patterns: dict[int, tuple[Any, AnyPattern]] = {}
    given = list(inputs)
    for place, each in enumerate(inputs):
        if isinstance(each, Tensor) and sparse.is_sparse(each):
            held = each.detach() if masked else _filled(each.detach())
            held = structure.coalesced(held) if structure.is_coo(held) else held
            patterns[place] = held._sizes, structure.pattern_of(held)
            values = sparse.storage_of(held).values.clone()
            given[place] = values.requires_grad_(bool(each._key & keys.GRAD))
    if not patterns:
        return func, tuple(given)

    def of_values(*args: Any) -> Any:
        built = [
            structure.with_pattern(*patterns[place], each) if place in patterns else each
            for place, each in enumerate(args)
        ]
        return _dense(func(*built))

    return of_values, tuple(given)


def _filled(tensor: Tensor) -> Tensor:
    """The same tensor with an entry for each element."""
    every = ops.ones(tensor._sizes, dtype=tensor.dtype, device=tensor.device)
    if structure.is_compressed(tensor):
        blocks = structure.compressed_pattern(tensor).blocksize
        model = every.to_sparse(layout=tensor.layout, blocksize=blocks)
        where = compressed.of_entries(structure.compressed_pattern(model), model._sizes)
        found = structure.values_at(tensor, tensor._sizes, where)
        return structure.with_values(
            model, compressed.folded_values(structure.compressed_pattern(model), found)
        )
    model = every.to_sparse(tensor.sparse_dim())
    pattern = structure.pattern_of(model)
    return structure.with_pattern(
        tensor._sizes, pattern, structure.values_at(tensor, tensor._sizes, pattern)
    )


def _dense(found: Any) -> Any:
    if isinstance(found, (tuple, list)):
        return tuple(_dense(each) for each in found)
    return found.to_dense() if isinstance(found, Tensor) and sparse.is_sparse(found) else found
