"""Kernels that are more than a call with arrays: planned ones, and element by element ones.

A small product of matrices takes 0.2 us; shapes, flags and views of arrays would take ten times
that. A planned kernel offers both: a call with arrays for any arguments, and a plan for a geometry,
which then runs over flat memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from runtime.core import shape


class Operand(NamedTuple):
    """What a plan may depend on; strides in elements."""

    dtype: Any
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie densely in row-major order."""
        return shape.is_contiguous(self.sizes, self.strides)


class Plan(NamedTuple):
    """run(out, *arrays, *offsets, number): flat arrays, and where each operand begins in its.

    Where the results' shapes depend on the data, run(*arrays, *offsets, number) returns them, each
    as a flat array and its sizes.
    """

    run: Callable[..., None]
    number: Any


Planner = Callable[..., Plan | None]


class Planned:
    """A kernel together with its planner: planner(*outs, *arguments) -> Plan or None.

    They are the kernel's own arguments, with an `Operand` in place of every array. The planner
    returns None for what only the kernel itself can do. any_order: whether results may lie densely
    in another order of dims, of which the planner is told by their strides.
    """

    def __init__(self, kernel: Callable[..., Any], planner: Planner, any_order: bool) -> None:
        self.kernel = kernel
        self.planner = planner
        self.any_order = any_order
        self.__name__ = kernel.__name__
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any) -> Any:
        return self.kernel(*args)


def planned(planner: Planner, any_order: bool = False) -> Callable[[Callable[..., Any]], Planned]:
    """Give a kernel its planner."""
    return lambda kernel: Planned(kernel, planner, any_order)


class Elementwise:
    """A kernel that may be given flat arrays in place of dense ones of one shape."""

    def __init__(self, kernel: Callable[..., None]) -> None:
        self.kernel = kernel
        self.__name__ = kernel.__name__
        self.__doc__ = kernel.__doc__

    def __call__(self, *args: Any) -> None:
        self.kernel(*args)


class Cast(Elementwise):
    """An element by element kernel that copies `self` or `src`, cast to the result's dtype."""
