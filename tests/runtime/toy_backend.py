"""A device of a few lines: its memory is a NumPy array that nobody else reads.

It computes pointwise formulas and `mm` itself, and leaves the rest to the host. docs/backends.md
shows this file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.backends.common.pointwise_formula import PointwiseFormula
from torchgen_out._runtime.backends.common.pointwise_signature import specialise
from torchgen_out.utils.backend_registration import OwnMemory, register_backend


class ToyBackend(OwnMemory):
    """Two devices that know four dtypes."""

    name = "Toy"
    dtypes = frozenset({torch.float32, torch.int32, torch.int64, torch.bool})
    host_operators = frozenset({"*"})
    device_count = 2

    # Memory: three functions. What `allocate` returns is the backend's business.

    def allocate(self, nbytes: int, index: int) -> ToyMemory:
        return ToyMemory(nbytes)

    def read(self, memory: ToyMemory) -> np.ndarray:
        return memory.bytes

    def write(self, memory: ToyMemory, data: np.ndarray) -> None:
        memory.bytes[: data.size] = data

    # Kernels: what is not found here runs on the host.

    def kernel_of(self, operator: Any, signature: tuple[Any, ...]) -> Callable[..., None] | None:
        if operator.name == "mm":
            return self.mm
        if operator.kind == "pointwise":
            return self.pointwise_kernel(operator, signature)
        return super().kernel_of(operator, signature)

    def mm(self, out: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> None:
        np.matmul(self.array(a), self.array(b), out=self.array(out))

    def pointwise_kernel(self, operator: Any, signature: tuple[Any, ...]) -> Callable[..., None]:
        """The formula of native_functions.yaml, which is a Python function, element by element."""
        special = specialise(operator, signature)
        formula = PointwiseFormula(special, (special.result,) * operator.outputs)
        compute = special.compute.opmath.numpy.type

        def run(*args: Any) -> None:
            outs, inputs = args[: operator.outputs], args[operator.outputs :]
            tensors, scalars = formula.split(inputs)
            columns = np.broadcast_arrays(*[self.array(tensor) for tensor in tensors])
            elements = zip(*[column.ravel() for column in columns], strict=True)
            with np.errstate(all="ignore"):
                computed = [formula.value([*map(compute, each)], scalars) for each in elements]
            results = [computed] if operator.outputs == 1 else zip(*computed, strict=True)
            for out, values in zip(outs, results, strict=True):
                self.array(out)[...] = np.reshape(list(values), tuple(out.shape))

        return run

    def array(self, tensor: torch.Tensor) -> np.ndarray:
        """The elements of a tensor in the device's memory."""
        dtype, item = tensor.dtype.numpy, tensor.itemsize
        memory, offset = self.memory_of(tensor).bytes, tensor.storage_offset() * item
        strides = [step * item for step in tensor.stride()]
        return np.ndarray(tuple(tensor.shape), dtype, memory, offset, strides)


class ToyMemory:
    """What stands for a device's memory: an array that is not a tensor's."""

    def __init__(self, nbytes: int) -> None:
        self.bytes = np.zeros(nbytes, np.uint8)


def register() -> ToyBackend:
    """Make the device type known, under this name and PyTorch's `privateuseone`."""
    backend = ToyBackend()
    torch.utils.rename_privateuse1_backend("toy")
    torch.utils.generate_methods_for_privateuse1_backend()
    register_backend("toy", backend)
    return backend
