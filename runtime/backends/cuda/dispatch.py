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
    check_apart,
    kept_apart,
    make_copying_call,
    make_out_call,
    make_room,
)
from torchgen_out._runtime.backends.common.kernel_calls import called_operator
from torchgen_out._runtime.backends.cuda import (
    captured_draws,
    copying,
    faults,
    launching,
    memory,
    streams,
    transfer,
)
from torchgen_out._runtime.backends.cuda.libraries.cublaslt import Products, products_of
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.size import make_size
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import signature as signatures
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
        self.operator = called_operator(operator)
        self.processors = launching.processors(index)
        self.kept: list[Tensor] = []

    @property
    def generator(self) -> Generator:
        """The device's own generator of random numbers."""
        return captured_draws.default_generator(self.index)

    @property
    def products(self) -> Products:
        """Matrix products."""
        return products_of(self.index)

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
        """Write the elements of `source`, broadcast and cast, into an array apart from it; or into
        itself, which is nothing to do."""
        if not target.numel or target == source:
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
        """The tensor behind an array that the call has made, its dims as the array has them."""
        found = next((each for each in self.kept if array_of(each) == array), None)
        if found is not None:
            return found
        turned = array.address, array.dtype, array.numel
        made = next(
            each
            for each in self.kept
            if (launching.address_of(each), each.dtype, each.numel()) == turned
        )
        return build(made._key, make_size(array.sizes), array.strides, 0, made._storage)


def array_of(tensor: Tensor) -> Array:
    """A tensor as kernels see it."""
    return Array(
        launching.address_of(tensor), tensor.dtype, tuple(tensor._sizes), tuple(tensor._strides)
    )


def make_call(operator: Dispatch, kernel: Kernel, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a dispatch operator for CUDA tensors of one signature."""
    prepare = Preparation(operator, kernel, common_dtype(operator, signature), signature)
    if operator.mutates or (variant == INPLACE and operator.aliasing):
        return make_into_call(operator, kernel, prepare)
    call = make_function_call(operator, kernel, prepare)
    if variant == INPLACE:
        return make_copying_call(operator, call)
    if variant != OUT:
        return call
    copying_call = make_out_call(operator, call)
    if prepare.walks_strides and operator.meta is not None and operator.outputs == 1:
        return make_writing_call(operator, kernel, prepare, copying_call)
    return copying_call


def make_writing_call(
    operator: Dispatch, kernel: Kernel, prepare: Preparation, copying_call: Call
) -> Call:
    """out= of a kernel that reads its operands where they lie: it writes there, too, if the memory
    is contiguous and no operand's; else the result is copied."""
    meta = operator.meta
    assert meta is not None

    def call(out: Tensor, *args: Any) -> Any:
        sizes, dtype, *strides = meta(*args)
        index, wanted = prepare.device_of(args), dtype or prepare.common
        is_there = out.is_cuda and copying.index_of(out) == index and out.dtype is wanted
        if strides or not is_there or _shares_memory(out, args):
            return copying_call(out, *args)
        make_room(operator, out, tuple(sizes), out.dtype, args)
        if not array_of(out).is_contiguous:
            return copying_call(out, *args)
        queue = DeviceQueue(index, operator.base_name)
        kernel(queue, array_of(out), *prepare.arrays(queue, args))
        out._storage.version += 1
        return out

    return call


def _shares_memory(out: Tensor, args: Sequence[Any]) -> bool:
    """Whether an operand lies in the memory that `out` shows."""
    given = [part for each in args for part in (each if isinstance(each, list | tuple) else [each])]
    tensors = [each for each in given if isinstance(each, Tensor) and each.is_cuda]
    return any(each._storage.buffer.block is out._storage.buffer.block for each in tensors)


def make_function_call(operator: Dispatch, kernel: Kernel, prepare: Preparation) -> Call:
    """call(*args): new tensors, of the shapes that the shape function says or the kernel finds."""
    meta, several, wrap = operator.meta, operator.outputs > 1, operator.wrap
    walks_strides = getattr(kernel, "walks_strides", False)

    def call(*args: Any) -> Any:
        queue = DeviceQueue(prepare.device_of(args), operator.base_name)
        if meta is None:
            found = kernel(queue, *prepare.arrays(queue, args))
            results = [queue.tensor_of(each) for each in (found if several else (found,))]
        else:
            specs = meta(*args)
            results = [
                allocate(each, prepare.common, queue.index)
                for each in (specs if several else (specs,))
            ]
            stages = [array_of(each) for each in results]
            if not walks_strides:
                stages = stages_of(queue, results)
            kernel(queue, *stages, *prepare.arrays(queue, args))
            finish(queue, results, stages)
        if not several:
            return results[0]
        return wrap(*results) if wrap else tuple(results)

    return call


def stages_of(queue: DeviceQueue, results: Sequence[Tensor]) -> list[Array]:
    """What the kernel writes to: the results' memory, or other memory if these lie otherwise."""
    arrays = [array_of(result) for result in results]
    return [a if a.is_contiguous else queue.empty(a.sizes, a.dtype) for a in arrays]


def finish(queue: DeviceQueue, results: Sequence[Tensor], stages: Sequence[Array]) -> None:
    """Copy what the kernel wrote elsewhere into the results, in their order."""
    for result, stage in zip(results, stages, strict=True):
        target = array_of(result)
        if target != stage:
            queue.copy(target, stage)


def make_into_call(operator: Dispatch, kernel: Kernel, prepare: Preparation) -> Call:
    """The kernel writes to self, or to a dense copy of it.

    By the schema itself (`normal_`); or in place, where the kernel may be given `out` as self.
    """
    meta, is_update = operator.meta, not operator.mutates
    apart = kept_apart(operator) if is_update else []

    def call(self: Tensor, *args: Any) -> Tensor:
        check_apart(operator, apart, self, *args)
        answer = None if meta is None else meta(self, *args)
        if answer is not None and tuple(answer[0]) != tuple(self._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self._sizes, answer[0])
        overlap.check_self(operator.base_name, self)
        queue = DeviceQueue(copying.index_of(self), operator.base_name)
        own, *rest = prepare.arrays(queue, (self, *args))
        kernel(queue, own, *([own] if is_update else []), *rest)
        if not array_of(self).is_contiguous:
            queue.copy(array_of(self), own)
        self._storage.version += 1
        return self

    return call


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
    """What turns the arguments of a call into those of its kernel, decided once per signature."""

    def __init__(
        self,
        operator: Dispatch,
        kernel: Kernel,
        common: dtypes.dtype | None,
        signature: tuple[Any, ...],
    ) -> None:
        self.common = common
        self.walks_strides = getattr(kernel, "walks_strides", False)
        entries = dict(zip(operator.operands, signature, strict=True))
        self._converters: list[Convert | None] = []
        self._first: tuple[int, int | None] | None = None
        for place, (name, kind) in enumerate(operator.arguments.items()):
            entry = entries.get(name)
            wanted = common if name in operator.promoted else None
            is_generator = kind == "generator"
            self._converters.append(_generator if is_generator else self._converter(entry, wanted))
            if self._first is None:
                self._first = _on_device(place, entry)

    def device_of(self, args: Sequence[Any]) -> int:
        """The index of the device on which the tensors lie: that of the first on any."""
        assert self._first is not None, "a kernel without tensors"
        place, member = self._first
        return copying.index_of(args[place] if member is None else args[place][member])

    def arrays(self, queue: DeviceQueue, args: Sequence[Any]) -> list[Any]:
        """The kernel's arguments.

        Raises: RuntimeError if one lies on another device, where a kernel must not read.
        """
        return [
            arg if convert is None else convert(queue, arg)
            for convert, arg in zip(self._converters, args, strict=True)
        ]

    def _converter(self, entry: Any, wanted: dtypes.dtype | None) -> Convert | None:
        if entry.__class__ is tuple:
            members = [self._converter(each, wanted) for each in entry]
            return lambda queue, values: [
                value if convert is None else convert(queue, value)
                for convert, value in zip(members, values, strict=True)
            ]
        if entry.__class__ is not int:
            return None
        own = signatures.dtype_of(entry)
        is_on_host = not entry & _DEVICE
        cast = own if wanted is None else wanted
        takes_any = cast is own and self.walks_strides

        def convert(queue: DeviceQueue, tensor: Tensor) -> Array:
            if is_on_host:
                tensor = _arrived(queue, tensor)
            elif tensor._storage.buffer.device_index != queue.index:
                raise errors.same_device_expected(f"cuda:{queue.index}", tensor.device)
            array = array_of(tensor)
            if takes_any or (cast is own and array.is_contiguous):
                return array
            made = queue.empty(array.sizes, cast)
            queue.copy(made, array)
            return made

        return convert


Convert = Callable[[DeviceQueue, Any], Any]
"""convert(queue, argument): what the kernel is given for an argument."""

_DEVICE = keys.DEVICE_MASK << keys.DEVICE_SHIFT


def _on_device(place: int, entry: Any) -> tuple[int, int | None] | None:
    """(place, place in the list) of a tensor on a device, if that is what an entry stands for."""
    if entry.__class__ is tuple:
        found = [member for member, each in enumerate(entry) if _on_device(0, each)]
        return (place, found[0]) if found else None
    return (place, None) if entry.__class__ is int and entry & _DEVICE else None


def _generator(queue: DeviceQueue, given: Any) -> Any:
    return queue.generator if given is None else given


def _arrived(queue: DeviceQueue, tensor: Tensor) -> Tensor:
    """A tensor of the host on the device: 0-d operands, and indices, may lie there."""
    made = transfer.to_device(tensor, devices.device("cuda", queue.index), False)
    queue.kept.append(made)
    return made
