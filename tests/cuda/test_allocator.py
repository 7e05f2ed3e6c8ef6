"""The allocator: free lists, streams, running out, statistics, many threads."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import torchgen_out as torch
from tests.cuda.recording_driver import RecordingDriver
from torchgen_out._runtime.backends.cuda import memory
from torchgen_out._runtime.backends.cuda.allocator import SMALLEST, Allocator, size_class

FLOAT = np.dtype(np.float32)


def new(capacity: int = 1 << 30) -> tuple[Allocator, RecordingDriver]:
    driver = RecordingDriver(capacity=capacity)
    return Allocator(driver, 0), driver


def test_size_classes():
    sizes = [1, 511, 512, 513, 4096, 4097, 10**6, 2**20, 2**20 + 1, 10**9]
    classes = [size_class(size) for size in sizes]
    assert classes == sorted(classes)
    for size, found in zip(sizes, classes, strict=True):
        assert found >= size and found % SMALLEST == 0
        assert found <= max(size * 1.15, size + SMALLEST)
        assert size_class(found) == found


def test_memory_is_used_again_without_the_driver():
    allocator, driver = new()
    first = allocator.buffer(100, FLOAT, 0)
    address = first.address
    del first
    for _ in range(10):
        buffer = allocator.buffer(90, FLOAT, 0)
        assert buffer.address == address
        del buffer
    assert len(driver.calls) == 1


def test_views_keep_memory_alive():
    allocator, _ = new()
    buffer = allocator.buffer(100, FLOAT, 0)
    part = buffer[10:20].view(np.dtype(np.int16))
    assert (part.address - buffer.address, part.size) == (40, 20)
    del buffer
    allocator.settle()
    assert allocator.allocated.current > 0
    del part
    allocator.settle()
    assert allocator.allocated.current == 0


def test_each_stream_has_its_own_memory():
    allocator, _ = new()
    first = allocator.buffer(8, FLOAT, 1)
    address = first.address
    del first
    assert allocator.buffer(8, FLOAT, 2).address != address
    assert allocator.buffer(8, FLOAT, 1).address == address


def test_memory_waits_for_other_streams():
    allocator, driver = new()
    buffer = allocator.buffer(8, FLOAT, 1)
    address = buffer.address
    buffer.block.others |= {2, 3}
    driver.pending |= set(range(100))
    del buffer
    allocator.settle()
    events = [event for _, event, _ in driver.named("record_event")]
    assert [stream for *_, stream in driver.named("record_event")] == [2, 3]
    other = allocator.buffer(8, FLOAT, 1)
    assert other.address != address
    driver.pending.remove(events[0])
    assert allocator.buffer(8, FLOAT, 1).address != address
    driver.pending.clear()
    assert allocator.buffer(8, FLOAT, 1).address == address
    assert {event for _, event in driver.named("destroy_event")} == set(events)


def test_unused_memory_is_given_back_before_running_out():
    allocator, driver = new(capacity=8192)
    kept = allocator.buffer(512, FLOAT, 0)
    del [allocator.buffer(1024, FLOAT, 0)][:]
    other = allocator.buffer(1536, FLOAT, 0)
    assert len(driver.named("refuse")) == 1 and len(driver.named("free")) == 1
    assert allocator.retries == 1 and allocator.exhaustions == 0
    with pytest.raises(
        torch.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate 8\.00"
    ):
        allocator.buffer(2048, FLOAT, 0)
    assert allocator.exhaustions == 1
    assert allocator.allocated.current == 8192
    del kept, other
    assert allocator.buffer(2048, FLOAT, 0).size == 2048


def test_nothing_takes_no_memory():
    allocator, driver = new()
    assert allocator.buffer(0, FLOAT, 0).address == 0
    assert driver.calls == []


def test_under_load():
    """Buffers of many sizes come and go in four threads; none ever shares memory with another."""
    allocator, _ = new(capacity=1 << 22)
    live: dict[int, tuple[int, int]] = {}
    lock, failures = threading.Lock(), []

    def work(seed: int) -> None:
        generator = random.Random(seed)
        held = []
        for _ in range(400):
            if held and generator.random() < 0.5:
                gone = held.pop(generator.randrange(len(held)))
                with lock:
                    del live[id(gone)]
                del gone
            buffer = allocator.buffer(generator.randrange(1, 5000), FLOAT, seed % 2)
            begin, end = buffer.address, buffer.address + buffer.nbytes
            with lock:
                if any(a < end and begin < b for a, b in live.values()):
                    failures.append((begin, end))
                live[id(buffer)] = begin, end
            held.append(buffer)
            if len(held) > 20:
                with lock:
                    for each in held:
                        live.pop(id(each))
                held.clear()
                del buffer, each
        with lock:
            for each in held:
                live.pop(id(each))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    del each
    assert failures == [] and live == {}
    allocator.settle()
    assert allocator.allocated.current == allocator.allocations.current == 0
    allocator.release()
    assert allocator.reserved.current == 0


def test_statistics(recording):
    assert torch.cuda.memory_stats() == {} and torch.cuda.memory_allocated() == 0
    x = torch.empty(1000, device="cuda")
    y = torch.empty(3000, device="cuda")
    assert torch.cuda.memory_allocated() == size_class(4000) + size_class(12000)
    del y
    assert torch.cuda.memory_allocated() == size_class(4000)
    assert torch.cuda.max_memory_allocated() == size_class(4000) + size_class(12000)
    assert torch.cuda.memory_reserved() == torch.cuda.max_memory_allocated()
    assert torch.cuda.memory_allocated(1) == 0
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == size_class(4000)
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == size_class(4000)
    stats = torch.cuda.memory_stats()
    assert stats["allocation.all.allocated"] == 2 and stats["num_ooms"] == 0
    assert "allocated_bytes.all.current" in torch.cuda.memory_summary()
    assert len(recording.named("free")) == 1
    del x


def test_memory_that_another_stream_uses_is_active(recording):
    x, side = torch.empty(1024, device="cuda"), torch.cuda.Stream()
    x.record_stream(side)
    recording.pending.update(range(1, 100))  # no event has happened
    del x
    stats = torch.cuda.memory_stats()
    assert (stats["allocated_bytes.all.current"], stats["active_bytes.all.current"]) == (0, 4096)
    assert (stats["active_bytes.all.peak"], stats["segment.all.current"]) == (8192, 1)
    recording.pending.clear()
    assert torch.cuda.memory_stats()["active_bytes.all.current"] == 0
    torch.cuda.reset_accumulated_memory_stats()
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == 0


def test_tensors_on_other_streams(recording):
    side = torch.cuda.Stream()
    x = torch.empty(8, device="cuda")
    with torch.cuda.stream(side):
        y = torch.empty(8, device="cuda")
    assert [stream for *_, stream in recording.named("allocate")] == [0, side.cuda_stream]
    x.record_stream(side)
    y.record_stream(side)
    assert x._storage.buffer.block.others == {side.cuda_stream}
    assert y._storage.buffer.block.others == set()
    del x, y
    memory.allocator(0).settle()
    assert len(recording.named("record_event")) == 1
