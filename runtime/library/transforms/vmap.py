"""`vmap`: a function of one sample, made one of many that it computes at once.

Inside, a tensor stands for one sample and holds all (`core/batched.py`); every operator has a rule
for such tensors (`ops/composite/batched`), and maps nest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.core import batched, maps
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.library.programs import pytree

Tensor = torch.Tensor
InDims = Any
OutDims = Any

_RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: InDims = 0,
    out_dims: OutDims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return `func` mapped over a dim of its arguments, computed for all samples at once.

    in_dims: the dim of samples of every argument, None for what all share; a number for all, or in
    the arguments' structure. out_dims: where results get theirs. randomness: `"error"`,
    `"different"` for each sample, or the `"same"` for all. chunk_size: how many samples at once.

    **Raises** ValueError for dims that arguments or results do not have, or that differ in size;
    inside, RuntimeError for a sample's `.item()`, and for a write of samples into what all share.
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, spec = _taken_apart(func, in_dims, args)
        size = _common_size(leaves, dims)
        step = size if chunk_size is None else chunk_size
        made = [
            _run(func, _part(leaves, dims, at, step, size), dims, spec, randomness, kwargs)
            for at in range(0, size, step) or (0,)
        ]
        return _joined(func, made, out_dims)

    return mapped


def _run(
    func: Callable[..., Any],
    leaves: Sequence[Any],
    dims: Sequence[int | None],
    spec: Any,
    randomness: str,
    kwargs: dict[str, Any],
) -> tuple[list[Tensor], Any]:
    """The results' leaves, samples along dim 0, and their structure."""
    size = _common_size(leaves, dims)
    with entered(randomness, size) as level:
        inside = [
            leaf if dim is None else batched.batch(leaf.movedim(dim, 0), level)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        result = func(*pytree.tree_unflatten(inside, spec), **kwargs)
        made, structure = pytree.tree_flatten(result)
        return [_outside(func, each, level, size) for each in made], structure


@contextmanager
def entered(randomness: str, size: int) -> Iterator[int]:
    """Be inside one more map; the value is its level."""
    with maps.entered(maps.Map(randomness, size)):
        yield len(maps.state.entered)


def all_samples(value: Tensor, level: int, size: int) -> Tensor:
    """A tensor with a dim 0 of a map's samples, repeated if it is the same for all."""
    if batched.level_of(value) == level:
        return batched.samples_of(value).value
    return value.expand(size, *value.shape)


def _outside(func: Callable[..., Any], value: Any, level: int, size: int) -> Tensor:
    if not isinstance(value, Tensor):
        raise ValueError(
            f"vmap({_named(func)}, ...): `{_named(func)}` must only return Tensors, got type "
            f"{type(value)} as a return."
        )
    return all_samples(value, level, size)


def _named(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


# -- arguments ----------------------------------------------------------------------------------


def _taken_apart(
    func: Callable[..., Any], in_dims: InDims, args: tuple[Any, ...]
) -> tuple[list[Any], list[int | None], Any]:
    """The arguments' leaves, the dim of samples of each, and their structure."""
    called = f"vmap({_named(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{called}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(f"{called}: got no inputs. Maybe you forgot to add inputs")
    leaves, spec = pytree.tree_flatten(args)
    dims = pytree._broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{called}: in_dims is not compatible with the structure of inputs. in_dims has "
            f"structure {pytree.tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    found = [_dim_of(called, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    return leaves, found, spec


def _dim_of(called: str, leaf: Any, dim: Any) -> int | None:
    """Where a leaf has its samples; of numbers `in_dims=0` for all says nothing."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{called}: Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{called}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(
            f"{called}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= in_dim < "
            f"{leaf.ndim}."
        )
    return dim % leaf.ndim


def _common_size(leaves: Sequence[Any], dims: Sequence[int | None]) -> int:
    sizes = [x.shape[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: at least one Tensor must be mapped over: in_dims is None for all")
    if len(set(sizes)) > 1:
        raise errors.mapped_sizes(sizes)
    return int(sizes[0])


def _part(
    leaves: Sequence[Any], dims: Sequence[int | None], at: int, step: int, size: int
) -> list[Any]:
    """The arguments of some of the samples."""
    count = min(step, size - at)
    if count == size:
        return list(leaves)
    return [
        leaf if dim is None else leaf.narrow(dim, at, count)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]


# -- results ------------------------------------------------------------------------------------


def _joined(
    func: Callable[..., Any], made: Sequence[tuple[list[Tensor], Any]], out_dims: OutDims
) -> Any:
    """The results of all samples, with the dims of samples where `out_dims` wants them."""
    parts, spec = [leaves for leaves, _ in made], made[0][1]
    leaves = [each[0] if len(each) == 1 else torch.cat(each) for each in zip(*parts, strict=True)]
    dims = pytree._broadcast_to_and_flatten(out_dims, spec)
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and len(leaves) == 1:
        dims = list(out_dims)
    if dims is None:
        raise ValueError(
            f"vmap({_named(func)}, ..., out_dims={out_dims}): out_dims is not compatible with the "
            f"structure of outputs. out_dims has structure {pytree.tree_flatten(out_dims)[1]} but "
            f"outputs has structure {spec}."
        )
    moved = [_with_dim_at(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    return pytree.tree_unflatten(moved, spec)


def _with_dim_at(leaf: Tensor, dim: int | None) -> Tensor:
    if dim is None:
        return leaf.select(0, 0)
    return leaf.movedim(0, shapes.normalize_dim(dim, leaf.ndim))
