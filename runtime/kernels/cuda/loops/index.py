"""Launches of index programs on CUDA: a thread, or a warp, goes through each item.

Where a fold is long, or runs along dense memory, the 32 threads of a warp share it. A scatter's
values are combined place by place in their order (`scatter.combining`), so that equal calls give
equal bits. 16-bit floats compute in float32 and are rounded once.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from math import inf, prod
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.common import places
from torchgen_out._runtime.kernels.common.contraction import Operand
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.common.index import (
    OUTPUT_MASK,
    IndexProgram,
    Launch,
    TensorForm,
)
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.direct import ProductQueue
from torchgen_out._runtime.kernels.cuda.faults import PLACE, note
from torchgen_out._runtime.kernels.cuda.loops.contraction import contracted
from torchgen_out._runtime.kernels.cuda.loops.pointwise import inlined, storage_type
from torchgen_out._runtime.kernels.cuda.queue import (
    Array,
    contiguous,
    converted,
    walks_strides,
)
from torchgen_out._runtime.kernels.cuda.scatter.combining import COMBINE, combine_at_places
from torchgen_out._runtime.kernels.plan import collapse

WARP = 32
SHORT = 32
"""Elements of a fold that are not worth a warp."""
FEW = 1 << 16
"""Items that leave a device idle, one thread each."""
IDENTITIES = {"sum": 0, "prod": 1, "max": -inf, "min": inf, "any": False, "all": True}
COMBINED = {**{kind: kind for kind in IDENTITIES}, "any": "max", "all": "min"}
"""What `COMBINE` calls a fold."""

JOINS = '''\
@inner
def joined_sum(v):
    """The sum over a warp's lanes, in each of them."""
    bits = LANES // 2
    while bits > 0:
        v = T(v + shuffled_across(v, bits))
        bits = bits // 2
    return v


@inner
def joined_product(v):
    bits = LANES // 2
    while bits > 0:
        v = T(v * shuffled_across(v, bits))
        bits = bits // 2
    return v


@inner
def joined_larger(v):
    bits = LANES // 2
    while bits > 0:
        other = shuffled_across(v, bits)
        v = other if (other > v) | (other != other) else v
        bits = bits // 2
    return v


@inner
def joined_smaller(v):
    bits = LANES // 2
    while bits > 0:
        other = shuffled_across(v, bits)
        v = other if (other < v) | (other != other) else v
        bits = bits // 2
    return v


@inner
def joined_any(v):
    bits = LANES // 2
    known = np.int32(v)
    while bits > 0:
        known = np.int32(known | cuda.shfl_xor_sync(0xFFFFFFFF, known, bits))
        bits = bits // 2
    return known != 0


@inner
def joined_all(v):
    return not joined_any(not v)


@inner
def joined_first(v, best, at):
    """The first position of the best value; NaN is one value."""
    first = np.int64(at) if (v == best) | (v != v) else np.int64(0x7FFFFFFFFFFFFFFF)
    bits = LANES // 2
    while bits > 0:
        first = min(first, np.int64(cuda.shfl_xor_sync(0xFFFFFFFF, first, bits)))
        bits = bits // 2
    return first
'''


def make_kernel(program: IndexProgram) -> Any:
    """kernel(queue, *results, *arguments) of a program."""

    @walks_strides
    def kernel(queue: ProductQueue, *args: Any) -> None:
        count = len(program.results)
        results = dict(zip(program.results, args[:count], strict=True))
        given = dict(zip(program.arguments, args[count:], strict=True))
        _Call(program, queue, results, given).run()

    return kernel


class _Call:
    """One call of a program."""

    def __init__(
        self,
        program: IndexProgram,
        queue: ProductQueue,
        results: dict[str, Array],
        given: dict[str, Any],
    ) -> None:
        self.program = program
        self.queue = queue
        seen = program.seen(results, given)
        if seen is None:
            given |= {name: contiguous(queue, given[name]) for name in program.inputs}
            seen = program.seen(results, given)
        assert seen is not None
        views, self.given = seen
        self.wanted = program.wanted(given)
        self.has_mask = OUTPUT_MASK in given
        operands = {name: given[name] for name in program.inputs}
        if program.moves:
            results, operands = (self._moved(each) for each in (results, operands))
        self.results = results
        sizes = {name: views.get(name, array).sizes for name, array in operands.items()}
        self.extents, self.batch = program.measured(sizes, self.given)
        self.forms = {**program.inputs, **program.results, **program.on_device_temporaries}
        self.compute = self._compute_type({**results, **operands})
        self.arrays = {name: self._as_computed(name, each) for name, each in operands.items()}
        for name, array in results.items():
            wide = array.dtype if self._is_wide(array.dtype) else self.compute
            self.arrays[name] = array if wide is array.dtype else queue.empty(array.sizes, wide)
        self.written = {name: self.arrays[name] for name in results}
        for name, (own, strides, offset) in views.items():
            self.arrays[name] = self.arrays[name].at(offset, own, strides)
        kinds = {"number": self.compute, "int": dtypes.int64, "bool": dtypes.bool}
        for name, form in program.on_device_temporaries.items():
            made = program.sizes_of(form, self.extents, self.batch)
            self.arrays[name] = queue.empty(made, kinds[form.kind])

    def _compute_type(self, arrays: dict[str, Array]) -> dtype:
        for name, array in arrays.items():
            if self.forms[name].kind == "number":
                return array.dtype.opmath
        return dtypes.float32

    def _moved(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """Numbers as words of their width."""
        forms = {**self.program.inputs, **self.program.results}
        return {
            name: array.moved() if forms[name].kind == "number" else array
            for name, array in arrays.items()
        }

    @staticmethod
    def _is_wide(own: dtype) -> bool:
        return own.opmath is own

    def _as_computed(self, name: str, array: Array) -> Array:
        """An operand that kernels read as it is: 16-bit floats are widened before."""
        if self.forms[name].kind != "number" or self._is_wide(array.dtype):
            return array
        return converted(self.queue, array, array.dtype.opmath)

    def run(self) -> None:
        """Queue all launches."""
        for launch in self.program.needed(self.program.on_device, self.wanted):
            self.launch(launch)
        for name, result in self.results.items():
            if name in self.wanted and self.written[name] is not result:
                self.queue.copy(result, self.written[name])

    def launch(self, launch: Launch) -> None:
        """One launch, and what combines the values of a scatter."""
        batch = prod(self.batch) if launch.has_batch else 1
        count = prod(self.extents[name] for name in launch.items) * batch
        first: list[Array] = []
        if launch.scatter is not None:
            target, kind = launch.scatter
            self.queue.fill(self.arrays[target], IDENTITIES[kind])
            values = self.queue.empty((count,), self.arrays[target].dtype)
            first = [values, self.queue.empty((count,), dtypes.int64)]
        if not count or self._contracted(launch):
            return
        lanes = self._lanes(launch, count)
        source, values_given = self._bind(launch, lanes, first)
        threads = typed.THREADS
        blocks = min(
            -(-count * lanes // threads), self.queue.processors * typed.BLOCKS_PER_PROCESSOR
        )
        addresses = [each.address for each in (*first, *self._taken(launch))]
        self.queue.launch(
            source,
            blocks,
            (threads, 1),
            [*addresses, self.queue.faults.address, count, *values_given],
        )
        if launch.scatter is not None:
            self._combine(*launch.scatter, *first)

    def _contracted(self, launch: Launch) -> bool:
        """Whether a library has multiplied what the launch does."""
        if launch.product is None:
            return False
        arrays = [self.arrays[name] for name in launch.product.tensors]
        forms = [self.forms[name] for name in launch.product.tensors]
        pairs = list(zip(arrays, forms, strict=True))
        rows = [_batch_strides(array, form, self.batch) for array, form in pairs]
        sizes, strides = collapse(self.batch, rows, list(range(len(self.batch))))
        out, one, other = (
            Operand(tuple(row), array.strides[len(array.strides) - form.rank :])
            for row, (array, form) in zip(strides, pairs, strict=True)
        )
        operands = out, one, other
        return contracted(self.queue, launch.product, arrays, self.extents, sizes, operands)

    def _combine(self, target: str, kind: str, values: Array, positions: Array) -> None:
        array = self.arrays[target]
        if array.dtype is dtypes.bool:
            array, values = (each._replace(dtype=dtypes.uint8) for each in (array, values))
        flat = array.reshaped(array.numel)
        folded = Folded(1, flat.numel, 1)
        combine_at_places(self.queue, flat, positions, values, folded, COMBINE[COMBINED[kind]])

    def _lanes(self, launch: Launch, count: int) -> int:
        """How many threads share an item."""
        if launch.lanes is None:
            return 1
        index, is_dense = launch.lanes
        is_long = self.extents[index] >= SHORT
        return WARP if is_long and (is_dense or count < FEW) else 1

    def _taken(self, launch: Launch) -> list[Array]:
        return [self.arrays[name] for name in launch.arrays]

    def _bind(self, launch: Launch, lanes: int, first: Sequence[Array]) -> tuple[Source, list[Any]]:
        """The kernel for these geometries, and the numbers that it takes behind the count."""
        wholes: list[int] = []

        def whole(value: int) -> str:
            wholes.append(int(value))
            return f"whole{len(wholes) - 1}"

        batched = [name for name in launch.arrays if self.forms[name].has_batch]
        rows = [_batch_strides(self.arrays[name], self.forms[name], self.batch) for name in batched]
        loop_sizes, loop_rows = collapse(self.batch, rows, list(range(len(self.batch))))
        if not self.batch or not batched or loop_sizes == [1]:
            loop_sizes, loop_rows = [], [[] for _ in rows]
        dims = len(loop_sizes)
        parts: list[str] = []
        for name in launch.arrays:
            parts.append("0")
            if self.forms[name].has_batch:
                parts.append(str(dims * (1 + batched.index(name))))
            strides = self.arrays[name].strides
            for stride in strides[len(strides) - self.forms[name].rank :]:
                parts.append("1" if stride == 1 else whole(stride))
        if launch.takes_batch:
            parts += ["batch", str(dims), whole(prod(self.batch))]
        parts += [whole(self.extents[name]) for name in (*launch.extents, *launch.integers)]
        numbers = [self.given[name] for name in launch.numbers]
        parts += [
            f"number{i} != 0" if type(number) is bool else f"T(number{i})"
            for i, number in enumerate(numbers)
        ]
        if self.has_mask:
            parts += [str(n in self.wanted) for n in launch.arrays if n in self.results]
        own = len(wholes)
        geometry = [*loop_sizes, *(stride for row in loop_rows for stride in row)] or [0]
        arrays = [*first, *self._taken(launch)]
        source = _source(
            launch,
            self.compute,
            lanes,
            tuple(f"{storage_type(each.dtype)}*" for each in arrays),
            tuple(parts),
            own,
            len(geometry),
            len(numbers),
        )
        return source, [*wholes, *geometry, *map(float, numbers)]


def _batch_strides(array: Array, form: TensorForm, batch: tuple[int, ...]) -> tuple[int, ...]:
    """An array's strides along the dims of `...`, 0 where it is repeated."""
    own = len(array.sizes) - form.rank
    missing = (0,) * (len(batch) - own)
    return missing + tuple(
        0 if size == 1 else stride
        for size, stride in zip(array.sizes[:own], array.strides[:own], strict=True)
    )


@cache
def _source(
    launch: Launch,
    compute: dtype,
    lanes: int,
    pointers: tuple[str, ...],
    parts: tuple[str, ...],
    wholes: int,
    geometry: int,
    numbers: int,
) -> Source:
    """kernel(*arrays, faults, count, *wholes, *geometry, *numbers)."""
    name = launch.function.__name__
    arrays = [f"array{i}" for i in range(len(pointers))]
    whole_names = [f"whole{i}" for i in range(wholes)]
    batch = [f"batch{i}" for i in range(geometry)]
    number_names = [f"number{i}" for i in range(numbers)]
    parameters = [*arrays, "faults", "count", *whole_names, *batch, *number_names]
    beside = ["lane"] if launch.lanes is not None else []
    scattered = 2 if launch.scatter is not None else 0
    called = ["item", "item + 1", *beside, *arrays[:scattered], *arrays[scattered:], *parts]
    body = "\n".join(
        [
            f"def kernel({', '.join(parameters)}):",
            f"    batch = ({', '.join(batch)},)",
            "    thread = np.int64(cuda.grid(1))",
            "    lane = thread % LANES",
            "    item = thread // LANES",
            "    while item < count:",
            f"        if not {name}({', '.join(called)}):",
            f"            note(faults, {PLACE}, 0, 0)",
            "        item = item + np.int64(cuda.gridsize(1)) // LANES",
            "",
        ]
    )
    own = inlined("\n\n".join([_places(), build.plain_source(launch.function)]))
    joins = JOINS if beside else ""
    given = {"LANES": lanes, "IS_DOUBLE": compute is dtypes.float64}
    text = typed.text_of(name, compute, "\n\n".join([own, joins, body]), note=note, **given)
    types = (
        *pointers, "int64*", "int64", *["int64"] * (wholes + geometry), *[compute.name] * numbers,
    )  # fmt: skip
    return Source(name, text, types, typed.THREADS)


@cache
def _places() -> str:
    """The arithmetic of places, and folds of two values."""
    source = inspect.getsource(places)
    return source[source.index("BLOCK = ") :]
