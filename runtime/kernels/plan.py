"""Plans: what a launch is, and plans of element-wise loops: broadcasting, collapsing.

A plan depends on dtypes, sizes and strides alone, so the backends keep it and run it many times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size

if TYPE_CHECKING:
    import numpy.typing as npt

Geometry = tuple[tuple[int, ...], tuple[int, ...]]
"""Sizes and strides of one operand."""


class TensorSpec(NamedTuple):
    """What a plan may depend on of a tensor. dtype: NumPy's; strides: in elements."""

    dtype: Any
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie densely in row-major order."""
        return shapes.is_contiguous(self.sizes, self.strides)

    @property
    def numel(self) -> int:
        """How many elements there are."""
        return shapes.numel(self.sizes)

    @property
    def dense(self) -> TensorSpec:
        """A contiguous tensor of these sizes."""
        return TensorSpec(self.dtype, self.sizes, shapes.contiguous_strides(self.sizes))

    def expanded(self, sizes: tuple[int, ...]) -> TensorSpec:
        """The same elements seen with broadcast sizes."""
        return TensorSpec(self.dtype, sizes, expanded_strides(self[1:], sizes))

    def permuted(self, dims: Sequence[int]) -> TensorSpec:
        """The same elements with the dims in another order.

        What becomes contiguous may still begin anywhere in its memory, which may go on behind it.
        """
        sizes, strides = (tuple([each[dim] for dim in dims]) for each in self[1:])
        return TensorSpec(self.dtype, sizes, strides)

    @property
    def pixels(self) -> TensorSpec:
        """Images (N, C, *) with their channels last."""
        return self.permuted((0, *range(2, len(self.sizes)), 1))

    @property
    def memory_order(self) -> list[int]:
        """The dims, outermost first."""
        return sorted(range(len(self.sizes)), key=lambda dim: -self.strides[dim])


class LaunchPlan(NamedTuple):
    """One launch of a hand-written kernel, for tensors of known dtypes, sizes and strides.

    run(*results, *operands, *offsets, params, *generator): all tensors as flat arrays of memory.
    Results begin with their memory; offsets say where each operand begins in its own, which holds
    nothing else only if all operands are contiguous and none is converted. A tensor that
    is not given, and everything else among the operator's arguments, is the plan's: it does not
    appear. generator: where an operator draws random numbers, their source.
    Where the results' shapes depend on the data, run(*operands, *offsets, params) returns them:
    pairs of a flat array and its sizes.
    params: numbers of the plan, for the caller to hand over; whatever `run` takes there.
    """

    run: Callable[..., Any]
    params: Any


@dataclass(frozen=True, eq=False)
class PointwisePlan:
    """How to walk the operands of an element-wise operator together.

    sizes, strides: the result's geometry; a new result keeps the inputs' order of dims.
    flat: whether the result is dense and every input is dense in the same order or one element
    repeated, so that one flat loop over their memory will do. loop_sizes, loop_strides: the
    collapsed loop, a row of strides for the output first and then for each input.
    """

    sizes: Size
    strides: tuple[int, ...]
    numel: int
    contiguous: bool
    flat: bool
    loop_sizes: npt.NDArray[np.int64]
    loop_strides: npt.NDArray[np.int64]
    loop: npt.NDArray[np.int64]
    """Both in one array, as kernels with one output take them: ndim, sizes, rows of strides."""
    loops: dict[int, npt.NDArray[np.int64]]
    """The same for several outputs, by their number, once asked for."""
    form: tuple[int, ...]
    """The inner stride of the output and of each input: 1, 0, or 2 for any other."""
    flat_form: tuple[int, ...]
    """The stride of each input of a flat loop; empty if all are 1."""
    tiled: bool
    """Whether operands run along another dim than the result: that dim is the second innermost,
    and the loop goes over both in tiles. The form of such an operand is 2."""
    runs: int
    """How often the inner loop, or the loop over tiles, runs."""
    outer_dims: int
    """How many dims a kernel has to count; 0 for one beside the inner, which needs no counting."""

    @cached_property
    def extent(self) -> int:
        """How far an operand's last element lies from its first, in the widest of them."""
        return int(((self.loop_sizes - 1) @ self.loop_strides.T).max())

    def counter(self) -> npt.NDArray[np.int64]:
        """Where a kernel counts the outer dims."""
        return np.zeros(self.outer_dims, np.int64) if self.outer_dims else self.loop

    def loop_for(self, outputs: int) -> npt.NDArray[np.int64]:
        """`loop` with the output's row once for each of several outputs."""
        found = self.loops.get(outputs)
        if found is None:
            first = np.repeat(self.loop_strides[:1], outputs - 1, 0)
            rows = np.concatenate([first, self.loop_strides])
            found = self.loops[outputs] = pack_loop(self.loop_sizes, rows)
        return found


SMALLEST_TILE = 8
"""Sizes of dims below which the plain loop is as fast."""


def order_for_tiles(sizes: list[int], rows: list[list[int]]) -> list[int]:
    """The order of dims for a loop in tiles, empty if that is no help.

    The result must be dense along the innermost dim, every input dense or constant there, or dense
    along one and the same other dim.
    """
    inner = len(sizes) - 1
    crosswise = [row for row in rows if row[inner] not in (0, 1)]
    if rows[0][inner] != 1 or not crosswise or sizes[inner] < SMALLEST_TILE:
        return []
    for dim in range(inner):
        if sizes[dim] >= SMALLEST_TILE and all(row[dim] == 1 for row in crosswise):
            return [*(d for d in range(inner) if d != dim), dim, inner]
    return []


LONGEST_RUN = 1024
"""Elements of a run along a dim that is no longer innermost: two dims' worth stay in the cache."""


SHORTEST_PART = 128
MOST_WHOLE = 1 << 17
"""Elements of a long and a narrow dim, which stay in the second cache, up to which the long one is
one run if all of its equal parts are shorter than that."""


def with_longer_runs(sizes: list[int], rows: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """The loop with a long dim, or a part of it, as the innermost instead of one of a few elements.

    Runs of three elements, as of an image's colours, take ten times as long as strided long ones.
    """
    inner = len(sizes) - 1
    long = [dim for dim in range(inner) if sizes[dim] >= 2 * SMALLEST_TILE]
    if sizes[inner] >= SMALLEST_TILE or not long:
        return sizes, rows
    dim = min(long, key=lambda each: sum(abs(row[each]) for row in rows))
    run = next(n for n in range(min(LONGEST_RUN, sizes[dim]), 0, -1) if sizes[dim] % n == 0)
    if run < SHORTEST_PART and sizes[dim] * sizes[inner] <= MOST_WHOLE:
        run = sizes[dim]
    if run < 2 * SMALLEST_TILE:
        return sizes, rows
    outer = [[row[each] * (run if each == dim else 1) for each in range(inner + 1)] for row in rows]
    kept = [each for each in range(inner + 1) if each != dim or run < sizes[dim]]
    counts = [sizes[each] // (run if each == dim else 1) for each in kept]
    return [*counts, run], [
        [*(row[each] for each in kept), own[dim]] for row, own in zip(outer, rows, strict=True)
    ]


def pack_loop(
    sizes: npt.NDArray[np.int64], strides: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The number of dims, the sizes, and the strides, one operand's row after the other."""
    return np.concatenate([np.array([len(sizes)], np.int64), sizes, strides.reshape(-1)])


@lru_cache(maxsize=1024)
def plan_pointwise(
    inputs: tuple[Geometry, ...], out: Geometry | None = None, in_runs: bool = False
) -> PointwisePlan:
    """Plan a loop over `inputs` into a new result, or into one of geometry `out`.

    in_runs: whether the innermost dim is done at once, as on the CPU; on a device neighbouring
    threads should write neighbouring elements, however few.
    Raises: RuntimeError if the sizes do not broadcast.
    """
    sizes = Size(shapes.broadcast_shapes(*(geometry[0] for geometry in inputs)))
    shapes.check_storable(sizes)
    if out is not None:
        sizes = Size(out[0])
    rows = [expanded_strides(geometry, sizes) for geometry in inputs]
    told = rows if out is None else [out[1], *rows]
    order = shapes.joint_order(tuple(sizes), tuple(told))
    out_strides = strides_in_order(sizes, order) if out is None else out[1]
    rows.insert(0, out_strides)
    numel = shapes.numel(sizes)
    loop_sizes, loop_rows = collapse(sizes, rows, order)
    tile_order = order_for_tiles(loop_sizes, loop_rows)
    if tile_order:
        loop_sizes = [loop_sizes[dim] for dim in tile_order]
        loop_rows = [[row[dim] for dim in tile_order] for row in loop_rows]
        counted = len(loop_sizes) - 2
    else:
        if in_runs:
            loop_sizes, loop_rows = with_longer_runs(loop_sizes, loop_rows)
        counted = len(loop_sizes) - 1 if len(loop_sizes) > 2 else 0
    form = tuple([min(row[-1], 2) for row in loop_rows])
    inner_dims = 2 if tile_order else 1
    sizes_array, strides_array = np.array(loop_sizes, np.int64), np.array(loop_rows, np.int64)
    loop = pack_loop(sizes_array, strides_array)
    return PointwisePlan(
        sizes,
        out_strides,
        numel,
        shapes.is_contiguous(sizes, out_strides),
        len(loop_sizes) == 1 and form[0] == 1 and 2 not in form,
        sizes_array,
        strides_array,
        loop,
        {1: loop},
        form,
        form[1:] if 0 in form else (),
        bool(tile_order),
        shapes.numel(loop_sizes[:-inner_dims]),
        counted,
    )


def element_places(geometry: Geometry) -> npt.NDArray[np.int64]:
    """Where each element lies, counted from the first, in row-major order."""
    places = np.zeros(1, np.int64)
    for size, stride in zip(*geometry, strict=True):
        places = (places[:, None] + np.arange(size) * stride).reshape(-1)
    return places


def expanded_strides(geometry: Geometry, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an operand seen with the broadcast `sizes`: 0 where it is repeated."""
    own_sizes, own_strides = geometry
    missing = len(sizes) - len(own_sizes)
    return (0,) * missing + tuple(
        0 if own == 1 and full != 1 else stride
        for own, stride, full in zip(own_sizes, own_strides, sizes[missing:], strict=True)
    )


def strides_in_order(sizes: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    """Dense strides with the dims laid out in `order`, outermost first."""
    strides = [0] * len(sizes)
    step = 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


def collapse(
    sizes: tuple[int, ...], rows: list[tuple[int, ...]], order: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """Drop dims of size 1 and merge neighbours that every operand walks in one stride."""
    kept = [dim for dim in order if sizes[dim] != 1]
    if not kept:
        return [1], [[1] for _ in rows]
    groups = [[kept[0]]]
    for outer, inner in pairwise(kept):
        if all(row[outer] == sizes[inner] * row[inner] for row in rows):
            groups[-1].append(inner)
        else:
            groups.append([inner])
    loop_sizes = []
    for group in groups:
        total = 1
        for dim in group:
            total *= sizes[dim]
        loop_sizes.append(total)
    return loop_sizes, [[row[group[-1]] for group in groups] for row in rows]
