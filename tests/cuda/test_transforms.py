"""Fourier transforms on an emulated device against the CPU, and the plans made for them."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import torchgen_out as torch
from tests.cuda import standin_cufft
from torchgen_out._runtime.backends.cuda.libraries import cufft

pytestmark = pytest.mark.usefixtures("emulated")


def _numbers(*sizes: int) -> Any:
    made = torch.randn(*sizes, generator=torch.Generator().manual_seed(len(sizes)))
    return made, torch.complex(made, made.flip(0) if len(sizes) else made)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dim", [(1,), (0, 2), (3, 1, 0), (0, 1, 2, 3)])
def test_any_dims(dim, norm):
    real, complex_ = _numbers(2, 3, 4, 5)
    for name, x in (("rfftn", real), ("fftn", complex_), ("ifftn", complex_), ("irfftn", complex_)):
        function = getattr(torch.fft, name)
        got, expected = (function(each, dim=dim, norm=norm) for each in (x.cuda(), x))
        assert got.is_cuda and got.dtype == expected.dtype
        assert torch.allclose(got.cpu(), expected, rtol=1e-4, atol=1e-4), name


def test_memory_in_any_layout_and_results_that_are_given():
    _, x = _numbers(4, 6)
    seen = x.cuda().t()
    assert torch.allclose(torch.fft.fft(seen).cpu(), torch.fft.fft(x.t()), atol=1e-4)
    out = torch.empty(6, 4, dtype=torch.complex64, device="cuda")
    assert torch.fft.fft(seen, out=out) is out
    assert torch.allclose(out.cpu(), torch.fft.fft(x.t()), atol=1e-4)
    assert torch.equal(seen.cpu(), x.t())


def test_what_is_transformed_back_is_not_written_to():
    _, x = _numbers(4, 6)
    half = x.cuda()
    torch.fft.irfft(half)
    assert torch.equal(half.cpu(), x)


def test_what_is_copied_to_be_transformed_back(emulated):
    """Once: where it is brought into another order, or else since the library writes over it."""
    _, x = _numbers(4, 6)
    half = x.cuda()
    for dim, copies in ((0, 2), (1, 1)):  # that of the result included, in the first case
        calls = len(emulated.named("launch")), len(emulated.named("copy"))
        torch.fft.irfft(half, dim=dim, norm="forward")
        launched = len(emulated.named("launch")) - calls[0]
        assert launched + len(emulated.named("copy")) - calls[1] == copies
    _, x = _numbers(2, 3, 2, 3, 2)
    got, expected = (torch.fft.irfftn(each) for each in (x.cuda(), x))
    assert torch.allclose(got.cpu(), expected, atol=1e-5)


def test_gradients():
    x, _ = _numbers(4, 6)
    twin = x.cuda().requires_grad_()
    leaf = x.requires_grad_()
    for each in (twin, leaf):
        torch.fft.fft(each).abs().square().sum().backward()
    assert torch.allclose(twin.grad.cpu(), leaf.grad, rtol=1e-4, atol=1e-4)


def test_a_plan_is_made_once(libraries):
    _, x = _numbers(4, 6)
    side = torch.cuda.Stream()
    torch.fft.fft(x.cuda())
    with torch.cuda.stream(side):
        torch.fft.ifft(x.cuda())
    assert libraries["cufft"].calls == [
        ("plan", (6,), 4), ("exec", -1, 0), ("exec", 1, side.cuda_stream),
    ]  # fmt: skip


def test_plans_that_are_not_used_are_given_back(libraries, monkeypatch):
    monkeypatch.setattr(cufft, "PLANS_KEPT", 2)
    for size in (3, 4, 3, 5, 3):
        torch.fft.fft(torch.ones(size, dtype=torch.complex64, device="cuda"))
    assert len(libraries["cufft"].objects) == 2
    assert [call[1] for call in libraries["cufft"].calls if call[0] == "plan"] == [(3,), (4,), (5,)]


def test_real_numbers_that_lie_between_complex_ones():
    """The library wants them aligned like complex numbers, those that it writes as well."""
    x = torch.randn(9)
    there = x.cuda()
    for start in (0, 1, 2):
        part = slice(start, start + 6)
        assert torch.allclose(torch.fft.rfft(there[part]).cpu(), torch.fft.rfft(x[part]), atol=1e-5)
        out = torch.zeros(9, device="cuda")
        half = torch.fft.rfft(x[:6])
        torch.fft.irfft(half.cuda(), out=out[part])
        assert torch.allclose(out.cpu()[part], x[:6], atol=1e-5)


def test_plans_of_a_graph_stay(libraries, monkeypatch):
    monkeypatch.setattr(cufft, "PLANS_KEPT", 1)
    x, graph = torch.randn(3), torch.cuda.CUDAGraph()
    there = x.cuda()
    with torch.cuda.graph(graph):
        result = torch.fft.fft(there)
    for size in (4, 5):
        torch.fft.fft(torch.ones(size).cuda())
    graph.replay()
    assert torch.allclose(result.cpu(), torch.fft.fft(x), atol=1e-5)
    torch.fft.fft(there)
    assert [call[1] for call in libraries["cufft"].calls if call[0] == "plan"] == [(3,), (4,), (5,)]
    assert [each.sizes for each in libraries["cufft"].objects.values()] == [(3,)]


def test_plans_stay_while_another_thread_captures(libraries, monkeypatch):
    """To give one back frees memory, which would end the capture."""
    monkeypatch.setattr(cufft, "PLANS_KEPT", 1)
    inputs = [torch.ones(size, dtype=torch.complex64).cuda() for size in (3, 4, 5, 6)]

    def work():
        for x in inputs[:3]:
            torch.fft.fft(x)

    with torch.cuda.graph(torch.cuda.CUDAGraph(), capture_error_mode="thread_local"):
        other = threading.Thread(target=work)
        other.start()
        other.join()
        assert len(libraries["cufft"].objects) == 3
    torch.fft.fft(inputs[3])
    assert [each.sizes for each in libraries["cufft"].objects.values()] == [(6,)]


def test_plans_that_cannot_be_made_are_given_back(libraries, monkeypatch):
    monkeypatch.setattr(standin_cufft, "MOST_OF_A_BATCH", 3)
    with pytest.raises(RuntimeError, match="cuFFT error"):
        torch.fft.fft(torch.ones(4, 5).cuda())
    assert not libraries["cufft"].objects
