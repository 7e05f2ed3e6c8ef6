"""The queue of a device with NVIDIA's libraries, whose handles are made once per device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from torchgen_out._runtime.backends.cuda import driver, streams
from torchgen_out._runtime.backends.cuda.dispatch import DeviceQueue
from torchgen_out._runtime.backends.cuda.launching import Loops
from torchgen_out._runtime.backends.cuda.libraries import workspace
from torchgen_out._runtime.backends.cuda.libraries.convolutions import Convolutions
from torchgen_out._runtime.backends.cuda.libraries.cublas import Blas
from torchgen_out._runtime.backends.cuda.libraries.cublaslt import products_of
from torchgen_out._runtime.backends.cuda.libraries.cufft import Fourier
from torchgen_out._runtime.backends.cuda.libraries.cusolver import Solver
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.queue import Array

blas = lru_cache(maxsize=None)(Blas)
convolutions = lru_cache(maxsize=None)(Convolutions)
fourier = lru_cache(maxsize=None)(Fourier)
solver = lru_cache(maxsize=None)(Solver)


class LibraryQueue(DeviceQueue):
    """`runtime.kernels.cuda.direct.LibraryQueue`."""

    @property
    def blas(self) -> Blas:
        """Operations on vectors."""
        return blas(self.index)

    @property
    def convolutions(self) -> Convolutions:
        """Convolutions, where the library is installed."""
        return convolutions(self.index)

    @property
    def fourier(self) -> Fourier:
        """Fourier transforms."""
        return fourier(self.index)

    @property
    def solver(self) -> Solver:
        """Factorisations."""
        return solver(self.index)

    def copy(self, target: Array, source: Array) -> None:
        """Write the elements of another array, broadcast and cast; equal layouts are the driver's.

        The target may be the source itself.
        """
        if source[1:] != target[1:] or not shapes.is_dense(target.sizes, target.strides):
            super().copy(target, source)
        elif target.numel and target.address != source.address:
            size = target.numel * target.dtype.itemsize
            stream = streams.current_handle(self.index)
            driver.current().copy(self.index, target.address, source.address, size, stream)

    def apply(
        self,
        formula: Callable[..., Any],
        target: Array,
        sources: Sequence[Array],
        scalars: Sequence[Any] = (),
    ) -> None:
        """Write formula(*elements, *scalars) of broadcast arrays of the target's dtype."""
        kinds = ("tensor",) * len(sources) + ("scalar",) * len(scalars)
        geometries = tuple([(source.sizes, source.strides) for source in sources])
        plan = plans.plan_pointwise(geometries, (target.sizes, target.strides))
        places = [source.address for source in sources]
        loops = _loops(formula, kinds, target.dtype, self.index)
        loops.run(plan, [target.address], places, scalars)


@cache
def _loops(
    formula: Callable[..., Any], kinds: tuple[str, ...], dtype: dtypes.dtype, index: int
) -> Loops:
    inputs = (dtype,) * kinds.count("tensor")
    return Loops(PointwiseSpec(formula, kinds, inputs, (dtype,), dtype.opmath), index)


def forget() -> None:
    """Forget all handles, when another driver takes the place of the one that made them."""
    for each in (products_of, blas, convolutions, fourier, solver, _loops):
        each.cache_clear()
    workspace.forget()
