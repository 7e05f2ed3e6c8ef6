"""Formulas over a generator's stream, as every backend takes them.

A number of a draw takes one word of the stream, or two: in float64, and where whole numbers are
drawn from more than 2**32. `cpu/random/philox.py` says which words.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

LIBRARY = "torchgen_out.kernels.draw"
"""The module that is generated of the library's formulas."""
_programs: dict[str, DrawProgram] = {}
"""Those of the library, by the names of their operators."""


def program_of(name: str) -> DrawProgram:
    """The program of an operator of the library."""
    if name not in _programs:
        importlib.import_module(LIBRARY)
    return _programs[name]


@dataclass(frozen=True, eq=False)
class DrawProgram:
    """One operator that draws a number for each element.

    formula: of the number, the elements of `inputs`, and the numbers of a call. numbers: from the
    scalars to what the word is called with, and those numbers. word: what the formula reads of the
    stream: 'uniform', 'positive', 'normal', 'below' or 'chance'. arguments: the operator's, in
    order. generator: the one among them that is drawn from, or None for the device's own.
    probability: the tensor whose elements are chances. asks_part: whether the formula is
    told, last, if an element is the real part of a complex number. is_wide: whether it computes
    floats in float64.
    """

    name: str
    formula: Callable[..., Any]
    numbers: Callable[..., tuple[float, ...]]
    word: str
    arguments: tuple[str, ...]
    scalars: tuple[str, ...]
    inputs: tuple[str, ...]
    generator: str | None = None
    probability: str | None = None
    is_inplace: bool = False
    results: int = 1
    asks_part: bool = False
    is_wide: bool = False
    _made: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.formula.__module__ == LIBRARY:
            _programs[self.name] = self

    def kernel_for(self, folder: str) -> Any:
        """The kernel of a backend: what the module `random.drawing` of its folder makes of this."""
        if folder not in self._made:
            module = importlib.import_module(f"{folder}.random.drawing")
            self._made[folder] = module.make_kernel(self)
        return self._made[folder]

    @property
    def operands(self) -> tuple[str, ...]:
        """The tensors that are read besides the results, in the operator's order."""
        read = {*self.inputs, self.probability} - ({"self"} if self.is_inplace else set())
        return tuple([name for name in self.arguments if name in read])

    def given(self, args: Any) -> dict[str, Any]:
        """The arguments behind the results by name; in place `self` is the result."""
        return dict(zip(self.arguments[self.is_inplace :], args, strict=True))

    def values(self, given: dict[str, Any], dtype: dtypes.dtype) -> tuple[Any, ...]:
        """What the word is called with, and the numbers of the formula."""
        known = {**given, "largest": largest(dtype)} if "largest" in self.scalars else given
        parameter, *numbers = self.numbers(*[known[name] for name in self.scalars])
        if self.word == "normal" and dtype.is_complex:
            parameter /= math.sqrt(2)  # the parts share the variance
        return (parameter, *numbers)

    def compute_of(self, dtype: dtypes.dtype) -> dtypes.dtype:
        """The type in which the formula computes: of complex numbers, each part by itself."""
        if self.word == "below":
            return dtypes.int64
        own = dtypes.float64 if self.is_wide else dtype.opmath
        return own.to_real() if self.is_by_parts else own

    @property
    def is_by_parts(self) -> bool:
        """Whether complex numbers are drawn as real and imaginary parts."""
        return self.word in ("uniform", "positive", "normal")

    def shapes(self, *args: Any) -> Any:
        """Sizes and dtypes of the results: all tensors' shape, the first one's dtype."""
        given = dict(zip(self.arguments, args, strict=True))
        tensors = [given[name] for name in self.operands]
        if self.is_inplace:
            for each in tensors:
                check_expands(each.shape, given["self"].shape)
            return None
        sizes = tensors[0].shape
        for each in tensors[1:]:
            sizes = shapes.broadcast_shapes(sizes, each.shape)
        found = (sizes, tensors[0].dtype)
        return found if self.results == 1 else (found,) * self.results


def check_expands(own: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Raise RuntimeError unless a tensor of sizes `own` expands to `target`."""
    if len(own) > len(target):
        raise errors.expand_to_fewer_dims(own, target)
    for dim in range(-1, -len(own) - 1, -1):
        if own[dim] not in (1, target[dim]):
            raise errors.expand_mismatch(target[dim], own[dim], len(target) + dim, target, own)


def largest(dtype: dtypes.dtype) -> int:
    """The largest whole number up to which a dtype holds all; 1 of truth values."""
    if dtype is dtypes.bool:
        return 1
    own = dtype.opmath.numpy
    return 2 ** (np.finfo(own).nmant + 1) if own.kind == "f" else int(np.iinfo(own).max)


def words_each(word: str, compute: dtypes.dtype, parameter: Any) -> int:
    """How many words of the stream a number takes."""
    if word == "below":
        return 2 if parameter > 2**32 else 1
    return 2 if word != "chance" and compute is dtypes.float64 else 1


def threshold(p: float) -> int:
    """How many of the 2**32 words stand for an event of probability p."""
    return round(float(p) * 2**32)
