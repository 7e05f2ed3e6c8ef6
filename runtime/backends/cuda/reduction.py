"""Calls of reductions on CUDA: which loop folds which dims, in how many slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from torchgen_out._runtime.backends.common.given_results import make_reduction_out_call
from torchgen_out._runtime.backends.common.reduction_plan import DimPlan, plan_dims, reduction_spec
from torchgen_out._runtime.backends.cuda import launching, memory
from torchgen_out._runtime.backends.cuda.launching import address_of
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import OUT, Call, Reduction
from torchgen_out._runtime.kernels.common.reduction import ReductionSpec
from torchgen_out._runtime.kernels.cuda.compiling.typed import THREADS
from torchgen_out._runtime.kernels.cuda.loops.pointwise import divisor
from torchgen_out._runtime.kernels.cuda.loops.reduction import Walk, partial_spec, reduction_kernel
from torchgen_out._runtime.kernels.cuda.rows import (
    COLUMN_ROWS,
    LEAST_PER_SLICE,
    WARP,
    Group,
    group_of,
    sliced,
    sliced_columns,
)

LEAST_PER_ROW = 64
"""Elements of an output, far apart, from which a block folds it better than a thread does."""


def make_call(operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a reduction for CUDA tensors of one signature."""
    own = signatures.dtype_of(signature[0])
    names = tuple(operator.arguments)
    folds: dict[Any, Fold] = {}

    def call(*args: Any) -> Tensor:
        given = dict(zip(names, args, strict=True))
        requested = given.get("dtype")
        fold = folds.get(requested)
        if fold is None:
            fold = folds[requested] = Fold(operator, own, requested)
        scalars = [given[name] for name in names if operator.arguments[name] == "scalar"]
        return fold.run(args[0], given.get("dim"), bool(given.get("keepdim")), scalars)

    return make_reduction_out_call(operator, call) if variant == OUT else call


@dataclass(frozen=True)
class Geometry:
    """How a reduction walks a tensor.

    kept, reduced: (sizes, strides) of the dims, neighbours merged. count: elements per output.
    """

    kept: tuple[tuple[int, ...], tuple[int, ...]]
    reduced: tuple[tuple[int, ...], tuple[int, ...]]
    outputs: int
    count: int
    by_rows: bool
    wide: bool

    def values(self) -> list[int]:
        """Divisors and strides as the kernels take them."""
        found: list[int] = []
        for sizes, strides in (self.kept, self.reduced):
            found += [part for size in sizes for part in divisor(size)]
            found += strides
        return found

    def walk(self, partial: bool) -> Walk:
        """What the kernel's text depends on."""
        return Walk(len(self.kept[0]), len(self.reduced[0]), self.wide, partial)


@lru_cache(maxsize=1024)
def plan_walk(
    sizes: tuple[int, ...], strides: tuple[int, ...], reduced: tuple[int, ...]
) -> Geometry:
    """Plan the walk over a tensor with elements, `reduced` dims of it folded.

    By rows if elements of one output are next to each other, or few outputs have many.
    """
    kept = [dim for dim in range(len(sizes)) if dim not in reduced]
    folded = sorted(reduced, key=lambda dim: -strides[dim])
    outer, inner = (merged(sizes, strides, dims) for dims in (kept, folded))
    outputs, count = _product(outer[0]), _product(inner[0])
    steps = [(strides[dim], dim in reduced) for dim in range(len(sizes)) if sizes[dim] > 1]
    is_inner = min(steps, default=(1, True))[1]
    extent = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    wide = outputs * count > launching.NARROW_NUMEL or extent >= launching.NARROW_EXTENT
    by_rows = is_inner or (count >= LEAST_PER_ROW and outputs < WARP)
    return Geometry(outer, inner, outputs, count, by_rows, wide)


def merged(
    sizes: Sequence[int], strides: Sequence[int], dims: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(sizes, strides) of some dims: those of size 1 dropped, neighbours in one stride merged."""
    groups: list[list[int]] = []
    for dim in dims:
        if sizes[dim] == 1:
            continue
        if groups and groups[-1][1] == sizes[dim] * strides[dim]:
            groups[-1] = [groups[-1][0] * sizes[dim], strides[dim]]
        else:
            groups.append([sizes[dim], strides[dim]])
    groups = groups or [[1, 0]]
    return tuple([size for size, _ in groups]), tuple([stride for _, stride in groups])


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def slices(geometry: Geometry, processors: int) -> tuple[int, int]:
    """(how many slices each output is cut into, elements of a slice)."""
    if geometry.by_rows:
        return sliced(processors, geometry.outputs, geometry.count, LEAST_PER_SLICE)
    return sliced_columns(processors, geometry.outputs, geometry.count)


class Fold:
    """One reduction for one input dtype and one requested dtype."""

    def __init__(
        self, operator: Reduction, own: dtypes.dtype, requested: dtypes.dtype | None
    ) -> None:
        self.name = operator.base_name
        count = list(operator.arguments.values()).count("scalar")
        self.spec = reduction_spec(operator, own, requested, count)
        self.has_identity = operator.parts[0] is not None

    def run(self, x: Tensor, dim: Any, keepdim: bool, scalars: Sequence[Any]) -> Tensor:
        """Fold `dim` (None: all dims) of x."""
        plan = plan_dims(x._sizes, tuple(dim) if isinstance(dim, list) else dim, keepdim)
        if not self.has_identity:
            plan.check_not_empty(self.name, dim)
        index = int(x._storage.buffer.device_index)
        made = memory.empty(plan.sizes, self.spec.output, index)
        if plan.numel:
            self._fold(index, made, x, plan, scalars)
        return made

    def _fold(
        self, index: int, made: Tensor, x: Tensor, plan: DimPlan, scalars: Sequence[Any]
    ) -> None:
        """One kernel if outputs are many or short, otherwise slices and their combination."""
        place = address_of(x)
        if plan.count:
            geometry = plan_walk(tuple(x._sizes), x._strides, plan.reduced)
            splits, chunk = slices(geometry, launching.processors(index))
        else:  # no element is read: only the identity is projected
            geometry = Geometry(((plan.numel,), (0,)), ((1,), (0,)), plan.numel, 0, False, False)
            splits, chunk = 1, 1
        numbers = [launching.fitted(scalar, self.spec.compute) for scalar in scalars]
        if splits == 1:
            run_kernel(index, self.spec, geometry, (address_of(made), place), (1, chunk), numbers)
            return
        parts = memory.empty((geometry.outputs * splits,), self.spec.acc, index)
        run_kernel(
            index, self.spec, geometry, (address_of(parts), place), (splits, chunk), numbers, True
        )
        rows = plan_walk((geometry.outputs, splits), (splits, 1), (1,))
        run_kernel(
            index,
            partial_spec(self.spec),
            rows,
            (address_of(made), address_of(parts)),
            (1, splits),
            (),
            total=geometry.count,
        )


def run_kernel(
    index: int,
    spec: ReductionSpec,
    geometry: Geometry,
    places: tuple[int, int],
    cut: tuple[int, int],
    numbers: Sequence[Any],
    partial: bool = False,
    total: int | None = None,
) -> None:
    """Launch the loop for a geometry, its outputs cut into (slices, elements of each)."""
    splits, chunk = cut
    count = geometry.count
    total = count if total is None else total
    pieces = geometry.outputs * splits
    group = Group(COLUMN_ROWS, True)
    if geometry.by_rows:
        group = group_of(launching.processors(index), pieces, chunk)
    source = reduction_kernel(spec, geometry.walk(partial), group, THREADS)
    grid = launching.blocks_for(index, pieces * group.threads, THREADS)
    values = [geometry.outputs, count, splits, chunk, total, *geometry.values(), *numbers]
    launching.launch(index, source, (grid, 1), (THREADS, 1), [*places, *values])
