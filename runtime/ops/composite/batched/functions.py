"""Functions of `autograd.Function` inside `vmap`."""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_out._runtime.core import batched, maps
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


class Info(NamedTuple):
    """What a class's own rule is told of the map."""

    batch_size: int
    randomness: str


def apply(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the function gives: by its class's rule for all samples, or called for each."""
    level = max(map(batched.level_of, args))
    held = [batched.level_of(arg) == level for arg in args]
    values = [
        batched.samples_of(arg).value if own else arg for arg, own in zip(args, held, strict=True)
    ]
    entered = maps.state.entered[level - 1]
    if hasattr(cls, "vmap"):
        dims = tuple([0 if own else None for own in held])
        made, at = cls.vmap(Info(entered.size, entered.randomness), dims, *values)
        return _all_samples(made, at, level)
    results = [
        cls.apply(*[ops.select(v, 0, i) if own else v for v, own in zip(values, held, strict=True)])
        for i in range(entered.size)
    ]
    if isinstance(results[0], tuple):
        return tuple([_stacked(each, level) for each in zip(*results, strict=True)])
    return _stacked(results, level)


def _stacked(results: Any, level: int) -> Any:
    if not isinstance(results[0], Tensor):
        return results[0]
    return batched.batch(ops.stack(list(results)), level)


def _all_samples(made: Any, at: Any, level: int) -> Any:
    if isinstance(made, tuple):
        dims = at if isinstance(at, tuple) else [at] * len(made)
        return tuple([_all_samples(e, dim, level) for e, dim in zip(made, dims, strict=True)])
    if at is None or not isinstance(made, Tensor):
        return made
    return batched.batch(ops.movedim(made, at, 0), level)
