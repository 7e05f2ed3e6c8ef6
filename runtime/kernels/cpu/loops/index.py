"""Index programs on the CPU: all launches of a call, in order, for the memory that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from torchgen_out._runtime.core.shape import contiguous_strides, is_dense
from torchgen_out._runtime.kernels.common.index import (
    REFUSAL,
    IndexProgram,
    InTurn,
    Order,
    Refusal,
    TensorForm,
    Turn,
    View,
)
from torchgen_out._runtime.kernels.cpu import folding
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.loops.found_places import plan_at_places
from torchgen_out._runtime.kernels.cpu.loops.index_launches import Call, Step
from torchgen_out._runtime.kernels.cpu.loops.index_text import wide
from torchgen_out._runtime.kernels.cpu.planned import (
    FEW,
    PlannedKernel,
    gatherer,
    specs_in,
    view_of,
    viewer,
)
from torchgen_out._runtime.kernels.cpu.small import as_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
INT64 = np.dtype(np.int64)


def make_kernel(program: IndexProgram) -> PlannedKernel:
    """The CPU's kernel of a program."""
    return IndexKernel(program)


class IndexKernel(PlannedKernel):
    """All launches of a program, one after the other; tensors in between are made per call."""

    def __init__(self, program: IndexProgram) -> None:
        assert program.launches, f"{program.name}: a kernel written by hand runs on the CPU"
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
        unread = [name for name in given.keys() - program.inputs.keys() if _holds(given[name])]
        if unread:
            return _plan_without(program, unread, args)
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
        if copy := _copying(program, results, operands, views):
            return _over_words(copy, [*results.values(), *operands.values()], args)
        program, views = program.narrowed(program.turned(views))
        strided = _strided_rows(program, operands, views)
        if strided := strided or _crosswise(program, results, operands, views):
            return self._plan_in_order(args, strided)
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
        call = Call(program, specs, starts, names, extents, batch, *known)
        launches = program.needed(program.launches, wanted)
        order = (*results, *operands)
        products = [call.contraction(each) for each in launches]
        refuse = partial(_refuse, program, own, told=given.get(REFUSAL))
        if len(launches) == 1 and not kept and products == [None]:
            copied = _copied(program, whole) if begin else 0
            plan = call.step(launches[0], order, refuse(order), begin, copied).plan
        else:
            steps = [
                made or call.step(each, each.arrays, refuse(each.arrays))
                for each, made in zip(launches, products, strict=True)
            ]
            plan = LaunchPlan(_runner(steps, order, names, kept), None)
        return _over_words(plan, list(call.specs.values()), args)

    def _plan_in_order(self, args: Sequence[Any], orders: dict[str, Order]) -> LaunchPlan:
        """The plan of tensors in other orders of their dims: operands are copied before, results
        are copied to where they belong; or a few places in them are found."""
        if found := plan_at_places(self, args, orders):
            return found
        results, given = self.results, list(args)
        names = (*self.program.results, *self.program.arguments)
        before, behind = [], []
        for name, order in orders.items():
            place = names.index(name)
            spec = given[place]
            strides = order.strides_of(spec.sizes)
            if strides == spec.strides:
                continue
            given[place] = TensorSpec(spec.dtype, spec.sizes, strides)
            n = sum(each.__class__ is TensorSpec for each in args[:place])
            if place < results:
                behind.append((n, viewer(spec), order.dims))
            else:
                before.append((n, gatherer(spec.permuted(order.dims))))
        plan, count = self.planner(*given), sum(each.__class__ is TensorSpec for each in args)
        made_in = {n: viewer(given[n]) for n, _, _ in behind}

        def run(*args: Any) -> Any:
            made = list(args)
            for n, gather in before:
                start = count + n - results
                made[n], made[start] = gather(args[n], args[start]), 0
            for n in made_in:
                made[n] = np.empty_like(args[n])
            found = plan.run(*made)
            for n, view, _ in behind:
                folding.copy_parts((view(args[n], 0), made_in[n](made[n], 0)))
            return found

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


LEAST_GATHERED = 1 << 10
"""Elements of an operand from which loops over strided rows take longer than a dense copy does."""
LEAST_OF_LIGHT = 1 << 12
"""The same for loops that hardly compute anything."""


def _strided_rows(
    program: IndexProgram, operands: dict[str, TensorSpec], views: dict[str, View]
) -> dict[str, Order]:
    """The operands to be copied first: all of whose elements are read, by loops that would be
    vectors if neighbours lay side by side. A softmax of strided rows takes five times as long.

    Light loops over columns in the order of memory gain less than the copy takes; scans are no
    vectors either way. Memory with gaps is first copied as it lies, which is no transposition.
    """
    (launch, *others) = program.launches
    is_read_whole = not (others or program.moves or launch.items or launch.spread)
    if not is_read_whole or launch.runs_batch or launch.looks is not None or launch.waits:
        return {}
    if launch.scatter is not None or _goes_on(program):
        return {}
    least = LEAST_OF_LIGHT if launch.light else LEAST_GATHERED
    found = {}
    for name, spec in operands.items():
        view = views.get(name) or View(spec.sizes, spec.strides)
        is_strided = program.inputs[name].rank and view.sizes[-1] > 1 and view.strides[-1] != 1
        is_left = launch.light and launch.tile and 0 < view.strides[-1] < view.strides[-2]
        is_large = prod(view.sizes) == spec.numel >= least
        if is_strided and is_large and not (is_left or spec.is_contiguous):
            has_gaps = not is_dense(spec.sizes, spec.strides)
            found[name] = Order(tuple(spec.memory_order if has_gaps else range(len(spec.sizes))))
    return found


FEW_PLACES = 8
"""How much less there must be of an index than of what it chooses from."""
LINE = 64
"""Bytes that the processor reads at a time."""


def _crosswise(
    program: IndexProgram,
    results: dict[str, TensorSpec],
    operands: dict[str, TensorSpec],
    views: dict[str, View],
) -> dict[str, Order]:
    """The operands of what only moves elements that are to be turned first, in tiles: large ones of
    which neighbours in the result lie in another line each. It takes a third of the time."""
    made = sum(spec.numel for spec in results.values() if spec.is_contiguous)
    moved = sum(spec.numel for spec in operands.values())
    return {
        name: Order(tuple(range(len(spec.sizes))))
        for name, spec in operands.items()
        if program.moves
        and folding.TURNED <= spec.numel <= made
        and FEW_PLACES * (moved - spec.numel) <= made  # no index for each
        and is_dense(spec.sizes, spec.strides)
        and not spec.is_contiguous
        and _last_step(views.get(name) or View(spec.sizes, spec.strides)) * spec.dtype.itemsize
        >= LINE
    }


def _last_step(view: View) -> int:
    """How far the elements of the last dim that has several lie apart."""
    pairs = zip(view.sizes, view.strides, strict=True)
    return next((abs(step) for size, step in reversed([*pairs]) if size > 1), 0)


def _goes_on(program: IndexProgram) -> bool:
    """Whether each step of a row makes a result of its own from the one before."""
    return any(each.scan is not None and not each.scan.folds for each in program.on_device)


def _holds(given: Any) -> bool:
    """Whether an argument is a tensor, or a list with one."""
    return next(specs_in([given]), None) is not None


def _plan_without(program: IndexProgram, unread: Sequence[str], args: Sequence[Any]) -> LaunchPlan:
    """The plan of a program that does not read some of a call's tensors, which it is not given."""
    results, names = len(program.results), (*program.results, *program.arguments)
    known = [
        name not in unread for name, each in zip(names, args, strict=True) for _ in specs_in([each])
    ]
    given = [None if n in unread else a for n, a in zip(names, args, strict=True)]
    plan = IndexKernel(replace(program, asked={})).plan(*given)
    read = [at for at, is_read in enumerate(known) if is_read]
    pick = itemgetter(*read, *[len(known) + at - results for at in read[results:]], -1)
    return LaunchPlan(lambda *args: plan.run(*pick(args)), plan.params)


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


def _over_words(plan: LaunchPlan, specs: Sequence[TensorSpec], args: Sequence[Any]) -> LaunchPlan:
    """The plan for memory that is of other dtypes than what it was made for."""
    given, dtypes = [spec.dtype for spec in specs_in(args)], [spec.dtype for spec in specs]
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
    is_complex = any(spec.dtype.kind == "c" for spec in operands.values())
    for specs, forms in known[::-1] if program.gives_parts and is_complex else known:
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


def _copied(program: IndexProgram, specs: dict[str, TensorSpec]) -> int:
    """How many elements a result begins with that its own launch can copy: a few, side by side."""
    ((name, source), *others) = program.begins.items()
    result, begun = specs[name], specs[source]
    is_few = result.numel <= FEW and not others
    return result.numel if is_few and result.is_contiguous and begun.is_contiguous else 0


def _copying(
    program: IndexProgram,
    results: dict[str, TensorSpec],
    operands: dict[str, TensorSpec],
    views: dict[str, View],
) -> LaunchPlan | None:
    """The plan of statements that only say `out[...] = self[...]`, of many narrow rows."""
    (launch, *others), names = program.launches, (*results, *operands)
    is_copy = program.moves and launch.runs_batch and not (others or launch.integers)
    if not is_copy or len(names) > 2 or set(launch.arrays) != set(names):
        return None
    seen = {**_viewed(results, views), **_viewed(operands, views)}
    out, source = (seen[name] for name in names)
    if out.numel <= FEW or out.sizes != source.sizes:
        return None
    if out.sizes[-1] * out.dtype.itemsize > folding.NARROW:
        return None
    starts = [views[name].offset if name in views else 0 for name in names]
    out_at, source_at = viewer(out), viewer(source)

    def run(out: Array, source: Array, at: int, params: Any) -> None:
        folding.copy_parts((out_at(out, starts[0]), source_at(source, at + starts[1])))

    return LaunchPlan(run, None)


SHORTEST_ROW = 16
"""Elements of a row from which on a loop is worth it."""


def _has_narrow_rows(result: TensorSpec, source: TensorSpec) -> bool:
    are_alike = result.is_contiguous and source.is_contiguous and result.sizes == source.sizes
    return are_alike and 1 < result.sizes[-1] < SHORTEST_ROW


def _beginning(
    program: IndexProgram,
    results: dict[str, TensorSpec],
    operands: dict[str, TensorSpec],
    views: dict[str, View],
) -> Callable[..., Sequence[Any]] | None:
    """What copies the argument that a result begins from, of which statements see a part, or which
    has many rows of a few elements: a copy in one piece is quicker than row by row."""
    partly = [
        (name, source)
        for name, source in program.begins.items()
        if (name in views and prod(views[name].sizes) < results[name].numel)
        or (results[name].numel > FEW and _has_narrow_rows(results[name], operands[source]))
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
            folding.copy_parts((target_at(target, 0), source_at(first, args[start])))
        return given

    return begin


def _runner(
    steps: Sequence[Step],
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
