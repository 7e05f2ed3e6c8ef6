"""Short paths of hand-written kernels over dense tensors, which need no plan."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import Call, TensorCall
from torchgen_out._runtime.kernels.cpu.planned import Elementwise


def make_two_tensor_call(kernel: Any, general: TensorCall, remembered: dict[Any, Any]) -> Call:
    """kernel(out, self, other) over dense tensors. remembered: the general call's results."""

    def call(self: Tensor, other: Tensor) -> Any:
        a, b = self._flat, other._flat
        outputs = remembered.get(((self._sizes, self._strides), (other._sizes, other._strides)))
        if outputs is None or a is None or b is None:
            return general(self, other)
        (output,) = outputs
        if output.is_rounded or not output.is_contiguous:
            return general(self, other)
        buffer = output.empty(output.numel, output.numpy)
        sizes = output.sizes
        kernel(buffer.reshape(sizes), a.reshape(self._sizes), b.reshape(other._sizes))
        return build(output.key, sizes, output.strides, 0, None, buffer)

    return call


def make_dense_copying_call(kernel: Elementwise, general: TensorCall) -> Call:
    """kernel(self, other, ...) writes to self element by element, over dense tensors."""

    def call(self: Tensor, other: Tensor, *plain: Any) -> Tensor:
        a, b = self._flat, other._flat
        if a is None or b is None or self._sizes != other._sizes:
            return general(self, other, *plain)
        kernel.kernel(a, b, *plain)
        (self._shared or self._storage).version += 1
        return self

    return call


def make_dense_filling_call(kernel: Elementwise, general: TensorCall, check: Call | None) -> Call:
    """kernel(self, ...) writes to self element by element, over a tensor that repeats none."""

    def call(self: Tensor, *plain: Any) -> Tensor:
        elements = self._flat
        if elements is None:
            if 0 in self._strides:
                return general(self, *plain)
            elements = self._array()
        if check is not None:
            check(self, *plain)
        kernel.kernel(elements, *plain)
        (self._shared or self._storage).version += 1
        return self

    return call
