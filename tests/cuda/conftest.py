"""Drivers in the place of NVIDIA's, and what is missing, as if this machine had a GPU or none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import pytest

from tests.cuda.emulated_driver import EmulatedDriver
from tests.cuda.library_standins import STAND_INS, stand_ins
from tests.cuda.recording_driver import RecordingDriver
from torchgen_out._runtime.backends.cuda import (
    allocator,
    availability,
    driver,
    faults,
    graphs,
    launching,
    memory,
    pinned,
    queue,
    streams,
)
from torchgen_out._runtime.backends.cuda.libraries import loading
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.dispatch import backends, tables
from torchgen_out._runtime.kernels.cuda import recorded

T = TypeVar("T", bound=RecordingDriver)


@pytest.fixture
def recording() -> Iterator[RecordingDriver]:
    """A recording driver with two devices."""
    yield from _in_place_of_nvidias(RecordingDriver())


@pytest.fixture
def emulated() -> Iterator[EmulatedDriver]:
    """An emulated driver with two devices, and libraries that compute in its memory.

    Blocks are as large as what is asked for, so that no access behind it goes unseen.
    """
    driver = EmulatedDriver()
    before = loading.use(stand_ins(driver))
    with pytest.MonkeyPatch.context() as patch:  # of its own: undone at the end of this fixture
        patch.setattr(allocator, "size_class", lambda count: max(count, 1))
        yield from _in_place_of_nvidias(driver)
    loading.use(before)


@pytest.fixture
def libraries(emulated: EmulatedDriver) -> dict[str, Any]:
    """The libraries of the emulated driver, by name."""
    return {name: loading.module(name) for name in STAND_INS}


@cache
def _freeze() -> None:
    """Let collections leave out what lives as long as the process: most of a short test's time."""
    gc.freeze()


def _in_place_of_nvidias(own: T) -> Iterator[T]:
    _freeze()
    before = driver.use(own)
    _forget()
    gc.freeze()  # what is collected below is of this test alone: all else is looked at no more
    yield own
    gc.collect()
    gc.unfreeze()
    driver.use(before)
    _forget()


def _forget() -> None:
    """Forget what was asked of another driver: streams, memory, kernels, the backend itself."""
    streams.forget()
    memory.forget()
    pinned.forget()
    launching.forget()
    queue.forget()
    faults.forget()
    graphs.forget()
    recorded.forget()
    backends._backends.pop(devices.CUDA, None)
    tables.forget_calls()


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without NVIDIA's driver."""
    monkeypatch.setattr(availability, "driver_answer", lambda: (None, 0))
