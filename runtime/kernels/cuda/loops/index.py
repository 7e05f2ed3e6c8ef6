"""Launches of index programs on CUDA: a thread, a warp or a block goes through each item.

Where a fold is long, or runs along dense memory, the threads of a warp share it, of a long row
those of a block. A scatter's values are combined place by place in their order
(`scatter.combining`), so that equal calls give equal bits; what goes to one place side by side is
sorted once. 16-bit floats compute in float32 and are
rounded once: a result that is read again has a wider copy until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, inf, prod
from typing import Any, NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.kernels.common.contraction import Operand
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.common.index import (
    LAST,
    OUTPUT_MASK,
    IndexProgram,
    InTurn,
    Launch,
    Order,
    Scan,
    TensorForm,
)
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.direct import ProductQueue
from torchgen_out._runtime.kernels.cuda.faults import first_number
from torchgen_out._runtime.kernels.cuda.loops.contraction import contracted
from torchgen_out._runtime.kernels.cuda.loops.index_text import (
    ROWS,
    Form,
    Shared,
    index_kernel,
    is_read,
)
from torchgen_out._runtime.kernels.cuda.loops.pointwise import divisor
from torchgen_out._runtime.kernels.cuda.queue import (
    Array,
    contiguous,
    converted,
    walks_strides,
)
from torchgen_out._runtime.kernels.cuda.recorded import Recorded
from torchgen_out._runtime.kernels.cuda.rows import (
    BLOCKS_WANTED,
    COLUMN_ROWS,
    LEAST_PER_THREAD,
    THREADS,
    Group,
    cut,
    group_of,
    sliced_columns,
)
from torchgen_out._runtime.kernels.cuda.rows import SHORT as OF_WARP
from torchgen_out._runtime.kernels.cuda.scatter.combining import COMBINE, combine_at_places
from torchgen_out._runtime.kernels.plan import collapse

DRAW_KEY = "draw_key"
"""The array that keys what a launch draws."""
NOWHERE = 1 << 62
"""How far apart in the result are items that only tell places in it."""
WARP = 32
SHORT = 32
"""Elements of a fold that are not worth a warp."""
FEW_INDICES = 4
"""Indices of an item up to which one text serves all sizes; of more, those of one element are left
out, each a division."""
FEW = 1 << 16
"""Items that leave a device idle, one thread each."""
OF_BOOLEANS = {"sum": "max", "prod": "min"}
"""A sum of booleans is true when one of them is, a product when all are."""
IDENTITIES = {"sum": 0, LAST: 0, "prod": 1, "max": -inf, "min": inf, "any": False, "all": True}
COMBINED = {**{kind: kind for kind in IDENTITIES if kind != LAST}, "any": "max", "all": "min"}
"""What `COMBINE` calls a fold."""


def make_kernel(program: IndexProgram) -> Any:
    """kernel(queue, *results, *arguments) of a program."""

    def kernel(queue: ProductQueue, *args: Any) -> None:
        count = len(program.results)
        results = dict(zip(program.results, args[:count], strict=True))
        given = dict(zip(program.arguments, args[count:], strict=True))
        _run(program.settled(given), queue, results, given)

    return walks_strides(Recorded(kernel))


def _run(
    program: IndexProgram, queue: ProductQueue, results: dict[str, Array], given: dict[str, Any]
) -> None:
    """One call, or several in its place, each of what the one before has made."""
    seen = program.seen(results, given)
    if not isinstance(seen, InTurn):
        _Call(program, queue, results, given).run()
        return
    ((name, out),), (source,) = results.items(), program.inputs
    for turn in seen.turns:
        is_last = turn is seen.turns[-1]
        made = out if is_last else queue.empty(turn.sizes, out.dtype)
        _run(program, queue, {name: made}, {**given, **turn.arguments})
        given = {**given, source: made}


class _Loops(NamedTuple):
    """Loops over `...`: their sizes, and each array's strides."""

    sizes: list[int]
    strides: dict[str, list[int]]


class _Keys(NamedTuple):
    """How the items of a scatter are numbered: rows outermost, what tells places, then columns.

    order: all that tells an item, the fastest first; span: which of these tell places. count: their
    number. folded: the target as combining sees it, steps: of its rows and places. batch, dims: the
    target's strides, in places.
    """

    order: tuple[str, ...]
    span: tuple[int, int]
    count: int
    folded: Folded
    steps: tuple[int, int]
    batch: list[int]
    dims: list[int]


def _in_order(queue: ProductQueue, array: Array, order: Order) -> Array:
    """The array, dense in an order of its dims."""
    sizes, strides = (
        tuple([each[dim] for dim in order.dims]) for each in (array.sizes, array.strides)
    )
    dense = contiguous(queue, array.at(0, sizes, strides))
    return dense.at(0, tuple(array.sizes), order.strides_of(array.sizes))


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
        for name, wanted in program.converted(results, given).items():
            given[name] = converted(queue, given[name], wanted)
        self.results = self._as_stored(results)
        self.written = self._stages()
        views, self.given = self._seen(given)
        self.wanted = program.wanted(given)
        self.has_mask = OUTPUT_MASK in given
        operands = self._as_stored({name: given[name] for name in program.inputs})
        self.whole = dict(operands)
        sizes = {name: views.get(name, array).sizes for name, array in operands.items()}
        self.extents, self.batch = program.measured(sizes, self.given)
        self.forms = {**program.inputs, **program.results}
        is_part = program.gives_parts and any(a.dtype.is_complex for a in operands.values())
        known = {**operands, **self.results} if is_part else {**self.results, **operands}
        self.compute = self._compute_type(known)
        self.launches, kept_in = program.on_device, program.on_device_temporaries
        if program.on_long_rows and self._has_long_rows():
            self.launches, kept_in = program.on_long_rows, program.long_rows_temporaries
        self.forms |= kept_in
        self.arrays = {**operands, **self.written}
        for name, (own, strides, offset) in views.items():
            self.arrays[name] = self.arrays[name].at(offset, own, strides)
        kinds = {"number": self.compute, "int": dtypes.int64, "bool": dtypes.bool}
        for name, form in kept_in.items():
            made = program.sizes_of(form, self.extents, self.batch)
            self.arrays[name] = queue.empty(made, kinds[form.kind])

    def _has_long_rows(self) -> bool:
        """Whether more threads than one launch gives a row are to share each of several folds."""
        launch = next(each for each in self.program.on_device if each.lanes is not None)
        assert launch.lanes is not None
        rows = prod(self.batch) if launch.has_batch else 1
        rows *= prod(self.extents[name] for name in launch.items)
        group, slices, _ = cut(self.queue, Folded(rows, self.extents[launch.lanes[0]], 1))
        is_of_blocks = group <= WARP or launch.lanes[1]
        return (slices > 1 or not is_of_blocks) and not self.compute.is_complex

    def _compute_type(self, arrays: dict[str, Array]) -> dtype:
        for name, array in arrays.items():
            if self.forms[name].kind == "number":
                own = array.dtype.opmath
                return dtypes.int64 if self.program.divides and own.kind == "i" else own
        return dtypes.float32

    def _as_stored(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """Numbers that are only moved as words of their width, and truth values that are only
        compared as bytes, which are in the same order."""
        program = self.program
        forms = {**program.inputs, **program.results}
        if program.moves and not any(launch.numbers for launch in program.on_device):
            arrays = {
                name: array.moved() if forms[name].kind == "number" else array
                for name, array in arrays.items()
            }
        return _with_bytes(arrays) if program.compares else arrays

    def _stages(self) -> dict[str, Array]:
        """Where results are written: wider ones, if these are read again or put together."""
        kept = _in_opmath(self.program)
        wide = {name: array.dtype.opmath for name, array in self.results.items() if name in kept}
        return {
            name: array
            if wide.get(name, array.dtype) is array.dtype
            else self.queue.empty(array.sizes, wide[name])
            for name, array in self.results.items()
        }

    def _seen(self, given: dict[str, Any]) -> tuple[dict[str, View], dict[str, Any]]:
        """The views of all tensors, and the arguments with further numbers.

        What lies in no order that views can show is copied first; a result, at the end.
        """
        seen = self.program.seen(self.written, given)
        if isinstance(seen, dict):
            for name, order in seen.items():
                if name in self.program.inputs:
                    given[name] = _in_order(self.queue, given[name], order)
                else:
                    sizes, dtype = self.written[name].sizes, self.written[name].dtype
                    made = self.queue.empty(sizes, dtype)
                    self.written[name] = made.at(0, sizes, order.strides_of(sizes))
            seen = self.program.seen(self.written, given)
        assert isinstance(seen, tuple) and not isinstance(seen, InTurn)
        return seen

    def _number(self, value: Any) -> Any:
        """A number of the kind of what loops compute; complex ones lie in memory."""
        if self.compute.is_complex:
            made = self.queue.empty((), self.compute)
            self.queue.fill(made, value)
            return made.address
        return float(value) if self.compute.kind == "f" else int(value)

    def run(self) -> None:
        """Queue all launches."""
        for launch in self.program.needed(self.launches, self.wanted):
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
            self._begin(*launch.scatter)
        keys = None
        if launch.scatter is not None and launch.combines:
            keys = self._keys(launch, launch.scatter[0], self._loops(launch))
            values = self.queue.empty((count,), self.arrays[launch.scatter[0]].dtype.opmath)
            first = [values, self.queue.empty((keys.count,), dtypes.int64)]
        if not count or self._contracted(launch):
            return
        if self._scanned(launch, count):
            return
        lanes = self._lanes(launch, count)
        source, values = self._bind(launch, count, lanes, first, keys=keys)
        threads = typed.THREADS
        blocks = min(
            -(-count * lanes // threads), self.queue.processors * typed.BLOCKS_PER_PROCESSOR
        )
        self.queue.launch(source, blocks, (threads, 1), values)
        if launch.scatter is not None and keys is not None:
            self._combine(*launch.scatter[:2], *first, keys)

    def _begin(self, name: str, kind: str, begun: str | None) -> None:
        """What a scatter's result is before the first value is put to it; in place what it is."""
        target = self.written.get(name, self.arrays[name])
        if begun is None:
            self.queue.fill(target, IDENTITIES[kind])
        else:
            self.queue.copy(target, self.whole.get(begun, self.arrays[begun]))

    def _scanned(self, launch: Launch, count: int) -> bool:
        """Whether threads share the rows of a scan or a fold, and do it."""
        scan = launch.scan
        if scan is None:
            return False
        length = self.extents[scan.index]
        found = self._cut(launch, scan, count, length)
        if found is None:
            return False
        group, slices, chunk = found
        wanted = (self.compute if each == "number" else dtypes.int64 for each in scan.types)
        totals = [self.queue.empty((count * slices,), each) for each in wanted if slices > 1]
        for makes_totals in (True, False)[not totals :]:
            extra = (length, slices, chunk)
            if scan.folds and totals and not makes_totals:
                group, extra = group_of(self.queue.processors, count, slices), (slices, 1, slices)
            shared = Shared(scan, group, makes_totals, len(totals))
            source, values = self._bind(scan.launch, count, 1, totals, shared, extra)
            blocks = -(-count * extra[1] * group.threads // typed.THREADS)
            grid = min(blocks, self.queue.processors * typed.BLOCKS_PER_PROCESSOR)
            self.queue.launch(source, grid, (typed.THREADS, 1), values)
        return True

    def _cut(
        self, launch: Launch, scan: Scan, count: int, length: int
    ) -> tuple[Group, int, int] | None:
        """Which threads share a slice, the slices, and elements of each; None if none share."""
        processors = self.queue.processors
        width = 0 if scan.columns is None else self.extents[scan.columns]
        if width >= WARP and length >= LEAST_PER_THREAD:
            return Group(COLUMN_ROWS, True), *sliced_columns(processors, count, length)
        inner = 1 if scan.is_dense else prod(self.extents[name] for name in launch.items)
        group, slices, chunk = cut(self.queue, Folded(count // max(inner, 1), length, inner))
        if scan.folds and slices == 1 and group <= WARP:
            return None
        if group == 1 or (length <= WARP and count >= processors * THREADS):
            return None
        return Group(group), slices, chunk

    def _contracted(self, launch: Launch) -> bool:
        """Whether a library has multiplied what the launch does."""
        if launch.product is None:
            return False
        arrays = [self.arrays[name] for name in launch.product.tensors]
        if arrays[1].dtype is not arrays[2].dtype:
            arrays[1:] = [converted(self.queue, each, each.dtype.opmath) for each in arrays[1:]]
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

    def _keys(self, launch: Launch, name: str, loops: _Loops) -> _Keys:
        """How items are numbered: side by side in the target those that go to one place."""
        array, form = self.arrays[name], self.forms[name]
        own = array.strides[len(array.strides) - form.rank :]
        steps = dict(zip(form.indices, own, strict=True))
        found = (*launch.items[::-1], *([ROWS] if launch.has_batch else []))
        free = [] if launch.keyed is None else [n for n in found if n not in launch.keyed]
        columns: list[str] = []
        width = 1
        for index in form.indices[::-1]:
            if index not in free or (steps[index] != width and self.extents[index] > 1):
                break
            columns.append(index)
            width *= self.extents[index]
        batch = loops.strides.get(name, [])
        steps[ROWS] = batch[-1] if batch else 0
        rows: list[str] = []
        for index in sorted(free, key=steps.__getitem__):
            height = prod(map(self._extent, rows))
            is_next = not rows or steps[index] == steps[rows[0]] * height
            if index not in columns and is_next and not (index == ROWS and len(loops.sizes) > 1):
                rows.append(index)
        apart = {*columns, *rows}
        keyed = [each for each in found if each not in apart]
        moving = [(self.extents[n], steps[n]) for n in form.indices if n not in apart]
        moving += zip(loops.sizes, batch, strict=True) if batch and ROWS not in apart else []
        step = gcd(*(stride for size, stride in moving if size > 1)) or 1
        places = 1 + sum((size - 1) * (stride // step) for size, stride in moving)
        return _Keys(
            (*columns, *keyed, *rows),
            (len(columns), len(columns) + len(keyed)),
            prod(map(self._extent, keyed)),
            Folded(prod(map(self._extent, rows)), places, width),
            (steps[rows[0]] if rows else 0, step),
            [0 if ROWS in apart else each // step for each in batch],
            [0 if n in apart else steps[n] // step for n in form.indices],
        )

    def _combine(
        self, target: str, kind: str, values: Array, positions: Array, keys: _Keys
    ) -> None:
        array = self.written.get(target, self.arrays[target])
        kind = self.program.fold_of(self.given) or kind
        if array.dtype is dtypes.bool:
            kind = OF_BOOLEANS.get(kind, kind)
            array, values = (each._replace(dtype=dtypes.uint8) for each in (array, values))
        flat = array.at(0, (_reach(array) + 1,), (1,))
        combine = COMBINE[COMBINED[kind]]
        combine_at_places(self.queue, flat, positions, values, keys.folded, combine, keys.steps)

    def _lanes(self, launch: Launch, count: int) -> int:
        """How many threads share an item."""
        if launch.lanes is None:
            return 1
        index, is_dense = launch.lanes
        length = launch.steps(index, self.extents)
        if launch.ranges is not None and not is_dense and self._is_wide_row(launch):
            return 1
        leaves_idle = count * WARP < self.queue.processors * BLOCKS_WANTED * THREADS
        is_long = length > (OF_WARP // 2 if leaves_idle else OF_WARP)
        if is_dense and is_long and not self.compute.is_complex:
            return THREADS
        return WARP if length >= SHORT and (is_dense or count < FEW) else 1

    def _is_wide_row(self, launch: Launch) -> bool:
        """Whether neighbouring items read what lies side by side, as lanes of a range do not."""
        return bool(launch.items) and self.extents[launch.items[-1]] >= WARP

    def _bind(
        self,
        launch: Launch,
        count: int,
        lanes: int,
        first: Sequence[Array],
        shared: Shared | None = None,
        extra: Sequence[int] = (),
        keys: _Keys | None = None,
    ) -> tuple[Source, list[Any]]:
        """The kernel for these geometries, and all that it takes. extra: further whole numbers."""
        wholes: list[int] = []
        loops = self._loops(launch)
        order = self._order(launch, loops) if keys is None else keys.order
        parts = tuple(self._parts(launch, loops, max(len(order) - 1, 0), wholes, keys))
        wholes += extra
        arrays = [*first, *(self.arrays[name] for name in launch.arrays)]
        wide = self._is_wide(launch, [count, *wholes], arrays)
        kinds = tuple([each.dtype for each in arrays])
        numbers = [self._number(self.given[name]) for name in launch.numbers]
        numbered = len(wholes), len(loops.sizes), len(numbers)
        span = None if keys is None else keys.span
        form = Form(launch, order, self.compute, lanes, wide, kinds, parts, *numbered, shared, span)
        sizes = [self._extent(name) for name in order[:-1]] + loops.sizes
        addresses = [each.address - _before(each) * each.dtype.itemsize for each in arrays]
        values = [*addresses, self.queue.faults.address, first_number(launch.refused), count]
        values += [*wholes, *(part for size in sizes for part in divisor(max(size, 1)))]
        return index_kernel(form), [*values, *numbers]

    def _extent(self, counter: str) -> int:
        return prod(self.batch) if counter == ROWS else self.extents[counter]

    def _loops(self, launch: Launch) -> _Loops:
        """The loops over `...`, as few as will do; innermost what is written side by side.

        Sums over `...` and random numbers keep the order in which rows are numbered.
        """
        names = [name for name in launch.arrays if self.forms[name].has_batch]
        rows = {n: _batch_strides(self.arrays[n], self.forms[n], self.batch) for n in names}
        order = list(range(len(self.batch)))
        target = launch.writes[0] if launch.writes else ""
        if target in rows and not (
            launch.over_batch or launch.combines or DRAW_KEY in launch.arrays
        ):
            order.sort(key=lambda dim: -abs(rows[target][dim]))
        sizes, strides = collapse(self.batch, list(rows.values()), order)
        if not self.batch or not names or sizes == [1]:
            sizes, strides = [], [[] for _ in names]
        return _Loops(sizes, dict(zip(names, strides, strict=True)))

    def _order(self, launch: Launch, loops: _Loops) -> tuple[str, ...]:
        """What an item is told by, the fastest first: neighbours write side by side.

        Of an index that is not among it there is one element.
        """
        found = (*launch.items[::-1], *([ROWS] if launch.has_batch else []))
        moving = [name for name in found if self._extent(name) > 1]
        if not moving:
            return found
        target = launch.writes[0]
        form, own = self.forms[target], self.arrays[target].strides
        steps = dict(zip(form.indices, own[len(own) - form.rank :], strict=True))
        steps[ROWS] = (loops.strides.get(target) or [0])[-1]
        fastest = min(moving, key=lambda name: abs(steps.get(name, NOWHERE)))
        told = found if len(found) <= FEW_INDICES else moving
        return (fastest, *(name for name in told if name != fastest))

    def _parts(
        self,
        launch: Launch,
        loops: _Loops,
        divided: int,
        wholes: list[int],
        keys: _Keys | None,
    ) -> Iterator[str]:
        """What the function takes behind its arrays; whole numbers join those that there are.

        divided: how many divisors of items come before those of rows. keys: of a scatter, whose
        target is told in places.
        """

        def whole(value: int) -> str:
            wholes.append(int(value))
            return f"whole{len(wholes) - 1}"

        for name in launch.arrays:
            array, form = self.arrays[name], self.forms[name]
            before = _before(array)
            rows = loops.strides[name] if form.has_batch else []
            strides = array.strides[len(array.strides) - form.rank :]
            if keys is not None and name in launch.writes:
                before, rows, strides = before // keys.steps[1], keys.batch, keys.dims
            yield whole(before) if before else "0"
            if form.has_batch:
                steps = [whole(each) for each in rows]
                yield f"({', '.join(steps)},)" if steps else "0"
            for stride in strides:
                yield "1" if stride == 1 else whole(stride)
        if launch.takes_batch:
            dims = range(divided, divided + len(loops.sizes))
            divisors = [f"(size{i}, multiplier{i}, shift{i})" for i in dims]
            yield f"({', '.join(divisors)},)" if divisors else "0"
            yield from (str(len(divisors)), whole(prod(self.batch)))
        yield from (whole(self.extents[name]) for name in (*launch.extents, *launch.integers))
        for i, name in enumerate(launch.numbers):
            is_bool = type(self.given[name]) is bool
            number = f"number{i}[0]" if self.compute.is_complex else f"number{i}"
            yield f"{number} != 0" if is_bool else f"T({number})"
        if self.has_mask:
            yield from (str(n in self.wanted) for n in launch.arrays if n in self.results)

    def _is_wide(self, launch: Launch, numbers: Sequence[int], arrays: Sequence[Array]) -> bool:
        """Whether 32 bits do not count what a launch counts."""
        reach = sum(
            factor * abs(prod(self.extents[name] for name in names))
            for factor, names in launch.reach
        )
        further = (_reach(each) for each in arrays)
        return max(map(abs, (reach, *numbers, *further))) > typed.NARROW


def _with_bytes(arrays: dict[str, Array]) -> dict[str, Array]:
    """Truth values as bytes, which are in the same order."""
    return {
        name: each._replace(dtype=dtypes.uint8) if each.dtype is dtypes.bool else each
        for name, each in arrays.items()
    }


def _in_opmath(program: IndexProgram) -> set[str]:
    """The results that launches read, or put together more than once, so that these are rounded at
    the end."""
    found: set[str] = set()
    combined: list[str] = []
    for launch in (*program.on_device, *program.on_long_rows):
        found |= {name for name in launch.arrays if is_read(launch, name)}
        combined += launch.scatter[:1] if launch.scatter and launch.combines else ()
        found |= set(launch.product.tensors if launch.product else ())
    return found | {name for name in combined if combined.count(name) > 1}


def _before(array: Array) -> int:
    """How far an array's first element lies behind its lowest one, as strides may be negative."""
    pairs = zip(array.sizes, array.strides, strict=True)
    return -sum((size - 1) * stride for size, stride in pairs if stride < 0)


def _reach(array: Array) -> int:
    """How far its elements lie apart."""
    pairs = zip(array.sizes, array.strides, strict=True)
    return sum(abs((size - 1) * stride) for size, stride in pairs)


def _batch_strides(array: Array, form: TensorForm, batch: tuple[int, ...]) -> tuple[int, ...]:
    """An array's strides along the dims of `...`, 0 where it is repeated."""
    own = len(array.sizes) - form.rank
    missing = (0,) * (len(batch) - own)
    return missing + tuple(
        0 if size == 1 else stride
        for size, stride in zip(array.sizes[:own], array.strides[:own], strict=True)
    )
