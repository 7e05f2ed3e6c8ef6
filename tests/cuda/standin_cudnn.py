"""cuDNN as far as the library calls it: graphs of one convolution, tap by tap, by NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from tests.cuda.standin_memory import StandIn
from torchgen_out._runtime.backends.cuda.libraries.convolution_graphs import OPERATIONS
from torchgen_out._runtime.backends.cuda.libraries.cudnn import (
    Attribute,
    Kind,
    NotSupportedError,
    Type,
)
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import FORWARD, INPUT

NUMPY_TYPES = {0: np.float32, 1: np.float64, 2: np.float16, 9: ml_dtypes.bfloat16}
"""By cudnnDataType_t."""
ELEMENTS = {kind.value[0]: kind.value[1] for kind in Type}
NAMES = {attribute.value[0]: attribute for attribute in Attribute}
REFUSED, TENSOR_CORES, ATOMIC, PLAIN = range(4)
"""The engines: one that has no plan, and three that say how they compute."""
NOTES: dict[int, list[int]] = {REFUSED: [], TENSOR_CORES: [0], ATOMIC: [4], PLAIN: []}
PROPOSED = {3: (REFUSED, TENSOR_CORES, ATOMIC), 2: (PLAIN,)}
"""By the mode of the heuristics."""
WORKSPACES = {TENSOR_CORES: 96, ATOMIC: 64, PLAIN: 32}
"""The bytes in which the engines work."""
PLANS_BIAS = True
"""Whether engines add a bias to results."""
CONFIG = "EXECUTION_PLAN_ENGINE_CONFIG"


class StandInCudnn(StandIn):
    """`runtime.backends.cuda.libraries.cudnn.Cudnn`. calls: (engine, direction) of executions."""

    def version(self) -> int:
        return 91800

    def set_stream(self, handle: int, stream: int) -> None:
        self.of_kind(handle, "library").stream = stream

    def create_descriptor(self, kind: int) -> int:
        return self.made(Kind(kind).name, finished=False)

    def destroy_descriptor(self, descriptor: int) -> None:
        del self.objects[descriptor]

    def set_attribute(
        self, descriptor: int, name: int, kind: int, count: int, address: int
    ) -> None:
        own = self.objects[descriptor]
        assert not own.finished, f"{own.kind} is finished"
        attribute, element = NAMES[name], np.dtype(ELEMENTS[kind])
        is_factor = attribute.name.endswith(("ALPHA", "BETA"))
        assert is_factor or attribute.value[1].value[0] == kind, attribute
        held = np.frombuffer(ctypes.string_at(address, count * element.itemsize), element)
        own.attributes[attribute.name] = held.tolist()

    def get_attribute(self, descriptor: int, name: int, kind: int, count: int, address: int) -> int:
        own, attribute = self.objects[descriptor], NAMES[name]
        assert attribute.value[1].value[0] == kind
        if attribute is Attribute.ENGINEHEUR_RESULTS:
            return self._propose(own, count, address)
        if attribute is Attribute.ENGINECFG_ENGINE:
            (engine,) = self._given(address, 1)
            self.of_kind(engine, "ENGINE").number = own.engine
            return 1
        if attribute is Attribute.ENGINE_NUMERICAL_NOTE:
            values: list[int] = NOTES[own.number]
        else:
            assert attribute is Attribute.EXECUTION_PLAN_WORKSPACE_SIZE
            values = [WORKSPACES[own.refers[CONFIG][0].engine]]
        held = np.array(values[:count], ELEMENTS[kind])
        ctypes.memmove(address, held.ctypes.data, held.nbytes)
        return len(values)

    def _given(self, address: int, count: int) -> list[int]:
        return list((ctypes.c_uint64 * count).from_address(address))

    def _propose(self, heuristics: SimpleNamespace, count: int, address: int) -> int:
        (mode,) = heuristics.attributes["ENGINEHEUR_MODE"]
        (graph,) = heuristics.attributes["ENGINEHEUR_OPERATION_GRAPH"]
        engines = PROPOSED[mode]
        for config, engine in zip(self._given(address, count), engines, strict=False):
            own = self.of_kind(config, "ENGINECFG")
            own.engine, own.graph, own.finished = engine, self.objects[graph], True
        return len(engines)

    def finalize(self, descriptor: int) -> None:
        own = self.objects[descriptor]
        assert not own.finished
        if own.kind == "EXECUTION_PLAN":
            self.makes()
            self.used(own.attributes["EXECUTION_PLAN_HANDLE"][0])
        own.refers = {
            name: [self.objects[each] for each in values]
            for name, values in own.attributes.items()
            if Attribute[name].value[1] is Type.BACKEND_DESCRIPTOR
        }
        if own.kind == "EXECUTION_PLAN" and own.refers[CONFIG][0].engine == REFUSED:
            raise NotSupportedError
        if own.kind == "OPERATIONGRAPH":
            self._check_graph(own)
        own.finished = True

    def _check_graph(self, graph: SimpleNamespace) -> None:
        """What the library plans: a convolution alone, or a result to which a bias is added."""
        first, *others = graph.refers["OPERATIONGRAPH_OPS"]
        assert first.kind in [each.kind.name for each in OPERATIONS.values()]
        if others and not (PLANS_BIAS and first.kind == OPERATIONS[FORWARD].kind.name):
            raise NotSupportedError

    # -- execution ------------------------------------------------------------------------------

    def execute(self, handle: int, plan: int, pack: int) -> None:
        self.used(handle)
        config = self.of_kind(plan, "EXECUTION_PLAN").refers[CONFIG][0]
        given = self.of_kind(pack, "VARIANT_PACK")
        assert given.finished
        places = dict(
            zip(
                given.attributes["VARIANT_PACK_UNIQUE_IDS"],
                given.attributes["VARIANT_PACK_DATA_POINTERS"],
                strict=True,
            )
        )
        (scratch,) = given.attributes["VARIANT_PACK_WORKSPACE"]
        self.driver.bytes_of(self.driver.entered, scratch, WORKSPACES[config.engine])
        operation, *added = config.graph.refers["OPERATIONGRAPH_OPS"]
        direction = next(d for d, each in OPERATIONS.items() if each.kind.name == operation.kind)
        self.calls.append((config.engine, direction))

        def work() -> None:
            assert plan in self.objects, "the plan was destroyed"
            self._convolve(direction, operation, places, added)

        self.driver.do(work)

    def _convolve(
        self,
        direction: str,
        operation: SimpleNamespace,
        places: dict[int, int],
        added: list[SimpleNamespace],
    ) -> None:
        names = OPERATIONS[direction]
        prefix = f"OPERATION_CONVOLUTION_{names.prefix}_"
        factors = [operation.attributes[prefix + name] for name in ("ALPHA", "BETA")]
        assert factors == [[1], [0]]
        tensors = [operation.refers[prefix + name][0] for name in names.tensors]
        x, w, y = arrays = [self._array(each, places) for each in tensors]
        slide = operation.refers[prefix + "CONV_DESC"][0].attributes
        assert slide["CONVOLUTION_CONV_MODE"] == [1]
        compute = np.float64 if w.dtype == np.float64 else np.float32
        assert NUMPY_TYPES[slide["CONVOLUTION_COMP_TYPE"][0]] is compute
        result = {FORWARD: y, INPUT: x}.get(direction, w)
        total = np.zeros(result.shape, compute)
        for seen, taps, made in _taps(direction, slide, tuple(arrays), total):
            _accumulate(direction, seen, taps, made)
        for each in added:
            mode = each.refers["OPERATION_POINTWISE_PW_DESCRIPTOR"][0].attributes
            assert mode["POINTWISE_MODE"] == [0]
            x, bias, y = (each.refers[f"OPERATION_POINTWISE_{name}DESC"][0] for name in "XBY")
            assert x in tensors and x.attributes["TENSOR_IS_VIRTUAL"] == [True]
            total = total + self._array(bias, places).astype(compute)
            result = self._array(y, places)
        result[...] = total

    def _array(self, tensor: SimpleNamespace, places: dict[int, int]) -> np.ndarray:
        """A tensor in memory, or between two operations."""
        own = tensor.attributes
        dtype = np.dtype(NUMPY_TYPES[own["TENSOR_DATA_TYPE"][0]])
        sizes, strides = own["TENSOR_DIMENSIONS"], own["TENSOR_STRIDES"]
        if own["TENSOR_IS_VIRTUAL"][0]:
            return np.zeros(sizes, dtype)
        address = places[own["TENSOR_UNIQUE_ID"][0]]
        assert address % own["TENSOR_BYTE_ALIGNMENT"][0] == 0
        return self.elements(address, dtype, tuple(sizes), tuple(strides))


def _taps(
    direction: str, slide: dict[str, Any], arrays: tuple[np.ndarray, ...], total: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each group and tap: what it sees of x, its weights, y; the result's are `total`'s."""
    x, w, y = (each.astype(total.dtype) for each in arrays)
    if direction == FORWARD:
        y = total
    elif direction == INPUT:
        x = total
    else:
        w = total
    padding = slide["CONVOLUTION_PRE_PADDINGS"]
    assert padding == slide["CONVOLUTION_POST_PADDINGS"]
    steps, dilation = slide["CONVOLUTION_FILTER_STRIDES"], slide["CONVOLUTION_DILATIONS"]
    groups = x.shape[1] // w.shape[1]
    inputs, outputs = w.shape[1], w.shape[0] // groups
    for group, tap in product(range(groups), np.ndindex(w.shape[2:])):
        into, out_of = [slice(None)], [slice(None)]
        own_x = x[:, group * inputs : (group + 1) * inputs]
        own_y = y[:, group * outputs : (group + 1) * outputs]
        own_w = w[group * outputs : (group + 1) * outputs]
        for size, count, step, dilated, pad, at in zip(
            x.shape[2:], y.shape[2:], steps, dilation, padding, tap, strict=True
        ):
            places = [j for j in range(count) if 0 <= j * step + at * dilated - pad < size]
            first, last = (places[0], places[-1]) if places else (0, -1)
            start = first * step + at * dilated - pad
            into.append(
                slice(start, start + (last - first) * step + 1, step) if places else slice(0)
            )
            out_of.append(slice(first, last + 1))
        yield (
            own_x[(slice(None), *into)],
            own_w[(slice(None), slice(None), *tap)],
            own_y[(slice(None), *out_of)],
        )


def _accumulate(direction: str, x: np.ndarray, w: np.ndarray, y: np.ndarray) -> None:
    if direction == FORWARD:
        y += np.einsum("oc,nc...->no...", w, x)
    elif direction == INPUT:
        x += np.einsum("oc,no...->nc...", w, y)
    else:
        flat = [each.reshape(*each.shape[:2], -1) for each in (y, x)]
        w += np.einsum("nop,ncp->oc", *flat)
