"""Waking a process that sleeps on a word of shared memory: `futex` on Linux, else short naps."""

from __future__ import annotations

import ctypes
import platform
import sys
import time
from functools import cache
from typing import Any

_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
_WAIT, _WAKE = 0, 1
_NAP = 0.0002


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


@cache
def _call() -> Any:
    """The system's call, and the number of `futex`; None where there is none."""
    number = _NUMBERS.get(platform.machine())
    if sys.platform != "linux" or number is None or sys.maxsize < 2**32:
        return None
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return lambda address, operation, value, end: function(
        ctypes.c_long(number),
        ctypes.c_void_p(address),
        ctypes.c_int(operation),
        ctypes.c_int(value),
        end,
        ctypes.c_void_p(None),
        ctypes.c_int(0),
    )


def sleep_while(address: int, value: int, seconds: float) -> None:
    """Sleep while the 32-bit word at `address` is `value`, at most some seconds, perhaps less."""
    call = _call()
    if call is None:
        time.sleep(min(seconds, _NAP))
        return
    end = _Time(int(seconds), int(seconds % 1 * 1e9))
    call(address, _WAIT, ctypes.c_int(value & 0xFFFFFFFF).value, ctypes.byref(end))


def wake_all(address: int) -> None:
    """Wake all who sleep on the word at `address`."""
    call = _call()
    if call is not None:
        call(address, _WAKE, 0x7FFFFFFF, ctypes.c_void_p(None))


def has_ordered_stores() -> bool:
    """Whether others see this machine's plain stores in the order in which they were made."""
    return platform.machine().lower() in ("x86_64", "amd64", "i686")
