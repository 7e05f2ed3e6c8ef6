"""The names of `torch.cpu`: the device that is always there, and the memory that it keeps."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.pool import (
    empty_cache,
    max_memory_allocated,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
    set_limit,
)

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_limit",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a CPU, for code that asks every device."""
    return True


def device_count() -> int:
    """All processors are one device."""
    return 1


def current_device() -> str:
    """The name of the only device."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Wait for nothing: an operator has finished when it returns."""
