"""Convolutions by cuDNN: descriptors of an operation, a plan of an engine that may compute it.

Plans are kept per `Convolution` and per switches of `torch.backends.cudnn`. The library's
heuristics put its engines in order, and each engine says how it computes: those that the switches
forbid are left out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from runtime.backends.cuda import driver, streams
from runtime.backends.cuda.libraries import cudnn, loading
from runtime.backends.cuda.libraries.cudnn import (
    DATA_TYPES,
    Attribute,
    Kind,
    NotSupportedError,
    Type,
)
from runtime.backends.flags import cudnn as switches
from runtime.core import dtype as dtypes
from runtime.core import shape as shapes
from runtime.kernels.cuda.convolution.convolution_plans import FORWARD, INPUT, WEIGHT, Convolution
from runtime.kernels.cuda.queue import Array, Queue

CROSS_CORRELATION = 1
"""cudnnConvolutionMode_t: kernels are not mirrored."""
HEURISTICS = 3, 2
"""cudnnBackendHeurMode_t: decision trees first, then what works without being chosen."""
TENSOR_CORE, DOWN_CONVERT_INPUTS, REDUCED_PRECISION_REDUCTION, NONDETERMINISTIC = 0, 1, 2, 4
"""cudnnBackendNumericalNote_t, of engines."""
NOTES = 16
"""Room for the notes of an engine; there are fewer kinds."""


class Operation(NamedTuple):
    """The descriptor of a direction, and what its attributes are called."""

    kind: Kind
    prefix: str
    tensors: tuple[str, str, str]


OPERATIONS = {
    FORWARD: Operation(Kind.OPERATION_CONVOLUTION_FORWARD, "FORWARD", ("X", "W", "Y")),
    INPUT: Operation(Kind.OPERATION_CONVOLUTION_BACKWARD_DATA, "BWD_DATA", ("DX", "W", "DY")),
    WEIGHT: Operation(Kind.OPERATION_CONVOLUTION_BACKWARD_FILTER, "BWD_FILTER", ("X", "DW", "DY")),
}


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
    """How a convolution is computed. workspace: the bytes in which it works."""

    descriptor: int
    workspace: int


class Convolutions:
    """The convolutions of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.optional(cudnn.NAME, cudnn.find)
        self._handle = 0
        self._plans: dict[Any, Plan | None] = {}
        self._packs: dict[int, tuple[tuple[int, ...], int]] = {}
        self._lock = threading.Lock()

    def run(self, queue: Queue, what: Convolution, x: Array, w: Array, y: Array) -> bool:
        """Compute in the current stream; return False where the library is absent or cannot."""
        if self._library is None or not switches.enabled or what.dtype.name not in DATA_TYPES:
            return False
        driver.current().enter(self.index)
        with self._lock:  # a handle has one stream
            if not self._handle:
                with loading.making(self.index):
                    self._handle = self._library.create()
            self._library.set_stream(self._handle, streams.current_handle(self.index))
            execute = partial(self._execute, queue, (x.address, w.address, y.address))
            plan = self._plan(what, execute)
            if plan is None:
                return False
            execute(plan)
        return True

    def _plan(self, what: Convolution, execute: Callable[[Plan], None]) -> Plan | None:
        measured = switches.benchmark and not driver.is_capturing()
        forbidden = forbidden_notes(what.dtype)
        key = what, forbidden, measured
        if key not in self._plans:
            found = plans(self._library, what, forbidden, target_of_handle(self._handle))
            with loading.making(self.index):
                tried = list(islice(found, (switches.benchmark_limit or None) if measured else 1))
            self._plans[key] = self._fastest(tried, execute) if measured else [*tried, None][0]
        return self._plans[key]

    def _fastest(self, tried: list[Plan], execute: Callable[[Plan], None]) -> Plan | None:
        """Run every plan twice, the second time by the clock."""
        times = []
        for plan in tried:
            start, end = (streams.Event(enable_timing=True) for _ in range(2))
            execute(plan)
            start.record(streams.current_stream(self.index))
            execute(plan)
            end.record(streams.current_stream(self.index))
            end.synchronize()
            times.append(start.elapsed_time(end))
        return tried[times.index(min(times))] if tried else None

    def _execute(self, queue: Queue, places: tuple[int, int, int], plan: Plan) -> None:
        scratch = queue.empty((plan.workspace,), dtypes.uint8).address if plan.workspace else 0
        self._library.execute(self._handle, plan.descriptor, self._pack(plan, (*places, scratch)))

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


def forbidden_notes(dtype: dtypes.dtype) -> frozenset[int]:
    """Return what engines may not do, as the switches stand."""
    notes = {DOWN_CONVERT_INPUTS, REDUCED_PRECISION_REDUCTION}
    if switches.deterministic:
        notes.add(NONDETERMINISTIC)
    if dtype is dtypes.float32 and not switches.allow_tf32:
        notes.add(TENSOR_CORE)  # which takes float32 as TF32 alone
    return frozenset(notes)


def plans(
    library: Any, what: Convolution, forbidden: frozenset[int], target: Target
) -> Iterator[Plan]:
    """Yield the plans of a convolution, those first that the library believes to be fast."""
    try:
        graph = _graph(library, what, target)
    except NotSupportedError:
        return
    for mode in HEURISTICS:
        for config in _configurations(library, graph, mode, target):
            plan = _planned(library, config, forbidden, target)
            if plan is not None:
                yield plan


def _planned(library: Any, config: int, forbidden: frozenset[int], target: Target) -> Plan | None:
    """The plan of an engine's configuration, unless it is forbidden or cannot be had."""
    engine = Attribute.ENGINECFG_ENGINE
    (found,) = cudnn.read_descriptors(library, config, engine, Kind.ENGINE, 1)
    notes = cudnn.read(library, found, Attribute.ENGINE_NUMERICAL_NOTE, NOTES)
    if not forbidden.isdisjoint(notes):
        return None
    values = {**target.plan, Attribute.EXECUTION_PLAN_ENGINE_CONFIG: [config]}
    try:
        made = cudnn.make(library, Kind.EXECUTION_PLAN, values)
    except NotSupportedError:
        return None
    (size,) = cudnn.read(library, made, Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, 1)
    return Plan(made, size)


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
    return cudnn.read_descriptors(library, heuristics, results, Kind.ENGINECFG, count)


# -- descriptors of the operation ------------------------------------------------------------------


def _graph(library: Any, what: Convolution, target: Target) -> int:
    """A graph of one operation: result = 1 * convolution + 0 * result."""
    kind, prefix, names = OPERATIONS[what.direction]
    sizes = zip(cudnn.TENSORS.tolist(), (what.x, what.w, what.y), what.alignments, strict=True)
    tensors = [_tensor(library, what.dtype, *each) for each in sizes]
    convolution = cudnn.make(library, Kind.CONVOLUTION, _slide(what))
    operation = library.create_descriptor(kind)
    scale = Type.DOUBLE if what.dtype is dtypes.float64 else Type.FLOAT

    def set_attribute(name: str, value: Any, stored: Type | None = None) -> None:
        attribute = Attribute[f"OPERATION_CONVOLUTION_{prefix}_{name}"]
        cudnn.write(library, operation, attribute, [value], stored)

    set_attribute("CONV_DESC", convolution)
    for name, tensor in zip(names, tensors, strict=True):
        set_attribute(name, tensor)
    set_attribute("ALPHA", 1, scale)
    set_attribute("BETA", 0, scale)
    library.finalize(operation)
    values = {**target.graph, Attribute.OPERATIONGRAPH_OPS: [operation]}
    return cudnn.make(library, Kind.OPERATIONGRAPH, values)


def _tensor(
    library: Any, dtype: dtypes.dtype, number: int, sizes: tuple[int, ...], alignment: int
) -> int:
    return cudnn.make(
        library,
        Kind.TENSOR,
        {
            Attribute.TENSOR_DATA_TYPE: [DATA_TYPES[dtype.name]],
            Attribute.TENSOR_DIMENSIONS: sizes,
            Attribute.TENSOR_STRIDES: shapes.contiguous_strides(sizes),
            Attribute.TENSOR_UNIQUE_ID: [number],
            Attribute.TENSOR_BYTE_ALIGNMENT: [alignment],
        },
    )


def _slide(what: Convolution) -> dict[Attribute, Any]:
    """How the kernel moves, and the type in which is added up."""
    return {
        Attribute.CONVOLUTION_COMP_TYPE: [DATA_TYPES[what.dtype.opmath.name]],
        Attribute.CONVOLUTION_CONV_MODE: [CROSS_CORRELATION],
        Attribute.CONVOLUTION_SPATIAL_DIMS: [len(what.stride)],
        Attribute.CONVOLUTION_DILATIONS: what.dilation,
        Attribute.CONVOLUTION_FILTER_STRIDES: what.stride,
        Attribute.CONVOLUTION_PRE_PADDINGS: what.padding,
        Attribute.CONVOLUTION_POST_PADDINGS: what.padding,
    }
