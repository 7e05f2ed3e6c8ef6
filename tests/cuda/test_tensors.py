"""Tensors on an emulated device: factories, transfers, copies, views, autograd across devices."""

from __future__ import annotations

import copy
import gc
import pickle
from contextlib import nullcontext

import numpy as np
import pytest

import torchgen_out as torch
from tests.cuda.compiling import check, needs_extra
from torchgen_out._runtime.backends.cuda.driver import MemoryExhausted
from torchgen_out._runtime.dispatch.operator import operators

pytestmark = pytest.mark.usefixtures("emulated")

EVERY_DTYPE = ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32",
               "int64", "bool", "complex64", "complex128")  # fmt: skip


def test_factories():
    for made, expected in (
        (torch.ones(2, 3, device="cuda"), [[1.0] * 3] * 2),
        (torch.zeros(2, device="cuda", dtype=torch.int64), [0, 0]),
        (torch.full((2,), 2.5, device="cuda", dtype=torch.float16), [2.5, 2.5]),
        (torch.arange(3, device="cuda"), [0, 1, 2]),
        (torch.tensor([1j, 2], device="cuda:0"), [1j, 2]),
        (torch.eye(2, device="cuda"), [[1.0, 0.0], [0.0, 1.0]]),
        (torch.cuda.FloatTensor([1, 2]), [1.0, 2.0]),
        (torch.zeros_like(torch.ones(2, device="cuda")), [0.0, 0.0]),
        (torch.empty(0, device="cuda"), []),
    ):
        assert made.device == torch.device("cuda:0") and made.is_cuda and not made.is_cpu
        assert made.tolist() == expected
    with torch.device("cuda:1"):
        assert torch.ones(1).device == torch.device("cuda:1")
    with torch.cuda.device(1):
        assert torch.ones(1, device="cuda").get_device() == 1
    x = torch.ones(1, device="cuda")
    assert isinstance(x, torch.cuda.FloatTensor) and x.type() == "torch.cuda.FloatTensor"


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_there_and_back(dtype):
    x = torch.tensor([[0, 1, 2], [3, 4, 100]]).to(getattr(torch, dtype))
    for view in (x, x.t(), x[:, 1:], x[0, 0], x.expand(2, 2, 3), x[:0]):
        there = view.cuda()
        assert (there.dtype, there.shape) == (view.dtype, view.shape)
        back = there.cpu()
        assert torch.equal(back, view) and not back.is_cuda
    assert x.t().cuda().stride() == x.t().stride()
    assert x.cuda().cuda() is not None and x.to("cpu") is x
    there = x.cuda()
    assert there.to("cuda") is there and there.to("cuda:0") is there


@pytest.mark.parametrize("source", EVERY_DTYPE)
@pytest.mark.parametrize("target", EVERY_DTYPE)
def test_casts(source, target):
    x = torch.tensor([0, 1, 2, 100]).to(getattr(torch, source))
    if x.dtype.is_floating_point:
        x = x + 0.75
    discards = source.startswith("complex") and target not in ("bool", "complex64", "complex128")
    on_device, wanted = x.cuda(), getattr(torch, target)
    with pytest.warns(UserWarning, match="imaginary") if discards else nullcontext():
        got = on_device.to(wanted)
    with pytest.warns(UserWarning, match="imaginary") if discards else nullcontext():
        assert torch.equal(got.cpu(), x.to(wanted))
    assert got.is_cuda


def test_copies_between_devices():
    x = torch.arange(6.0).view(2, 3)
    on_first, on_second = x.cuda(), x.cuda(1)
    assert on_second.device == torch.device("cuda:1")
    assert on_first.to("cuda:1").device == torch.device("cuda:1")
    target = torch.empty(3, 2)
    assert target.copy_(on_second.t()) is target
    assert torch.equal(target, x.t())
    on_first.zero_()
    on_first.copy_(torch.tensor([7, 8, 9]))
    assert on_first.tolist() == [[7.0, 8.0, 9.0]] * 2
    on_first[:, 1:].copy_(on_second[:, :2])
    assert on_first.tolist() == [[7.0, 0.0, 1.0], [7.0, 3.0, 4.0]]
    on_first.t().copy_(on_first.t().clone())
    version = on_second._version
    on_second.fill_(torch.tensor(3))
    assert on_second._version == version + 1 and on_second.tolist() == [[3.0] * 3] * 2


def test_a_copy_waits_unless_it_need_not(emulated):
    x = torch.ones(5)
    x.cuda(non_blocking=True)
    x.cuda().cpu()
    assert len(emulated.named("synchronize_stream")) == 3


def test_numbers_of_the_host_are_waited_for_by_nobody(emulated):
    x = torch.arange(5).cuda()
    waits = len(emulated.named("synchronize_stream"))
    two, places = torch.tensor(2), torch.tensor([3, 1])
    results = x * two, x[places], torch.tensor(7.0, dtype=torch.float64, device="cuda")
    x[2:4].copy_(places)
    odd = torch.zeros(9, dtype=torch.uint8, device="cuda")
    odd[1:4].copy_(torch.tensor([1, 2, 3], dtype=torch.uint8))
    two.fill_(9)
    places.fill_(0)
    assert len(emulated.named("synchronize_stream")) == waits
    assert [each.tolist() for each in results] == [[0, 2, 4, 6, 8], [3, 1], 7.0]
    assert (x.tolist(), odd.tolist()) == ([0, 1, 3, 1, 4], [0, 1, 2, 3, 0, 0, 0, 0, 0])
    waits = len(emulated.named("synchronize_stream"))
    odd[:5].copy_(torch.ones(5, dtype=torch.uint8))
    assert len(emulated.named("synchronize_stream")) == waits + 1


RANGES = {
    "arange": lambda **to: torch.arange(5, **to),
    "arange of a step": lambda **to: torch.arange(7, -4, -3, **to),
    "arange of floats": lambda **to: torch.arange(0.5, 9, 1.3, **to),
    "large arange": lambda **to: torch.arange(2**60, 2**60 + 3, **to),
    "no elements": lambda **to: torch.arange(3, 3, **to),
    "range": lambda **to: torch.range(1, 8, 1.5, **to),
    "linspace": lambda **to: torch.linspace(-1, 2, 7, **to),
    "one element": lambda **to: torch.linspace(3, 9, 1, **to),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("dtype", [None, "float16", "bfloat16", "float64", "uint8", "int32"])
def test_ranges_are_made_on_the_device(emulated, name, dtype):
    options = {} if dtype is None else {"dtype": getattr(torch, dtype)}
    with torch.cuda.stream(torch.cuda.Stream()):
        made = RANGES[name](device="cuda", **options)
        assert emulated.named("synchronize_stream") == []
        expected = RANGES[name](**options)
        assert made.dtype is expected.dtype and made.shape == expected.shape
        assert torch.allclose(made.cpu().double(), expected.double(), rtol=1e-15, atol=0)


@needs_extra
def test_kernels_of_ranges_compile(emulated):
    for options in ({}, {"dtype": torch.bfloat16}):
        for make in RANGES.values():
            make(device="cuda", **options)
    sources = list(emulated.sources.values())
    assert len(sources) == 4
    for source in sources:
        check(source, "float64" in source.text)


def test_pinned_memory(emulated):
    x = torch.arange(6.0).view(2, 3).t()
    pinned = x.pin_memory()
    assert pinned.is_pinned() and not x.is_pinned() and pinned.pin_memory() is pinned
    assert pinned[1:].is_pinned() and torch.equal(pinned, x) and pinned.is_contiguous()
    there = pinned.cuda(non_blocking=True)
    assert emulated.named("synchronize_stream") == []
    pinned.copy_(there * 2, non_blocking=True)
    assert emulated.named("synchronize_stream") == [] and torch.equal(pinned, x)
    torch.cuda.synchronize()
    assert torch.equal(pinned, x * 2) and len(emulated.host) == 1
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        there.pin_memory()
    del pinned
    gc.collect()
    torch.cuda.empty_cache()
    assert emulated.host == {}


def test_pinned_memory_is_used_again_when_its_copies_are_done(emulated):
    first = torch.ones(8).pin_memory()
    address = first.data_ptr()
    there = first.cuda(non_blocking=True)
    del first
    second = torch.zeros(8, pin_memory=True)
    assert second.data_ptr() != address
    torch.cuda.synchronize()
    assert there.tolist() == [1.0] * 8
    third = torch.zeros(8, pin_memory=True)
    assert third.data_ptr() == address
    third.copy_(there, non_blocking=True)
    del third
    fourth = torch.empty(8, pin_memory=True)
    assert fourth.data_ptr() not in (address, second.data_ptr())
    assert len(emulated.host) == 3


def test_pinned_memory_that_cannot_be_had(emulated, monkeypatch):
    torch.ones(2).pin_memory()
    refused = []

    def refuse(device, size):
        refused.append(dict(emulated.host))
        raise MemoryExhausted

    monkeypatch.setattr(emulated, "allocate_host", refuse)
    with pytest.raises(RuntimeError, match=r"cannot page-lock 4\.00 KiB"):
        torch.empty(1024, pin_memory=True)
    assert len(refused) == 2 and refused[1] == {}


def test_factories_in_pinned_memory(emulated):
    for made in (
        torch.empty(3, pin_memory=True), torch.zeros(2, 2, pin_memory=True),
        torch.tensor([1.0], pin_memory=True), torch.rand(4, pin_memory=True),
        torch.ones_like(torch.ones(2), pin_memory=True),
        torch.ones(1).new_full((2,), 3, pin_memory=True),
        torch.ones(1).new_tensor([2.0], pin_memory=True),
        torch.arange(3, pin_memory=True), torch.arange(0.0, 1, 0.3, pin_memory=True),
        torch.linspace(0, 1, 3, pin_memory=True), torch.logspace(0, 1, 3, pin_memory=True),
        torch.eye(3, pin_memory=True), torch.tril_indices(2, 2, pin_memory=True),
        torch.scalar_tensor(2.0, pin_memory=True), torch.randperm(4, pin_memory=True),
        torch.empty_strided((2, 2), (1, 2), pin_memory=True), torch.hann_window(4, pin_memory=True),
        torch.fft.fftfreq(4, pin_memory=True),
    ):  # fmt: skip
        assert made.is_pinned() and made.device.type == "cpu"
    assert torch.full((2,), 7, pin_memory=True).tolist() == [7, 7]
    assert torch.tensor([1.0], pin_memory=True, requires_grad=True).requires_grad
    assert not torch.empty(2, pin_memory=True, device="meta").is_pinned()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.empty(2, pin_memory=True, device="cuda")


def test_the_old_name_of_non_blocking(emulated):
    x = torch.ones(2).pin_memory()
    waits = len(emulated.named("synchronize_stream"))
    for moved in (x.cuda(**{"async": True}), x.type(torch.cuda.FloatTensor, **{"async": True})):
        assert moved.is_cuda
    assert len(emulated.named("synchronize_stream")) == waits
    with pytest.raises(TypeError, match=r"cuda\(\) got an unexpected keyword argument 'later'"):
        x.cuda(later=True)


def test_old_constructors_take_tensors_of_their_own_type():
    x = torch.cuda.FloatTensor([1.0])
    assert torch.cuda.FloatTensor(x).data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match=r"expected torch\.cuda\.FloatTensor \(got torch\.FloatTen"):
        torch.cuda.FloatTensor(torch.ones(1))
    with pytest.raises(TypeError, match=r"got torch\.cuda\.LongTensor"):
        x.new(torch.ones(1).cuda().long())


def test_streams_of_copies_between_devices(emulated):
    x = torch.ones(3, device="cuda")
    x.to("cuda:1")
    names = [call[0] for call in emulated.calls]
    at = names.index("copy_peer")
    assert names[:at].count("wait_event") == 1 and names[at:].count("wait_event") == 1


def test_views_share_memory():
    x = torch.zeros(2, 3, device="cuda")
    x[0].fill_(1)
    x[:, 2] += 5
    x.view(-1)[3:5].mul_(0).add_(7)
    assert x.tolist() == [[1.0, 1.0, 6.0], [7.0, 7.0, 5.0]]
    assert x[1, 1].item() == 7.0 and int(x[0, 0]) == 1
    assert x[1].data_ptr() == x.data_ptr() + 12


def test_operands_elsewhere():
    x = torch.ones(3, device="cuda")
    assert (x + torch.tensor(2.0)).tolist() == [3.0] * 3
    assert (x + torch.tensor(2.0)).is_cuda
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + torch.ones(3)
    with pytest.raises(RuntimeError, match="cuda:0 and cuda:1"):
        x + torch.ones(3, device="cuda:1")
    with pytest.raises(TypeError, match="convert cuda"):
        x.numpy()
    assert np.array_equal(x.cpu().numpy(), [1, 1, 1])


def test_gradients_go_back():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    moved = leaf.to("cuda")
    assert not moved.is_leaf
    (moved * moved).backward(torch.ones(2, device="cuda"))
    assert leaf.grad.device.type == "cpu" and leaf.grad.tolist() == [2.0, 4.0]
    weight = torch.ones(2, device="cuda", requires_grad=True)
    for _ in range(2):
        (weight * 3).backward(torch.ones(2, device="cuda"))
    assert weight.grad.is_cuda and weight.grad.tolist() == [6.0, 6.0]
    with torch.no_grad():
        assert leaf.cuda().is_leaf


def test_modules_move():
    layer = torch.nn.Linear(3, 2).cuda()
    assert all(each.is_cuda and each.is_leaf for each in layer.parameters())
    state = {name: value.cpu() for name, value in layer.state_dict().items()}
    other = torch.nn.Linear(3, 2).to("cuda:1")
    other.load_state_dict(state)
    assert torch.equal(other.weight.cpu(), layer.weight.cpu())


def test_printing():
    assert repr(torch.ones(2, device="cuda")) == "tensor([1., 1.], device='cuda:0')"


def test_array_interface():
    x = torch.arange(6.0, device="cuda").view(2, 3).t()
    described = x.__cuda_array_interface__
    assert (described["typestr"], described["shape"], described["version"]) == ("<f4", (3, 2), 3)
    assert described["strides"] == (4, 12) and described["data"] == (x.data_ptr(), False)
    assert described["stream"] == 1
    assert not hasattr(torch.ones(2), "__cuda_array_interface__")


def test_resizing():
    x = torch.tensor([1.0, 2.0], device="cuda")
    x.resize_(1)
    assert x.tolist() == [1.0]
    x.resize_(2, 2)
    assert x.shape == (2, 2) and x[0].tolist() == [1.0, 2.0]
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        torch.exp(torch.zeros(3, device="cuda"), out=torch.ones(2, device="cuda"))


def test_what_is_missing_is_said(monkeypatch):
    x = torch.ones(2, 2, device="cuda")
    monkeypatch.delitem(operators["mm"].kernel_names, "CUDA")
    with pytest.raises(NotImplementedError, match="no CUDA kernel for 'mm'"):
        x.mm(x)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_objects_have_memory_of_their_own(duplicate):
    """On the same device; tensors that share memory do so afterwards."""
    x = torch.arange(6.0).cuda()
    first, second = duplicate([x, x.view(2, 3).t()])
    assert first.is_cuda and first.tolist() == x.tolist()
    first[1] = 9
    assert second[1, 0].item() == 9 and x[1].item() == 1
    model = duplicate(torch.nn.Linear(3, 2).cuda())
    assert all(each.is_cuda and each.requires_grad for each in model.parameters())
    assert duplicate(torch.empty(0, 2).cuda()).shape == (0, 2)


FROM_HOST = {
    "one": lambda x, at: x[at],
    "beside a number": lambda x, at: x[at, 1],
    "beside one of the device": lambda x, at: x[at, at.to(x.device)],
    "a later dim": lambda x, at: x[:, at],
    "a mask": lambda x, at: x[at[:, None].eq(torch.arange(3)).any(0)],
    "written": lambda x, at: x.index_put((at,), torch.tensor(7.0, device=x.device)),
    "a number to fill with": lambda x, at: x.masked_fill(x > 5, torch.tensor(-1.0)),
}


@pytest.mark.parametrize("name", FROM_HOST)
def test_indices_and_numbers_of_the_host_go_along(name):
    """As in PyTorch: with a tensor on a device, and never the other way round."""
    x, at = torch.arange(12.0).view(3, 4), torch.tensor([0, 2])
    got = FROM_HOST[name](x.cuda(), at)
    assert got.is_cuda and torch.equal(got.cpu(), FROM_HOST[name](x, at))


def test_indices_of_a_device_need_a_tensor_there():
    with pytest.raises(RuntimeError, match="same device"):
        torch.arange(3.0)[torch.tensor([0, 2], device="cuda")]
    with pytest.raises(RuntimeError, match="same device"):
        torch.zeros(3, device="cuda")[torch.tensor([0, 2])] = torch.ones(2)
