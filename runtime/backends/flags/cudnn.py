"""Switches of cuDNN, which convolutions on CUDA read, and whether it is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchgen_out._runtime.backends.cuda import availability
from torchgen_out._runtime.backends.cuda.libraries import cudnn, loading

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "is_acceptable",
    "is_available",
    "set_flags",
    "version",
]

enabled: bool = True
"""Whether cuDNN is used where it is installed."""
benchmark: bool = False
"""Whether each new shape is tried with several algorithms."""
benchmark_limit: int | None = 10
"""How many algorithms are tried; 0 for all."""
deterministic: bool = False
"""Whether only algorithms are used that give the same result each time."""
allow_tf32: bool = True
"""Whether convolutions of float32 may round their operands to TF32."""


def is_available() -> bool:
    """Return whether convolutions on CUDA can use cuDNN: a device is there, and the library."""
    return availability.is_available() and _library() is not None


def version() -> int | None:
    """Return the library's version, 91800 for 9.18.0; None where it cannot be used."""
    return int(_library().version()) if is_available() else None


def is_acceptable(tensor: Any) -> bool:
    """Return whether cuDNN would take a tensor: floats on a device, unless it is switched off."""
    return enabled and tensor.is_cuda and tensor.dtype.name in cudnn.DATA_TYPES and is_available()


def _library() -> Any:
    return loading.optional(cudnn.NAME, cudnn.find)


_NAMES = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
) -> tuple[bool | int | None, ...]:
    """Set the switches that are given; return the values of all before."""
    before = tuple([globals()[name] for name in _NAMES])
    given = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32)
    for name, value in zip(_NAMES, given, strict=True):
        if value is not None:
            globals()[name] = value
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Set all switches for a block of code."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        globals().update(zip(_NAMES, before, strict=True))
