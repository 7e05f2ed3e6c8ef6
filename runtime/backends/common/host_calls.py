"""Calls that run on the host for tensors of a device, on copies, from which writes come back.

A call sees every storage as a copy on the host and every tensor as a view of one, so that views,
tensors given twice, writes in place and out= are to it what they are to any call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.dispatch.operator import Call, Operator

_DEVICE = keys.DEVICE_MASK << keys.DEVICE_SHIFT


class Memory(Protocol):
    """Whoever can copy a device's memory."""

    def elements(self, storage: Storage) -> np.ndarray:
        """A copy of a storage's elements on the host."""
        ...

    def store(self, storage: Storage, elements: np.ndarray) -> None:
        """Write elements to a storage, which grows if it must."""
        ...

    def from_host(self, tensor: Tensor, index: int) -> Tensor:
        """A tensor like one of the host, which is dense, on a device of some number."""
        ...


def make_host_call(
    memory: Memory, operator: Operator, signature: tuple[Any, ...], variant: str
) -> Call:
    """The CPU's call of an operator, for tensors of a device."""
    host = tuple([signatures.without(_DEVICE, entry) for entry in signature])
    below = getattr(backend_of(devices.CPU), operator.kind)(operator, host, variant)
    wrap = getattr(operator, "wrap", None)

    def call(*args: Any) -> Any:
        copies = HostCopies(memory)
        result = below(*[copies.of(arg) for arg in args])
        copies.write_back()
        if not isinstance(result, (tuple, list)):
            return copies.returned(result)
        results = [copies.returned(each) for each in result]
        return wrap(*results) if wrap else result.__class__(results)

    return call


class HostCopies:
    """The tensors of one call, on a device and on the host."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._storages: dict[int, tuple[Storage, Storage]] = {}
        self._tensors: dict[int, tuple[Tensor, Tensor]] = {}
        self._index = 0

    def of(self, value: Any) -> Any:
        """A tensor, or those of a list, as the host sees them; anything else as it is."""
        if isinstance(value, (tuple, list)):
            return [self.of(each) for each in value]
        if not isinstance(value, Tensor) or value.is_cpu:
            return value
        if id(value) not in self._tensors:
            storage = self._storage(value._storage)
            layout = value._sizes, value._strides, value._offset
            self._tensors[id(value)] = value, build(value._key & ~_DEVICE, *layout, storage)
        return self._tensors[id(value)][1]

    def _storage(self, own: Storage) -> Storage:
        if id(own) not in self._storages:
            host = Storage(self._memory.elements(own))
            host.version = own.version
            self._storages[id(own)] = own, host
            self._index = own.buffer.device_index
        return self._storages[id(own)][1]

    def write_back(self) -> None:
        """Copy the storages that the call has written to, and give tensors the sizes it gave."""
        for storage, written in self._storages.values():
            if written.version != storage.version:
                self._memory.store(storage, written.buffer)
                storage.version = written.version
        for own, host in self._tensors.values():
            if host._sizes != own._sizes or host._strides != own._strides:
                own._sizes, own._strides, own._flat = host._sizes, host._strides, None
                own._key = own._key & ~keys.ZERO_DIM | host._key & keys.ZERO_DIM

    def returned(self, result: Any) -> Any:
        """A result of the host on the device: what was given, a view of it, or a new tensor."""
        if not isinstance(result, Tensor):
            return result
        for own, host in self._tensors.values():
            if host is result:
                return own
        for storage, copied in self._storages.values():
            if result._shared is copied:
                key = result._key | _device_bits(self._tensors)
                return build(key, result._sizes, result._strides, result._offset, storage)
        return self._memory.from_host(result, self._index)


def _device_bits(tensors: dict[int, tuple[Tensor, Tensor]]) -> int:
    return next(own._key & _DEVICE for own, _ in tensors.values())


def on_host(tensor: Tensor, elements: Callable[[Storage], np.ndarray]) -> Tensor:
    """A tensor of a device over a copy of its storage on the host."""
    layout = tensor._sizes, tensor._strides, tensor._offset
    return build(tensor._key & ~_DEVICE & ~keys.GRAD, *layout, Storage(elements(tensor._storage)))
