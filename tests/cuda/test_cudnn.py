"""Convolutions by cuDNN: a stand-in computes them on an emulated device, under all switches."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch
from tests.cuda import standin_cudnn
from tests.cuda.standin_cudnn import ATOMIC, PLAIN, REFUSED, TENSOR_CORES, StandInCudnn
from tests.cuda.test_convolutions import GEOMETRIES, randn
from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import allocator, availability
from torchgen_out._runtime.backends.cuda.libraries import convolutions, cudnn, loading, workspace
from torchgen_out._runtime.backends.flags import cudnn as switches

F = torch.nn.functional


@pytest.fixture
def library(emulated):
    """The stand-in beside those of the other libraries."""
    own = StandInCudnn(emulated)
    before = loading.use({})
    loading.use({**before, cudnn.NAME: own})
    flags = switches.set_flags()
    yield own
    vars(switches).update(zip(switches._NAMES, flags, strict=True))
    loading.use(before)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", [name for name in GEOMETRIES if name != "one tap"])
def test_results_and_gradients(library, emulated, name, transposed):
    x_sizes, w_sizes, options = GEOMETRIES[name]
    if transposed:
        x_sizes = (*x_sizes[:1], w_sizes[0], *x_sizes[2:])
    outputs = w_sizes[1] * options.get("groups", 1) if transposed else w_sizes[0]
    ndim = len(x_sizes) - 2
    function = getattr(F, f"conv_transpose{ndim}d" if transposed else f"conv{ndim}d")
    leaves = [randn(*x_sizes), randn(*w_sizes), randn(outputs)]
    twins = [each.cuda().requires_grad_() for each in leaves]
    leaves = [each.requires_grad_() for each in leaves]
    expected, got = function(*leaves, **options), function(*twins, **options)
    assert torch.allclose(got.cpu(), expected, rtol=1e-4, atol=1e-4)
    weights = randn(*expected.shape)
    expected.backward(weights)
    got.backward(weights.cuda())
    for ours, theirs in zip(twins, leaves, strict=True):
        assert torch.allclose(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)
    first = "input" if transposed else "forward"
    others = {"forward", "weight"} if transposed else {"input", "weight"}
    directions = [direction for _, direction in library.calls]
    assert directions[0] == first and set(directions[1:]) == others
    assert not [call for call in emulated.named("launch") if "_convolution" in call[1]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_dtypes(library, dtype):
    x, w = randn(2, 3, 5, 5).to(dtype), randn(4, 3, 3, 3).to(dtype)
    got, expected = F.conv2d(x.cuda(), w.cuda()).cpu(), F.conv2d(x, w)
    tolerance = 1e-10 if dtype is torch.float64 else 2e-2
    assert got.dtype is dtype and torch.allclose(got, expected, rtol=tolerance, atol=tolerance)
    assert library.calls == [(TENSOR_CORES, "forward")]


def convolve(dtype=torch.float32):
    """A small convolution on a device."""
    x, w = torch.ones(1, 2, 4, 4, dtype=dtype), torch.ones(2, 2, 2, 2, dtype=dtype)
    return F.conv2d(x.cuda(), w.cuda())


def test_switches_are_read_by_every_call(library):
    convolve()
    switches.allow_tf32 = False
    convolve()
    switches.deterministic = True
    convolve()
    switches.allow_tf32 = True
    convolve()
    switches.allow_tf32 = False
    convolve(torch.float16)
    switches.enabled = False
    convolve()
    engines = [engine for engine, _ in library.calls]
    assert engines == [TENSOR_CORES, ATOMIC, PLAIN, TENSOR_CORES, TENSOR_CORES]


def test_benchmark_runs_every_plan_and_keeps_the_fastest(library, emulated, monkeypatch):
    times = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(type(emulated), "elapsed_time", lambda *arguments: next(times))
    switches.benchmark = True
    first, second = convolve(), convolve()
    tried = [engine for engine, _ in library.calls]
    assert tried[:6] == [TENSOR_CORES] * 2 + [ATOMIC] * 2 + [PLAIN] * 2
    assert tried[6:] == [ATOMIC, ATOMIC]
    assert first.cpu().tolist() == second.cpu().tolist()


def test_benchmark_limit(library, monkeypatch):
    switches.benchmark, switches.benchmark_limit = True, 1
    convolve()
    assert {engine for engine, _ in library.calls} == {TENSOR_CORES}


def test_products_compute_what_no_engine_can(library, emulated, monkeypatch):
    monkeypatch.setattr(standin_cudnn, "PROPOSED", {3: (REFUSED,), 2: ()})
    assert convolve().cpu().tolist() == [[[[8.0] * 3] * 3] * 2]
    assert not library.calls
    assert any("_convolution_taps" in call[1] for call in emulated.named("launch"))


def test_elements_that_it_does_not_convolve(library):
    x, w = torch.ones(1, 1, 3, 3, dtype=torch.int32), torch.ones(1, 1, 2, 2, dtype=torch.int32)
    assert F.conv2d(x.cuda(), w.cuda()).cpu().tolist() == [[[[4, 4], [4, 4]]]]
    assert not library.calls


def test_a_graph_replays_it(library):
    x, w = torch.ones(1, 2, 4, 4).cuda(), torch.ones(2, 2, 2, 2).cuda()
    F.conv2d(x, w)
    switches.benchmark = True  # measuring waits, so a capture keeps to the heuristics
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = F.conv2d(x, w)
    x.fill_(2)
    graph.replay()
    assert y.cpu().tolist() == [[[[16.0] * 3] * 3] * 2]


def test_what_users_ask_about_it(library, monkeypatch):
    monkeypatch.setattr(availability, "missing", tuple)
    assert torch.backends.cudnn.is_available() and torch.backends.cudnn.version() == 91800
    x = torch.ones(2)
    assert torch.backends.cudnn.is_acceptable(x.cuda())
    assert not torch.backends.cudnn.is_acceptable(x)
    assert not torch.backends.cudnn.is_acceptable(x.int().cuda())
    loading.use({"cublas": None})
    assert not torch.backends.cudnn.is_available() and torch.backends.cudnn.version() is None


def test_memory_that_lies_elsewhere_is_told(library):
    """A variant pack is kept as long as addresses are the same."""
    w, made = torch.ones(1, 1, 1, 2).cuda(), []
    for value in (1.0, 2.0, 3.0):
        x = torch.full((1, 1, 2, 2), value).cuda()
        made.append((x, F.conv2d(x, w)))
    assert [y.flatten().tolist() for _, y in made] == [[2.0] * 2, [4.0] * 2, [6.0] * 2]
    assert count(library, "VARIANT_PACK") == 1


def count(library, kind):
    """How many descriptors of a kind there are."""
    return [each.kind for each in library.objects.values()].count(kind)


def test_a_bias_is_added_by_the_same_kernel(library, emulated):
    x, w, b = randn(2, 3, 5, 5), randn(4, 3, 3, 3), randn(8)[::2]
    there = [each.cuda() for each in (x, w)]
    bias = randn(8).cuda()[::2]
    before = len(emulated.named("launch"))
    got = F.conv2d(*there, bias)
    launched = len(emulated.named("launch")) - before
    assert torch.allclose(got.cpu(), F.conv2d(x, w, b), atol=1e-4)
    assert launched == 1  # the copy of the bias, which is not dense
    assert [direction for _, direction in library.calls] == ["forward"]


def test_a_bias_that_no_engine_adds(library, monkeypatch):
    monkeypatch.setattr(standin_cudnn, "PLANS_BIAS", False)
    x, w, b = randn(2, 3, 5, 5), randn(4, 3, 3, 3), randn(4)
    for _ in range(2):
        got = F.conv2d(x.cuda(), w.cuda(), b.cuda())
        assert torch.allclose(got.cpu(), F.conv2d(x, w, b), atol=1e-4)
    assert [direction for _, direction in library.calls] == ["forward"] * 2
    assert count(library, "EXECUTION_PLAN") == 1


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_channels_that_come_last_are_read_where_they_lie(library, emulated, dims):
    x, w = randn(2, *[5] * dims, 3), randn(4, *[2] * dims, 3)
    on_cuda = [each.cuda().movedim(-1, 1).requires_grad_() for each in (x, w)]
    leaves = [each.movedim(-1, 1).requires_grad_() for each in (x, w)]
    weights = randn(2, *[4] * dims, 4)
    function = getattr(F, f"conv{dims}d")
    there = weights.cuda().movedim(-1, 1)
    before = len(emulated.named("launch"))
    got = function(*on_cuda)
    gradients = torch.autograd.grad(got, on_cuda, there)
    laid_out = 0 if dims == 1 else 3  # the result and both gradients, which lie channels-last, too
    assert len(emulated.named("launch")) == before + laid_out
    expected = function(*leaves)
    assert torch.allclose(got.cpu(), expected, atol=1e-4)
    theirs = torch.autograd.grad(expected, leaves, weights.movedim(-1, 1))
    for ours, wanted in zip(gradients, theirs, strict=True):
        assert torch.allclose(ours.cpu(), wanted, rtol=1e-4, atol=1e-4)


def test_only_a_plan_and_its_configuration_are_kept(library, monkeypatch):
    monkeypatch.setattr(standin_cudnn, "PLANS_BIAS", False)
    switches.benchmark = True
    x, w = randn(2, 3, 5, 5).cuda(), randn(4, 3, 3, 3).cuda()
    F.conv2d(x, w, randn(4).cuda())
    kinds = sorted(each.kind for each in library.objects.values())
    assert kinds == ["ENGINECFG", "EXECUTION_PLAN", "VARIANT_PACK", "library"]


def test_plans_that_are_not_used_are_given_back(library, emulated, monkeypatch):
    monkeypatch.setattr(convolutions, "PLANS_KEPT", 2)
    w, x = randn(1, 1, 2, 2).cuda(), randn(1, 1, 3, 3)
    there, graph = x.cuda(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = F.conv2d(there, w)
    waits = len(emulated.named("synchronize"))
    for size in (4, 5, 6, 7):
        F.conv2d(randn(1, 1, size, size).cuda(), w)
    assert count(library, "EXECUTION_PLAN") == count(library, "VARIANT_PACK") == 3
    assert len(emulated.named("synchronize")) == waits + 2  # before each that is given back
    graph.replay()
    assert torch.allclose(result.cpu(), F.conv2d(x, w.cpu()), atol=1e-4)


def test_a_plan_of_less_memory_where_there_is_no_more(library, emulated, monkeypatch):
    x, w = randn(2, 3, 5, 5).cuda(), randn(4, 3, 3, 3).cuda()
    F.conv2d(x, w)
    monkeypatch.setattr(workspace, "BYTES", 0)  # of streams, from which plans take theirs first
    limit, allocate = [80], allocator.Allocator.buffer

    def buffer(self, numel, dtype, stream):
        if dtype == np.uint8 and numel > limit[0]:
            raise torch.OutOfMemoryError
        return allocate(self, numel, dtype, stream)

    monkeypatch.setattr(allocator.Allocator, "buffer", buffer)
    for limit[0] in (80, 40, 10):
        got = F.conv2d(x, w)
        assert torch.allclose(got.cpu(), F.conv2d(x.cpu(), w.cpu()), atol=1e-4)
    assert [engine for engine, _ in library.calls] == [TENSOR_CORES, ATOMIC, PLAIN]
    assert count(library, "EXECUTION_PLAN") == 0


def test_plans_work_in_the_workspace_of_the_stream(library, emulated):
    """Which is there, so that nothing is allocated but results, and packs may stay as they are."""
    x, w = randn(2, 3, 5, 5).cuda(), randn(4, 3, 3, 3).cuda()
    kept = F.conv2d(x, w)
    allocated = torch.cuda.memory_stats()["allocation.all.allocated"]
    place = kept.data_ptr()
    del kept
    assert F.conv2d(x, w).data_ptr() == place
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == allocated + 1
    assert count(library, "VARIANT_PACK") == 1


def test_an_engine_that_fails_to_be_compiled_is_left_out(library, monkeypatch):
    finalize = StandInCudnn.finalize

    def fail(self, descriptor):
        if self.objects[descriptor].kind == "EXECUTION_PLAN" and not failed:
            failed.append(descriptor)
            raise errors.library_call_failed("cuDNN", "cudnnBackendFinalize", "4001", 4001)
        finalize(self, descriptor)

    failed: list[int] = []
    monkeypatch.setattr(standin_cudnn, "PROPOSED", {3: (TENSOR_CORES, ATOMIC), 2: ()})
    monkeypatch.setattr(StandInCudnn, "finalize", fail)
    convolve()
    assert failed and [engine for engine, _ in library.calls] == [ATOMIC]
