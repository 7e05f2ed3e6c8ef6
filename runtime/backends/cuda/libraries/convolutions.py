"""Convolutions by cuDNN: descriptors of an operation, a plan of an engine that may compute it.

Plans are kept per `Convolution` and per switches of `torch.backends.cudnn`. The library's
heuristics put its engines in order, and each engine says how it computes: those that the switches
forbid are left out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from math import inf
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver, streams
from torchgen_out._runtime.backends.cuda.libraries import cudnn, loading, workspace
from torchgen_out._runtime.backends.cuda.libraries.convolution_graphs import Graph
from torchgen_out._runtime.backends.cuda.libraries.cudnn import (
    DATA_TYPES,
    Attribute,
    Kind,
    NotSupportedError,
)
from torchgen_out._runtime.backends.cuda.libraries.kept import Kept
from torchgen_out._runtime.backends.flags import cudnn as switches
from torchgen_out._runtime.backends.flags.determinism import are_deterministic_algorithms_enabled
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import Convolution
from torchgen_out._runtime.kernels.cuda.queue import Array

HEURISTICS = 3, 2
"""cudnnBackendHeurMode_t: decision trees first, then what works without being chosen."""
TENSOR_CORE, DOWN_CONVERT_INPUTS, REDUCED_PRECISION_REDUCTION, NONDETERMINISTIC = 0, 1, 2, 4
"""cudnnBackendNumericalNote_t, of engines."""
PLANS_KEPT = 1024
NOTES = 16
"""Room for the notes of an engine; there are fewer kinds."""


class Target(NamedTuple):
    """What is computed for: a handle's device, or one that is only described.

    Each descriptor takes it by an attribute of its own.
    """

    graph: dict[Attribute, list[int]]
    heuristics: dict[Attribute, list[int]]
    plan: dict[Attribute, list[int]]


def target_of_handle(handle: int) -> Target:
    """The device for which a handle was made."""
    own = [handle]
    return Target(
        {Attribute.OPERATIONGRAPH_HANDLE: own}, {}, {Attribute.EXECUTION_PLAN_HANDLE: own}
    )


def target_of_description(device: int) -> Target:
    """A device that need not be there. device: a descriptor of its properties."""
    own = [device]
    return Target(
        {}, {Attribute.ENGINEHEUR_DEVICEPROP: own}, {Attribute.EXECUTION_PLAN_DEVICEPROP: own}
    )


class Plan(NamedTuple):
    """How a convolution is computed. workspace: the bytes in which it works. config: of its engine,
    a descriptor."""

    descriptor: int
    workspace: int
    config: int


class Convolutions:
    """The convolutions of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.optional(cudnn.NAME, cudnn.find)
        self._handle = 0
        self._plans = Kept(PLANS_KEPT, self._forget)
        self._packs: dict[int, tuple[tuple[int, ...], int]] = {}
        self._lock = threading.Lock()

    def takes(self, dtype: dtypes.dtype) -> bool:
        """Whether the library is there, switched on, and convolves such elements."""
        return self._library is not None and switches.enabled and dtype.name in DATA_TYPES

    def run(self, what: Convolution, arrays: Sequence[Array]) -> bool:
        """Compute one of x, w and y from the others, and from a bias if there is a fourth.

        In the current stream. Returns False where the library cannot, or not in what memory is
        left.
        """
        driver.current().enter(self.index)
        with self._lock:  # a handle has one stream
            if not self._handle:
                with loading.making(self.index):
                    self._handle = self._library.create()
            self._library.set_stream(self._handle, streams.current_handle(self.index))
            execute = partial(self._execute, tuple([each.address for each in arrays]))
            measured = switches.benchmark and not driver.has_captures()
            key = what, forbidden_notes(what.dtype), measured
            plan = self._plans.find(key, partial(self._choose, *key, execute))
            while plan is not None:
                try:
                    execute(plan)
                    return True
                except errors.OutOfMemoryError:
                    plan = self._plans.replace(key, self._smaller(plan, *key))
        return False

    def _choose(
        self,
        what: Convolution,
        forbidden: frozenset[int],
        measured: bool,
        execute: Callable[[Plan], None],
    ) -> Plan | None:
        """The plan that the library thinks best or, measured, the fastest of several."""
        limit = (switches.benchmark_limit or None) if measured else 1
        tried = self._made(what, forbidden, lambda found: list(islice(found, limit)))
        if not tried:
            return None
        chosen = self._fastest(tried, execute) if measured else tried[0]
        for plan in tried:
            if plan is not chosen:
                self._give_back(plan)
        return chosen

    def _smaller(
        self, plan: Plan, what: Convolution, forbidden: frozenset[int], measured: bool
    ) -> Plan | None:
        """The first plan that works in less memory."""

        def search(found: Iterator[Plan]) -> Plan | None:
            for other in found:
                if other.workspace < plan.workspace:
                    return other
                self._give_back(other)
            return None

        smaller: Plan | None = self._made(what, forbidden, search)
        return smaller

    def _made(
        self, what: Convolution, forbidden: frozenset[int], take: Callable[[Iterator[Plan]], Any]
    ) -> Any:
        """What is taken of the plans of a convolution."""
        target = target_of_handle(self._handle)
        with (
            loading.making(self.index),
            closing(plans(self._library, what, forbidden, target)) as found,
        ):
            return take(found)

    def _fastest(self, tried: list[Plan], execute: Callable[[Plan], None]) -> Plan:
        """Run every plan twice, the second time by the clock."""
        times = [self._time(plan, execute) for plan in tried]
        return tried[times.index(min(times))]

    def _time(self, plan: Plan, execute: Callable[[Plan], None]) -> float:
        start, end = (streams.Event(enable_timing=True) for _ in range(2))
        try:
            execute(plan)
            start.record(streams.current_stream(self.index))
            execute(plan)
        except errors.OutOfMemoryError:
            return inf
        end.record(streams.current_stream(self.index))
        end.synchronize()
        return start.elapsed_time(end)

    def _execute(self, places: tuple[int, ...], plan: Plan) -> None:
        scratch = workspace.of(self.index, plan.workspace)
        pack = self._pack(plan, (*places, scratch.address))
        self._library.execute(self._handle, plan.descriptor, pack)

    def _pack(self, plan: Plan, places: tuple[int, ...]) -> int:
        """The plan's variant pack of the call before, if memory lies where it lay: 10 us less."""
        kept = self._packs.get(plan.descriptor)
        if kept is not None and kept[0] == places:
            return kept[1]
        if kept is not None:
            self._library.destroy_descriptor(kept[1])
        made = cudnn.make_pack(self._library, places)
        self._packs[plan.descriptor] = places, made
        return made

    def _forget(self, plan: Plan | None) -> None:
        """Give a plan back when the device does not work by it any more."""
        if plan is not None:
            driver.current().synchronize(self.index)
            self._give_back(plan)

    def _give_back(self, plan: Plan) -> None:
        kept = self._packs.pop(plan.descriptor, None)
        packs = [] if kept is None else [kept[1]]
        for descriptor in (*packs, plan.descriptor, plan.config):
            self._library.destroy_descriptor(descriptor)


def forbidden_notes(dtype: dtypes.dtype) -> frozenset[int]:
    """Return what engines may not do, as the switches stand."""
    notes = {DOWN_CONVERT_INPUTS, REDUCED_PRECISION_REDUCTION}
    if switches.deterministic or are_deterministic_algorithms_enabled():
        notes.add(NONDETERMINISTIC)
    if dtype is dtypes.float32 and not switches.allow_tf32:
        notes.add(TENSOR_CORE)  # which takes float32 as TF32 alone
    return frozenset(notes)


def plans(
    library: Any, what: Convolution, forbidden: frozenset[int], target: Target
) -> Generator[Plan, None, None]:
    """Yield the plans of a convolution, those first that the library believes to be fast.

    Whoever takes a plan gives it back, and its configuration.
    """
    try:
        graph = Graph(library, what, target.graph)
    except NotSupportedError:
        return
    try:
        for mode in HEURISTICS:
            yield from _proposed(library, graph.descriptor, mode, forbidden, target)
    finally:
        graph.give_back()


def _proposed(
    library: Any, graph: int, mode: int, forbidden: frozenset[int], target: Target
) -> Iterator[Plan]:
    """The plans of those configurations that one of the library's heuristics proposes."""
    configs = _configurations(library, graph, mode, target)
    try:
        while configs:
            plan = _planned(library, configs[0], forbidden, target)
            config = configs.pop(0)
            if plan is None:
                library.destroy_descriptor(config)
            else:
                yield plan
    finally:
        for config in configs:
            library.destroy_descriptor(config)


def _planned(library: Any, config: int, forbidden: frozenset[int], target: Target) -> Plan | None:
    """The plan of an engine's configuration, unless it is forbidden or cannot be had."""
    engine = Attribute.ENGINECFG_ENGINE
    (found,) = cudnn.read_descriptors(library, config, engine, Kind.ENGINE, 1)
    notes = cudnn.read(library, found, Attribute.ENGINE_NUMERICAL_NOTE, NOTES)
    library.destroy_descriptor(found)
    if not forbidden.isdisjoint(notes):
        return None
    values = {**target.plan, Attribute.EXECUTION_PLAN_ENGINE_CONFIG: [config]}
    try:
        made = cudnn.make(library, Kind.EXECUTION_PLAN, values)
    except errors.LibraryError:  # an engine may fail to be compiled: the next one is as good
        return None
    (size,) = cudnn.read(library, made, Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, 1)
    return Plan(made, size, config)


def _configurations(library: Any, graph: int, mode: int, target: Target) -> list[int]:
    """The configurations of engines that one of the library's heuristics proposes."""
    values = {
        **target.heuristics,
        Attribute.ENGINEHEUR_OPERATION_GRAPH: [graph],
        Attribute.ENGINEHEUR_MODE: [mode],
    }
    try:
        heuristics = cudnn.make(library, Kind.ENGINEHEUR, values)
    except NotSupportedError:
        return []
    results = Attribute.ENGINEHEUR_RESULTS
    count = cudnn.count(library, heuristics, results)
    found = cudnn.read_descriptors(library, heuristics, results, Kind.ENGINECFG, count)
    library.destroy_descriptor(heuristics)
    return found
