"""Contractions of index programs as products of matrices: strides of indices, and which are which.

An index of the result and the first factor counts rows, one of the result and the second counts
columns, one of both factors is summed. Of each sort the longest belongs to the matrices, the others
are loops around them. A condition, as that of a convolution's taps, says from where to where a
product goes, given what the loops are at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels.common.index import Product

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_CALLS = 4096
"""Products that a contraction may be made of."""
LEAST = 1 << 12
"""Multiplications of a product, on the average, from which it is worth a call."""


class Operand(NamedTuple):
    """A tensor of a contraction: strides of `...`, as collapsed, and of the places behind."""

    batch: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """An index, or several that are walked as one: strides in the result and in both factors."""

    extent: int
    strides: tuple[int, int, int]
    tests: tuple[int, ...]
    """What it is multiplied by in each condition."""

    @property
    def sort(self) -> tuple[bool, ...]:
        """In which of the three tensors it is."""
        return tuple(stride != 0 for stride in self.strides)


ROWS, COLUMNS, INNER = (True, True, False), (True, False, True), (False, True, True)
ALL = (True, True, True)


class Matrices(NamedTuple):
    """A contraction as products of matrices.

    rows, columns, inner: their axes. loops: those around them. starts: where the three tensors'
    elements of index 0 are. conditions: what each condition is at 0.
    """

    rows: Axis
    columns: Axis
    inner: Axis
    loops: tuple[Axis, ...]
    starts: tuple[int, int, int]
    conditions: tuple[int, ...]

    @property
    def turned(self) -> Matrices:
        """The transposed result, of the factors in the other order."""
        return Matrices(
            *(_exchanged(each) for each in (self.columns, self.rows, self.inner)),
            tuple(map(_exchanged, self.loops)),
            (self.starts[0], self.starts[2], self.starts[1]),
            self.conditions,
        )

    def calls(self) -> npt.NDArray[np.int64] | None:
        """A row for each product; None if there are too many, or too small ones.

        A row is (first row, behind the last, first column, ..., first inner, ..., positions in the
        three tensors of row 0, column 0, inner 0, and whether it is added to what there is).
        """
        count, work = 1, self.rows.extent * self.columns.extent * self.inner.extent
        for axis in self.loops:
            count *= axis.extent
        if count > MOST_CALLS or work < LEAST:
            return None
        found, begun = [], set()
        for numbers in combinations(*(range(axis.extent) for axis in self.loops)):
            row = self._call(numbers)
            if row is not None:
                found.append([*row, int(row[6] in begun)])
                begun.add(row[6])
        return np.array(found, np.int64).reshape(-1, 10)

    def is_covered(self, calls: npt.NDArray[np.int64]) -> bool:
        """Whether the first product for each part of the result writes all of that."""
        first = calls[calls[:, 9] == 0]
        parts = 1
        for axis in self.loops:
            parts *= axis.extent if axis.strides[0] else 1
        whole = [0, self.rows.extent, 0, self.columns.extent]
        return len(first) == parts and bool((first[:, :4] == whole).all())

    def _call(self, numbers: Sequence[int]) -> list[int] | None:
        values = list(self.conditions)
        starts = list(self.starts)
        for number, axis in zip(numbers, self.loops, strict=True):
            values = [v + number * t for v, t in zip(values, axis.tests, strict=True)]
            starts = [s + number * step for s, step in zip(starts, axis.strides, strict=True)]
        ends: list[int] = []
        for axis in (self.rows, self.columns, self.inner):
            first, last = 0, axis.extent
            for value, factor in zip(values, axis.tests, strict=True):
                if factor > 0:
                    first = max(first, -(value // factor))
                elif factor < 0:
                    last = min(last, value // -factor + 1)
            ends += first, last
            if first >= last:
                return None
        moving = [self.rows.tests, self.columns.tests, self.inner.tests]
        for number, value in enumerate(values):
            if value < 0 and not any(tests[number] for tests in moving):
                return None
        return [*ends, *starts]


def _exchanged(axis: Axis) -> Axis:
    out, one, other = axis.strides
    return Axis(axis.extent, (out, other, one), axis.tests)


def matrices(
    product: Product,
    extents: dict[str, int],
    batch: Sequence[int],
    operands: tuple[Operand, Operand, Operand],
) -> Matrices | None:
    """The matrices of a contraction, or None if it is no product of matrices at these sizes."""
    starts, conditions, axes = _axes(product, extents, operands)
    for number, size in enumerate(batch):
        strides = tuple(each.batch[number] for each in operands)
        axes.append(Axis(size, strides, (0,) * len(conditions)))  # type: ignore[arg-type]
    axes = [axis for axis in axes if axis.extent != 1]
    chosen: list[Axis] = []
    loops = _merged([axis for axis in axes if axis.sort == ALL])
    for sort in (ROWS, COLUMNS, INNER):
        own = _merged([axis for axis in axes if axis.sort == sort])
        if not own:
            return None
        own.sort(key=lambda axis: -axis.extent)
        chosen.append(own[0])
        loops += own[1:]
    if any(axis.sort not in (ROWS, COLUMNS, INNER, ALL) for axis in axes):
        return None
    for number in range(len(conditions)):
        if sum(axis.tests[number] != 0 for axis in chosen) > 1:
            return None
    loops.sort(key=lambda axis: not axis.strides[0])
    return Matrices(*chosen, tuple(loops), starts, conditions)  # type: ignore[arg-type]


def _axes(
    product: Product, extents: dict[str, int], operands: Sequence[Operand]
) -> tuple[tuple[int, int, int], tuple[int, ...], list[Axis]]:
    """Where all begins, what conditions are there, and an axis for each index."""
    known = [extents[name] for name in (*product.extents, *product.integers)]

    def at(numbers: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        *places, tests = product.places(*numbers, *known)
        return tuple(
            sum(place * stride for place, stride in zip(own, each.strides, strict=True))
            for own, each in zip(places, operands, strict=True)
        ), tests

    zeros = [0] * len(product.indices)
    starts, conditions = at(zeros)
    axes = []
    for number, name in enumerate(product.indices):
        moved, tests = at([*zeros[:number], 1, *zeros[number + 1 :]])
        strides = tuple(b - a for a, b in zip(starts, moved, strict=True))
        factors = tuple(b - a for a, b in zip(conditions, tests, strict=True))
        axes.append(Axis(extents[name], strides, factors))  # type: ignore[arg-type]
    return starts, conditions, axes  # type: ignore[return-value]


def _merged(axes: list[Axis]) -> list[Axis]:
    """As few axes as will do: two are one if the outer one's step is the inner one's whole way."""
    ordered = sorted(axes, key=lambda axis: [-abs(stride) for stride in axis.strides])
    found: list[Axis] = []
    for axis in ordered:
        if found and _goes_on(found[-1], axis):
            outer = found.pop()
            axis = Axis(outer.extent * axis.extent, axis.strides, axis.tests)
        found.append(axis)
    return found


def _goes_on(outer: Axis, inner: Axis) -> bool:
    steps = tuple(stride * inner.extent for stride in inner.strides)
    return steps == outer.strides and not any(outer.tests) and not any(inner.tests)


def view_of(axes: Sequence[Axis], tensor: int) -> Iterator[tuple[int, int]]:
    """(extent, stride) of those axes that a tensor has."""
    for axis in axes:
        if axis.strides[tensor]:
            yield axis.extent, axis.strides[tensor]
