"""Hand-written kernels of the CPU: each is a function from what it is called with to its launch.

A small product of matrices takes 0.2 us; looking at arrays, checks and views would take ten times
that. So a kernel is planned once per dtypes, sizes and strides, and what remains runs over flat
memory. There is no other way to run it: a call with arrays makes the same plan.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, wraps
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np

from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.shape import contiguous_strides
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.copy.casting import find_mover
from torchgen_out._runtime.kernels.cpu.folding import contiguous, copy_parts
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
Planner = Callable[..., LaunchPlan]
Arrange = Callable[[Sequence[Any]], Sequence[Any]]
CALLS_KEPT = 1024
"""Plans of a kernel's calls with arrays that are remembered."""


class PlannedKernel:
    """A kernel: planner(*results, *arguments) with a `TensorSpec` in place of every tensor.

    results: how many tensors it writes; 0 if it finds their shapes out itself.
    any_order: whether results may lie densely in another order of dims, of which the planner is
    told by their strides; else they are contiguous.
    any_strides: whether the planner takes operands with gaps; else it is told of contiguous ones,
    and others are copied. updates: the names of operands that the kernel writes to.
    """

    def __init__(
        self,
        planner: Planner,
        results: int = 1,
        any_order: bool = False,
        any_strides: bool = False,
        updates: Sequence[str] = (),
    ) -> None:
        self.planner = planner
        self.results = results
        self.any_order = any_order
        self.any_strides = any_strides
        names = list(inspect.signature(planner).parameters) if updates else []
        self._called: dict[Any, LaunchPlan] = {}
        self.updates = {names.index(each) for each in updates}
        self.__name__ = planner.__name__
        self.__doc__ = planner.__doc__

    def case(self, arrange: Arrange, results: int) -> PlannedKernel:
        """The kernel for a case of its operator, which has so many results.

        arrange(args): what the kernel is called with, tensors in the same order.
        """
        assert not self.updates
        planner = arranged(self.planner, arrange)
        return PlannedKernel(planner, results, self.any_order, self.any_strides)

    def plan(self, *args: Any) -> LaunchPlan:
        """The launch for these results and arguments."""
        if self.any_strides or all(each.is_contiguous for each in specs_in(args[self.results :])):
            return self.planner(*args)
        return self.plan_on_copies(*args)

    def plan_on_copies(self, *args: Any) -> LaunchPlan:
        """The launch over contiguous copies of operands with gaps."""
        given = *args[: self.results], *map(_contiguous_spec, args[self.results :])
        numbered = [(i, spec) for i, each in enumerate(args) for spec in specs_in([each])]
        specs = [spec for _, spec in numbered[self.results :]]
        updated = [n for n, (i, _) in enumerate(numbered[self.results :]) if i in self.updates]
        return on_copies(self.planner(*given), self.results, specs, updated)

    def __call__(self, *args: Any) -> Any:
        """Run the kernel on arrays, of any strides; results with gaps are copied back."""
        key: list[Any] = []
        memory: list[Array] = []
        sources: list[Generator] = []
        if not self._read(args, key, memory, sources):
            return self._call_on_copies(args)
        seen = tuple(key)
        plan = self._called.get(seen)
        if plan is None:
            plan = self.plan(*map(_described, args))
            if len(self._called) < CALLS_KEPT:
                self._called[seen] = plan
        offsets = [0] * (len(memory) - self.results)
        found = plan.run(*memory, *offsets, plan.params, *sources)
        if self.results:
            return None
        made = [_shaped(*each) for each in found]
        return made[0] if len(made) == 1 else made

    def _read(
        self, args: Sequence[Any], key: list[Any], memory: list[Array], sources: list[Generator]
    ) -> bool:
        """What the plan depends on, and what it runs over; False if arrays have to be copied."""
        for each in args:
            kind = each.__class__
            if isinstance(each, np.ndarray):
                if each.flags.c_contiguous:
                    memory.append(each.reshape(-1))
                    key += each.dtype.num, each.shape
                    continue
                is_result = len(memory) < self.results
                may_differ = self.any_order if is_result else self.any_strides
                if may_differ and min(each.strides) >= 0:
                    memory.append(memory_of(each))
                    key += each.dtype.num, each.shape, each.strides
                    continue
                return False
            if kind is list or kind is tuple:
                key.append(len(each))
                if not self._read(each, key, memory, sources):
                    return False
            elif kind is Generator:
                sources.append(each)
            else:  # -0.0 equals 0.0
                key += kind, repr(each) if each == 0 else each
        return True

    def _call_on_copies(self, args: Sequence[Any]) -> Any:
        outs = args[: self.results]
        targets = [
            out if self.any_order or out.flags.c_contiguous else np.empty(out.shape, out.dtype)
            for out in outs
        ]
        found = self(*targets, *_made_contiguous(args[self.results :]))
        for out, target in zip(outs, targets, strict=True):
            if target is not out:
                np.copyto(out, target)
        return found


def _shaped(flat: Array, sizes: tuple[int, ...], strides: Sequence[int] | None = None) -> Array:
    """An array of flat memory that is handed over."""
    return (
        flat.reshape(sizes)
        if strides is None
        else viewer(TensorSpec(flat.dtype, sizes, strides))(flat, 0)
    )


def _found(array: Array) -> tuple[Any, ...]:
    """What is handed over of an array: flat memory, sizes; strides if its dims lie in no order."""
    if array.flags.c_contiguous or array.ndim < 2:
        return contiguous(array).reshape(-1), array.shape
    order = sorted(range(array.ndim), key=lambda dim: -array.strides[dim])
    inner = array.transpose(order)
    if not inner.flags.c_contiguous:
        return contiguous(array).reshape(-1), array.shape
    return inner.reshape(-1), array.shape, tuple([step // array.itemsize for step in array.strides])


def arranged(function: Callable[..., Any], arrange: Arrange) -> Callable[..., Any]:
    """The function, called with what `arrange` makes of the arguments."""

    @wraps(function)
    def call(*args: Any) -> Any:
        return function(*arrange(args))

    return call


def planned(**options: Any) -> Callable[[Planner], PlannedKernel]:
    """Make a planner a kernel. options: those of `PlannedKernel`."""
    return lambda planner: PlannedKernel(planner, **options)


FEW_COPIED = 1 << 10
"""Elements of an operand up to which a copy is less than a library's call."""


class ArrayKernel(PlannedKernel):
    """A function over arrays with a planner for a few elements, which leaves the rest to it.

    For libraries that take arrays (LAPACK, BLAS, transforms, NumPy's sorts) and what makes these
    ready: that costs more than a few elements do, for which loops of our own are planned.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        planner: Callable[..., LaunchPlan | None],
        results: int,
        any_order: bool,
        arrange: Arrange | None = None,
    ) -> None:
        super().__init__(self._plan, results, any_order, any_strides=True)
        self.arrange = arrange
        self.function = function
        self.small_planner = planner
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def case(self, arrange: Arrange, results: int) -> PlannedKernel:
        """The same; arguments are arranged once for each plan."""
        planner = arranged(self.small_planner, arrange)
        return ArrayKernel(self.function, planner, results, self.any_order, arrange)

    def _plan(self, *args: Any) -> LaunchPlan:
        found = self.small_planner(*args) or self._plan_on_copies(args)
        return found or LaunchPlan(self._on_views(args), None)

    def _plan_on_copies(self, args: Sequence[Any]) -> LaunchPlan | None:
        """The small loop over copies, where operands of a few elements are not contiguous."""
        given, operands = args[self.results :], list(specs_in(args[self.results :]))
        if all(each.is_contiguous for each in operands) or any(
            each.numel > FEW_COPIED for each in operands
        ):
            return None
        dense = *args[: self.results], *map(_contiguous_spec, given)
        found = self.small_planner(*dense)
        return found and on_copies(found, self.results, operands)

    def _on_views(self, args: Sequence[Any]) -> Callable[..., Any]:
        """run: the function, given arrays in place of the tensors among these arguments."""
        results, function, specs = self.results, self.function, list(specs_in(args))
        tensors = len(specs)
        memory = [
            (viewer(spec), n, tensors + n - results if n >= results else None)
            for n, spec in enumerate(specs)
        ]
        behind = 2 * tensors - results + 1
        args = self.arrange(args) if self.arrange else args
        args = [list(each) if each.__class__ is tuple else each for each in args]
        lists = [each for each in args if each.__class__ is list]
        has_lists = any(map(list, map(specs_in, lists)))
        fill = _list_filler(args) if has_lists else _filler(args, tensors)

        def run(*given: Any) -> Any:
            arrays = [view(given[n], given[at] if at else 0) for view, n, at in memory]
            found = function(*fill(arrays, given[behind:]))
            if results:
                return None
            several = found if isinstance(found, (tuple, list)) else (found,)
            return [_found(each) for each in several]

        return run

    def __call__(self, *args: Any) -> Any:
        """Run the function, which takes arrays of any strides."""
        return self.function(*(self.arrange(args) if self.arrange else args))


def or_arrays(
    planner: Callable[..., LaunchPlan | None], results: int = 1, any_order: bool = False
) -> Callable[[Callable[..., Any]], ArrayKernel]:
    """Make a function over arrays a kernel."""
    return lambda function: ArrayKernel(function, planner, results, any_order)


Fill = Callable[[Sequence[Array], Sequence[Generator]], Iterable[Any]]


def _filler(args: Sequence[Any], arrays: int) -> Fill:
    """What puts a call's arrays, so many, and its generators in their places among arguments."""
    changing = (TensorSpec, Generator)
    constants = [each for each in args if not isinstance(each, changing)]
    array, constant, source = (count(start) for start in (0, arrays, arrays + len(constants)))
    places = [
        next(array if each.__class__ is TensorSpec else source)
        if isinstance(each, changing)
        else next(constant)
        for each in args
    ]
    if len(places) == 1:
        return lambda arrays, sources: (*arrays, *constants, *sources)
    pick = itemgetter(*places)
    return lambda arrays, sources: pick((*arrays, *constants, *sources))


def _list_filler(args: Sequence[Any]) -> Fill:
    """The same, also for lists of tensors."""

    def fill(arrays: Sequence[Array], sources: Sequence[Generator]) -> list[Any]:
        return _filled(args, iter(arrays), iter(sources))

    return fill


def _filled(
    args: Sequence[Any], arrays: Iterator[Array], sources: Iterator[Generator]
) -> list[Any]:
    """Arguments with the next array, or generator, in place of each description of one."""
    found: list[Any] = []
    for each in args:
        if each.__class__ in (list, tuple):
            found.append(_filled(each, arrays, sources))
        elif each.__class__ is TensorSpec:
            found.append(next(arrays))
        else:
            found.append(next(sources) if isinstance(each, Generator) else each)
    return found


def specs_in(args: Sequence[Any]) -> Iterator[TensorSpec]:
    """The tensors among arguments, those in lists included."""
    for each in args:
        if each.__class__ is TensorSpec:
            yield each
        elif each.__class__ in (list, tuple):
            yield from specs_in(each)


def _contiguous_spec(argument: Any) -> Any:
    if argument.__class__ is TensorSpec:
        return argument.dense
    if argument.__class__ in (list, tuple):
        return argument.__class__(map(_contiguous_spec, argument))
    return argument


def on_copies(
    plan: LaunchPlan, results: int, operands: Sequence[TensorSpec], updated: Sequence[int] = ()
) -> LaunchPlan:
    """The plan over contiguous copies of those operands that are not; some are copied back."""
    copied = [n for n, spec in enumerate(operands) if not spec.is_contiguous]
    if not copied:
        return plan
    behind = results + len(operands)
    read = [(results + n, behind + n, gatherer(operands[n])) for n in copied if n not in updated]
    written = [(results + n, behind + n, viewer(operands[n])) for n in copied if n in updated]
    run = plan.run

    def run_on_copies(*args: Any) -> Any:
        given = list(args)
        for n, at, gather in read:
            given[n], given[at] = gather(args[n], args[at]), 0
        return run(*given)

    def run_on_written(*args: Any) -> Any:
        given, changed = list(args), []
        for n, at, view_at in written:
            view = view_at(args[n], args[at])
            dense = contiguous(view)
            given[n], given[at] = dense.reshape(-1), 0
            changed.append((view, dense))
        found = run_on_copies(*given)
        copy_parts(*changed)
        return found

    return LaunchPlan(run_on_written if written else run_on_copies, plan.params)


def made_apart(plan: LaunchPlan, result: TensorSpec) -> LaunchPlan:
    """The plan whose one result, which has gaps, is made densely and copied to where it lies."""
    view_at, run, numel = viewer(result), plan.run, result.numel
    empty = pool.maker(numel * result.dtype.itemsize, result.dtype)

    def run_apart(out: Array, *args: Any) -> None:
        dense = empty(numel)
        run(dense, *args)
        copy_parts((view_at(out, 0), dense.reshape(result.sizes)))

    return LaunchPlan(run_apart, plan.params)


@lru_cache(maxsize=CALLS_KEPT)
def gatherer(spec: TensorSpec) -> Callable[[Array, int], Array]:
    """gather(flat, at): an operand's elements as a dense flat array; its own memory if they lie so.

    Others are copied by compiled loops: of a few, views, their strides and NumPy's copy cost three
    times as much; many that lie crosswise are turned in tiles, in a sixth of NumPy's time.
    """
    numel, dtype = spec.numel, spec.dtype
    if spec.is_contiguous:
        return lambda flat, at: flat if flat.size == numel else flat[at : at + numel]
    copier = find_mover(dtype.itemsize, spec[1:3], (spec.sizes, contiguous_strides(spec.sizes)))
    if copier is None:
        view_at = viewer(spec)
        return lambda flat, at: contiguous(view_at(flat, at)).reshape(-1)
    run, together = copier
    empty = pool.maker(numel * dtype.itemsize, dtype)

    def gather(flat: Array, at: int) -> Array:
        dense = empty(numel)
        if together is None:
            run(0, at, dense, flat)
        else:
            run(dense, flat[at:])
        return dense

    return gather


def view_of(flat: Array, at: int, spec: TensorSpec) -> Array:
    """An operand's memory as an array of its sizes and strides."""
    return viewer(spec)(flat, at)


@lru_cache(maxsize=CALLS_KEPT)
def viewer(spec: TensorSpec) -> Callable[[Array, int], Array]:
    """`view_of` for one operand, with what does not change worked out."""
    sizes, numel, dtype, size = tuple(spec.sizes), spec.numel, spec.dtype, spec.dtype.itemsize
    if not numel:
        return lambda flat, at: np.empty(sizes, dtype)
    if not spec.is_contiguous:
        strides = [step * size for step in spec.strides]
        return lambda flat, at: np.ndarray(sizes, dtype, flat, at * size, strides)
    if len(sizes) == 1:
        return lambda flat, at: flat if flat.size == numel else flat[at : at + numel]

    def view(flat: Array, at: int) -> Array:
        return (flat if flat.size == numel else flat[at : at + numel]).reshape(sizes)

    return view


def memory_of(array: Array) -> Array:
    """The flat memory from an array's first element to its last, all of whose strides are >= 0."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    steps = [each // array.itemsize for each in array.strides]
    extent = 1 + sum((n - 1) * step for n, step in zip(array.shape, steps, strict=True))
    return np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,))


def _made_contiguous(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return contiguous(argument)
    if argument.__class__ in (list, tuple):
        return argument.__class__(map(_made_contiguous, argument))
    return argument


def _described(argument: Any) -> Any:
    """An argument as a planner sees it: of arrays the spec, no lists."""
    if isinstance(argument, np.ndarray):
        steps = tuple([each // argument.itemsize for each in argument.strides])
        return TensorSpec(argument.dtype, argument.shape, steps)
    if argument.__class__ in (list, tuple):
        return tuple(map(_described, argument))
    return argument


class Elementwise:
    """A kernel that may be given flat arrays in place of dense ones of one shape."""

    def __init__(self, kernel: Callable[..., None]) -> None:
        self.kernel = kernel
        self.__name__ = kernel.__name__
        self.__doc__ = kernel.__doc__

    def case(self, arrange: Arrange) -> Elementwise:
        """The kernel for a case of its operator, as `PlannedKernel` has it."""
        return type(self)(arranged(self.kernel, arrange))

    def __call__(self, *args: Any) -> None:
        self.kernel(*args)


class Filling(Elementwise):
    """An element by element kernel that reads no tensor of more than one element.

    few: the same for flat memory of few elements. much(few, (out,), values, work), the same for
    that of many.
    """

    def __init__(
        self,
        kernel: Callable[..., None],
        few: Callable[..., Any],
        much: Callable[..., None],
    ) -> None:
        super().__init__(kernel)
        self.few = few
        self.much = much


FEW = 1 << 13
"""Elements up to which NumPy fills memory as fast as a kernel is called."""


class Cast(Elementwise):
    """An element by element kernel that copies `self` or `src`, cast to the result's dtype."""
