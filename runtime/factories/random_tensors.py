"""Bodies of the factories that draw random numbers, over the in-place random operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.bindings.arguments import ready_out
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import number
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.device import DeviceLike
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.operator import operators
from torchgen_out._runtime.factories import creation, creation_like

Options = Any

FEW = 1 << 14
"""Elements for which new memory costs less than to write where there are some."""


_unseen = Storage(None)
"""Counts the writes into tensors that nobody has seen, which are none to anybody."""


def _fill(name: str, made: Tensor, *args: Any) -> Tensor:
    """Draw into a tensor that nobody has seen: its values are not recorded, only what follows."""
    draw = operators[name].calls[made._key & ~keys.GRAD]
    if made._shared is not None or not made.is_cpu:  # a device's storage knows where it lies
        drawn: Tensor = draw(made, *args)
        return drawn
    made._shared = _unseen  # its own would be made to count the write: 0.5 us
    draw(made, *args)
    made._shared = None
    return made


def rand(size: Sequence[int], generator: Generator | None = None, *options: Options) -> Tensor:
    """Uniform numbers in [0, 1)."""
    return _fill("uniform_", creation.empty(size, *options), 0.0, 1.0, generator)


def randn(size: Sequence[int], generator: Generator | None = None, *options: Options) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    return _fill("normal_", creation.empty(size, *options), 0.0, 1.0, generator)


def randint_to(high: int, size: Sequence[int], *options: Options) -> Tensor:
    """Uniform integers in [0, high)."""
    return randint(0, high, size, *options)


def randint(
    low: int,
    high: int,
    size: Sequence[int],
    generator: Generator | None = None,
    dtype: dtype | None = None,
    *options: Options,
) -> Tensor:
    """Uniform integers in [low, high)."""
    made = creation.empty(size, creation.dtype_or(dtype, dtypes.int64), *options)
    return _draw_integers(made, low, high, generator)


def _draw_integers(made: Tensor, low: int, high: int, generator: Generator | None = None) -> Tensor:
    bounds = creation.number_of(low), creation.number_of(high)
    return _fill("random_.from", made, *bounds, generator)


def randperm(
    n: int,
    generator: Generator | None = None,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A random order of 0, 1 ... n - 1: shuffled on the host, by the numbers of the device."""
    chosen = creation.dtype_or(dtype, dtypes.int64)
    if n > 0:
        number.check_fits(n - 1, chosen)
    on = creation.device_or_default(device)
    if generator is None and on is not devices.cpu:
        generator = backends.on(on).default_generator(on)
    drawn: Tensor = ops._randperm(n, generator=generator)
    if on is not devices.cpu or chosen is not dtypes.int64:
        drawn = drawn.to(on, chosen)
    return creation.pinned(drawn) if pin_memory else drawn


def rand_like(self: Tensor, *options: Options) -> Tensor:
    """Uniform numbers in [0, 1), of the sizes of a tensor."""
    return _fill("uniform_", creation_like.empty_like(self, *options), 0.0, 1.0, None)


def randn_like(self: Tensor, *options: Options) -> Tensor:
    """Normal numbers of mean 0 and variance 1, of the sizes of a tensor."""
    return _fill("normal_", creation_like.empty_like(self, *options), 0.0, 1.0, None)


def randint_like_to(self: Tensor, high: int, *options: Options) -> Tensor:
    """Uniform integers in [0, high), of the sizes of a tensor."""
    return _draw_integers(creation_like.empty_like(self, *options), 0, high)


def randint_like(self: Tensor, low: int, high: int, *options: Options) -> Tensor:
    """Uniform integers in [low, high), of the sizes of a tensor."""
    return _draw_integers(creation_like.empty_like(self, *options), low, high)


def bernoulli(self: Tensor, p: float, generator: Generator | None = None) -> Tensor:
    """Ones of probability p and zeros, of the sizes of a tensor."""
    return _fill("bernoulli_.float", creation_like.empty_like(self), p, generator)


def normal(mean: Any, std: Any, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Normal numbers, mean and standard deviation (tensors or numbers) given per element.

    Drawn in the dtype of `out`, if there is one.
    """
    tensors = [each for each in (mean, std) if isinstance(each, Tensor)]
    _check_std(std)
    sizes = shapes.broadcast_shapes(*[tensor._sizes for tensor in tensors])
    first, is_scaled = tensors[0], isinstance(std, Tensor)
    scale = 1.0 if is_scaled else float(std)
    if out is None:
        made = creation.allocate(sizes, first.dtype, first.device)
        made = _fill("normal_", made, 0.0, scale, generator)
        if first.dtype is tensors[-1].dtype and made.numel() <= FEW:
            drawn: Tensor = (made * std if is_scaled else made) + mean
            return drawn
    else:
        made = ready_out("normal", out, sizes, mean, std)
        ops.normal_(made, 0.0, scale, generator=generator)
    return (made.mul_(std) if is_scaled else made).add_(mean)


def _check_std(std: Any) -> None:
    if isinstance(std, Tensor) and std.dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    lowest = std.min().item() if isinstance(std, Tensor) and std.numel() else std
    if not isinstance(lowest, Tensor) and not lowest >= 0:
        raise errors.negative_deviation(lowest)


def normal_of_size(
    mean: float,
    std: float,
    size: Sequence[int],
    generator: Generator | None = None,
    *options: Options,
) -> Tensor:
    """Normal numbers of one mean and standard deviation."""
    _check_std(std)
    return _fill("normal_", creation.empty(size, *options), float(mean), float(std), generator)
