"""Tensors between the host and devices, and from device to device.

A copy between memories keeps the tensor's order of dims; what is not dense is made dense first,
where it lies. A copy into pageable host memory is over when the call returns. From page-locked
memory with `non_blocking=True` it is only queued, and the host must not write before it is done.
A number or two of the host are taken along: nobody waits for them.
"""

from __future__ import annotations

import ctypes

import numpy as np

from torchgen_out._runtime.backends.cuda import current, driver, faults, memory, pinned, streams
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import operator as registered
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import TensorCall

MOST_WORDS = 4
"""Words that are taken along: more calls of the driver than that would take longer than to wait."""


def to_device(tensor: Tensor, target: devices.device, non_blocking: bool) -> Tensor:
    """Return the tensor on another device, below autograd; the strides of a dense one stay."""
    source = dense(tensor)
    if target.type_index == devices.CUDA:
        index = current.index_of(target)
        made = memory.empty(source._sizes, source.dtype, index)
    else:
        made = _host_tensor(source)
    copy_dense(made, source, non_blocking)
    if made._strides == source._strides:
        return made
    return build(made._key, made._sizes, source._strides, 0, made._storage)


def copy_dense(target: Tensor, source: Tensor, non_blocking: bool) -> None:
    """Copy the memory of a dense tensor to that of another, as many bytes, on another device."""
    size = source.numel() * source.dtype.itemsize
    if not size:
        return
    if source.is_cpu:
        _copy_from_host(target, source, size, non_blocking)
    elif target.is_cpu:
        index = source.device.index or 0
        _copy(index, target, source, size, target if non_blocking else None)
    else:
        _copy_peer(target, source, size)


def _copy_from_host(target: Tensor, source: Tensor, size: int, non_blocking: bool) -> None:
    index, address = target.device.index or 0, target.data_ptr()
    if size <= MOST_WORDS * driver.word_size(address, size):
        data = ctypes.string_at(source.data_ptr(), size)
        driver.current().write(index, address, data, streams.current_handle(index))
    else:
        _copy(index, target, source, size, source if non_blocking else None)


def _copy(index: int, target: Tensor, source: Tensor, size: int, host: Tensor | None) -> None:
    """host: whose memory is kept, if it is page-locked, until the copy is done: nobody waits."""
    places = target.data_ptr(), source.data_ptr(), size, streams.current_handle(index)
    if host is None or not pinned.is_pinned(host):
        faults.copy_and_wait(index, *places)
        return
    driver.current().copy(index, *places)
    pinned.note_use(host, index)


def _copy_peer(target: Tensor, source: Tensor, size: int) -> None:
    """In the source's stream, between two waits: for the target's memory, and for the copy."""
    there, here = target.device.index or 0, source.device.index or 0
    ours, theirs = streams.current_stream(here), streams.current_stream(there)
    ours.wait_stream(theirs)
    driver.current().copy_peer(
        there, target.data_ptr(), here, source.data_ptr(), size, ours.cuda_stream
    )
    theirs.wait_stream(ours)


def dense(tensor: Tensor) -> Tensor:
    """Return the tensor if its elements lie without gaps in any order of dims, else a copy."""
    if tensor._flat is not None:
        return tensor
    if shapes.is_dense(tensor._sizes, tensor._strides):
        return tensor
    call: TensorCall = registered.operators["clone"].calls[signatures.without_grad(tensor._key)]
    return call(tensor, None)


def copy_on_host(target: Tensor, source: Tensor) -> None:
    """Write one host tensor, broadcast and cast, into another, below autograd."""
    call: TensorCall = registered.operators["copy_"].calls[
        signatures.without_grad(target._key), signatures.without_grad(source._key)
    ]
    version = target._storage.version
    call(target, source, False)
    target._storage.version = version  # the caller counts the write


def _host_tensor(source: Tensor) -> Tensor:
    buffer = np.empty(source.numel(), source.dtype.numpy)
    key = source.dtype.index | source._key & keys.ZERO_DIM
    strides = shapes.contiguous_strides(source._sizes)
    return build(key, source._sizes, strides, 0, Storage(buffer))
