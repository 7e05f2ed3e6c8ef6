"""What stand-ins of NVIDIA's libraries share: handles, attributes, and matrices in memory."""

from __future__ import annotations

import ctypes
from itertools import count
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from tests.cuda.emulated_driver import EmulatedDriver

NUMPY_TYPES = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float64),
    2: np.dtype(np.float16),
    4: np.dtype(np.complex64),
    5: np.dtype(np.complex128),
    14: np.dtype(ml_dtypes.bfloat16),
}
"""By cudaDataType."""
WIDE = {2: np.dtype(np.float32), 14: np.dtype(np.float32)}
"""What 16-bit elements are computed in."""


class LibraryFailure(Exception):
    """What the bindings raise. status: the library's number for it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class StandIn:
    """A library's bindings over the memory of an emulated driver.

    calls: (name, arguments) of what computes, in order.
    """

    Failure = LibraryFailure

    def __init__(self, driver: EmulatedDriver) -> None:
        self.driver = driver
        self.calls: list[tuple[Any, ...]] = []
        self.objects: dict[int, SimpleNamespace] = {}
        self._handles = count(1)

    def made(self, kind: str, **fields: Any) -> int:
        """A new object behind a handle."""
        handle = next(self._handles)
        self.objects[handle] = SimpleNamespace(kind=kind, attributes={}, **fields)
        return handle

    def of_kind(self, handle: int, kind: str) -> SimpleNamespace:
        """The object behind a handle."""
        found = self.objects[handle]
        assert found.kind == kind, f"{handle} is a {found.kind}, not a {kind}"
        return found

    def makes(self) -> None:
        """Check that no capture forbids to make what takes memory or loads code."""
        assert not self.driver.forbids, "operation not permitted when stream is capturing"

    def create(self) -> int:
        self.makes()
        return self.made("library", device=self.driver.entered)

    def used(self, handle: int) -> None:
        """Check that the handle's device is the current one."""
        assert self.of_kind(handle, "library").device == self.driver.entered

    def elements(
        self, address: int, dtype: np.dtype, sizes: tuple[int, ...], strides: tuple[int, ...]
    ) -> np.ndarray:
        """A strided array over memory of the current device; strides count elements."""
        extent = 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        memory = self.driver.bytes_of(self.driver.entered, address, extent * dtype.itemsize)
        steps = tuple(step * dtype.itemsize for step in strides)
        return np.ndarray(sizes, dtype, memory, 0, steps)

    def addresses(self, place: int, count: int) -> list[int]:
        """Addresses that lie on the device, as functions of batches take them."""
        return self.elements(place, np.dtype(np.int64), (count,), (1,)).tolist()


def read(address: int, dtype: np.dtype) -> Any:
    """A number of the host."""
    return np.frombuffer(ctypes.string_at(address, dtype.itemsize), dtype)[0]


def write(address: int, values: np.ndarray) -> None:
    """Numbers into the host's memory."""
    ctypes.memmove(address, values.ctypes.data, values.nbytes)
