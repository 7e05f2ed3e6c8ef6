"""Loops around formulas on CUDA: where operands lie, and what is launched for a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import pointwise_calls
from torchgen_out._runtime.backends.common.output import Output
from torchgen_out._runtime.backends.cuda import memory, transfer
from torchgen_out._runtime.backends.cuda.launching import Loops, device_index
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import FUNCTION, Call, Pointwise
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec


def make_call(operator: Pointwise, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of `operator` for CUDA tensors of one signature."""
    call = pointwise_calls.make_call(LOOPS, operator, signature, variant)
    if all(
        key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK for key in signatures.tensor_keys(signature)
    ):
        return call
    first = 0 if variant == FUNCTION else 1

    def call_on_device(*args: Any) -> Any:
        """A CPU tensor without dims goes along, unless it is written."""
        moved = list(args)
        places = [i for i, arg in enumerate(args) if i >= first and isinstance(arg, Tensor)]
        _, tensors = on_one_device([args[i] for i in places])
        for place, tensor in zip(places, tensors, strict=True):
            moved[place] = tensor
        return call(*moved)

    return call_on_device


class DeviceLoops(dict[int, Loops]):
    """The loops around a formula, by the index of the device."""

    def __init__(self, spec: PointwiseSpec) -> None:
        self.spec = spec

    def __missing__(self, index: int) -> Loops:
        found = self[index] = Loops(self.spec, index)
        return found


class CUDALoops:
    """`LoopBackend` for CUDA: the memory of results and the kernels are in the current stream."""

    in_runs = has_flat_loops = False
    on_devices = True
    loops = DeviceLoops

    def launch(
        self,
        loops: DeviceLoops,
        plan: plans.PointwisePlan,
        tensors: Sequence[Tensor],
        mode: str,
        outputs: int,
    ) -> tuple[Callable[..., None], None]:
        """The kernel that suits the plan, for any addresses."""
        on = loops[index_of_all(tensors)]
        sizes = [dtype.itemsize for dtype in (*loops.spec.outputs, *loops.spec.inputs)]
        return partial(_run, on, plan, outputs, sizes), None

    def output(self, spec: Any, tensors: Sequence[Tensor]) -> Output:
        """A new result, on the tensors' device."""
        index = index_of_all(tensors)

        def maker(nbytes: int, dtype: Any) -> Callable[[int], Any]:
            return partial(memory.flat, index, dtype=dtype)

        return Output(spec, None, maker, devices.CUDA << keys.DEVICE_SHIFT)

    def hooks(
        self, loops: DeviceLoops, mode: str, outputs: Sequence[dtypes.dtype]
    ) -> dict[str, Any]:
        """Where tensors lie."""
        return {"memory_of": memory_of, "device_of": device_index}


LOOPS = CUDALoops()


def _run(
    loops: Loops, plan: plans.PointwisePlan, outputs: int, sizes: Sequence[int], *args: Any
) -> None:
    count = len(sizes)
    addresses = [
        flat.address + at * size
        for at, flat, size in zip(args[:count], args[count : 2 * count], sizes, strict=True)
    ]
    loops.run(plan, addresses[:outputs], addresses[outputs:], args[2 * count :])


def memory_of(tensor: Tensor, is_dense: bool) -> tuple[Any, int]:
    """The buffer that holds a tensor's elements, and where they begin."""
    return tensor._storage.buffer, tensor._offset


def index_of_all(tensors: Sequence[Tensor]) -> int:
    """The index of the device on which all tensors lie.

    Raises: RuntimeError if there is none.
    """
    found = next(each for each in tensors if not each.is_cpu)
    index = device_index(found)
    for each in tensors:
        if device_index(each) != index:
            raise errors.same_device_expected(found.device, each.device)
    assert index is not None
    return index


def on_one_device(tensors: Sequence[Tensor]) -> tuple[int, list[Tensor]]:
    """(index of the device, tensors on it): a CPU tensor without dims goes along.

    Raises: RuntimeError if devices differ.
    """
    indices = {device_index(each) for each in tensors}
    if len(indices) == 1:
        (index,) = indices
        if index is not None:
            return index, list(tensors)
    found = [each.device for each in tensors if not each.is_cpu]
    first = found[0]
    for other in found[1:]:
        if other is not first:
            raise errors.same_device_expected(first, other)
    moved = [transfer.to_device(t, first, False) if t.is_cpu else t for t in tensors]
    return first.index or 0, moved
