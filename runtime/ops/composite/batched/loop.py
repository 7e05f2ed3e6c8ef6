"""Samples one by one: for operators without a rule, and for what their rules do not cover."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.batched.given import Given


def one_by_one(given: Given) -> Any:
    """Call the operator for every sample, and stack what it gives: for all that has no rule."""
    made = []
    for i in range(given.size):
        given.before_each()
        made.append(given.call(_sample(given, i)))
    if given.writes:
        return given.args[0]
    if not made:
        return _of_none(given)
    return _stacked(given, made)


def _sample(given: Given, i: int) -> list[Any]:
    args = list(given.args)
    for place, held in enumerate(given.held):
        if held is True:
            args[place] = ops.select(args[place], 0, i)
        elif held:
            pairs = zip(args[place], held, strict=True)
            args[place] = [ops.select(each, 0, i) if own else each for each, own in pairs]
    return args


def _stacked(given: Given, made: list[Any]) -> Any:
    if not isinstance(made[0], Tensor):
        return tuple([_stacked(given, list(each)) for each in zip(*made, strict=True)])
    if any(each._sizes != made[0]._sizes for each in made):
        raise errors.sizes_of_samples(given.name)
    return ops.stack(made)


def _of_none(given: Given) -> Any:
    """No samples of what a call on zeros gives."""
    args = list(given.args)
    for place, held in enumerate(given.held):
        if held is True:
            args[place] = args[place].new_zeros(args[place]._sizes[1:])
        elif held:
            pairs = zip(args[place], held, strict=True)
            args[place] = [e.new_zeros(e._sizes[1:]) if own else e for e, own in pairs]
    made = given.call(args)
    if isinstance(made, Tensor):
        return made.new_empty([0, *made._sizes])
    return tuple([each.new_empty([0, *each._sizes]) for each in made])
