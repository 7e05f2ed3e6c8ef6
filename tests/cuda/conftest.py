"""Drivers in the place of NVIDIA's, and what is missing, as if this machine had a GPU or none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TypeVar

import pytest

from runtime.backends.cuda import availability, driver, launching, memory, streams
from runtime.core import device as devices
from runtime.dispatch import operator
from tests.cuda.emulated_driver import EmulatedDriver
from tests.cuda.recording_driver import RecordingDriver

T = TypeVar("T", bound=RecordingDriver)


@pytest.fixture
def recording() -> Iterator[RecordingDriver]:
    """A recording driver with two devices."""
    yield from _in_place_of_nvidias(RecordingDriver())


@pytest.fixture
def emulated() -> Iterator[EmulatedDriver]:
    """An emulated driver with two devices."""
    yield from _in_place_of_nvidias(EmulatedDriver())


def _in_place_of_nvidias(own: T) -> Iterator[T]:
    before = driver.use(own)
    _forget()
    yield own
    gc.collect()
    driver.use(before)
    _forget()


def _forget() -> None:
    """Forget what was asked of another driver: streams, memory, kernels, the backend itself."""
    streams.forget()
    memory.forget()
    launching.forget()
    operator._backends.pop(devices.CUDA, None)
    operator.forget_calls()


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without NVIDIA's driver."""
    monkeypatch.setattr(availability, "driver_answer", lambda: (None, 0))
