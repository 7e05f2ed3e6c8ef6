"""Drivers in the place of NVIDIA's, and what is missing, as if this machine had a GPU or none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtime.backends.cuda import availability, driver, streams
from tests.cuda.recording_driver import RecordingDriver


@pytest.fixture
def recording() -> Iterator[RecordingDriver]:
    """A recording driver with two devices."""
    recording = RecordingDriver()
    before = driver.use(recording)
    streams.forget()
    yield recording
    driver.use(before)
    streams.forget()


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without NVIDIA's driver."""
    monkeypatch.setattr(availability, "driver_answer", lambda: (None, 0))
