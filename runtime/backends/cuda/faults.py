"""Records of what kernels could not compute with, and the error that whoever waits next raises.

They lie in page-locked memory, to which a kernel writes without a copy or a launch more: a fault
that does not happen costs one look at that memory per wait.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver
from torchgen_out._runtime.kernels.cuda.faults import (
    INDEX,
    OUTSIDE,
    PROBABILITY,
    RATE,
    RECORDS,
    SAID,
    TARGET,
    WORDS,
    sentence_of,
)

WORD = np.dtype(np.int64)
_NOTHING = bytes(RECORDS * WORD.itemsize)
_SENTENCES = {
    INDEX: OUTSIDE,
    TARGET: "target {seen} is out of bounds: there are {size} classes",
    PROBABILITY: "a probability is not between 0 and 1",
    RATE: "a rate of events is negative",
}


def _sentence(kind: int) -> str:
    return _SENTENCES[kind] if kind < SAID else sentence_of(kind)


class Faults:
    """The records of one device, one per operator."""

    def __init__(self, index: int) -> None:
        size = WORDS * RECORDS * WORD.itemsize
        self._address = driver.current().allocate_host(index, size)
        ctypes.memset(self._address, 0, size)
        memory: Any = (ctypes.c_char * size).from_address(self._address)
        self._words = np.frombuffer(memory, WORD).reshape(WORDS, RECORDS)
        self._kinds = memoryview(memory)[: len(_NOTHING)]
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def address_of(self, operator: str) -> int:
        """The record of an operator."""
        number = self._numbers.get(operator)
        if number is None:
            with self._lock:
                number = self._numbers.setdefault(operator, len(self._numbers))
            assert number < RECORDS
        return self._address + number * WORD.itemsize

    def check(self) -> None:
        """Do nothing if there was no fault.

        Raises: AcceleratorError for the faults since the last time; they are forgotten.
        """
        if self._kinds.tobytes() == _NOTHING:
            return
        with self._lock:
            found = [
                f"{name.lstrip('_')}: {_sentence(kind).format(seen=seen, size=size)}"
                for name, number in self._numbers.items()
                for kind, seen, size in [self._words[:3, number].tolist()]
                if kind
            ]
            self._words[3] = 0  # before the kind: who comes between finds the record full
            self._words[0] = 0
        raise errors.device_side_assert(found)


_by_device: dict[int, Faults] = {}


def record(index: int, operator: str) -> int:
    """Return the address to which a device's kernels note what an operator saw."""
    found = _by_device.get(index)
    if found is None:
        found = _by_device.setdefault(index, Faults(index))
    return found.address_of(operator)


def forget() -> None:
    """Forget all records, when another driver takes the place of the one of their memory."""
    _by_device.clear()


# -- waiting ---------------------------------------------------------------------------------------
#
# All of these raise RuntimeError while work is only written down, and AcceleratorError for a fault.


def wait_for_device(index: int) -> None:
    """Wait for all work of a device."""
    driver.waiting_for_all().synchronize(index)
    _check(index)


def wait_for_stream(index: int, stream: int) -> None:
    """Wait for all work of a stream."""
    driver.waiting().synchronize_stream(index, stream)
    _check(index)


def copy_and_wait(index: int, target: int, source: int, size: int, stream: int) -> None:
    """Copy bytes between a device and the host; nothing is queued where nobody may wait."""
    driver.waiting().copy(index, target, source, size, stream)
    wait_for_stream(index, stream)


def wait_for_event(index: int, event: int) -> None:
    """Wait for an event."""
    driver.waiting_for_all().synchronize_event(index, event)
    _check(index)


def is_stream_done(index: int, stream: int) -> bool:
    """Return whether all work of a stream is done."""
    done = driver.waiting().is_stream_done(index, stream)
    _check(index)
    return done


def is_event_done(index: int, event: int) -> bool:
    """Return whether an event has happened."""
    done = driver.waiting_for_all().is_event_done(index, event)
    _check(index)
    return done


def _check(index: int) -> None:
    found = _by_device.get(index)
    if found is not None:
        found.check()
