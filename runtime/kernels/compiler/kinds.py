"""The types of what kernels compute with: names, sizes, and how LLVM holds them.

Kernels' texts know them by Numba's names, and ask of them what they would ask of Numba's. A tuple's
type is a Python tuple of its elements'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from llvmlite import ir


class Kind:
    """The type of a number, or of nothing.

    register: how LLVM holds a value. memory: the same in an array, or as an argument.
    """

    def __init__(self, name: str, bitwidth: int, register: Any, memory: Any = None) -> None:
        self.name = name
        self.bitwidth = bitwidth
        self.register = register
        self.memory = memory or register

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *arguments: Any) -> Signature:
        """What a function returns that takes such arguments."""
        return Signature(self, arguments)


class Integer(Kind):
    """A whole number."""

    def __init__(self, name: str, bitwidth: int) -> None:
        super().__init__(name, bitwidth, ir.IntType(bitwidth))
        self.signed = name.startswith("int")
        self.minval = -(1 << bitwidth - 1) if self.signed else 0
        self.maxval = self.minval + (1 << bitwidth) - 1


class Float(Kind):
    """A number with a fraction."""


class Boolean(Kind):
    """A truth value: one bit, and a byte in memory."""


class Complex(Kind):
    """Two floats."""

    def __init__(self, name: str, part: Float) -> None:
        super().__init__(name, 2 * part.bitwidth, ir.LiteralStructType([part.register] * 2))
        self.part = part


class Signature(NamedTuple):
    """What a function takes and returns."""

    return_type: Any
    args: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """The type of an array. layout: C is dense, A has any strides. aligned: where LLVM expects."""

    dtype: Any
    ndim: int
    layout: str
    mutable: bool = True
    aligned: bool = True

    def copy(self, **changes: Any) -> Array:
        """The same with other properties."""
        return replace(self, **changes)

    @property
    def register(self) -> Any:
        """As Numba's functions take it: memory, owner, numel, item size, data, shape, strides."""
        word, some = ir.IntType(64), ir.IntType(8).as_pointer()
        sizes = ir.ArrayType(word, self.ndim)
        parts = [some, some, word, word, self.dtype.memory.as_pointer(), sizes, sizes]
        return ir.LiteralStructType(parts)


NUMBER_KINDS = (Integer, Float, Boolean, Complex)
void = none = Kind("none", 0, ir.IntType(8).as_pointer())
boolean = Boolean("bool", 8, ir.IntType(1), ir.IntType(8))
int8, int16, int32, int64 = (Integer(f"int{bits}", bits) for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{bits}", bits) for bits in (8, 16, 32, 64))
intp, uintp = int64, uint64
float32, float64 = Float("float32", 32, ir.FloatType()), Float("float64", 64, ir.DoubleType())
complex64, complex128 = Complex("complex64", float32), Complex("complex128", float64)

NUMBERS = (
    *(boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float32, float64, complex64, complex128),
)
BY_NAME: dict[str, Any] = {each.name: each for each in NUMBERS}


class ExternalFunction(NamedTuple):
    """A function of a library, which is found by its name."""

    symbol: str
    sig: Signature


def UniTuple(kind: Any, count: int) -> tuple[Any, ...]:
    """The type of several values of one type."""
    return (kind,) * count


def is_number(kind: Any) -> bool:
    """Whether it is the type of a number or of a truth value."""
    return isinstance(kind, NUMBER_KINDS)


def item_size(kind: Any) -> int:
    """The bytes of a number in an array."""
    return int(kind.bitwidth) // 8
