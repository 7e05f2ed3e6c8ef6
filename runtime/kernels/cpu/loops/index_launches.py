"""One launch of an index program on the CPU: its compiled loops, and what these are called with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.common import places
from torchgen_out._runtime.kernels.common.contraction import Operand
from torchgen_out._runtime.kernels.common.index import (
    OUTPUT_MASK,
    IndexProgram,
    Launch,
    TensorForm,
)
from torchgen_out._runtime.kernels.cpu.loop_plans import do_nothing, refusing
from torchgen_out._runtime.kernels.cpu.loops.contraction import plan_contraction
from torchgen_out._runtime.kernels.cpu.loops.index_text import MOST_SPELLED, launch_text
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, collapse

Array = Any
INT64 = np.dtype(np.int64)

COMPUTED = 4
"""How much more an element costs that is computed than one that is moved."""

LEAST_TILE = 128
"""Elements side by side that are worth a thread of their own."""


class Bound(NamedTuple):
    """A launch for known geometries.

    entry(start, stop, *numbers, *arrays, *offsets, plan): offsets say where operands begin, plan
    has the strides of `...` and, from its end, all other whole numbers.
    """

    entry: Callable[..., Any]
    count: int
    work: int
    arrays: tuple[str, ...]
    offsets: tuple[str, ...]
    numbers: tuple[float, ...]
    plan: Array
    may_refuse: bool
    """Whether it answers False where an element of an integer tensor is no place."""
    looks: int | None = None
    """Where it looks at places first: how many there are along their first index."""
    along: int = 0
    """How many elements there are of the innermost index, if threads share that."""


class Call(NamedTuple):
    """What all launches of a call know: its tensors, extents and arguments."""

    program: IndexProgram
    specs: dict[str, TensorSpec]
    starts: dict[str, int]
    operands: tuple[str, ...]
    extents: dict[str, int]
    batch: tuple[int, ...]
    given: dict[str, Any]
    compute: Any
    stored: Any
    wanted: Container[str]

    @property
    def forms(self) -> dict[str, TensorForm]:
        return {**self.program.inputs, **self.program.results, **self.program.temporaries}

    def step(
        self,
        launch: Launch,
        arrays: tuple[str, ...],
        refuse: Callable[..., Exception] | None = None,
        begin: Callable[..., Sequence[Any]] | None = None,
        copied: int = 0,
    ) -> Step:
        """A launch as loops over arrays in this order. refuse: makes the error; begin: writes what
        the launch does not."""
        bound = self.bind(launch, arrays, copied)
        if copied and bound.work < 2 * threads.GRAIN:
            begin = None
        elif copied:
            bound = self.bind(launch, arrays)
        refuse = refuse or (lambda *_: self.program.refused())
        return Step(_launch_plan(bound, refuse, begin), arrays, bound.offsets)

    def contraction(self, launch: Launch) -> Step | None:
        """A launch as products of matrices, where it is one of some size."""
        if launch.product is None:
            return None
        tensors = launch.product.tensors
        if any(self.starts.get(name) for name in tensors):
            return None
        specs = [self.specs[name] for name in tensors]
        rows = [_batch_strides(self.specs[n], self.forms[n], self.batch) for n in tensors]
        sizes, strides = collapse(self.batch, rows, list(range(len(self.batch))))
        operands = [
            Operand(tuple(row), spec.strides[len(spec.strides) - self.forms[name].rank :])
            for name, spec, row in zip(tensors, specs, strides, strict=True)
        ]
        out, one, other = operands
        plan = plan_contraction(launch.product, specs, self.extents, sizes, (out, one, other))
        if plan is None:
            return None
        offsets = tuple(name for name in tensors[1:] if name in self.operands)
        given = [name in self.operands for name in tensors[1:]]
        return Step(plan._replace(run=_with_offsets(plan.run, given)), tensors, offsets)

    def bind(self, launch: Launch, arrays: tuple[str, ...], copied: int = 0) -> Bound:
        """A launch over arrays in this order, of which it may leave some out. copied: how many
        elements it copies first, if these are more than it sees."""
        integers: list[int] = []
        launch, literals = launch.chosen(self.extents, prod(self.batch))
        loops, parts = self._parts(launch, integers, literals)
        numbers = [self.number(self.given[name]) for name in launch.numbers]
        parts += [
            f"number{i}" if type(n) is bool else f"T(number{i})" for i, n in enumerate(numbers)
        ]
        if OUTPUT_MASK in self.given:
            results = self.program.results
            parts += [str(name in self.wanted) for name in launch.arrays if name in results]
        offsets = tuple(name for name in arrays if name in self.operands)
        count_copied = f"plan[plan.size - {len(integers) + 1}]" if copied else ""
        integers += [copied] if copied else []
        count, work = self._amounts(launch, loops.run_size)
        tile = self._tile(launch, count, work)
        text = launch_text(
            *(launch.function, self.compute.name, tuple(parts), len(numbers), launch.arrays),
            *(arrays, offsets, len(loops.sizes), self._short(launch)),
            tile,
            launch.waits,
            *(self.program.fold_of(self.given), count_copied),
            self._apart(launch),
        )
        signature = (
            *(int, int, *([int] if launch.looks is not None else [])),
            *[each.__class__ for each in numbers],
            *[self.specs[name].dtype for name in arrays],
            *(*[int] * len(offsets), INT64),
        )
        entry = build.entry_point(launch.function.__name__, text, signature)
        strides = [stride for row in loops.strides.values() for stride in row]
        plan = np.array([*loops.sizes, *strides, *reversed(integers)] or [0], np.int64)
        if launch.tile is not None and tile:
            count *= -(-self.extents[launch.tile] // tile)
        may_refuse = "return False" in text
        known = entry, count, work, arrays, offsets, tuple(numbers), plan, may_refuse
        if launch.looks is None:
            return Bound(*known)
        looks, along = (self.extents[name] if name else 1 for name in launch.looks)
        return Bound(*known, looks, along if along // threads.LEAST_RUN > count else 0)

    def _apart(self, launch: Launch) -> tuple[str, ...]:
        """The arrays in whose memory no other one lies: results that were made for the call."""
        program = self.program
        made = [] if program.in_place else launch.writes
        return tuple([name for name in made if name not in program.inputs])

    def number(self, value: Any) -> Any:
        """A number as loops take it: of the kind of what they compute, or as a word."""
        if self.program.moves:
            return np.full(1, value).astype(self.stored).view(self.compute).item()
        kinds = {"i": int, "u": int, "b": int, "c": complex}
        return value if type(value) is bool else kinds.get(self.compute.kind, float)(value)

    def _short(self, launch: Launch) -> tuple[str, ...]:
        """The indices that go through one block at most."""
        return tuple([name for name in launch.extents if self.extents[name] <= places.BLOCK])

    def _parts(
        self, launch: Launch, integers: list[int], literals: Collection[str]
    ) -> tuple[_Loops, list[str]]:
        """What the function's parameters behind the arrays are; whole numbers join integers.

        literals: the extents and whole numbers that the text says.
        """
        loops, parts = self._loops(launch), []

        def whole(value: int) -> str:
            integers.append(int(value))
            return f"plan[last - {len(integers) - 1}]"

        for name in launch.arrays:
            spec, form = self.specs[name], self.forms[name]
            start = [f"{name}_at"] if name in self.operands else []
            start += [whole(self.starts[name])] if self.starts.get(name) else []
            parts.append(" + ".join(start) or "0")
            if form.has_batch:
                place = list(loops.strides).index(name)
                parts.append(str(len(loops.sizes) * (1 + place)))
                if launch.runs_batch:
                    run = loops.runs[name]
                    parts.append(str(run) if run in (-1, 0, 1) else whole(run))
            own = spec.strides[len(spec.strides) - form.rank :]
            parts += ["1" if stride == 1 else whole(stride) for stride in own]
        if launch.takes_batch:
            dims = len(loops.sizes)
            parts += ["plan", str(dims) if dims <= MOST_SPELLED else whole(dims)]
            parts.append(whole(prod(self.batch) // max(loops.run_size, 1)))
        if launch.runs_batch:
            parts.append(whole(loops.run_size))
        for name in (*launch.extents, *launch.integers):
            value = self.extents[name]
            natural = " & NATURAL" if name in launch.extents else ""
            parts.append(str(value) if name in literals else f"{whole(value)}{natural}")
        return loops, parts

    def _loops(self, launch: Launch) -> _Loops:
        """The loops over `...`, as few as will do."""
        names = [name for name in launch.arrays if self.forms[name].has_batch]
        rows = [_batch_strides(self.specs[each], self.forms[each], self.batch) for each in names]
        order: Sequence[int] = range(len(self.batch))
        if launch.runs_batch:
            steps = tuple([self._steps(name) for name in launch.writes])
            order = shapes.joint_order(tuple(self.batch), steps)
        sizes, strides = collapse(self.batch, rows, order)
        if not self.batch or not names or sizes == [1]:
            sizes, strides = [], [[] for _ in rows]
        run_size, runs = 1, dict.fromkeys(names, 0)
        if launch.runs_batch and sizes:
            run_size, sizes = sizes[-1], sizes[:-1]
            runs = {name: row[-1] for name, row in zip(names, strides, strict=True)}
            strides = [row[:-1] for row in strides]
        return _Loops(sizes, dict(zip(names, strides, strict=True)), run_size, runs)

    def _steps(self, name: str) -> tuple[int, ...]:
        """How far apart a tensor's elements are along the dims of `...`, in either direction."""
        return tuple(map(abs, _batch_strides(self.specs[name], self.forms[name], self.batch)))

    def _amounts(self, launch: Launch, run_size: int) -> tuple[int, int]:
        """How many items there are, before any is cut into tiles, and what all of them take."""
        total, extents = prod(self.batch), self.extents
        if launch.spread is not None:
            count = extents[launch.spread]
        else:
            count = prod(extents[name] for name in launch.items)
            count *= total // max(run_size, 1) if launch.has_batch else 1
        each = sum(
            prod(
                launch.steps(name, extents)
                for name in nest
                if name in extents and name != launch.spread
            )
            * (total if launch.over_batch else 1)
            for nest in launch.work
        )
        weight = 1 if self.program.moves or launch.light else COMPUTED
        work = count * max(each, 1) * run_size * weight
        return count, work

    def _tile(self, launch: Launch, count: int, work: int) -> int:
        """Elements of a tile, 0 if it is all: fewer where each thread shall have one."""
        if launch.tile is None:
            return places.TILE
        extent, tile = self.extents[launch.tile], places.TILE
        wanted = min(threads.get_num_threads(), work // threads.GRAIN)
        while count * -(-extent // tile) < wanted and tile > LEAST_TILE:
            tile //= 2
        return 0 if extent <= tile else tile


class _Loops(NamedTuple):
    """Loops over `...`: their sizes, each array's strides, and the run that is innermost."""

    sizes: list[int]
    strides: dict[str, list[int]]
    run_size: int
    runs: dict[str, int]


def _batch_strides(spec: TensorSpec, form: TensorForm, batch: tuple[int, ...]) -> tuple[int, ...]:
    """A tensor's strides along the dims of `...`, 0 where it is repeated."""
    own = len(spec.sizes) - form.rank
    missing = (0,) * (len(batch) - own)
    return missing + tuple(
        0 if size == 1 else stride
        for size, stride in zip(spec.sizes[:own], spec.strides[:own], strict=True)
    )


class Step(NamedTuple):
    """A launch's plan: run(*arrays, *offsets, params)."""

    plan: LaunchPlan
    arrays: tuple[str, ...]
    offsets: tuple[str, ...]


def _with_offsets(run: Callable[..., Any], given: Sequence[bool]) -> Callable[..., Any]:
    """The same function, of three arrays, for those offsets alone that are not 0 for certain."""

    def complete(*args: Any) -> None:
        offsets = iter(args[3:-1])
        run(*args[:3], *(next(offsets) if each else 0 for each in given), args[-1])

    return run if all(given) else complete


def _launch_plan(
    bound: Bound,
    refuse: Callable[..., Exception],
    begin: Callable[..., Sequence[Any]] | None = None,
) -> LaunchPlan:
    """The plan of one launch: compiled code is all that is called."""
    if bound.looks is not None:
        run: Callable[..., Any] = _looking_first(bound, begin)
    elif not bound.count:
        run = do_nothing
    elif bound.work < 2 * threads.GRAIN:
        run = partial(bound.entry, 0, bound.count, *bound.numbers)
    else:
        first = bound.entry, bound.count, bound.work, *bound.numbers
        run = partial(threads.run_ranges, *first)
    plan = LaunchPlan(run, bound.plan)
    may_refuse = bound.may_refuse and (bound.count > 0 or bound.looks is not None)
    return refusing(plan, refuse) if may_refuse else plan


def _looking_first(bound: Bound, begin: Callable[..., Sequence[Any]] | None) -> Callable[..., Any]:
    """What looks at all places before it writes: at once, or each shared by the threads."""
    entry, work, numbers, looks = bound.entry, bound.work, bound.numbers, bound.looks
    if work < 2 * threads.GRAIN and begin is not None:

        def run_short(*args: Any) -> bool:
            if not entry(0, looks, places.LOOK, *numbers, *args):
                return False
            return entry(0, bound.count, places.WRITE, *numbers, *begin(*args))

        return run_short
    if work < 2 * threads.GRAIN:
        return partial(entry, 0, bound.count, 0, *numbers)
    count, mode, share = bound.count, places.WRITE, work
    if bound.along:
        count, mode = bound.along, places.ALONG
        share = min(work, bound.along // threads.LEAST_RUN * threads.GRAIN)

    def run(*args: Any) -> bool:
        if not threads.run_ranges(entry, looks, work, places.LOOK, *numbers, *args):
            return False
        args = args if begin is None else begin(*args)
        return threads.run_ranges(entry, count, share, mode, *numbers, *args)

    return run
