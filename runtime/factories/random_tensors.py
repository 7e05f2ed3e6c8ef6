"""Bodies of the factories that draw random numbers, over the in-place random operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.bindings.arguments import ready_out
from torchgen_out._runtime.core import batched, maps, number, sparse
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.device import DeviceLike
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.dispatch.operator import operators
from torchgen_out._runtime.factories import creation, creation_like

Options = Any

_defaults = devices.defaults
FEW = 1 << 14
"""Elements for which new memory costs less than to write where there are some."""

_KINDS = {"uniform_": "fc", "normal_": "fc", "random_.from": "ifb", "bernoulli_.float": "ifb"}
"""Kinds of dtypes that are drawn at once."""


def _draw(
    name: str,
    numbers: tuple[creation.Number, ...],
    size: Sequence[int],
    generator: Generator | None,
    dtype: dtype,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A new tensor of the numbers with which the operator of a name fills one."""
    if maps.count and maps.state.entered:
        return _drawn_inside(name, numbers, size, generator, dtype, layout, device, pin_memory)
    on = device
    if on.__class__ is not devices.device:
        on = _defaults.stack[-1] if device is None else devices.device(device)
    own = dtype if dtype.__class__ is dtypes.dtype else creation.dtype_or(dtype, dtypes.float32)
    if on.type_index or layout is not None or pin_memory or own.kind not in _KINDS[name]:
        return _fill(name, numbers, creation.empty(size, own, layout, on, pin_memory), generator)
    drawn: Tensor = calls._draw[()](size, name, numbers, own, generator)
    return drawn


def _drawn_inside(
    name: str, numbers: tuple[creation.Number, ...], size: Sequence[int], *options: Any
) -> Tensor:
    """The same inside `vmap`, whose `randomness` says whether every sample has its own.

    Raises: RuntimeError if one says nothing.
    """
    levels = maps.drawing_apart(name)
    sizes = [maps.state.entered[level - 1].size for level in levels]
    with maps.outside():
        made = _draw(name, numbers, [*sizes, *size], *options)
    for level in levels:
        made = batched.batch(made, level)
    return made


def _fill(
    name: str, numbers: tuple[creation.Number, ...], made: Tensor, generator: Any = None
) -> Tensor:
    if sparse.is_sparse(made):
        _fill(name, numbers, sparse.storage_of(made).values, generator)
        return made
    drawn: Tensor = operators[name].calls[made._key](made, *numbers, generator)
    return drawn


def _draw_like(
    name: str,
    numbers: tuple[creation.Number, ...],
    self: Tensor,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """The same of the sizes and the memory order of another tensor."""
    if self._flat is not None and not self._key & keys.NOT_HERE and memory_format is None:
        own = dtypes.BY_INDEX[self._key & keys.DTYPE_MASK] if dtype is None else dtype
        is_usual = dtype is None and layout is None and device is None and not pin_memory
        if is_usual and not maps.count and own.kind in _KINDS[name]:
            drawn: Tensor = calls._draw[()](self._sizes, name, numbers, own, generator)
            return drawn
        return _draw(
            name, numbers, self._sizes, generator, own, layout, device or devices.cpu, pin_memory
        )
    made = creation_like.empty_like(self, dtype, layout, device, pin_memory, memory_format)
    return _fill(name, numbers, made, generator)


def rand(
    size: Sequence[int],
    generator: Generator | None = None,
    dtype: dtype | None = None,
    *options: Options,
) -> Tensor:
    """Uniform numbers in [0, 1)."""
    own = dtypes.default_dtype() if dtype is None else dtype
    return _draw("uniform_", (0.0, 1.0), creation.sizes_of(size), generator, own, *options)


def randn(
    size: Sequence[int],
    generator: Generator | None = None,
    dtype: dtype | None = None,
    *options: Options,
) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    own = dtypes.default_dtype() if dtype is None else dtype
    return _draw("normal_", (0.0, 1.0), creation.sizes_of(size), generator, own, *options)


def randint_to(
    high: int,
    size: Sequence[int],
    generator: Generator | None = None,
    dtype: dtype | None = None,
    *options: Options,
) -> Tensor:
    """Uniform integers in [0, high)."""
    own, sizes = dtypes.int64 if dtype is None else dtype, creation.sizes_of(size)
    return _draw("random_.from", (0, high), sizes, generator, own, *options)


def randint(
    low: int,
    high: int,
    size: Sequence[int],
    generator: Generator | None = None,
    dtype: dtype | None = None,
    *options: Options,
) -> Tensor:
    """Uniform integers in [low, high)."""
    own, sizes = dtypes.int64 if dtype is None else dtype, creation.sizes_of(size)
    return _draw("random_.from", (low, high), sizes, generator, own, *options)


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
    return _draw_like("uniform_", (0.0, 1.0), self, *options)


def randn_like(self: Tensor, *options: Options) -> Tensor:
    """Normal numbers of mean 0 and variance 1, of the sizes of a tensor."""
    return _draw_like("normal_", (0.0, 1.0), self, *options)


def randint_like_to(self: Tensor, high: int, *options: Options) -> Tensor:
    """Uniform integers in [0, high), of the sizes of a tensor."""
    return randint_like(self, 0, high, *options)


def randint_like(self: Tensor, low: int, high: int, *options: Options) -> Tensor:
    """Uniform integers in [low, high), of the sizes of a tensor."""
    return _draw_like("random_.from", (low, high), self, *options)


def bernoulli(self: Tensor, p: float, generator: Generator | None = None) -> Tensor:
    """Ones of probability p and zeros, of the sizes of a tensor."""
    return _draw_like("bernoulli_.float", (p,), self, generator=generator)


def normal(mean: Any, std: Any, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Normal numbers, mean and standard deviation (tensors or numbers) given per element.

    Drawn in the dtype of `out`, if there is one.
    """
    if out is None and std.__class__ in (float, int) and std >= 0 and _is_here(mean):
        own = dtypes.BY_INDEX[mean._key & keys.DTYPE_MASK]
        made = _draw("normal_", (0.0, float(std)), mean._sizes, generator, own, None, devices.cpu)
        return made.add_(mean)
    tensors = [each for each in (mean, std) if isinstance(each, Tensor)]
    _check_std(std)
    first, is_scaled = tensors[0], isinstance(std, Tensor)
    sizes: Sequence[int] = first._sizes
    if len(tensors) > 1:
        sizes = shapes.broadcast_shapes(sizes, tensors[1]._sizes)
    scale = 1.0 if is_scaled else float(std)
    if out is None:
        made = _draw("normal_", (0.0, scale), sizes, generator, first.dtype, None, first.device)
        if first.dtype is tensors[-1].dtype and made.numel() <= FEW:
            drawn: Tensor = (made * std if is_scaled else made) + mean
            return drawn
    else:
        made = ready_out("normal", out, sizes, mean, std)
        ops.normal_(made, 0.0, scale, generator=generator)
    return (made.mul_(std) if is_scaled else made).add_(mean)


def _is_here(mean: Any) -> bool:
    return isinstance(mean, Tensor) and not mean._key & keys.NOT_HERE


def _check_std(std: Any) -> None:
    if std.__class__ is float and std >= 0:
        return
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
    dtype: dtype | None = None,
    *options: Options,
) -> Tensor:
    """Normal numbers of one mean and standard deviation."""
    numbers = mean, std
    if not (mean.__class__ is std.__class__ is float and std >= 0.0):
        _check_std(std)
        numbers = float(mean), float(std)
    own, sizes = dtypes.default_dtype() if dtype is None else dtype, creation.sizes_of(size)
    return _draw("normal_", numbers, sizes, generator, own, *options)
