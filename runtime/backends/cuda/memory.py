"""Memory of devices as users see it: an allocator per device, and what it tells."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from torchgen_out._runtime.backends.cuda import current, driver, pinned, streams
from torchgen_out._runtime.backends.cuda.allocator import Allocator, Counter
from torchgen_out._runtime.backends.cuda.buffer import CUDABuffer
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.device import CUDA
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build

_allocators: dict[int, Allocator] = {}
_lock = threading.Lock()


def allocator(index: int) -> Allocator:
    """Return the allocator of a device, made when first asked for."""
    found = _allocators.get(index)
    if found is None:
        with _lock:
            found = _allocators.setdefault(index, Allocator(driver.current(), index))
    return found


def forget() -> None:
    """Forget all allocators, when another driver takes the place of the one they ask."""
    _allocators.clear()


def empty(sizes: tuple[int, ...], dtype: dtypes.dtype, index: int) -> Tensor:
    """Return a contiguous tensor of undefined values on a device, in its current stream."""
    layout = dense_layout(tuple(sizes))
    buffer = flat(index, layout.numel, dtype.numpy)
    key = dtype.index | CUDA << keys.DEVICE_SHIFT | layout.zero_dim
    return build(key, layout.sizes, layout.strides, 0, None, buffer)


def flat(index: int, numel: int, dtype: np.dtype) -> CUDABuffer:
    """Return memory of undefined values on a device, in its current stream."""
    return allocator(index).buffer(numel, dtype, streams.current_handle(index))


def grow(storage: Storage, count: int, dtype: dtypes.dtype) -> None:
    """Have memory for at least so many elements, which keeps what it holds."""
    if count * dtype.itemsize <= storage.nbytes():
        return
    old = storage.buffer
    stream = streams.current_handle(old.device_index)
    grown = allocator(old.device_index).buffer(count, dtype.numpy, stream)
    if old.nbytes:
        driver.current().copy(old.device_index, grown.address, old.address, old.nbytes, stream)
    storage.buffer = grown


def record_stream(tensor: Tensor, stream: streams.Stream) -> None:
    """Keep a tensor's memory from being used again before what `stream` was given so far is done.

    For a tensor that another stream uses than the one in which it was made.
    """
    block = tensor._storage.buffer.block
    if block is not None and block.stream != stream.cuda_stream:
        block.others.add(stream.cuda_stream)


# -- torch.cuda ---------------------------------------------------------------------------------


def _counters(device: Any) -> Allocator | None:
    """The allocator of a device, settled; None if none was asked for yet."""
    if not driver.is_open():
        return None
    found = _allocators.get(current.index_of(device))
    if found is not None:
        found.settle()
    return found


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of a device that tensors take up."""
    found = _counters(device)
    return 0 if found is None else found.allocated.current


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that tensors took up since the start or `reset_peak_memory_stats`."""
    found = _counters(device)
    return 0 if found is None else found.allocated.peak


def memory_reserved(device: Any = None) -> int:
    """Return the bytes of a device that were asked of the driver, unused ones included."""
    found = _counters(device)
    return 0 if found is None else found.reserved.current


def max_memory_reserved(device: Any = None) -> int:
    """Return the most bytes asked of the driver since the start or `reset_peak_memory_stats`."""
    found = _counters(device)
    return 0 if found is None else found.reserved.peak


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin anew with the most memory there was."""
    found = _counters(device)
    for counter in () if found is None else (*_named(found).values(), found.waiting):
        counter.reset_peak()


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Begin anew with the counts of what came and went, and of failures."""
    found = _counters(device)
    if found is not None:
        for counter in (*_named(found).values(), found.waiting):
            counter.reset_accumulated()
        found.retries = found.exhaustions = 0


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return all that is counted, under PyTorch's names; empty if no memory was asked for yet."""
    found = _counters(device)
    if found is None:
        return {}
    stats = {
        f"{name}.all.{part}": getattr(counter, part)
        for name, counter in _named(found).items()
        for part in ("current", "peak", "allocated", "freed")
    }
    for part in ("current", "peak"):  # of the peak an upper bound, if other streams use memory
        active = getattr(found.allocated, part) + getattr(found.waiting, part)
        stats[f"active_bytes.all.{part}"] = active
    return stats | {"num_alloc_retries": found.retries, "num_ooms": found.exhaustions}


def _named(found: Allocator) -> dict[str, Counter]:
    return {
        "allocation": found.allocations,
        "segment": found.segments,
        "allocated_bytes": found.allocated,
        "reserved_bytes": found.reserved,
    }


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a table of what `memory_stats` tells. abbreviated: only of the bytes."""
    stats = memory_stats(device)
    rows = [f"{'memory of':<32}cuda:{current.index_of(device)}"]
    for name, value in stats.items():
        if not abbreviated or "bytes" in name:
            rows.append(f"{name:<32}{value:>20,}")
    return "\n".join(rows)


def empty_cache() -> None:
    """Give the memory that no tensor uses back to the driver; nothing if none was asked for yet.

    Page-locked memory of the host, too.
    """
    for each in list(_allocators.values()):
        each.release()
    pinned.release()
