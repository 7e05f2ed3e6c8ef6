"""Memory of an emulated device shared with other libraries: DLPack, and the array interface."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.tensor_api import dlpack

CUDA = (2, 0)


class Exporter:
    """Another library's array: it hands a tensor's capsule out, and remembers what it was asked."""

    def __init__(self, tensor: Any, speaks: tuple[str, ...] = ("stream", "max_version", "copy")):
        self.tensor, self.speaks = tensor, speaks
        self.asked: dict[str, Any] = {}

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        if set(options) - set(self.speaks):
            raise TypeError("unknown argument")
        self.asked = options
        return self.tensor.__dlpack__(**options)


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int64", "bool", "complex64"])
def test_a_round_trip_shares_memory(dtype):
    x = torch.arange(12).reshape(3, 4).to(getattr(torch, dtype)).cuda()
    for seen in (x, x.t(), x[1:, ::2], x[0, 0], x[:0]):
        y = torch.from_dlpack(seen)
        assert (y.dtype, y.shape, y.device) == (seen.dtype, seen.shape, seen.device)
        assert y.data_ptr() == seen.data_ptr() and torch.equal(y.cpu(), seen.cpu())
        assert not y.numel() or y.stride() == seen.stride()
    y = torch.from_dlpack(x)
    y.zero_()
    assert not x.any()


def test_memory_lives_as_long_as_somebody_sees_it(emulated):
    x = torch.ones(3, device="cuda")
    y, capsule = torch.from_dlpack(x), x.__dlpack__()
    z = torch.from_dlpack(x.__dlpack__(max_version=(1, 0)))
    del x
    gc.collect()
    assert torch.cuda.memory_allocated() == 12
    del y, capsule
    gc.collect()
    assert torch.cuda.memory_allocated() == 12 and z.tolist() == [1.0] * 3
    del z
    gc.collect()
    assert torch.cuda.memory_allocated() == 0


@pytest.mark.usefixtures("emulated")
def test_what_a_capsule_says():
    x = torch.ones(2, 3, device="cuda:1")
    assert x.__dlpack_device__() == (2, 1)
    with torch.cuda.device(1):
        capsule = x.__dlpack__(max_version=(1, 0))
    content, used = dlpack._open(capsule)
    described = content.tensor
    assert (described.device_type, described.device_id, used) == (2, 1, b"used_dltensor_versioned")
    assert described.data == x.data_ptr() and content.major == 1
    with pytest.raises(BufferError, match="different CUDA device index"):
        x.__dlpack__()


def test_streams_wait_for_each_other(emulated):
    x, side = torch.ones(3, device="cuda"), torch.cuda.Stream()
    before = len(emulated.named("wait_event"))
    for stream in (-1, None, 1):
        x.__dlpack__(stream=stream)
    assert len(emulated.named("wait_event")) == before
    x.__dlpack__(stream=side.cuda_stream)
    assert emulated.named("wait_event")[-1][1] == side.cuda_stream
    with torch.cuda.stream(side):
        x.__dlpack__(stream=None)
    assert emulated.named("wait_event")[-1][1] == 0
    for stream, error in ((2, BufferError), (0, AssertionError), ("1", TypeError)):
        with pytest.raises(error):
            x.__dlpack__(stream=stream)


@pytest.mark.usefixtures("emulated")
def test_exporters_are_told_the_current_stream():
    exporter, side = Exporter(torch.ones(3, device="cuda")), torch.cuda.Stream()
    torch.from_dlpack(exporter)
    assert exporter.asked == {"stream": 1, "max_version": (1, 0)}
    with torch.cuda.stream(side):
        torch.from_dlpack(exporter, copy=True)
    assert exporter.asked["stream"] == side.cuda_stream and exporter.asked["copy"]
    old = Exporter(torch.ones(3, device="cuda"), speaks=("stream",))
    assert torch.from_dlpack(old).data_ptr() == old.tensor.data_ptr()
    assert old.asked == {"stream": 1}


@pytest.mark.usefixtures("emulated")
def test_copies_and_other_devices():
    x = torch.arange(3.0).cuda()
    copied = torch.from_dlpack(x, copy=True)
    assert copied.data_ptr() != x.data_ptr() and copied.tolist() == x.tolist()
    host = torch.from_dlpack(x.__dlpack__(dl_device=(1, 0)))
    assert host.device.type == "cpu" and host.tolist() == x.tolist()
    assert np.from_dlpack(Exporter(host, ("copy", "dl_device", "max_version"))).tolist() == [
        0,
        1,
        2,
    ]
    for options in ({"dl_device": (1, 0), "copy": False}, {"dl_device": (10, 0)}):
        with pytest.raises(BufferError, match="only to the CPU, copied"):
            x.__dlpack__(**options)
    assert torch.from_dlpack(x, device="cpu").device.type == "cpu"


class Described:
    """Another library's array with `__cuda_array_interface__`."""

    def __init__(self, tensor: Any, **changed: Any) -> None:
        self.tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__ | changed


def test_described_memory_is_shared(emulated):
    x = torch.arange(6.0).reshape(2, 3).cuda()
    for seen in (x, x.t(), x[:, 1], x[0, 0], x.half(), x[:0]):
        y = torch.as_tensor(Described(seen))
        assert (y.dtype, y.shape, y.stride()) == (seen.dtype, seen.shape, seen.stride())
        assert y.is_cuda and y.data_ptr() == seen.data_ptr()
        assert torch.equal(y.cpu(), seen.cpu())
    dense = torch.as_tensor(Described(x, strides=None))
    assert dense.stride() == (3, 1) and dense.data_ptr() == x.data_ptr()
    assert torch.tensor(Described(x), device="cuda").data_ptr() != x.data_ptr()
    assert torch.as_tensor(Described(x), device="cpu").tolist() == x.tolist()
    elsewhere = torch.ones(2, device="cuda:1")
    assert torch.as_tensor(Described(elsewhere)).device == elsewhere.device
    owner = Described(torch.ones(4, device="cuda"))
    y = torch.as_tensor(owner)
    del owner
    gc.collect()
    assert y.tolist() == [1.0] * 4


def test_the_stream_of_described_memory_is_waited_for(emulated):
    x, side = torch.ones(3, device="cuda"), torch.cuda.Stream()
    before = len(emulated.named("record_event"))
    torch.as_tensor(Described(x, stream=None))
    torch.as_tensor(Described(x, stream=1))
    assert len(emulated.named("record_event")) == before
    torch.as_tensor(Described(x, stream=side.cuda_stream))
    assert emulated.named("record_event")[-1][2] == side.cuda_stream
    assert emulated.named("wait_event")[-1][1] == 0


@pytest.mark.usefixtures("emulated")
def test_what_is_refused():
    x = torch.ones(3, device="cuda")
    data = (x.data_ptr(), True)
    with pytest.raises(TypeError, match="read only flag is not supported"):
        torch.as_tensor(Described(x, data=data))
    with pytest.raises(TypeError, match="of type <U4"):
        torch.as_tensor(Described(x, typestr="<U4"))
    with pytest.raises(ValueError, match="multiple of the element"):
        torch.as_tensor(Described(x, strides=(3,)))
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, device="cuda", requires_grad=True).__dlpack__()
    capsule = x.__dlpack__()
    dlpack._open(capsule)[0].tensor.device_type = ctypes.c_int32(10).value
    with pytest.raises(BufferError, match="device type 10"):
        torch.from_dlpack(capsule)


@pytest.mark.usefixtures("emulated")
def test_external_streams():
    made = torch.cuda.Stream()
    same = torch.cuda.ExternalStream(made.cuda_stream)
    assert same == made and same.device == made.device
    with torch.cuda.stream(same):
        assert torch.cuda.current_stream() == made
