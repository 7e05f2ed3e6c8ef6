"""Kernels that work where the caller's memory lies: on operands in any strides, into any dense out.

Most of them hand their work to NVIDIA's libraries, which take leading dimensions and transpositions
as numbers, so that nothing need be copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


class ProductQueue(Queue, Protocol):
    """A queue with the products of matrices. products: cuBLASLt."""

    products: Any


class LibraryQueue(ProductQueue, Protocol):
    """A queue with the libraries that work in its stream.

    blas: cuBLAS. solver: cuSOLVER. fourier: cuFFT. convolutions: cuDNN, which
    need not be there.
    """

    blas: Any
    solver: Any
    fourier: Any
    convolutions: Any

    def apply(
        self,
        formula: Callable[..., Any],
        target: Array,
        sources: Sequence[Array],
        scalars: Sequence[Any] = (),
    ) -> None:
        """Write formula(*elements, *scalars) of broadcast arrays of the target's dtype."""


Arrange = Callable[[Sequence[Any]], Sequence[Any]]


def arranged(kernel: Callable[..., Any], arrange: Arrange) -> Callable[..., Any]:
    """The kernel, called with what `arrange` makes of the arguments behind the queue."""

    @wraps(kernel)
    def call(queue: Queue, *args: Any) -> Any:
        return kernel(queue, *arrange(args))

    return call


@dataclass(frozen=True)
class Direct:
    """A kernel(queue, *outs, *arrays, *plain) of this kind.

    It returns False where it leaves a call to the function over tensors that the entry names
    besides. own: the argument that may be `out` itself; no other may share memory with it.
    in_any_order: whether the dims of results may lie in any order; else they are made contiguous,
    and copied.
    """

    kernel: Callable[..., Any]
    own: str = ""
    in_any_order: bool = False

    def case(self, arrange: Arrange, given: Mapping[str, Any]) -> Direct:
        """The kernel for a case of its operator.

        arrange(args): what the kernel is called with behind the queue. given: what the case gives
        each argument of the operator.
        """
        own = given.get(self.own)
        own = own if isinstance(own, str) else ""
        return Direct(arranged(self.kernel, arrange), own, self.in_any_order)


def direct(kernel: Callable[..., None]) -> Direct:
    """Mark a kernel whose `out` shares no memory with its operands."""
    return Direct(kernel)


def direct_in_any_order(kernel: Callable[..., Any]) -> Direct:
    """Mark one that writes its results in the order of dims that the shape function says."""
    return Direct(kernel, in_any_order=True)


def adding(kernel: Callable[..., None]) -> Direct:
    """Mark a kernel whose `self` may be `out`."""
    return Direct(kernel, "self")


def batched(x: Array) -> Array:
    """A matrix as a batch of one."""
    return x.at(0, (1, *x.sizes), (0, *x.strides))


def turned(x: Array) -> Array:
    """The last two dims exchanged."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return x.at(0, [x.sizes[d] for d in order], [x.strides[d] for d in order])
