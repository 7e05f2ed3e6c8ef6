"""Launches of index programs on the CPU: their loops, compiled for dtypes and dense strides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from functools import partial
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.core.shape import contiguous_strides
from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.common import places
from torchgen_out._runtime.kernels.common.contraction import Operand
from torchgen_out._runtime.kernels.common.index import (
    OUTPUT_MASK,
    REFUSAL,
    IndexProgram,
    InTurn,
    Launch,
    Order,
    Refusal,
    TensorForm,
    Turn,
    View,
)
from torchgen_out._runtime.kernels.cpu.folding import copy_parts
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, do_nothing, refusing
from torchgen_out._runtime.kernels.cpu.loops.contraction import plan_contraction
from torchgen_out._runtime.kernels.cpu.loops.index_text import MOST_SPELLED, launch_text, wide
from torchgen_out._runtime.kernels.cpu.planned import (
    FEW,
    PlannedKernel,
    contiguous,
    specs_in,
    view_of,
    viewer,
)
from torchgen_out._runtime.kernels.cpu.small import as_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, collapse

Array = Any
INT64 = np.dtype(np.int64)

COMPUTED = 4
"""How much more an element costs that is computed than one that is moved."""


def make_kernel(program: IndexProgram) -> PlannedKernel:
    """The CPU's kernel of a program."""
    return IndexKernel(program)


class IndexKernel(PlannedKernel):
    """All launches of a program, one after the other; tensors in between are made per call."""

    def __init__(self, program: IndexProgram) -> None:
        self.program = program
        count = len(program.results)
        super().__init__(self._plan, count, any_order=True, any_strides=True)
        self.__name__ = program.name

    def _plan(self, *args: Any) -> LaunchPlan:
        program = self.program
        count = len(program.results)
        results = dict(zip(program.results, args[:count], strict=True))
        given = dict(zip(program.arguments, args[count:], strict=True))
        program = program.settled(given)
        if not any(spec.numel for spec in results.values()) and not program.looks_first:
            return NOTHING
        operands = {name: given[name] for name in program.inputs}
        if foreign := program.converted(results, operands):
            places = [count + list(given).index(name) for name in foreign]
            return self._plan_on_casts(args, places, next(iter(foreign.values())))
        own, stored = operands, _compute_type(program, results, operands)
        if program.moves or _has_truth_values(program, operands):
            results, operands = (_as_words(program, each) for each in (results, operands))
        seen = program.seen(results, given)
        if isinstance(seen, dict):
            return self._plan_in_order(args, seen)
        if isinstance(seen, InTurn):
            return self._plan_in_turn(args, seen.turns)
        views, given = seen
        program, views = program.narrowed(program.turned(views))
        begin = _beginning(program, results, operands, views)
        whole = {**results, **operands}
        results, operands = (_viewed(each, views) for each in (results, operands))
        starts = {name: view.offset for name, view in views.items()}
        sizes = {name: tuple(spec.sizes) for name, spec in operands.items()}
        extents, batch = program.measured(sizes, given)
        compute = _compute_type(program, results, operands)
        kept = {
            name: _made_spec(program, form, extents, batch, compute)
            for name, form in program.temporaries.items()
        }
        specs = {**results, **operands, **kept}
        wanted, names = program.wanted(given), tuple(operands)
        known = given, compute, stored, wanted
        call = _Call(program, specs, starts, names, extents, batch, *known)
        launches = program.needed(program.launches, wanted)
        order = (*results, *operands)
        products = [call.contraction(each) for each in launches]
        if len(launches) == 1 and not kept and products == [None]:
            refuse = _refuse(program, own, order, given.get(REFUSAL))
            copied = _copied(program, whole) if begin else 0
            plan = call.step(launches[0], order, refuse, begin, copied).plan
        else:
            steps = [
                made
                or call.step(
                    each, each.arrays, _refuse(program, own, each.arrays, given.get(REFUSAL))
                )
                for each, made in zip(launches, products, strict=True)
            ]
            plan = LaunchPlan(_runner(steps, order, names, kept), None)
        return _over_words(plan, [spec.dtype for spec in call.specs.values()], args)

    def _plan_in_order(self, args: Sequence[Any], orders: dict[str, Order]) -> LaunchPlan:
        """The plan of operands some of which are copied before, in other orders of their dims."""
        results, given = self.results, list(args)
        copied = []
        for name, order in orders.items():
            place = results + self.program.arguments.index(name)
            spec = given[place]
            strides = order.strides_of(spec.sizes)
            if strides == spec.strides:
                continue
            given[place] = TensorSpec(spec.dtype, spec.sizes, strides)
            n = sum(each.__class__ is TensorSpec for each in args[results:place])
            copied.append((n, viewer(spec), order.dims))
        plan, count = self.planner(*given), sum(each.__class__ is TensorSpec for each in args)

        def run(*args: Any) -> Any:
            made = list(args)
            for n, view, dims in copied:
                at, start = results + n, count + n
                made[at] = contiguous(view(args[at], args[start]).transpose(dims)).reshape(-1)
                made[start] = 0
            return plan.run(*made)

        return LaunchPlan(run, plan.params)

    def _plan_in_turn(self, args: Sequence[Any], turns: Sequence[Turn]) -> LaunchPlan:
        """The plan of several calls, each of what the one before has made."""
        result, source = args[0], next(spec for spec in specs_in(args[1:]))
        given, plans = dict(zip(self.program.arguments, args[1:], strict=True)), []
        (name,) = self.program.inputs
        for turn in turns:
            made = TensorSpec(result.dtype, turn.sizes, contiguous_strides(turn.sizes))
            made = result if turn is turns[-1] else made
            plan = self.planner(made, *{**given, **turn.arguments, name: source}.values())
            plans.append((plan, made.numel))
            source = made

        def run(out: Array, memory: Array, at: int, params: Any) -> None:
            for plan, count in plans[:-1]:
                made = np.empty(count, result.dtype)
                plan.run(made, memory, at, plan.params)
                memory, at = made, 0
            plan, _ = plans[-1]
            plan.run(out, memory, at, plan.params)

        return LaunchPlan(run, None)

    def _plan_on_casts(self, args: Sequence[Any], places: Sequence[int], dtype: Any) -> LaunchPlan:
        """The plan of arguments some of which are cast before, to a dtype of another kind."""
        specs = list(specs_in(args))
        given, order = list(args), [spec for spec in args if spec.__class__ is TensorSpec]
        assert len(specs) == len(order), "tensors of an index program are in no lists"
        cast = [sum(a.__class__ is TensorSpec for a in args[:place]) for place in places]
        for place in places:
            spec = given[place]
            given[place] = TensorSpec(dtype, spec.sizes, contiguous_strides(spec.sizes))
        plan = self.planner(*given)
        views = [(at, viewer(specs[at])) for at in cast]
        count, results = len(specs), self.results

        def run(*args: Any) -> Any:
            made = list(args)
            for at, view in views:
                start = count + at - results
                made[at] = view(args[at], args[start]).astype(dtype).reshape(-1)
                made[start] = 0
            return plan.run(*made)

        return LaunchPlan(run, plan.params)


def _refuse(
    program: IndexProgram, operands: dict[str, TensorSpec], arrays: Sequence[str], told: Any
) -> Callable[..., Exception]:
    """The error of a launch over these arrays that met an element that is no place."""
    refusal: Refusal | None = told
    if refusal is None or refusal.tensor not in arrays:
        return lambda *_: program.refused()
    offsets = [name for name in arrays if name in operands]
    at, start = arrays.index(refusal.tensor), len(arrays) + offsets.index(refusal.tensor)
    spec = operands[refusal.tensor]
    return lambda *args: refusal.error(view_of(args[at], args[start], spec))


def _viewed(specs: dict[str, TensorSpec], views: dict[str, View]) -> dict[str, TensorSpec]:
    return {
        name: spec._replace(sizes=views[name].sizes, strides=views[name].strides)
        if name in views
        else spec
        for name, spec in specs.items()
    }


def _has_truth_values(program: IndexProgram, operands: dict[str, TensorSpec]) -> bool:
    """Whether truth values are compared: they are in order as bytes."""
    return program.compares and any(spec.dtype.kind == "b" for spec in operands.values())


def _as_words(program: IndexProgram, specs: dict[str, TensorSpec]) -> dict[str, TensorSpec]:
    forms = {**program.inputs, **program.results}
    return {
        name: as_words(spec) if forms[name].kind == "number" else spec
        for name, spec in specs.items()
    }


def _over_words(plan: LaunchPlan, dtypes: Sequence[Any], args: Sequence[Any]) -> LaunchPlan:
    """The plan for memory that is of other dtypes than what it was made for."""
    given = [spec.dtype for spec in specs_in(args)]
    taken = len(given)
    others = [i for i in range(taken) if given[i] != dtypes[i]]
    if not others:
        return plan

    def run(*args: Any) -> Any:
        changed = list(args)
        for i in others:
            changed[i] = args[i].view(dtypes[i])
        return plan.run(*changed)

    return LaunchPlan(run, plan.params)


def _compute_type(
    program: IndexProgram, results: dict[str, TensorSpec], operands: dict[str, TensorSpec]
) -> Any:
    known = (results, program.results), (operands, program.inputs)
    for specs, forms in known[::-1] if program.gives_parts else known:
        for name, spec in specs.items():
            if forms[name].kind == "number":
                if program.divides and spec.dtype.kind in "iu":
                    return INT64
                return wide(spec.dtype) if program.is_wide else spec.dtype
    return np.dtype(np.float32)


def _made_spec(
    program: IndexProgram,
    form: TensorForm,
    extents: dict[str, int],
    batch: tuple[int, ...],
    compute: Any,
) -> TensorSpec:
    sizes = program.sizes_of(form, extents, batch)
    kinds = {"number": compute, "int": INT64, "bool": np.dtype(np.bool_)}
    return TensorSpec(kinds[form.kind], sizes, program.strides_of(form, sizes))


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


class _Call(NamedTuple):
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
    ) -> _Step:
        """A launch as loops over arrays in this order. refuse: makes the error; begin: writes what
        the launch does not."""
        bound = self.bind(launch, arrays, copied)
        if copied and bound.work < 2 * threads.GRAIN:
            begin = None
        elif copied:
            bound = self.bind(launch, arrays)
        refuse = refuse or (lambda *_: self.program.refused())
        return _Step(_launch_plan(bound, refuse, begin), arrays, bound.offsets)

    def contraction(self, launch: Launch) -> _Step | None:
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
        return _Step(plan._replace(run=_with_offsets(plan.run, given)), tensors, offsets)

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
        text = launch_text(
            *(launch.function, self.compute.name, tuple(parts), len(numbers), launch.arrays),
            *(arrays, offsets, len(loops.sizes), self._short(launch)),
            launch.tile is not None and self.extents[launch.tile] <= places.TILE,
            launch.waits,
            *(self.program.fold_of(self.given), count_copied),
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
        count, work = self._amounts(launch, loops.run_size)
        may_refuse = "return False" in text
        known = entry, count, work, arrays, offsets, tuple(numbers), plan, may_refuse
        if launch.looks is None:
            return Bound(*known)
        looks, along = (self.extents[name] if name else 1 for name in launch.looks)
        return Bound(*known, looks, along if along > count else 0)

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
        sizes, strides = collapse(self.batch, rows, list(range(len(self.batch))))
        if not self.batch or not names or sizes == [1]:
            sizes, strides = [], [[] for _ in rows]
        run_size, runs = 1, dict.fromkeys(names, 0)
        if launch.runs_batch and sizes:
            run_size, sizes = sizes[-1], sizes[:-1]
            runs = {name: row[-1] for name, row in zip(names, strides, strict=True)}
            strides = [row[:-1] for row in strides]
        return _Loops(sizes, dict(zip(names, strides, strict=True)), run_size, runs)

    def _amounts(self, launch: Launch, run_size: int) -> tuple[int, int]:
        """How many items there are, and what all of them take."""
        total, extents = prod(self.batch), self.extents
        if launch.spread is not None:
            count = extents[launch.spread]
        else:
            count = prod(extents[name] for name in launch.items)
            count *= total // max(run_size, 1) if launch.has_batch else 1
        each = sum(
            prod(extents[name] for name in nest if name in extents and name != launch.spread)
            * (total if launch.over_batch else 1)
            for nest in launch.work
        )
        weight = 1 if self.program.moves else COMPUTED
        work = count * max(each, 1) * run_size * weight
        if launch.tile is not None:
            count *= -(-extents[launch.tile] // places.TILE)
        return count, work


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


class _Step(NamedTuple):
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


def _copied(program: IndexProgram, specs: dict[str, TensorSpec]) -> int:
    """How many elements a result begins with that its own launch can copy: a few, side by side."""
    ((name, source), *others) = program.begins.items()
    result, begun = specs[name], specs[source]
    is_few = result.numel <= FEW and not others
    return result.numel if is_few and result.is_contiguous and begun.is_contiguous else 0


def _beginning(
    program: IndexProgram,
    results: dict[str, TensorSpec],
    operands: dict[str, TensorSpec],
    views: dict[str, View],
) -> Callable[..., Sequence[Any]] | None:
    """What copies the argument that a result begins from, of which statements see a part."""
    partly = [
        (name, source)
        for name, source in program.begins.items()
        if name in views and prod(views[name].sizes) < results[name].numel
    ]
    if not partly:
        return None
    ((name, source),) = partly
    order = [*results, *operands]
    out, begun, start = order.index(name), order.index(source), len(order)
    start += list(operands).index(source)

    wholes = results[name], operands[source]
    is_short = wholes[0].numel <= FEW
    if all(each.is_contiguous for each in wholes):
        wholes = tuple(each._replace(sizes=(each.numel,), strides=(1,)) for each in wholes)
    target_at, source_at = map(viewer, wholes)

    def begin(*args: Any) -> Sequence[Any]:
        """The arguments, in place. To ask where memory lies takes as long as a short copy."""
        target, first = args[out], args[begun]
        given = list(args)
        given[begun], given[start] = target, 0
        if is_short:
            if target is not first or args[start]:
                np.copyto(target_at(target, 0), source_at(first, args[start]))
        elif target.ctypes.data != first.ctypes.data or args[start]:
            copy_parts((target_at(target, 0), source_at(first, args[start])))
        return given

    return begin


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
    count, mode = (bound.along, places.ALONG) if bound.along else (bound.count, places.WRITE)

    def run(*args: Any) -> bool:
        if not threads.run_ranges(entry, looks, work, places.LOOK, *numbers, *args):
            return False
        args = args if begin is None else begin(*args)
        return threads.run_ranges(entry, count, work, mode, *numbers, *args)

    return run


def _runner(
    steps: Sequence[_Step],
    order: Sequence[str],
    operands: Sequence[str],
    kept: dict[str, TensorSpec],
) -> Callable[..., None]:
    """What runs all launches over memory: run(*results, *operands, *offsets, params)."""
    first = len(order)
    made = {name: first + len(operands) + 1 + i for i, name in enumerate(kept)}
    places = {**{name: i for i, name in enumerate(order)}, **made}
    starts = {name: first + i for i, name in enumerate(operands)}
    calls = []
    for each in steps:
        at = [places[name] for name in each.arrays] + [starts[name] for name in each.offsets]
        calls.append((each.plan, itemgetter(*at) if len(at) > 1 else _only(at[0])))

    def run(*args: Any) -> None:
        args = (*args, *[np.empty(spec.numel, spec.dtype) for spec in kept.values()])
        for (run, plan), pick in calls:
            run(*pick(args), plan)

    return run


def _only(place: int) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    return lambda args: (args[place],)
