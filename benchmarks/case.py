"""One case: a piece of work written once, and made for each library from the same numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Call = Callable[[], object]
Array = NDArray[Any]


class Input(NamedTuple):
    """A tensor that a statement names."""

    sizes: tuple[int, ...]
    draw: Callable[[np.random.Generator, tuple[int, ...]], Array]
    """Its numbers."""
    dtype: str = "float32"
    """What floating numbers are stored as."""
    requires_grad: bool = False
    channels_last: bool = False

    def make(self, T: ModuleType, values: Array) -> Any:
        """The tensor of one library, with a copy of these values."""
        tensor = T.from_numpy(values.copy())
        if self.channels_last:
            tensor = tensor.contiguous(memory_format=T.channels_last)
        if tensor.is_floating_point():
            tensor = tensor.to(getattr(T, self.dtype))
        return tensor.requires_grad_() if self.requires_grad else tensor


class Work(NamedTuple):
    """What one library is timed on, and where its other results are found."""

    call: Call
    tensors: tuple[Any, ...] = ()
    """Compared, with their gradients, after the call."""


class Case(NamedTuple):
    """A row of a table."""

    name: str
    sizes: str
    make: Callable[[ModuleType], Work]
    """Make the work from a module with PyTorch's interface."""
    make_array: Callable[[ModuleType], Call] | None = None
    """The same work from a module with NumPy's interface."""
    is_random: bool = False
    """Only shapes and dtypes of results can be compared."""


def statement(
    text: str,
    given: Mapping[str, Input] | None = None,
    *,
    numpy: str = "",
    train: str = "",
    random: bool = False,
    note: str = "",
    **inputs: Input,
) -> Case:
    """A case of an expression over `torch`, `F` and the inputs, by their names.

    numpy: the same work as an expression over `np`. train: names of inputs that require a
    gradient; one of normal numbers is propagated back from the result.
    """
    inputs = {**(given or {}), **inputs}
    for name in train.split():
        inputs[name] = inputs[name]._replace(requires_grad=True)

    def values() -> dict[str, Array]:
        rng = np.random.default_rng(0)
        return {name: each.draw(rng, each.sizes) for name, each in inputs.items()}

    def make(T: ModuleType) -> Work:
        arrays = values()
        tensors = {name: each.make(T, arrays[name]) for name, each in inputs.items()}
        scope = {"torch": T, "F": T.nn.functional, "setitem": operator.setitem, **tensors}
        call = _compiled(text, scope)
        if train:
            call = _training(T, call, [t for t in tensors.values() if t.requires_grad])
        return Work(call, tuple(tensors.values()))

    def make_array(np: ModuleType) -> Call:
        arrays = {name: np.asarray(value) for name, value in values().items()}
        return _compiled(numpy, {"np": np, **arrays})

    shown = ", ".join(dict.fromkeys(_shown(each) for each in inputs.values()))
    title = f"`{text}`" + (", training" if train else "") + (f", {note}" if note else "")
    return Case(title, shown, make, make_array if numpy else None, random)


def _compiled(text: str, scope: dict[str, Any]) -> Call:
    return eval(f"lambda: {text}", scope)  # type: ignore[no-any-return]


def _training(T: ModuleType, forward: Callable[[], Any], leaves: list[Any]) -> Call:
    """Forward and backward; the gradients are made anew each time."""
    result = forward()
    numbers = np.random.default_rng(1).standard_normal(tuple(result.shape))
    grad = T.from_numpy(np.asarray(numbers, np.float32)).to(result.dtype)

    def train() -> None:
        for leaf in leaves:
            leaf.grad = None
        forward().backward(grad)

    return train


def _shown(each: Input) -> str:
    sizes = each.sizes
    shown = "x".join(map(str, sizes)) or "scalar"
    if len(sizes) == 1 and sizes[0] % 1024 == 0:
        count = sizes[0] >> 10
        shown = f"{count >> 10}M" if count % 1024 == 0 else f"{count}k"
    shown += " channels last" if each.channels_last else ""
    return shown if each.dtype == "float32" else f"{shown} {each.dtype}"


def normal(*sizes: int, dtype: str = "float32", grad: bool = False) -> Input:
    """Normal numbers."""

    def draw(rng: np.random.Generator, sizes: tuple[int, ...]) -> Array:
        return rng.standard_normal(sizes, np.float32)

    return Input(sizes, draw, dtype, grad)


def complex_normal(*sizes: int) -> Input:
    """Complex numbers whose parts are normal."""

    def draw(rng: np.random.Generator, sizes: tuple[int, ...]) -> Array:
        parts = rng.standard_normal((*sizes, 2), np.float32)
        return parts.view(np.complex64)[..., 0]

    return Input(sizes, draw, "complex64")


def pixels(*sizes: int) -> Input:
    """Normal numbers as images whose channels lie side by side."""
    return normal(*sizes)._replace(channels_last=True)


def uniform(low: float, high: float, *sizes: int, dtype: str = "float32") -> Input:
    """Numbers evenly from an interval."""

    def draw(rng: np.random.Generator, sizes: tuple[int, ...]) -> Array:
        return rng.random(sizes, np.float32) * np.float32(high - low) + np.float32(low)

    return Input(sizes, draw, dtype)


def distinct(*sizes: int) -> Input:
    """Numbers of which no two are equal, in disorder: their order is unambiguous."""

    def draw(rng: np.random.Generator, sizes: tuple[int, ...]) -> Array:
        return rng.permutation(math.prod(sizes)).reshape(sizes).astype(np.float32)

    return Input(sizes, draw)


def photos(*sizes: int) -> Input:
    """Images of bytes whose channels lie side by side."""

    def draw(rng: np.random.Generator, sizes: tuple[int, ...]) -> Array:
        return rng.integers(0, 256, sizes, np.uint8)

    return Input(sizes, draw, "uint8", channels_last=True)


def integers(high: int, *sizes: int) -> Input:
    """Integers from 0 to high - 1, as int64."""
    return Input(sizes, lambda rng, sizes: rng.integers(0, high, sizes))


def ascending(high: int, *sizes: int) -> Input:
    """The same, sorted."""
    return Input(sizes, lambda rng, sizes: np.sort(rng.integers(0, high, sizes)))


def mask(*sizes: int) -> Input:
    """Booleans, half of them true."""
    return Input(sizes, lambda rng, sizes: rng.random(sizes) < 0.5)
