"""Calls of hand-written kernels on CUDA: shapes asked, results allocated, arrays handed over.

A kernel knows arrays, not tensors (`runtime.kernels.cuda.queue`); what it is given is contiguous
unless it says that it walks strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common.dispatch import common_dtype
from torchgen_out._runtime.backends.common.given_results import (
    keep_apart,
    make_copying_call,
    make_out_call,
)
from torchgen_out._runtime.backends.cuda import (
    captured_draws,
    copying,
    faults,
    launching,
    memory,
    streams,
    transfer,
)
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import overlap
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Dispatch
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.cuda.queue import Array
from torchgen_out._runtime.kernels.cuda.random.philox import Drawn

Kernel = Callable[..., Any]


class DeviceQueue:
    """The current stream of a device as kernels see it, for one call.

    operator: whose call. kept: the tensors behind the arrays that the call has made.
    """

    def __init__(self, index: int, operator: str) -> None:
        self.index = index
        self.operator = operator
        self.processors = launching.processors(index)
        self.kept: list[Tensor] = []

    @property
    def generator(self) -> Generator:
        """The device's own generator of random numbers."""
        return captured_draws.default_generator(self.index)

    def reserve(self, blocks: int, generator: Generator) -> Drawn:
        """Take blocks of a generator's stream."""
        return captured_draws.reserve(self.index, blocks, generator)

    @property
    def faults(self) -> Array:
        """The record to which kernels note what they cannot compute with."""
        return Array(faults.record(self.index, self.operator), dtypes.int64, (1,), (1,))

    def launch(self, source: Any, grid: int, block: tuple[int, int], values: Sequence[Any]) -> None:
        """Run a device kernel over a grid of blocks."""
        launching.launch(self.index, source, (grid, 1), block, values)

    def empty(self, sizes: Sequence[int], dtype: dtypes.dtype) -> Array:
        """A contiguous array of undefined values, kept until the call is over."""
        made = memory.empty(tuple(sizes), dtype, self.index)
        self.kept.append(made)
        return array_of(made)

    result = empty

    def copy(self, target: Array, source: Array) -> None:
        """Write the elements of `source`, broadcast and cast, into an array apart from it."""
        if not target.numel:
            return
        plan = plans.plan_pointwise((source[2:],), target[2:])
        loops = copying.copy_loops(source.dtype, target.dtype, self.index)
        loops.run(plan, [target.address], [source.address], ())

    def fill(self, target: Array, value: Any) -> None:
        """Set all elements to a number."""
        if target.numel:
            plan = plans.plan_pointwise((), target[2:])
            loops = copying.fill_loops(target.dtype, self.index)
            loops.run(plan, [target.address], [], (value,))

    def read(self, array: Array) -> list[Any]:
        """The elements of a contiguous array, waited for."""
        host = np.empty(array.numel, array.dtype.numpy)
        stream = streams.current_handle(self.index)
        if host.size:
            target = host.ctypes.data
            faults.copy_and_wait(self.index, target, array.address, host.nbytes, stream)
        elements: list[Any] = host.tolist()
        return elements

    def tensor_of(self, array: Array) -> Tensor:
        """The tensor behind an array that the call has made."""
        return next(each for each in self.kept if array_of(each) == array)


def array_of(tensor: Tensor) -> Array:
    """A tensor as kernels see it."""
    return Array(
        launching.address_of(tensor), tensor.dtype, tuple(tensor._sizes), tuple(tensor._strides)
    )


def make_call(operator: Dispatch, kernel: Kernel, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a dispatch operator for CUDA tensors of one signature."""
    common = common_dtype(operator, signature)
    if operator.mutates:
        return make_mutating_call(operator, kernel, common)
    if variant == INPLACE and operator.aliasing:
        return make_aliasing_call(operator, kernel, common)
    call = make_function_call(operator, kernel, common)
    if variant == INPLACE:
        return make_copying_call(operator, call)
    return make_out_call(operator, call) if variant == OUT else call


def make_function_call(operator: Dispatch, kernel: Kernel, common: dtypes.dtype | None) -> Call:
    """call(*args): new tensors, of the shapes that the shape function says or the kernel finds."""
    prepare = Preparation(operator, kernel, common)
    meta, several, wrap = operator.meta, operator.outputs > 1, operator.wrap

    def call(*args: Any) -> Any:
        queue = DeviceQueue(prepare.device_of(args), operator.base_name)
        if meta is None:
            found = kernel(queue, *prepare.arrays(queue, args))
            results = [queue.tensor_of(each) for each in (found if several else (found,))]
        else:
            specs = meta(*args)
            results = [
                allocate(each, common, queue.index) for each in (specs if several else (specs,))
            ]
            stages = stages_of(operator, queue, results)
            kernel(queue, *stages, *prepare.arrays(queue, args))
            finish(queue, results, stages)
        if not several:
            return results[0]
        return wrap(*results) if wrap else tuple(results)

    return call


def stages_of(operator: Dispatch, queue: DeviceQueue, results: Sequence[Tensor]) -> list[Array]:
    """What the kernel writes to: the results' memory, or other memory if these lie otherwise."""
    arrays = [array_of(result) for result in results]
    if not operator.keeps_format:
        return arrays
    return [a if a.is_contiguous else queue.empty(a.sizes, a.dtype) for a in arrays]


def finish(queue: DeviceQueue, results: Sequence[Tensor], stages: Sequence[Array]) -> None:
    """Copy what the kernel wrote elsewhere into the results, in their order."""
    for result, stage in zip(results, stages, strict=True):
        target = array_of(result)
        if target != stage:
            queue.copy(target, stage)


def make_mutating_call(operator: Dispatch, kernel: Kernel, common: dtypes.dtype | None) -> Call:
    """The schema itself writes to self (`normal_`): the kernel is given a dense self to fill."""
    prepare = Preparation(operator, kernel, common)
    meta = operator.meta

    def call(self: Tensor, *args: Any) -> Tensor:
        if meta is not None:
            meta(self, *args)
        overlap.check_self(operator.base_name, self)
        queue = DeviceQueue(copying.index_of(self), operator.base_name)
        own, *rest = prepare.arrays(queue, (self, *args))
        kernel(queue, own, *rest)
        if not array_of(self).is_contiguous:
            queue.copy(array_of(self), own)
        self._storage.version += 1
        return self

    return call


def make_aliasing_call(operator: Dispatch, kernel: Kernel, common: dtypes.dtype | None) -> Call:
    """In place, by a kernel that may be given `out` as self, or a dense copy of it."""
    prepare = Preparation(operator, kernel, common)
    meta = operator.meta
    assert meta is not None

    def call(self: Tensor, *args: Any) -> Tensor:
        sizes = meta(self, *args)[0]
        if tuple(sizes) != tuple(self._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self._sizes, sizes)
        overlap.check_self(operator.base_name, self)
        queue = DeviceQueue(copying.index_of(self), operator.base_name)
        own, *rest = prepare.arrays(queue, (self, *args))
        kernel(queue, own, own, *rest)
        if not array_of(self).is_contiguous:
            queue.copy(array_of(self), own)
        self._storage.version += 1
        return self

    return keep_apart(operator, call)


def allocate(spec: Any, common: dtypes.dtype | None, index: int) -> Tensor:
    """A tensor as the shape function described it: (sizes, dtype[, strides])."""
    sizes, dtype, *strides = spec
    chosen = dtype or common
    assert chosen is not None
    made = memory.empty(tuple(sizes), chosen, index)
    if strides and tuple(strides[0]) != made._strides:
        return build(made._key, made._sizes, tuple(strides[0]), 0, made._storage)
    return made


class Preparation:
    """What turns the arguments of a call into those of its kernel."""

    def __init__(self, operator: Dispatch, kernel: Kernel, common: dtypes.dtype | None) -> None:
        self.kinds = list(operator.arguments.items())
        self.promoted = operator.promoted
        self.common = common
        self.strided = getattr(kernel, "walks_strides", False)

    def device_of(self, args: Sequence[Any]) -> int:
        """The index of the device on which the tensors lie; of the current one without any."""
        for arg in args:
            for each in arg if isinstance(arg, (list, tuple)) else (arg,):
                if isinstance(each, Tensor) and not each.is_cpu:
                    return copying.index_of(each)
        raise AssertionError("a kernel without tensors")

    def arrays(self, queue: DeviceQueue, args: Sequence[Any]) -> list[Any]:
        """The kernel's arguments.

        Raises: RuntimeError if one lies on another device, where a kernel must not read.
        """
        return [
            self._prepared(queue, name, kind, arg)
            for (name, kind), arg in zip(self.kinds, args, strict=True)
        ]

    def _prepared(self, queue: DeviceQueue, name: str, kind: str, arg: Any) -> Any:
        if kind == "generator":
            return queue.generator if arg is None else arg
        if isinstance(arg, (list, tuple)) and any(isinstance(each, Tensor) for each in arg):
            return [self._prepared(queue, name, kind, each) for each in arg]
        if not isinstance(arg, Tensor):
            return arg
        if arg.is_cpu:
            arg = self._arrived(queue, arg)
        elif getattr(arg._storage.buffer, "device_index", None) != queue.index:
            raise errors.same_device_expected(f"cuda:{queue.index}", arg.device)
        array = array_of(arg)
        dtype = self.common if self.common and name in self.promoted else array.dtype
        if dtype is array.dtype and (self.strided or array.is_contiguous):
            return array
        made = queue.empty(array.sizes, dtype)
        queue.copy(made, array)
        return made

    def _arrived(self, queue: DeviceQueue, tensor: Tensor) -> Tensor:
        """A tensor of the host on the device: 0-d operands, and indices, may lie there."""
        made = transfer.to_device(tensor, devices.device("cuda", queue.index), False)
        queue.kept.append(made)
        return made
