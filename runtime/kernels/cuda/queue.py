"""What a hand-written kernel is given: arrays on a device, and the queue that its launches go to.

A kernel of `dispatch:` is a Python function kernel(queue, *outs, *arrays, *plain): it decides which
device kernels run over what grid, and queues them. It never waits, except by `queue.read`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from operator import mul
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

MOVED_AS = {1: dtypes.uint8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
"""What elements are moved as that keep their dtype, by their size: all bits stay."""


Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class Array(NamedTuple):
    """Elements on a device. address: of the first one. Strides are in elements."""

    address: int
    dtype: dtypes.dtype
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """How many dims there are."""
        return len(self.sizes)

    @property
    def numel(self) -> int:
        """How many elements there are."""
        return math.prod(self.sizes)

    @property
    def extent(self) -> int:
        """How many elements there are, or lie between the first and the last if that is more."""
        sizes, strides = self.sizes, self.strides
        return max(math.prod(sizes), 1 + sum(map(mul, sizes, strides)) - sum(strides))

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie densely in row-major order."""
        return shapes.is_contiguous(self.sizes, self.strides)

    def at(self, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> Array:
        """A view of other geometry that starts `offset` elements further on."""
        address = self.address + offset * self.dtype.itemsize
        return Array(address, self.dtype, tuple(sizes), tuple(strides))

    def reshaped(self, *sizes: int) -> Array:
        """The elements of a contiguous array in other sizes."""
        assert self.is_contiguous and math.prod(sizes) == self.numel
        return self.at(0, sizes, shapes.contiguous_strides(sizes))

    def narrowed(self, dim: int, start: int, length: int) -> Array:
        """A part along one dim."""
        sizes = (*self.sizes[:dim], length, *self.sizes[dim + 1 :])
        return self.at(start * self.strides[dim], sizes, self.strides)

    def expanded(self, sizes: Sequence[int]) -> Array:
        """The array broadcast to sizes."""
        missing = len(sizes) - self.ndim
        strides = [
            0 if own == 1 and wanted != 1 else stride
            for own, stride, wanted in zip(self.sizes, self.strides, sizes[missing:], strict=True)
        ]
        return self.at(0, sizes, (0,) * missing + tuple(strides))

    def moved(self) -> Array:
        """The same bits as integers, where there are integers of that size."""
        return self._replace(dtype=MOVED_AS.get(self.dtype.itemsize, self.dtype))


def walks_strides(kernel: Kernel) -> Kernel:
    """Mark a kernel that takes arrays of any strides, and writes such; others are given contiguous
    ones."""
    kernel.walks_strides = True
    return kernel


class Queue(Protocol):
    """Work for one device, done in the order in which it is given."""

    processors: int
    """Multiprocessors of the device."""

    @property
    def generator(self) -> Any:
        """The device's own generator of random numbers."""

    @property
    def faults(self) -> Array:
        """The record of the call's operator, for `runtime.kernels.cuda.faults`."""
        ...

    def reserve(self, blocks: int, generator: Any) -> Any:
        """Take blocks of a generator's stream: `runtime.kernels.cuda.random.philox.Drawn`."""

    def launch(self, source: Any, grid: int, block: tuple[int, int], values: Sequence[Any]) -> None:
        """Run a device kernel over a grid of blocks."""

    def empty(self, sizes: Sequence[int], dtype: dtypes.dtype) -> Array:
        """A contiguous array of undefined values, kept until the call is over."""

    def copy(self, target: Array, source: Array) -> None:
        """Write the elements of `source`, broadcast and cast, into an array apart from it."""

    def fill(self, target: Array, value: Any) -> None:
        """Set all elements to a number."""

    def read(self, array: Array) -> list[Any]:
        """The elements of a contiguous array, waited for."""

    def result(self, sizes: Sequence[int], dtype: dtypes.dtype) -> Array:
        """A new array for a kernel to return whose shapes depend on the data."""


def contiguous(queue: Queue, array: Array) -> Array:
    """The array itself, or a contiguous copy."""
    return array if array.is_contiguous else converted(queue, array, array.dtype)


def converted(queue: Queue, array: Array, dtype: dtypes.dtype) -> Array:
    """A contiguous array of another dtype; the array itself if it is that."""
    if array.is_contiguous and array.dtype is dtype:
        return array
    made = queue.empty(array.sizes, dtype)
    queue.copy(made, array)
    return made


def permuted(array: Array, order: Sequence[int]) -> Array:
    """A view with the dims in another order."""
    sizes = tuple([array.sizes[dim] for dim in order])
    return array.at(0, sizes, [array.strides[dim] for dim in order])


def in_opmath(outs: int) -> Callable[[Kernel], Kernel]:
    """Have a kernel of so many results compute in the type of computation.

    16-bit floats go through float32, and what is written is rounded once.
    """

    def make(kernel: Kernel) -> Kernel:
        @wraps(kernel)
        def call(queue: Queue, *args: Any) -> None:
            results = args[:outs]
            made = [
                out if out.dtype.opmath is out.dtype else queue.empty(out.sizes, out.dtype.opmath)
                for out in results
            ]
            given = [_in_opmath(queue, each) for each in args[outs:]]
            kernel(queue, *made, *given)
            for out, result in zip(results, made, strict=True):
                if result is not out:
                    queue.copy(out, result)

        return cast(Kernel, call)

    return make


def _in_opmath(queue: Queue, value: Any) -> Any:
    if value.__class__ is Array and value.dtype.is_floating_point:
        return converted(queue, value, value.dtype.opmath)
    return value
