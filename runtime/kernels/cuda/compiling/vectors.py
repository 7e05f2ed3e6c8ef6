"""Accesses that Python cannot say, for the texts of kernels: of several elements, and atomic ones.

A device reads and writes up to 16 bytes at once, in up to four units: so elements of 8 and 16 bits
go as words of 32, which are taken apart and put together in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WIDTHS = (2, 4, 8, 16)
BYTES = 16
"""The widest access of a device."""
WORD = 32


def make_load(width: int) -> Any:
    """load(pointer, i): the elements `width * i` and following, as a tuple."""
    from numba import types
    from numba.core import cgutils
    from numba.cuda.extending import intrinsic

    def load(typingctx: Any, pointer: Any, i: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
            place = _Place(context, builder, pointer.dtype, args, width)
            return cgutils.pack_array(builder, place.load())

        return types.UniTuple(pointer.dtype, width)(pointer, i), emit

    return intrinsic(load)


def make_store(width: int) -> Any:
    """store(pointer, i, values): the elements `width * i` and following."""
    from numba import types
    from numba.core import cgutils
    from numba.cuda.extending import intrinsic

    def store(typingctx: Any, pointer: Any, i: Any, values: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
            place = _Place(context, builder, pointer.dtype, args, width)
            place.store(cgutils.unpack_tuple(builder, args[2], width))
            return context.get_dummy_value()

        return types.void(pointer, i, types.UniTuple(pointer.dtype, width)), emit

    return intrinsic(store)


ATOMIC = ("add", "max", "min")
"""What is done to an element at once, whoever else does it there: `atomic_add` and its kin."""


def make_atomic(name: str) -> Any:
    """atomic(pointer, i, value): what stood there, which an int32 or int64 is combined with."""
    from numba.cuda.extending import intrinsic

    def atomic(typingctx: Any, pointer: Any, i: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
            return builder.atomic_rmw(name, builder.gep(args[0], [args[1]]), args[2], "monotonic")

        return pointer.dtype(pointer, i, pointer.dtype), emit

    return intrinsic(atomic)


class _Place:
    """The i-th vector of some width at a pointer, and how it is accessed.

    packed: how many elements share a unit of the access.
    """

    def __init__(
        self, context: Any, builder: Any, element: Any, args: Sequence[Any], width: int
    ) -> None:
        from llvmlite import ir

        self.ir, self.builder = ir, builder
        self.stored = context.get_data_type(element)
        size = width * context.get_abi_sizeof(self.stored)
        small = isinstance(self.stored, ir.IntType) and self.stored.width < WORD
        self.packed = WORD // self.stored.width if small and size * 8 >= WORD else 1
        self.unit = ir.IntType(WORD) if self.packed > 1 else self.stored
        self.units = width // self.packed
        self.align = min(BYTES, size)
        pointer, i = args[0], args[1]
        first = builder.gep(pointer, [builder.mul(i, ir.Constant(i.type, width))])
        self.vector = ir.VectorType(self.unit, self.units)
        self.address = builder.bitcast(first, self.vector.as_pointer())

    def load(self) -> list[Any]:
        """The elements."""
        vector = self.builder.load(self.address, align=self.align)
        units = [self.builder.extract_element(vector, self._lane(n)) for n in range(self.units)]
        return [part for unit in units for part in self._apart(unit)]

    def store(self, elements: Sequence[Any]) -> None:
        """Write the elements."""
        vector = self.ir.Constant(self.vector, self.ir.Undefined)
        for n in range(self.units):
            unit = self._together(elements[n * self.packed : (n + 1) * self.packed])
            vector = self.builder.insert_element(vector, unit, self._lane(n))
        self.builder.store(vector, self.address, align=self.align)

    def _lane(self, n: int) -> Any:
        return self.ir.Constant(self.ir.IntType(32), n)

    def _apart(self, unit: Any) -> list[Any]:
        if self.packed == 1:
            return [unit]
        shifts = [self._lane(n * self.stored.width) for n in range(self.packed)]
        return [self.builder.trunc(self.builder.lshr(unit, by), self.stored) for by in shifts]

    def _together(self, elements: Sequence[Any]) -> Any:
        if self.packed == 1:
            return elements[0]
        word = self._lane(0)
        for n, element in enumerate(elements):
            part = self.builder.zext(element, self.unit)
            word = self.builder.or_(word, self.builder.shl(part, self._lane(n * self.stored.width)))
        return word
