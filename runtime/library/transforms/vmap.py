"""`vmap`: a function of one sample, made one of many that it computes at once.

Inside, a tensor stands for one sample and holds all (`core/batched.py`); every operator has a rule
for such tensors (`ops/composite/batched`), and maps nest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.core import batched, maps
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.library.programs import pytree

Tensor = torch.Tensor
InDims = Any
OutDims = Any
Results = tuple[list[Any], list[int | None], Any]
"""The leaves of a function's results, the dim of samples of each, and their structure."""

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
    the arguments' structure. out_dims: where results get theirs, None for what all share.
    randomness: `"error"`, `"different"` for each sample, or the `"same"` for all. chunk_size: how
    many samples at once.

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

        def run(leaves: Sequence[Any], size: int) -> Results:
            return _run(func, leaves, size, dims, spec, out_dims, randomness, kwargs)

        if chunk_size is None or size <= chunk_size:
            return _joined([run(leaves, size)])
        starts = range(0, size, chunk_size)
        counts = [min(chunk_size, size - at) for at in starts]
        return _joined(
            [
                run(_part(leaves, dims, at, count), count)
                for at, count in zip(starts, counts, strict=True)
            ]
        )

    return mapped


def _run(
    func: Callable[..., Any],
    leaves: Sequence[Any],
    size: int,
    dims: Sequence[int | None],
    spec: Any,
    out_dims: OutDims,
    randomness: str,
    kwargs: dict[str, Any],
) -> Results:
    """The results, samples along dim 0 of all that `out_dims` gives a dim."""
    with maps.entered(maps.Map(randomness, size)) as level:
        inside = [
            leaf if dim is None else batched.batch(leaf.movedim(dim, 0), level)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        result = func(*pytree.tree_unflatten(inside, spec), **kwargs)
        made, structure = pytree.tree_flatten(result)
        places = _result_dims(func, out_dims, structure)
        whole = [
            _outside(func, each, dim, level, size) for each, dim in zip(made, places, strict=True)
        ]
        return whole, places, structure


def all_samples(value: Tensor, level: int, size: int) -> Tensor:
    """A tensor with a dim 0 of a map's samples, repeated if it is the same for all."""
    if batched.level_of(value) == level:
        return batched.samples_of(value).value
    return value.expand(size, *value.shape)


def _outside(func: Callable[..., Any], value: Any, dim: int | None, level: int, size: int) -> Any:
    """All samples of a result; itself if they share it, and `out_dims` says so."""
    if dim is None:
        if batched.level_of(value) == level:
            raise ValueError(
                f"vmap({_named(func)}, ...): `{_named(func)}` can not return a BatchedTensor when "
                "out_dim is None"
            )
        return value
    if not isinstance(value, Tensor):
        raise ValueError(
            f"vmap({_named(func)}, ...): `{_named(func)}` must only return Tensors, got type "
            f"{type(value)}. Did you mean to set out_dims= to None for output?"
        )
    return all_samples(value, level, size)


def _named(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


# -- arguments ----------------------------------------------------------------------------------


def _taken_apart(
    func: Callable[..., Any], in_dims: InDims, args: tuple[Any, ...]
) -> tuple[list[Any], list[int | None], Any]:
    """The arguments' leaves, the dim of samples of each, and their structure."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{_called(func, in_dims)}: expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_named(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or "
            "you are trying to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = pytree.tree_flatten(args)
    dims = pytree._broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{_called(func, in_dims)}: in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {pytree.tree_flatten(in_dims)[1]} but inputs has structure "
            f"{spec}."
        )
    found = [
        dim if dim is None else _dim_of(func, in_dims, leaf, dim)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]
    return leaves, found, spec


def _called(func: Callable[..., Any], in_dims: InDims) -> str:
    return f"vmap({_named(func)}, in_dims={in_dims}, ...)(<inputs>)"


def _dim_of(func: Callable[..., Any], in_dims: InDims, leaf: Any, dim: Any) -> int:
    """Where a leaf has its samples; of numbers `in_dims=0` for all says nothing."""
    if isinstance(leaf, Tensor) and isinstance(dim, int) and -leaf.ndim <= dim < leaf.ndim:
        return dim % leaf.ndim
    called = _called(func, in_dims)
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
    raise ValueError(
        f"{called}: Got in_dim={dim} for some input, but that input is a Tensor of "
        f"dimensionality {leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= in_dim < "
        f"{leaf.ndim}."
    )


def _common_size(leaves: Sequence[Any], dims: Sequence[int | None]) -> int:
    sizes = [x._sizes[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over, in_dims is None for all")
    if sizes.count(sizes[0]) < len(sizes):
        raise errors.mapped_sizes(sizes)
    return int(sizes[0])


def _part(leaves: Sequence[Any], dims: Sequence[int | None], at: int, count: int) -> list[Any]:
    """The arguments of some of the samples."""
    return [
        leaf if dim is None else leaf.narrow(dim, at, count)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]


# -- results ------------------------------------------------------------------------------------


def _result_dims(func: Callable[..., Any], out_dims: OutDims, spec: Any) -> list[int | None]:
    """Where each result has its samples."""
    if out_dims.__class__ is int:
        return [out_dims] * int(spec.num_leaves)
    called = f"vmap({_named(func)}, ..., out_dims={out_dims})"
    if not all(isinstance(each, int | None) for each in pytree.tree_leaves(out_dims)):
        raise ValueError(
            f"{called}: `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )
    dims = pytree._broadcast_to_and_flatten(out_dims, spec)
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.num_leaves == 1:
        dims = list(out_dims)
    if dims is None:
        raise ValueError(
            f"{called}(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {pytree.tree_flatten(out_dims)[1]} but outputs has structure "
            f"{spec}."
        )
    return list(dims)


def _joined(made: Sequence[Results]) -> Any:
    """The results of all chunks, with the dims of samples where `out_dims` wants them."""
    chunks, dims, spec = [leaves for leaves, _, _ in made], made[0][1], made[0][2]
    return pytree.tree_unflatten(
        [_with_dim_at(each, dim) for *each, dim in zip(*chunks, dims, strict=True)], spec
    )


def _with_dim_at(chunks: Sequence[Any], dim: int | None) -> Any:
    if dim is None:
        return chunks[0]
    whole = chunks[0] if len(chunks) == 1 else torch.cat(list(chunks))
    to = shapes.normalize_dim(dim, whole.ndim)
    return whole.movedim(0, to) if to else whole
