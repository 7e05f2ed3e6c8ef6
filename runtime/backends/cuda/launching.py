"""Launches: kernels loaded once per device, how many blocks, which loop over which memory."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from torchgen_out._runtime.backends.cuda import driver, streams
from torchgen_out._runtime.backends.cuda.driver import Grid
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.compiling import vectors
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops import pointwise, transpose
from torchgen_out._runtime.kernels.cuda.loops.pointwise import THREADS

BLOCKS_PER_PROCESSOR = 16
"""Blocks of 256 threads: twice what fits at once, so that processors that finish early go on."""
NARROW_NUMEL = 1 << 30
"""Elements up to which 32 bits count: a thread's next index may lie a grid behind the last."""
NARROW_EXTENT = 1 << 31

_handles: dict[tuple[int, Source], int] = {}


def forget() -> None:
    """Forget all kernels, when another driver takes the place of the one that loaded them."""
    _handles.clear()
    processors.cache_clear()


def kernel(index: int, source: Source) -> int:
    """Return the handle of a kernel on a device, loaded when first asked for."""
    found = _handles.get((index, source))
    if found is None:
        found = _handles[index, source] = driver.current().load(index, source)
    return found


@cache
def processors(index: int) -> int:
    """Return how many multiprocessors a device has."""
    return driver.current().properties(index).multi_processor_count


def blocks_for(index: int, work: int, threads: int) -> int:
    """Return the size of a grid whose threads go through `work` pieces, a grid at a time."""
    wanted = -(-work // threads)
    return max(1, min(wanted, processors(index) * BLOCKS_PER_PROCESSOR))


def launch(index: int, source: Source, grid: Grid, block: Grid, values: Sequence[Any]) -> None:
    """Run a kernel in the device's current stream."""
    stream = streams.current_handle(index)
    driver.current().launch(index, kernel(index, source), grid, block, stream, values)


# -- numbers ------------------------------------------------------------------------------------

_C_TYPES: dict[str, Any] = {
    "float32": ctypes.c_float, "float64": ctypes.c_double, "int8": ctypes.c_int8,
    "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
}  # fmt: skip


def number_values(spec: PointwiseSpec, scalars: Sequence[Any]) -> list[Any]:
    """Return scalars as a kernel takes them: in the compute type, complex ones as two reals."""
    compute = spec.compute
    kinds = [kind for kind in spec.arguments if kind in ("scalar", "raw")]
    values: list[Any] = []
    for kind, scalar in zip(kinds, scalars, strict=True):
        if kind == "raw":
            values.append(int(scalar))
        elif compute.is_complex:
            number = complex(scalar)
            values += [
                fitted(number.real, compute.to_real()),
                fitted(number.imag, compute.to_real()),
            ]
        else:
            values.append(fitted(scalar, compute))
    return values


def fitted(value: Any, dtype: dtypes.dtype) -> Any:
    """Return a number in the range of a dtype: integers wrap around, floats become infinite."""
    convert = _C_TYPES.get(dtype.name)
    return bool(value) if convert is None else convert(value).value


# -- loops --------------------------------------------------------------------------------------


def address_of(tensor: Tensor) -> int:
    """Return the address of a tensor's first element."""
    flat = tensor._flat
    if flat is not None:
        return int(flat.address)
    return int(tensor._storage.buffer.address) + tensor._offset * tensor.dtype.itemsize


def device_index(tensor: Tensor) -> int | None:
    """Return the index of the device on which a tensor lies, None for one of the host."""
    buffer = tensor._flat
    if buffer is None:
        buffer = tensor._storage.buffer
    return getattr(buffer, "device_index", None)


class Launch(NamedTuple):
    """What is known of a launch from a plan: the kernel, and what follows the addresses."""

    source: Source
    grid: Grid
    block: Grid
    numbers: list[int]


LAUNCHES_KEPT = 1024
"""Plans whose launches a loop remembers."""


class Loops:
    """The loops around one formula for known dtypes on one device, and their launches."""

    def __init__(self, spec: PointwiseSpec, index: int) -> None:
        self.spec = spec
        self.index = index
        self.width = pointwise.vector_width(spec)
        self._sources: dict[Any, Source] = {}
        self._launches: dict[tuple[plans.PointwisePlan, bool], Launch] = {}

    def run(
        self,
        plan: plans.PointwisePlan,
        outputs: Sequence[int],
        inputs: Sequence[int],
        scalars: Sequence[Any],
    ) -> None:
        """Run the loop that suits a plan over operands at some addresses."""
        if plan.numel == 0:
            return
        places = [*outputs, *inputs]
        together = 0
        for place in places:
            together |= place
        key = plan, together % vectors.BYTES == 0
        chosen = self._launches.get(key)
        if chosen is None:
            if len(self._launches) == LAUNCHES_KEPT:
                self._launches.clear()
            chosen = self._launches[key] = self._choose(*key, len(outputs))
        values = places + chosen.numbers
        if scalars:
            values += number_values(self.spec, scalars)
        launch(self.index, chosen.source, chosen.grid, chosen.block, values)

    def _choose(self, plan: plans.PointwisePlan, is_aligned: bool, outputs: int) -> Launch:
        wide = is_wide(plan)
        if plan.tiled and self.spec.arguments == ("tensor",):
            return self._tiles(plan, wide)
        if plan.flat and is_aligned:
            source = self._contiguous(plan.flat_form, wide)
            work = max(plan.numel // self.width, self.width)
            numbers = [plan.numel]
        else:
            source = self._strided(len(plan.loop_sizes), wide)
            work = -(-plan.numel // pointwise.AT_ONCE)
            numbers = [plan.numel, *strided_values(plan, outputs)]
        grid = blocks_for(self.index, work, THREADS), 1
        return Launch(source, grid, (THREADS, 1), numbers)

    def _tiles(self, plan: plans.PointwisePlan, wide: bool) -> Launch:
        """The copy of transposed memory: the last dim is dense in the result, the one before in
        the operand."""
        *outer, m, n = plan.loop_sizes.tolist()
        out_row, x_row = plan.loop_strides.tolist()
        tiles_m, tiles_n = -(-m // transpose.TILE), -(-n // transpose.TILE)
        pieces = math.prod(outer) * tiles_m * tiles_n
        source = self._sources.get((len(outer), wide, "tiles"))
        if source is None:
            source = transpose.transposing_kernel(self.spec, len(outer), wide)
            self._sources[len(outer), wide, "tiles"] = source
        divisors = [part for size in outer[:0:-1] for part in pointwise.divisor(size)]
        sizes = (pieces, tiles_m, tiles_n, m, n, out_row[-2], x_row[-1])
        numbers = [*sizes, *divisors, *out_row[:-2], *x_row[:-2]]
        grid = min(pieces, processors(self.index) * BLOCKS_PER_PROCESSOR), 1
        return Launch(source, grid, (transpose.TILE, transpose.ROWS), numbers)

    def _contiguous(self, form: tuple[int, ...], wide: bool) -> Source:
        found = self._sources.get((form, wide))
        if found is None:
            found = pointwise.contiguous_kernel(self.spec, form, wide)
            self._sources[form, wide] = found
        return found

    def _strided(self, ndim: int, wide: bool) -> Source:
        found = self._sources.get((ndim, wide))
        if found is None:
            found = self._sources[ndim, wide] = pointwise.strided_kernel(self.spec, ndim, wide)
        return found


def is_wide(plan: plans.PointwisePlan) -> bool:
    """Return whether 32 bits do not count a plan's elements, or their places in an operand."""
    return plan.numel > NARROW_NUMEL or plan.extent >= NARROW_EXTENT


def strided_values(plan: plans.PointwisePlan, outputs: int) -> list[int]:
    """Return divisors and strides as the strided kernel takes them."""
    values = [part for size in plan.loop_sizes[:0:-1] for part in pointwise.divisor(int(size))]
    rows = plan.loop_strides.tolist()
    for row in rows[:1] * outputs + rows[1:]:
        values += row
    return values
