"""The current device of each thread, and what names a device: an int, "cuda:1", None."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import availability, driver, faults
from torchgen_out._runtime.core import device as devices


class _Current(threading.local):
    index = 0


_current = _Current()


def device_count() -> int:
    """Return how many CUDA devices can be used; 0 where there is none."""
    return driver.current().device_count() if driver.is_open() else availability.device_count()


def current_device() -> int:
    """Return the index of the device on which "cuda" without a number lies.

    **Raises** RuntimeError saying what is missing where CUDA cannot be used.
    """
    driver.current()
    return _current.index


def index_of_thread() -> int:
    """Return this thread's current device, whether or not there is one."""
    return _current.index


def set_index_of_thread(index: int) -> None:
    """Make a device this thread's current one, which another thread has found to be there."""
    _current.index = index


def set_device(device: Any) -> None:
    """Make a device this thread's current one; a negative index changes nothing.

    **Raises** RuntimeError if there is no such device.
    """
    index = index_of(device, allow_negative=True)
    if index >= 0:
        _set(index)


def _set(index: int) -> None:
    count = driver.current().device_count()
    if index >= count:
        raise errors.invalid_device_ordinal(index, count)
    _current.index = index


def index_of(device: Any, allow_negative: bool = False) -> int:
    """Return the index of a device given as an int, a device, its name, or None for the current.

    **Raises** ValueError if it is no CUDA device.
    """
    if device is None:
        return current_device()
    if isinstance(device, int) and not isinstance(device, bool) and (device >= 0 or allow_negative):
        return device
    found = devices.device(device)
    if found.type_index != devices.CUDA:
        raise errors.not_a_cuda_device(device)
    return current_device() if found.index is None else found.index


class device:
    """A block of code with another current device; None or a negative index changes nothing."""

    __module__ = "torchgen_out.cuda"

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else index_of(device, allow_negative=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = current_device()
            _set(self.idx)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.idx >= 0:
            _current.index = self.prev_idx


class device_of(device):
    """A block of code with the device of a tensor as the current one; no CUDA tensor, no change."""

    __module__ = "torchgen_out.cuda"

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)


def synchronize(device: Any = None) -> None:
    """Wait until all work given to a device is done."""
    on = index_of(device)
    faults.wait_for_device(on)


def is_initialized() -> bool:
    """Return whether a device has been used."""
    return driver.is_open()


def init() -> None:
    """Open the driver, which otherwise the first use does.

    **Raises** RuntimeError saying what is missing where CUDA cannot be used.
    """
    driver.current()
