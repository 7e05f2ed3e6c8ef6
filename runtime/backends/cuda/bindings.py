"""NVIDIA's driver, called through NVIDIA's own Python bindings (`cuda.bindings`)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from cuda.bindings import driver as cu

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda.driver import (
    DeviceProperties,
    Grid,
    MemoryExhausted,
    Values,
    word_size,
)
from torchgen_out._runtime.backends.cuda.parameters import Parameters
from torchgen_out._runtime.kernels.cuda.compiling import compiler
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source

SUCCESS = cu.CUresult.CUDA_SUCCESS
EXHAUSTED = cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY
NOT_READY = cu.CUresult.CUDA_ERROR_NOT_READY

_ATTRIBUTES = {
    "major": "COMPUTE_CAPABILITY_MAJOR",
    "minor": "COMPUTE_CAPABILITY_MINOR",
    "multi_processor_count": "MULTIPROCESSOR_COUNT",
    "max_threads_per_multi_processor": "MAX_THREADS_PER_MULTIPROCESSOR",
    "warp_size": "WARP_SIZE",
    "regs_per_multiprocessor": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "shared_memory_per_block": "MAX_SHARED_MEMORY_PER_BLOCK",
    "shared_memory_per_block_optin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "shared_memory_per_multiprocessor": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "L2_cache_size": "L2_CACHE_SIZE",
}
CAPTURE_MODES = {
    "global": cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL,
    "thread_local": cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED,
}
_FLAGS = {"is_integrated": "INTEGRATED", "is_multi_gpu_board": "MULTI_GPU_BOARD"}


def call(function: Any, *args: Any) -> Any:
    """What a driver function returns.

    Raises: RuntimeError if it returns an error.
    """
    status, *values = function(*args)
    if status != SUCCESS:
        raise _failure(function, status)
    return values[0] if len(values) == 1 else tuple(values)


def _allocated(function: Any, *args: Any) -> int:
    """The address that an allocation returns.

    Raises: MemoryExhausted.
    """
    status, address = function(*args)
    if status == EXHAUSTED:
        raise MemoryExhausted
    if status != SUCCESS:
        raise _failure(function, status)
    return int(address)


def _failure(function: Any, status: Any) -> RuntimeError:
    sentence = cu.cuGetErrorString(status)[1]
    text = sentence.decode() if sentence else f"error {int(status)}"
    return errors.cuda_call_failed(function.__name__, status.name, text, int(status))


@contextmanager
def _relaxed() -> Iterator[None]:
    """A block whose calls are allowed in this thread while work is captured."""
    before = call(cu.cuThreadExchangeStreamCaptureMode, CAPTURE_MODES["relaxed"])
    try:
        yield
    finally:
        call(cu.cuThreadExchangeStreamCaptureMode, before)


class BindingsDriver:
    """`runtime.backends.cuda.driver.Driver`, answered by NVIDIA's driver."""

    def __init__(self) -> None:
        call(cu.cuInit, 0)
        self._lock = threading.RLock()  # a collection may destroy events in the middle
        self._devices = [call(cu.cuDeviceGet, i) for i in range(call(cu.cuDeviceGetCount))]
        self._contexts: dict[int, Any] = {}
        self._active = threading.local()
        self._pools: dict[int, bool] = {}
        self._kernels: dict[int, tuple[Any, Parameters]] = {}

    def enter(self, device: int) -> None:
        """Make a device's context current in this thread.

        Of several devices always: other libraries may have chosen another one meanwhile.
        """
        if len(self._devices) == 1 and getattr(self._active, "device", None) == device:
            return
        if not 0 <= device < len(self._devices):
            raise errors.invalid_device_ordinal(device, len(self._devices))
        with self._lock:
            if device not in self._contexts:
                handle = self._devices[device]
                self._contexts[device] = call(cu.cuDevicePrimaryCtxRetain, handle)
        call(cu.cuCtxSetCurrent, self._contexts[device])
        self._active.device = device

    # -- devices --------------------------------------------------------------------------------

    def device_count(self) -> int:
        """How many devices there are."""
        return len(self._devices)

    def properties(self, device: int) -> DeviceProperties:
        """What a device is."""
        self.enter(device)
        handle = self._devices[device]
        name = call(cu.cuDeviceGetName, 256, handle).split(b"\0")[0].decode()
        numbers: dict[str, Any] = {
            key: self._attribute(handle, name) for key, name in _ATTRIBUTES.items()
        }
        flags = {key: bool(self._attribute(handle, name)) for key, name in _FLAGS.items()}
        memory = int(call(cu.cuDeviceTotalMem, handle))
        return DeviceProperties(name=name, total_memory=memory, **numbers, **flags)

    def _attribute(self, handle: Any, name: str) -> int:
        attribute = getattr(cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(call(cu.cuDeviceGetAttribute, attribute, handle))

    def can_access_peer(self, device: int, peer: int) -> bool:
        """Whether one device can read the memory of another."""
        self.enter(device)
        self.enter(peer)
        return bool(call(cu.cuDeviceCanAccessPeer, self._devices[device], self._devices[peer]))

    def memory_info(self, device: int) -> tuple[int, int]:
        """(free, total) bytes of a device."""
        self.enter(device)
        free, total = call(cu.cuMemGetInfo)
        return int(free), int(total)

    def synchronize(self, device: int) -> None:
        """Wait for all work of a device."""
        self.enter(device)
        call(cu.cuCtxSynchronize)

    # -- streams --------------------------------------------------------------------------------

    def create_stream(self, device: int, priority: int) -> int:
        """A new stream, which does not wait for the default stream."""
        self.enter(device)
        flags = cu.CUstream_flags.CU_STREAM_NON_BLOCKING
        return int(call(cu.cuStreamCreateWithPriority, flags, priority))

    def is_stream_done(self, device: int, stream: int) -> bool:
        """Whether all work of a stream is done."""
        self.enter(device)
        return self._is_ready(cu.cuStreamQuery, stream)

    def synchronize_stream(self, device: int, stream: int) -> None:
        """Wait for all work of a stream."""
        self.enter(device)
        call(cu.cuStreamSynchronize, stream)

    def _is_ready(self, function: Any, handle: int) -> bool:
        (status,) = function(handle)
        if status not in (SUCCESS, NOT_READY):
            raise _failure(function, status)
        return bool(status == SUCCESS)

    # -- events ---------------------------------------------------------------------------------

    def create_event(self, device: int, timing: bool, blocking: bool) -> int:
        """A new event. blocking: whether a thread that waits for it sleeps."""
        self.enter(device)
        flags = 0 if timing else int(cu.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        if blocking:
            flags |= int(cu.CUevent_flags.CU_EVENT_BLOCKING_SYNC)
        return int(call(cu.cuEventCreate, flags))

    def destroy_event(self, device: int, event: int) -> None:
        """Give an event back."""
        self.enter(device)
        cu.cuEventDestroy(event)

    def record_event(self, device: int, event: int, stream: int) -> None:
        """Let an event happen when the work so far of a stream is done."""
        self.enter(device)
        call(cu.cuEventRecord, event, stream)

    def wait_event(self, device: int, stream: int, event: int) -> None:
        """Let a stream wait for an event."""
        self.enter(device)
        call(cu.cuStreamWaitEvent, stream, event, 0)

    def is_event_done(self, device: int, event: int) -> bool:
        """Whether an event has happened."""
        self.enter(device)
        return self._is_ready(cu.cuEventQuery, event)

    def synchronize_event(self, device: int, event: int) -> None:
        """Wait for an event."""
        self.enter(device)
        call(cu.cuEventSynchronize, event)

    def elapsed_time(self, device: int, start: int, end: int) -> float:
        """Milliseconds between two events."""
        self.enter(device)
        return float(call(cu.cuEventElapsedTime, start, end))

    # -- memory ---------------------------------------------------------------------------------

    def allocate(self, device: int, size: int, stream: int) -> int:
        """The address of new memory, for use in a stream."""
        self.enter(device)
        if not self._has_pools(device):
            return _allocated(cu.cuMemAlloc, size)
        return _allocated(cu.cuMemAllocAsync, size, stream)

    def free(self, device: int, address: int, stream: int) -> None:
        """Give memory back when the work so far of a stream is done."""
        self.enter(device)
        if self._has_pools(device):
            call(cu.cuMemFreeAsync, address, stream)
        else:
            call(cu.cuMemFree, address)  # waits for the device

    def _has_pools(self, device: int) -> bool:
        """Whether streams allocate memory, which those of virtual machines may not."""
        found = self._pools.get(device)
        if found is None:
            supported = self._attribute(self._devices[device], "MEMORY_POOLS_SUPPORTED")
            found = self._pools[device] = bool(supported)
        return found

    def device_of(self, address: int) -> int:
        """The device on which an address lies."""
        self.enter(0)
        attribute = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(call(cu.cuPointerGetAttribute, attribute, address))

    def allocate_host(self, device: int, size: int) -> int:
        """The address of new page-locked memory of the host, the same for all devices."""
        self.enter(device)
        with _relaxed():
            return _allocated(cu.cuMemHostAlloc, size, cu.CU_MEMHOSTALLOC_PORTABLE)

    def free_host(self, device: int, address: int) -> None:
        """Give page-locked memory back."""
        self.enter(device)
        with _relaxed():
            call(cu.cuMemFreeHost, address)

    def copy(self, device: int, target: int, source: int, size: int, stream: int) -> None:
        """Copy bytes between addresses of a device or of the host."""
        self.enter(device)
        call(cu.cuMemcpyAsync, target, source, size, stream)

    def copy_peer(
        self, target_device: int, target: int, device: int, source: int, size: int, stream: int
    ) -> None:
        """Copy bytes of `device` to another device; the stream is `device`'s."""
        self.enter(target_device)
        self.enter(device)
        contexts = self._contexts[target_device], self._contexts[device]
        call(cu.cuMemcpyPeerAsync, target, contexts[0], source, contexts[1], size, stream)

    def fill(self, device: int, address: int, byte: int, size: int, stream: int) -> None:
        """Set bytes."""
        self.enter(device)
        call(cu.cuMemsetD8Async, address, byte, size, stream)

    def write(self, device: int, address: int, data: bytes, stream: int) -> None:
        """Write a few bytes, in words that suit their address."""
        self.enter(device)
        word = word_size(address, len(data))
        set_words = {1: cu.cuMemsetD8Async, 2: cu.cuMemsetD16Async, 4: cu.cuMemsetD32Async}[word]
        for start in range(0, len(data), word):
            value = int.from_bytes(data[start : start + word], "little")
            call(set_words, address + start, value, 1, stream)

    # -- kernels --------------------------------------------------------------------------------

    def load(self, device: int, source: Source) -> int:
        """A kernel, compiled for the device."""
        properties = self.properties(device)
        code = compiler.machine_code(source, (properties.major, properties.minor))
        with _relaxed():
            module = call(cu.cuModuleLoadData, code)
            function = call(cu.cuModuleGetFunction, module, compiler.ENTRY.encode())
        self._kernels[int(function)] = function, Parameters(source.arguments)
        return int(function)

    def launch(
        self, device: int, kernel: int, grid: Grid, block: Grid, stream: int, values: Values
    ) -> None:
        """Run a kernel. values: its arguments, addresses and numbers."""
        self.enter(device)
        function, parameters = self._kernels[kernel]
        address = parameters.pack(values)
        (status,) = cu.cuLaunchKernel(function, *grid, 1, *block, 1, 0, stream, address, 0)
        if status:
            raise _failure(cu.cuLaunchKernel, status)

    # -- graphs ---------------------------------------------------------------------------------

    def begin_capture(self, device: int, stream: int, mode: str) -> None:
        """Write down the work of a stream from now on, instead of doing it."""
        self.enter(device)
        call(cu.cuStreamBeginCapture, stream, CAPTURE_MODES[mode])

    def end_capture(self, device: int, stream: int) -> int:
        """The graph of what was written down."""
        self.enter(device)
        return int(call(cu.cuStreamEndCapture, stream))

    def instantiate(self, device: int, graph: int) -> int:
        """A graph made ready to run."""
        self.enter(device)
        return int(call(cu.cuGraphInstantiate, graph, 0))

    def launch_graph(self, device: int, executable: int, stream: int) -> None:
        """Do the work of a graph."""
        self.enter(device)
        call(cu.cuGraphLaunch, executable, stream)

    def destroy_graph(self, device: int, graph: int, executable: int) -> None:
        """Give a graph back, and what was made ready of it."""
        self.enter(device)
        cu.cuGraphExecDestroy(executable)
        cu.cuGraphDestroy(graph)

    def relaxed(self) -> AbstractContextManager[None]:
        """A block whose calls take no part in what is captured, and are allowed meanwhile."""
        return _relaxed()

    def allocate_fixed(self, device: int, size: int) -> int:
        """The address of new memory of no stream, also while work is written down."""
        self.enter(device)
        with _relaxed():
            return _allocated(cu.cuMemAlloc, size)

    def free_fixed(self, device: int, address: int) -> None:
        """Give such memory back; waits for the device."""
        self.enter(device)
        call(cu.cuMemFree, address)
