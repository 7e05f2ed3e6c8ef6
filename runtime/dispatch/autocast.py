"""Autocast: operators that run in another precision than their operands', while that is asked for.

Which operators do is data: tags of native_functions.yaml. Nobody looks at them before autocast is
entered for the first time; then all tables are emptied, and calls of operators with a rule are
resolved with a look at the thread's state. Casts are recorded like any other.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch import tables
from torchgen_out._runtime.dispatch.operator import Call, Operator, wrap_calls

LOWER, FLOAT32, FLOAT32_ON_CUDA, WIDEST = "lower", "float32", "float32_on_cuda", "widest"
ELIGIBLE = (dtypes.float32, dtypes.float16, dtypes.bfloat16)
"""What is cast; float64 never is."""

_rules: dict[str, str] = {}


class _State(threading.local):
    """The state of one thread. The class attributes are what a new thread starts with.

    lower: by index of the device type, the dtype that operators run in; None where autocast is off.
    casts: the parameters cast so far, as (parameter, cast) by identity; None if they are not kept.
    """

    lower: tuple[Any, ...] = (None,) * 8
    casts: dict[int, tuple[Any, Any]] | None = None


state = _State()


def current() -> tuple[tuple[Any, ...], bool]:
    """What `as_it_was` takes: the dtypes of the device types, and whether casts are kept."""
    return state.lower, state.casts is not None


@contextlib.contextmanager
def as_it_was(before: tuple[tuple[Any, ...], bool]) -> Iterator[None]:
    """Inside, autocast is as `current` told before, on whatever thread; casts are kept anew."""
    outside = state.lower, state.casts
    lower, keeps_casts = before
    state.lower, state.casts = lower, {} if keeps_casts else None
    try:
        yield
    finally:
        state.lower, state.casts = outside


OFF = (None,) * 8
"""The dtypes of the device types where autocast is off."""


@contextlib.contextmanager
def off() -> Iterator[None]:
    """Inside, nothing is cast on this thread."""
    before, state.lower = state.lower, OFF
    try:
        yield
    finally:
        state.lower = before


def register(rule: str, *names: str) -> None:
    """Have operators follow a rule."""
    _rules.update(dict.fromkeys(names, rule))


def enter() -> None:
    """Look at the rules from here on, in all threads."""
    if wrap_calls(_wrapped):
        tables.forget_calls()


def _wrapped(operator: Operator, signature: tuple[Any, ...], call: Call) -> Call:
    """The call, or the same after casts that the thread's state asks for."""
    rule = _rules.get(operator.name)
    index = signatures.device_index(signature, operator.across_devices, operator.host_lists)
    if rule == FLOAT32_ON_CUDA:
        rule = FLOAT32 if index == devices.CUDA else None
    if rule is None or index is None:
        return call
    choose, places = _CHOICES[rule], operator.operand_places

    def autocast_call(*args: Any) -> Any:
        lower = state.lower[index]
        if lower is None:
            return call(*args)
        target = choose([args[place] for place in places if place < len(args)], lower)
        values = list(args)
        for place in places:
            if place < len(values):
                values[place] = _cast(values[place], target)
        if all(new is old for new, old in zip(values, args, strict=True)):
            return call(*args)
        operands = tuple([values[place] for place in places])
        return operator.calls[operator.signature(operands)](*values)

    return autocast_call


def _widest(operands: list[Any], lower: Any) -> Any:
    """float32 if an operand is that, otherwise the lower precision."""
    flat = [each for given in operands for each in (given if _is_list(given) else [given])]
    return dtypes.float32 if any(_is_float32(each) for each in flat) else lower


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_float32(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is dtypes.float32


_CHOICES: dict[str, Callable[[list[Any], Any], Any]] = {
    LOWER: lambda operands, lower: lower,
    FLOAT32: lambda operands, lower: dtypes.float32,
    WIDEST: _widest,
}


def _cast(value: Any, target: Any) -> Any:
    """A tensor, or a list of them, in another dtype; itself if it is no float or has it already."""
    if _is_list(value):
        found = [_cast(each, target) for each in value]
        return value if all(new is old for new, old in zip(found, value, strict=True)) else found
    if not isinstance(value, Tensor) or value.dtype not in ELIGIBLE or value.dtype is target:
        return value
    tensor: Any = value
    if state.casts is None or not (tensor.requires_grad and tensor.is_leaf):
        return tensor.to(target)
    kept = state.casts.get(id(tensor))
    if kept is None or kept[1].dtype is not target:
        kept = state.casts[id(tensor)] = tensor, tensor.to(target)
    return kept[1]
