"""Operators that draw random numbers, inside `vmap`: as its `randomness` says."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import maps
from torchgen_out._runtime.core.generator import Generator, default_for
from torchgen_out._runtime.ops.composite.batched.given import Given, Rule


def by_randomness(given: Given, rule: Rule, each: Rule) -> Any:
    """Refuse, draw for every sample, or the same for all.

    rule: what draws for all samples at once. each: what calls the operator sample by sample.
    Raises: RuntimeError inside `vmap(randomness="error")`.
    """
    randomness = maps.state.entered[given.level - 1].randomness
    if randomness == "error":
        raise errors.random_inside_map(given.name)
    if randomness == "different":
        with maps.drawing():
            return rule(given)
    generator = next((arg for arg in given.args if isinstance(arg, Generator)), None)
    generator = generator or default_for(given.args[0].device)
    before = generator.get_offset()
    given.before_each = lambda: generator.set_offset(before)
    with maps.drawing():
        return each(given)
