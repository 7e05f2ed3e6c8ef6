"""What `multiprocessing` sends in place of a tensor: a descriptor of memory that is then shared."""

from __future__ import annotations

import os
import weakref
from multiprocessing import reduction
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.autograd.detached_storage import TwinStorage
from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.core.storage import ForeignStorage, Storage
from torchgen_out._runtime.library.nn.parameter import Buffer, Parameter

Place = tuple[int, int, int, int, str]
"""Which memory (a file's device and number), from which byte on, how many, of which dtype."""

TENSORS = (torch.Tensor, Parameter, Buffer)
STORAGES = (Storage, ForeignStorage, TwinStorage)
"""`multiprocessing` looks for the very class of an object, not for those it is derived from."""

_storages: weakref.WeakValueDictionary[Place, Storage] = weakref.WeakValueDictionary()
"""Storages that were sent or received: what comes again, or comes back, is the same."""


def check_sendable(tensor: torch.Tensor) -> None:
    """**Raises** RuntimeError if the tensor has a history, which cannot be sent along."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries. If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )


def _reduce_tensor(tensor: torch.Tensor) -> Any:
    """Move the memory to where processes share it; what is sent is the storage, by reference."""
    check_sendable(tensor)
    tensor.share_memory_()
    return tensor.__reduce_ex__(5)


def _reduce_storage(storage: Storage) -> Any:
    """Send the descriptor of a shared storage; pickle others by value."""
    memory = shared_memory.memory_of(storage.buffer)
    if memory is None:
        return storage.__reduce_ex__(5)
    memory.leave()
    start = storage.data_ptr() - memory.address
    place = (*memory.file(), start, storage.nbytes(), storage.buffer.dtype.str)
    _storages[place] = storage
    return _restore_storage, (reduction.DupFd(memory.descriptor), memory.size, place)


def _restore_storage(sent: Any, size: int, place: Place) -> Storage:
    """Map the memory that a descriptor stands for, unless it is here already."""
    descriptor = sent.detach()
    known = _storages.get(place)
    if known is not None:
        os.close(descriptor)
        return known
    memory = shared_memory.SharedMemory(descriptor, size)
    memory.leave()
    _, _, start, nbytes, dtype = place
    storage = Storage(np.asarray(memory)[start : start + nbytes].view(dtype))
    _storages[place] = storage
    return storage


def register() -> None:
    """Tell `multiprocessing`, whose queues, pipes and pools ask there, how tensors travel."""
    for kind in TENSORS:
        reduction.ForkingPickler.register(kind, _reduce_tensor)
    for storage in STORAGES:
        reduction.ForkingPickler.register(storage, _reduce_storage)
