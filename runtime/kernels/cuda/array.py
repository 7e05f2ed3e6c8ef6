"""Arrays on a device as kernels see them: an address and a geometry; and the queue that takes work.

A kernel of a library, or one that needs several launches, is a function kernel(queue, out, ...)
beside the CPU's kernel(out, ...). It puts its work into the queue and returns: nothing has been
computed by then, and memory that it asked for may be dropped, since the queue works in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, Protocol

from runtime.core import dtype as dtypes
from runtime.core import shape as shapes
from runtime.kernels.cuda.compiler import Source

Sizes = tuple[int, ...]


class Array(NamedTuple):
    """Elements in the memory of a device. Strides count elements.

    owner: what keeps the memory, None for somebody else's.
    """

    address: int
    dtype: dtypes.dtype
    sizes: Sizes
    strides: Sizes
    owner: Any = None

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.sizes)

    @property
    def numel(self) -> int:
        """The number of elements."""
        return prod(self.sizes)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie densely in row-major order."""
        return shapes.is_contiguous(self.sizes, self.strides)

    def at(self, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> Array:
        """The same memory in another geometry, from an element `offset` further on."""
        address = self.address + offset * self.dtype.itemsize
        return Array(address, self.dtype, tuple(sizes), tuple(strides), self.owner)

    def reshaped(self, *sizes: int) -> Array:
        """A contiguous array in other sizes."""
        assert self.is_contiguous and prod(sizes) == self.numel
        return self.at(0, sizes, shapes.contiguous_strides(sizes))

    @property
    def transposed(self) -> Array:
        """The last two dims exchanged."""
        order = (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)
        return self.at(0, [self.sizes[d] for d in order], [self.strides[d] for d in order])

    def expanded(self, sizes: Sequence[int]) -> Array:
        """Repeated to larger sizes."""
        missing = len(sizes) - self.ndim
        own = ((1,) * missing + self.sizes, (0,) * missing + self.strides)
        strides = [
            step if size == wanted else 0 for size, step, wanted in zip(*own, sizes, strict=True)
        ]
        return self.at(0, sizes, strides)


class Queue(Protocol):
    """The current stream of a device, its memory, and the libraries that work there.

    processors: how many multiprocessors the device has. products: cuBLASLt. blas: cuBLAS.
    solver: cuSOLVER. fourier: cuFFT.
    """

    index: int
    processors: int
    products: Any
    blas: Any
    solver: Any
    fourier: Any

    def empty(self, sizes: Sequence[int], dtype: dtypes.dtype) -> Array:
        """A contiguous array of undefined values."""

    def copy(self, target: Array, source: Array) -> None:
        """Write the elements of another array, broadcast and cast."""

    def fill(self, target: Array, value: Any) -> None:
        """Set all elements to a number."""

    def apply(
        self,
        formula: Callable[..., Any],
        target: Array,
        sources: Sequence[Array],
        scalars: Sequence[Any] = (),
    ) -> None:
        """Write formula(*elements, *scalars) of broadcast arrays of the target's dtype."""

    def launch(
        self, source: Source, grid: int, block: tuple[int, int], values: Sequence[Any]
    ) -> None:
        """Run a kernel of our own over a grid of blocks."""


@dataclass(frozen=True)
class Queued:
    """A kernel that puts its work into a queue.

    takes_out_as: the argument that may be `out` itself; no other may share memory with it.
    """

    kernel: Callable[..., None]
    takes_out_as: str = ""


def queued(kernel: Callable[..., None]) -> Queued:
    """Mark a kernel that takes a queue."""
    return Queued(kernel)


def adding(kernel: Callable[..., None]) -> Queued:
    """Mark a kernel that takes a queue, whose `self` may be `out`."""
    return Queued(kernel, "self")


def contiguous(queue: Queue, x: Array) -> Array:
    """The array if it is contiguous, else a copy."""
    if x.is_contiguous:
        return x
    made = queue.empty(x.sizes, x.dtype)
    queue.copy(made, x)
    return made
