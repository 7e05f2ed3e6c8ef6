"""Which kernel is launched, over what grid, with what values; against a recording driver."""

from __future__ import annotations

import ctypes
import struct

import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.common import pointwise_calls
from torchgen_out._runtime.backends.cuda import launching
from torchgen_out._runtime.backends.cuda.parameters import SLOT, Parameters
from torchgen_out._runtime.kernels import plan as plans

pytestmark = pytest.mark.usefixtures("recording")


def _launches(recording):
    return recording.named("launch")


def test_dense_operands(recording):
    x, y = torch.empty(1000, device="cuda"), torch.empty(1000, device="cuda")
    z = x + y
    ((device, name, grid, block, stream, values),) = _launches(recording)
    assert (device, name, grid, block, stream) == (0, "add_Tensor_at_defaults", (1, 1), (256, 1), 0)
    assert values == (z.data_ptr(), x.data_ptr(), y.data_ptr(), 1000)


def test_scalars(recording):
    x = torch.empty(1000, device="cuda")
    torch.add(x, x, alpha=3)
    assert _launches(recording)[0][-1][3:] == (1000, 3.0)
    torch.add(x, x, alpha=float("inf"))
    assert _launches(recording)[1][-1][-1] == float("inf")


def test_a_kernel_is_loaded_once_per_device(recording):
    for _ in range(3):
        for device in ("cuda:0", "cuda:1"):
            torch.empty(4, device=device).exp()
    assert [name for _, name in recording.named("load")] == ["exp_", "exp_"]
    assert [device for device, *_ in _launches(recording)] == [0, 1] * 3


def test_no_driver_calls_but_launches_in_a_steady_state(recording):
    x = torch.empty(64, device="cuda")
    for _ in range(3):
        y = (x + x).exp()
    recording.calls.clear()
    for _ in range(5):
        y = (x + x).exp()
    assert {call[0] for call in recording.calls} == {"launch"} and len(recording.calls) == 10
    del y


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (lambda x: x[1:], "exp__strided"),
        (lambda x: x[4:], "exp_"),
        (lambda x: x.view(100, 10)[:, :5], "exp__strided"),
        (lambda x: x.view(100, 10).t(), "exp_"),
        (lambda x: x[::2], "exp__strided"),
        (lambda x: x[:1].expand(50), "exp_"),
    ],
)
def test_the_loop_suits_the_memory(recording, make, kernel):
    make(torch.empty(1000, device="cuda")).exp()
    assert _launches(recording)[0][1] == kernel


def test_grids_cover_the_work_up_to_a_bound(recording):
    blocks = [launching.blocks_for(0, work, 256) for work in (1, 256, 257, 10**9)]
    assert blocks == [1, 1, 2, 132 * launching.BLOCKS_PER_PROCESSOR]


def test_large_operands_are_counted_in_64_bits():
    narrow = plans.plan_pointwise((((1 << 20,), (1,)),))
    many = plans.plan_pointwise((((1 << 16, 1 << 15), (1 << 15, 1)),))
    far = plans.plan_pointwise((((3, 4), (1 << 30, 1)),))
    assert [launching.is_wide(plan) for plan in (narrow, many, far)] == [False, True, True]


def test_the_current_stream_is_used(recording):
    side = torch.cuda.Stream()
    x = torch.empty(4, device="cuda")
    with torch.cuda.stream(side):
        x.exp()
    assert _launches(recording)[0][4] == side.cuda_stream


def test_nothing_is_launched_for_nothing(recording):
    torch.empty(0, 3, device="cuda").exp()
    assert _launches(recording) == []


def test_zeros_are_a_fill(recording):
    x = torch.zeros(10, device="cuda")
    assert recording.named("fill") == [(0, x.data_ptr(), 0, 40, 0)]
    x[::2].zero_()
    assert [name for _, name, *_ in _launches(recording)] == ["constant_strided"]


def test_copies_of_equal_layout_are_the_drivers(recording):
    x = torch.empty(10, 4, device="cuda")
    y = x.clone()
    assert recording.named("copy") == [(0, y.data_ptr(), x.data_ptr(), 160, 0)]
    x.t().contiguous()
    assert [name for _, name, *_ in _launches(recording)] == ["element_strided"]


def test_values_are_packed_as_their_types():
    types = ("float32*", "int32", "uint32", "float64", "bool", "int64", "float32", "uint8")
    values = (1 << 47, -5, 1 << 31, 0.1, True, -(1 << 40), 1.5, 255)
    parameters = Parameters(types)
    address = parameters.pack(values)
    places = (ctypes.c_void_p * len(types)).from_address(address)
    got = []
    for place, form in zip(places, "QiId?qfB", strict=True):
        memory = ctypes.string_at(place, SLOT)
        got.append(struct.unpack_from(f"={form}", memory)[0])
    assert tuple(got) == values


@pytest.mark.parametrize("shape", [(64, 16, 32, 32), (32768, 64)])
def test_few_channels_fill_the_device(recording, shape):
    """A block for each would leave most processors idle."""
    x = torch.empty(*shape, device="cuda", requires_grad=True)
    y = torch.nn.functional.batch_norm(x, None, None, training=True)
    y.backward(torch.empty(*shape, device="cuda"))
    folds: dict[str, int] = {}
    for _, name, grid, *_ in _launches(recording):
        if "_batch_norm_" in name:
            folds.setdefault("backward" if "backward" in name else "forward", grid[0])
    assert len(folds) == 2
    assert min(folds.values()) >= recording.properties(0).multi_processor_count


@pytest.mark.parametrize(("shape", "folds"), [((64, 16, 32, 32), 3), ((32768, 64), 4)])
def test_launches_of_batch_norm(recording, shape, folds):
    """Statistics of planes are folded in one launch and joined in two; rows of channels are folded
    twice, by slices. No image is copied, however it lies."""
    x = torch.empty(*shape, device="cuda")
    images = [x, x.to(memory_format=torch.channels_last)] if x.ndim == 4 else [x]
    for each, count in zip(images, (folds, 4), strict=False):
        recording.calls.clear()
        torch.nn.functional.batch_norm(each, None, None, training=True)
        names = [name for _, name, *_ in _launches(recording)]
        assert len(names) == count + 1 and all("_batch_norm_training" in each for each in names)


def test_gradients_of_parameters_fill_the_device(recording):
    """A thread each would be three blocks, with all rows one after the other: threads fold slices
    of neighbouring columns, and eight lanes those of a column."""
    weight = torch.empty(768, device="cuda", requires_grad=True)
    x = torch.empty(4096, 768, device="cuda")
    torch.nn.functional.layer_norm(x, (768,), weight).backward(torch.empty_like(x))
    launched = [(name, grid[0]) for _, name, grid, *_ in _launches(recording)]
    slices, joined = (grid for name, grid in launched if name.endswith("_device_1_step"))
    assert slices >= recording.properties(0).multi_processor_count
    assert joined == 768 * 8 // 256


def test_what_was_planned_is_launched_at_once(emulated, monkeypatch):
    """A pointwise call of a known geometry, new, in place and out=, asks for no plan."""
    x, y, out = torch.ones(2, 3).cuda(), torch.arange(3.0).cuda(), torch.empty(2, 3).cuda()

    def calls():
        return [(x + y).tolist(), torch.mul(x, y, out=out).tolist(), out.sub_(y).tolist()]

    expected = calls()
    monkeypatch.setattr(pointwise_calls.plans, "plan_pointwise", None)
    assert calls() == expected == [[[1, 2, 3]] * 2, [[0, 1, 2]] * 2, [[0, 0, 0]] * 2]
