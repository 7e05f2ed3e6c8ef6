"""The queue of a device, as kernels see it: memory, copies, launches, and NVIDIA's libraries.

All work goes into the stream that is current when it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

from runtime.backends.cuda import copying, driver, launching, memory, streams
from runtime.backends.cuda.launching import Loops
from runtime.backends.cuda.libraries import workspace
from runtime.backends.cuda.libraries.cublas import Blas
from runtime.backends.cuda.libraries.cublaslt import Products
from runtime.core import dtype as dtypes
from runtime.core import shape as shapes
from runtime.core.tensor import Tensor
from runtime.kernels import plan as plans
from runtime.kernels.cpu.pointwise import PointwiseSpec
from runtime.kernels.cuda.array import Array
from runtime.kernels.cuda.compiler import Source


class DeviceQueue:
    """`runtime.kernels.cuda.array.Queue` of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.processors = launching.processors(index)

    @cached_property
    def products(self) -> Products:
        """Matrix products."""
        return Products(self.index)

    @cached_property
    def blas(self) -> Blas:
        """Operations on vectors."""
        return Blas(self.index)

    def empty(self, sizes: Sequence[int], dtype: dtypes.dtype) -> Array:
        """A contiguous array of undefined values."""
        sizes = tuple(sizes)
        stream = streams.current_handle(self.index)
        buffer = memory.allocator(self.index).buffer(shapes.numel(sizes), dtype.numpy, stream)
        strides = shapes.contiguous_strides(sizes)
        return Array(buffer.address, dtype, sizes, strides, buffer)

    def copy(self, target: Array, source: Array) -> None:
        """Write the elements of another array, broadcast and cast."""
        same_layout = (source.dtype, source.sizes, source.strides) == target[1:4]
        if same_layout and shapes.is_dense(target.sizes, target.strides):
            size = target.numel * target.dtype.itemsize
            stream = streams.current_handle(self.index)
            if size:
                driver.current().copy(self.index, target.address, source.address, size, stream)
            return
        loops = copying.copy_loops(source.dtype, target.dtype, self.index)
        loops.run(_plan(target, [source]), [target.address], [source.address], ())

    def fill(self, target: Array, value: Any) -> None:
        """Set all elements to a number."""
        loops = copying.fill_loops(target.dtype, self.index)
        loops.run(_plan(target, []), [target.address], [], (value,))

    def apply(
        self,
        formula: Callable[..., Any],
        target: Array,
        sources: Sequence[Array],
        scalars: Sequence[Any] = (),
    ) -> None:
        """Write formula(*elements, *scalars) of broadcast arrays of the target's dtype."""
        kinds = ("tensor",) * len(sources) + ("scalar",) * len(scalars)
        loops = _loops(formula, kinds, target.dtype, self.index)
        places = [source.address for source in sources]
        loops.run(_plan(target, sources), [target.address], places, scalars)

    def launch(
        self, source: Source, grid: int, block: tuple[int, int], values: Sequence[Any]
    ) -> None:
        """Run a kernel of our own over a grid of blocks."""
        launching.launch(self.index, source, (grid, 1), block, values)


def _plan(target: Array, sources: Sequence[Array]) -> plans.PointwisePlan:
    geometries = tuple([(source.sizes, source.strides) for source in sources])
    return plans.plan_pointwise(geometries, (target.sizes, target.strides))


@cache
def _loops(
    formula: Callable[..., Any], kinds: tuple[str, ...], dtype: dtypes.dtype, index: int
) -> Loops:
    inputs = (dtype,) * kinds.count("tensor")
    return Loops(PointwiseSpec(formula, kinds, inputs, (dtype,), dtype.opmath), index)


@cache
def queue_of(index: int) -> DeviceQueue:
    """Return the queue of a device."""
    return DeviceQueue(index)


def forget() -> None:
    """Forget all queues, when another driver takes the place of the one they ask."""
    queue_of.cache_clear()
    _loops.cache_clear()
    workspace.forget()


def array_of(tensor: Tensor) -> Array:
    """Return a tensor's elements as kernels see them."""
    buffer = tensor._storage.buffer
    address = int(buffer.address) + tensor._offset * tensor.dtype.itemsize
    return Array(address, tensor.dtype, tuple(tensor._sizes), tensor._strides, buffer)
