"""Calls of NVIDIA's driver: every function exists, with as many arguments as it is given.

There is no driver here, so what stands in for `cuda.bindings` checks a call against the signature
of the real function, lets that convert the arguments before it misses the driver, and answers with
numbers of its own.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest

from tests.cuda.compiling import needs_extra
from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import availability
from torchgen_out._runtime.backends.cuda.driver import MemoryExhausted
from torchgen_out._runtime.kernels.cuda.compiling import compiler

pathfinder = pytest.importorskip("cuda.pathfinder")
bindings = pytest.importorskip("torchgen_out._runtime.backends.cuda.bindings")
pytestmark = needs_extra

SEVERAL = {
    "cuMemGetInfo": (1 << 20, 1 << 30),
    "cuDeviceGetName": (b"A device\0\0",),
    "cuGetErrorString": (b"an illegal memory access was encountered",),
}
NOTHING = ("Destroy", "Record", "Wait", "Synchronize", "SetCurrent", "Free", "Memcpy", "Memset",
           "Launch", "cuInit", "Query", "BeginCapture")  # fmt: skip


class CheckedDriver:
    """The module `cuda.bindings.driver`, whose functions check their arguments and do nothing."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.calls: list[tuple[Any, ...]] = []
        self.status: dict[str, Any] = {}
        self._handles = count(1)
        self.devices = 2
        self.answers = dict(SEVERAL)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if not re.match(r"cu[A-Z]", name) or isinstance(found, type):
            return found

        def function(*args: Any) -> tuple[Any, ...]:
            assert len(args) == _parameter_count(found), f"{name}{args}"
            if availability.driver_answer()[0] is None:
                with pytest.raises(pathfinder.DynamicLibNotFoundError):
                    found(*args)
            self.calls.append((name, *args))
            status = self.status.get(name, self.real.CUresult.CUDA_SUCCESS)
            return (status, *self._answer(name))

        function.__name__ = name
        return function

    def _answer(self, name: str) -> tuple[Any, ...]:
        if name in self.answers:
            return self.answers[name]
        if name == "cuDeviceGetCount":
            return (self.devices,)
        return () if any(word in name for word in NOTHING) else (next(self._handles),)

    def last(self) -> tuple[Any, ...]:
        """The newest call."""
        return self.calls[-1]


def _parameter_count(function: Any) -> int:
    """How many parameters the docstring of a compiled function shows."""
    text = function.__doc__.splitlines()[0]
    inside = re.sub(r"\[[^\]]*\]", "", text[text.index("(") + 1 : text.rindex(")")])
    return len(inside.split(",")) if inside else 0


@pytest.fixture
def made(monkeypatch):
    """(the driver, what stands in for `cuda.bindings.driver`)."""
    checked = CheckedDriver(bindings.cu)
    monkeypatch.setattr(bindings, "cu", checked)
    return bindings.BindingsDriver(), checked


def test_devices(made):
    driver, _ = made
    assert driver.device_count() == 2
    properties = driver.properties(1)
    assert properties.name == "A device" and properties.warp_size > 0
    assert driver.memory_info(0) == (1 << 20, 1 << 30)
    driver.can_access_peer(0, 1)
    driver.synchronize(0)
    with pytest.raises(RuntimeError, match="no device cuda:2, the driver shows 2"):
        driver.synchronize(2)


@pytest.mark.parametrize(("devices", "expected"), [(1, 1), (2, 3)])
def test_contexts_are_made_current(made, devices, expected):
    """Once if there is one device; of several always, since others may choose one, too."""
    _, checked = made
    checked.devices = devices
    driver = bindings.BindingsDriver()
    for device in (0, 0, devices - 1):
        driver.synchronize(device)
    names = [call[0] for call in checked.calls]
    assert names.count("cuCtxSetCurrent") == expected
    assert names.count("cuDevicePrimaryCtxRetain") == devices


def test_finalizers_raise_nothing(made):
    driver, checked = made
    for name in ("cuEventDestroy", "cuGraphExecDestroy", "cuGraphDestroy"):
        checked.status[name] = checked.real.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    driver.destroy_event(0, driver.create_event(0, True, False))
    driver.destroy_graph(0, 5, 6)


def test_streams_and_events(made):
    driver, checked = made
    stream, event = driver.create_stream(0, -1), driver.create_event(0, False, True)
    driver.record_event(0, event, stream)
    driver.wait_event(0, stream, event)
    driver.synchronize_stream(0, stream)
    driver.synchronize_event(0, event)
    driver.elapsed_time(0, event, event)
    assert driver.is_stream_done(0, stream)
    checked.status["cuEventQuery"] = checked.real.CUresult.CUDA_ERROR_NOT_READY
    assert not driver.is_event_done(0, event)
    driver.destroy_event(0, event)
    assert checked.last() == ("cuEventDestroy", event)


def test_memory(made):
    driver, checked = made
    address = driver.allocate(0, 512, 0)
    driver.fill(0, address, 0, 512, 0)
    driver.write(0, 4096, b"\1", 0)
    assert checked.last() == ("cuMemsetD8Async", 4096, 1, 1, 0)
    driver.write(0, 4096, bytes(range(8)), 5)
    assert checked.calls[-2:] == [
        ("cuMemsetD32Async", 4096, 0x03020100, 1, 5),
        ("cuMemsetD32Async", 4100, 0x07060504, 1, 5),
    ]
    driver.write(0, 4098, bytes(range(4)), 5)
    assert checked.last() == ("cuMemsetD16Async", 4100, 0x0302, 1, 5)
    driver.copy(0, address, address, 8, 0)
    driver.copy_peer(1, address, 0, address, 8, 0)
    name, _, theirs, _, ours, *_ = checked.last()
    assert name == "cuMemcpyPeerAsync" and theirs != ours
    driver.device_of(address)
    name, _, asked = checked.last()
    assert (name, asked) == ("cuPointerGetAttribute", address)
    driver.free(0, address, 0)
    driver.free_host(0, driver.allocate_host(0, 64))
    checked.status["cuMemAllocAsync"] = checked.real.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(MemoryExhausted):
        driver.allocate(0, 512, 0)


def test_devices_without_memory_of_streams(made):
    driver, checked = made
    checked.answers["cuDeviceGetAttribute"] = (0,)
    driver.free(0, driver.allocate(0, 512, 0), 0)
    assert [call[0] for call in checked.calls if "Mem" in call[0]] == ["cuMemAlloc", "cuMemFree"]


def test_kernels(made, monkeypatch):
    driver, checked = made
    capabilities = []

    def machine_code(source: compiler.Source, capability: tuple[int, int]) -> bytes:
        capabilities.append(capability)
        return b"code"

    monkeypatch.setattr(compiler, "machine_code", machine_code)
    source = compiler.Source("probe", "", ("float32*", "int32"), 256)
    kernel = driver.load(0, source)
    assert len(capabilities) == 1
    loaded = [call for call in checked.calls if call[0].startswith("cuModule")]
    assert [call[0] for call in loaded] == ["cuModuleLoadData", "cuModuleGetFunction"]
    at = [call[0] for call in checked.calls].index("cuModuleLoadData")
    names = [call[0] for call in checked.calls[at - 1 : at + 3]]
    assert names[0] == names[3] == "cuThreadExchangeStreamCaptureMode"
    assert loaded[0][1] == b"code" and loaded[1][2] == b"kernel"
    driver.launch(0, kernel, (3, 2), (32, 8), 7, (4096, 5))
    name, function, *sizes, shared, stream, parameters, extra = checked.last()
    assert (name, function, sizes) == ("cuLaunchKernel", kernel, [3, 2, 1, 32, 8, 1])
    assert (shared, stream, extra) == (0, 7, 0) and parameters > 0


def test_graphs(made):
    driver, checked = made
    stream = driver.create_stream(0, 0)
    driver.begin_capture(0, stream, "global")
    name, captured, mode = checked.last()
    assert (name, captured) == ("cuStreamBeginCapture", stream)
    assert mode == checked.real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    address = driver.allocate_fixed(0, 512)
    names = [call[0] for call in checked.calls[-3:]]
    assert names == ["cuThreadExchangeStreamCaptureMode", "cuMemAlloc",
                     "cuThreadExchangeStreamCaptureMode"]  # fmt: skip
    graph = driver.end_capture(0, stream)
    executable = driver.instantiate(0, graph)
    driver.launch_graph(0, executable, stream)
    assert checked.last() == ("cuGraphLaunch", executable, stream)
    driver.destroy_graph(0, graph, executable)
    driver.free_host(0, driver.allocate_host(0, 64))
    names = [call[0] for call in checked.calls if call[0] != "cuCtxSetCurrent"][-6:]
    assert names[1::3] == ["cuMemHostAlloc", "cuMemFreeHost"]
    assert {*names[::3], *names[2::3]} == {"cuThreadExchangeStreamCaptureMode"}
    driver.free_fixed(0, address)
    checked.status["cuMemAlloc"] = checked.real.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(MemoryExhausted):
        driver.allocate_fixed(0, 512)


def test_errors_are_the_drivers(made):
    driver, checked = made
    checked.status["cuCtxSynchronize"] = checked.real.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    told = pytest.raises(errors.AcceleratorError, match=r"^CUDA error: an illegal .*ILLEGAL_ADDR")
    with told as caught:
        driver.synchronize(0)
    assert caught.value.error_code == 700
