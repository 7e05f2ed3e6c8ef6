"""What a text that draws is written for, and the parts of it that are the same on every backend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.draw import DrawProgram


class DrawForm(NamedTuple):
    """What a kernel is compiled for."""

    program: DrawProgram
    compute: dtypes.dtype
    results: tuple[dtypes.dtype, ...]
    operands: tuple[dtypes.dtype, ...]
    words_each: int
    has_parts: bool
    """Whether the numbers are the parts of complex ones."""

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """What results and operands are called."""
        results = [f"out{i}" for i in range(len(self.results))]
        return results, [f"operand{i}" for i in range(len(self.operands))]

    @property
    def numbers(self) -> list[str]:
        """The formula's parameters that are numbers of the call."""
        count = self.program.formula.__code__.co_argcount - 1
        count -= len(self.program.inputs) + self.program.asks_part
        return [f"number{i}" for i in range(count)]

    @property
    def width(self) -> str:
        """How the name of a function of `distributions` ends: how many words it takes."""
        return "single" if self.words_each == 1 else "double"

    @property
    def maker(self) -> str:
        """The name of the function of `distributions` that makes a number of words; of normal
        numbers, each backend has its own."""
        if self.program.probability is not None:
            return "chance_of_element"
        return f"{self.program.word}_{self.width}"

    def made(self, words: list[str], probability: str) -> str:
        """The number that the formula reads. probability: the element of that operand, if any."""
        arguments = [*words]
        if self.program.probability is not None:
            arguments.append(probability)
        elif self.program.word in ("below", "chance"):
            arguments.append("parameter")
        return f"{self.maker}({', '.join(arguments)})"

    def values(self, number: str, elements: list[str], place: str) -> tuple[list[str], str]:
        """The names of the formula's results, and the statement that computes them.

        place: the number's in the results, which tells real parts from imaginary ones.
        """
        arguments = [number, *elements, *self.numbers]
        if self.program.asks_part:
            arguments.append(f"{place} % 2 == 0" if self.has_parts else "True")
        values = [f"value{i}" for i in range(len(self.results))]
        call = f"{self.program.formula.__name__}({', '.join(arguments)})"
        return values, f"{', '.join(values)} = {call}"

    def operand(self, name: str) -> tuple[str, dtypes.dtype]:
        """What an operand is called, and its dtype; in place `self` is the result."""
        names = self.program.operands
        if name not in names:
            return "out0", self.results[0]
        at = names.index(name)
        return f"operand{at}", self.operands[at]

    def ends(self, dtype: dtypes.dtype) -> bool:
        """Whether numbers of a result end where its dtype does: integers made of fractions."""
        return self.compute.kind == "f" and dtype.kind == "i"


def ended(value: str, dtype: dtypes.dtype) -> str:
    """A number as an integer of a dtype, or the least or the greatest of it."""
    limits = np.iinfo(dtype.numpy)
    low, high = (f"np.{dtype.name}({limit})" for limit in (limits.min, limits.max))
    inside = f"{low} if {value} <= T({float(limits.min)}) else np.{dtype.name}({value})"
    return f"{high} if {value} >= T({float(limits.max)}) else {inside}"
