"""Bodies of the factories of numbers at equal distances: arange, linspace and their kin.

The arguments after those named mean what they do in `creation`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import deprecation, number, promotion
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.device import DeviceLike, device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.factories import creation
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.copy import ranges

_INT64, _FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)

MANY = 2**32
"""Numbers, from which on it is asked whether memory can have so many."""
EXACT = (dtypes.float32, dtypes.float64, dtypes.int32)
EXACT_BELOW = 2**24
"""Dtypes that hold every integer up to there, and whatever is added up of them on the way."""


def arange_to(end: Any, *options: Any) -> Tensor:
    """0, 1, 2 ... below `end`."""
    return arange(0, end, 1, *options)


def arange_from(start: Any, end: Any, *options: Any) -> Tensor:
    """start, start + 1 ... below `end`."""
    return arange(start, end, 1, *options)


def arange(
    start: Any,
    end: Any,
    step: Any = 1,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """start, start + step ... up to but not including `end`; int64 if all three are ints.

    int64 makes integers of all three; other integers hold as many numbers as floats would.
    """
    on = devices.default_device() if device is None else devices.device(device)
    are_ints = start.__class__ is end.__class__ is step.__class__ is int
    if are_ints and step > 0 and start <= end and (on is devices.cpu or _is_copied(on)):
        own = dtypes.int64 if dtype is None else dtype
        if own is dtypes.int64 or (own in EXACT and start > -EXACT_BELOW and end < EXACT_BELOW):
            if end - start < 2 * threads.GRAIN:
                values = np.arange(start, end, step, dtype=own.numpy)
            else:
                shapes.check_storable((-((start - end) // step),))
                values = ranges.counted(start, end, step, own.numpy, pool.empty)
            return creation.from_values(values, own, on, pin_memory)
    truncates = creation.dtype_or(dtype, dtypes.default_dtype()) is dtypes.int64
    start, end, step = _range_numbers(start, end, step, truncates)
    is_integral = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    chosen = creation.dtype_or(dtype, dtypes.int64 if is_integral else dtypes.default_dtype())
    if chosen.kind in "bc":
        raise errors.dtype_not_supported("arange_cpu", chosen, "integers and floats")
    count = -((start - end) // step) if is_integral else math.ceil((end - start) / step)
    if chosen.kind == "i":
        start, step = int(start), int(step)
    return _steps(start, step, count, chosen, on, pin_memory)


def _range_numbers(start: Any, end: Any, step: Any, truncates: bool) -> tuple[Any, Any, Any]:
    """The bounds, checked; as integers if `truncates`.

    Raises: RuntimeError for a step of zero or away from the end, or bounds that are not finite;
    ValueError for a step of which no integer is left.
    """
    start, end, step = creation.number_of(start), creation.number_of(end), creation.number_of(step)
    given = step
    if truncates:
        start, end, step = int(start), int(end), int(step)
    if step != given and step == 0:
        raise ValueError(f"step must be nonzero, and {given} is zero as an integer")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise errors.range_not_finite(start, end)
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return start, end, step


def _is_copied(on: device) -> bool:
    """Whether ranges are made on the host, and copied to a device."""
    return on.type_index == devices.CPU or not backends.on(on).makes_ranges


def _steps(
    start: Any, step: Any, count: int, chosen: dtype, on: device, pin_memory: bool | None
) -> Tensor:
    if count > MANY:
        shapes.check_storable((count,))
    if isinstance(start, int) and isinstance(step, int) and _is_copied(on):
        end = start + step * count
        values = (
            np.arange(start, end, step, dtype=_INT64) if step else np.full(count, start, _INT64)
        )
        return creation.from_values(values, chosen, on, pin_memory)
    return _numbers(start, 0.0, step, count, count, chosen, on, pin_memory)


def _numbers(
    start: Any,
    end: Any,
    step: Any,
    count: int,
    middle: int,
    chosen: dtype,
    on: device,
    pin_memory: bool | None,
) -> Tensor:
    """`count` numbers; those from place `middle` on are counted from `end`.

    Made where they are wanted: nobody waits for a copy to a GPU.
    """
    if count > MANY:
        shapes.check_storable((count,))
    if _is_copied(on) or complex in (start.__class__, end.__class__):
        values = ranges.spaced(start, end, step, count, middle, chosen.numpy, pool.empty)
        return creation.from_values(values, chosen, on, pin_memory)
    made = creation.empty((count,), chosen, None, on, pin_memory)
    backends.on(on).fill_spaced(made, start, end, step, middle)
    return made


def range_to(
    start: Any,
    end: Any,
    step: Any = 1,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """start, start + step ... up to and including `end`."""
    deprecation.range_with_end()
    chosen = creation.dtype_or(dtype, dtypes.default_dtype())
    start, end, step = _range_numbers(start, end, step, chosen.kind == "i")
    count = int((end - start) / step) + 1
    return _steps(start, step, count, chosen, creation.device_or_default(device), pin_memory)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """`steps` numbers at equal distances, both ends included."""
    start, end = _bound(start), _bound(end)
    chosen = _spaced_dtype(start, end, dtype)
    on = creation.device_or_default(device)
    return _numbers(*_spacing(start, end, steps, chosen), chosen, on, pin_memory)


def _bound(value: Any) -> creation.Number:
    """A number, also from a tensor that requires grad, which the result never does."""
    if value.__class__ is int or value.__class__ is float:
        return value
    return value.item() if isinstance(value, Tensor) else creation.number_of(value)


def _spaced_dtype(start: creation.Number, end: creation.Number, given: dtype | None) -> dtype:
    is_complex = start.__class__ is complex or end.__class__ is complex
    if given is None:
        return promotion.number_dtype(1j) if is_complex else dtypes.default_dtype()
    chosen = creation.dtype_or(given, dtypes.float32)
    if is_complex and chosen.kind != "c":
        raise errors.complex_bounds(promotion.number_dtype(1j), chosen)
    return chosen


def _spacing(start: Any, end: Any, steps: int, chosen: dtype) -> tuple[Any, Any, Any, int, int]:
    """(start, end, step, count, middle): counted from the nearer end, so that both are met."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if chosen.kind == "i":
        start, end = int(start), int(end)
    step = (end - start) / max(steps - 1, 1)
    return start, end, step, steps, steps // 2 or steps


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """`base` to the power of `steps` exponents at equal distances."""
    number.check_float(base, "logspace(): argument 'base'")
    start, end = _bound(start), _bound(end)
    chosen = _spaced_dtype(start, end, dtype)
    on = creation.device_or_default(device)
    spacing = _spacing(start, end, steps, dtypes.float64)
    values = ranges.spaced_powers(base, *spacing, chosen.numpy)
    return creation.from_values(values, chosen, on, pin_memory)
