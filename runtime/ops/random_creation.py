"""Bodies of the factories that draw random numbers, over the in-place random operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime import errors
from runtime.core import dtype as dtypes
from runtime.core import number
from runtime.core import shape as shapes
from runtime.core.device import device
from runtime.core.dtype import dtype
from runtime.core.generator import Generator
from runtime.core.layout import layout
from runtime.core.tensor import Tensor
from runtime.dispatch import ops
from runtime.ops import creation, creation_like

Options = Any


def rand(size: Sequence[int], generator: Generator | None = None, *options: Options) -> Tensor:
    """Uniform numbers in [0, 1)."""
    made: Tensor = ops.uniform_(creation.empty(size, *options), generator=generator)
    return made


def randn(size: Sequence[int], generator: Generator | None = None, *options: Options) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    made: Tensor = ops.normal_(creation.empty(size, *options), generator=generator)
    return made


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
    ops.random_(made, creation.number_of(low), creation.number_of(high), generator=generator)
    return made


def randperm(
    n: int,
    generator: Generator | None = None,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A random order of 0, 1 ... n - 1."""
    chosen = creation.dtype_or(dtype, dtypes.int64)
    if n > 0:
        number.check_fits(n - 1, chosen)
    drawn: Tensor = ops._randperm(n, generator=generator)
    on = creation.device_or_default(device)
    return drawn.to(on, chosen)  # type: ignore[attr-defined, no-any-return]


def rand_like(self: Tensor, *options: Options) -> Tensor:
    """Uniform numbers in [0, 1), of the sizes of a tensor."""
    made: Tensor = ops.uniform_(creation_like.empty_like(self, *options))
    return made


def randn_like(self: Tensor, *options: Options) -> Tensor:
    """Normal numbers of mean 0 and variance 1, of the sizes of a tensor."""
    made: Tensor = ops.normal_(creation_like.empty_like(self, *options))
    return made


def randint_like_to(self: Tensor, high: int, *options: Options) -> Tensor:
    """Uniform integers in [0, high), of the sizes of a tensor."""
    return _draw_integers(creation_like.empty_like(self, *options), 0, high)


def randint_like(self: Tensor, low: int, high: int, *options: Options) -> Tensor:
    """Uniform integers in [low, high), of the sizes of a tensor."""
    return _draw_integers(creation_like.empty_like(self, *options), low, high)


def normal(mean: Any, std: Any, generator: Generator | None = None) -> Tensor:
    """Normal numbers, mean and standard deviation (tensors or numbers) given per element."""
    tensors = [each for each in (mean, std) if isinstance(each, Tensor)]
    _check_std(std)
    sizes = shapes.broadcast_shapes(*[tensor._sizes for tensor in tensors])
    made = creation_like.new_empty(tensors[0], sizes)
    ops.normal_(made, generator=generator)
    made.mul_(std).add_(mean)  # type: ignore[attr-defined]
    return made


def _check_std(std: Any) -> None:
    lowest = std.min().item() if isinstance(std, Tensor) and std.numel() else std
    if not isinstance(lowest, Tensor) and lowest < 0:
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
    made: Tensor = ops.normal_(creation.empty(size, *options), mean, std, generator=generator)
    return made
