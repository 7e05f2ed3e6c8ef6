"""Results of hand-written kernels on the CPU: memory, rounding to narrow types, order."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.backends.cpu import pool
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.kernels.cpu import narrow_arrays
from torchgen_out._runtime.kernels.cpu.copy.strided_copy import copy_elements


class Output:
    """One result as the shape function described it: (sizes, dtype[, strides]).

    is_staged: the kernel writes to memory of another type or order, which is then copied.
    """

    __slots__ = (
        "dtype",
        "empty",
        "is_contiguous",
        "is_rounded",
        "is_staged",
        "key",
        "numel",
        "numpy",
        "sizes",
        "strides",
    )

    def __init__(self, spec: Any, common: Any, raw: bool, keeps_format: bool = False) -> None:
        sizes, dtype, *strides = spec
        layout = dense_layout(tuple(sizes))
        self.dtype: dtypes.dtype = dtype or common
        self.sizes, self.numel = layout.sizes, layout.numel
        self.strides = tuple(strides[0]) if strides else layout.strides
        self.is_contiguous = self.strides == layout.strides
        self.key = self.dtype.index | layout.zero_dim
        self.numpy = self.dtype.numpy
        self.empty = pool.array_maker(self.numel * self.dtype.itemsize)
        self.is_rounded = not raw and self.dtype.opmath is not self.dtype
        self.is_staged = self.is_rounded or (keeps_format and not self.is_contiguous)

    def allocate(self) -> Tensor:
        """A tensor of undefined values."""
        buffer = self.empty(self.numel, self.numpy)
        if self.is_contiguous:
            return build(self.key, self.sizes, self.strides, 0, None, buffer)
        return build(self.key, self.sizes, self.strides, 0, Storage(buffer))

    def array(self, out: Tensor) -> Any:
        """The memory of a tensor that `allocate` made."""
        return out._array() if out._flat is None else out._flat.reshape(self.sizes)

    def run(self, kernel: Any, arguments: list[Any]) -> Tensor:
        """Allocate and compute the only result."""
        out = self.allocate()
        if self.is_staged:
            run_staged(kernel, [self], [out], arguments)
        else:
            kernel(self.array(out), *arguments)
        return out

    def stage(self, out: Tensor) -> Any:
        """What the kernel writes to: the memory of `out`, or what `finish` copies from."""
        if not self.is_staged:
            return self.array(out)
        stored = self.dtype.opmath.numpy if self.is_rounded else self.numpy
        return np.empty(tuple(self.sizes), stored)

    def finish(self, out: Tensor, stage: Any) -> None:
        """Copy what the kernel wrote, rounded if need be, in the order of the result's memory."""
        if not self.is_staged:
            return
        target = out._array()
        if self.is_rounded:
            narrow_arrays.narrow(stage, self.dtype, target)
            return
        order = sorted(range(stage.ndim), key=self.strides.__getitem__, reverse=True)
        copy_elements(target.transpose(order), stage.transpose(order))


def run_staged(
    kernel: Any, outputs: list[Output], outs: list[Tensor], arguments: list[Any]
) -> None:
    """Run into `outs`, some of them by way of memory of another type or order."""
    stages = [output.stage(out) for output, out in zip(outputs, outs, strict=True)]
    kernel(*stages, *arguments)
    for output, out, stage in zip(outputs, outs, stages, strict=True):
        output.finish(out, stage)
