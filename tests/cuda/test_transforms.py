"""Fourier transforms on an emulated device against the CPU, and the plans made for them."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch

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
    from runtime.backends.cuda.libraries import cufft

    monkeypatch.setattr(cufft, "PLANS_KEPT", 2)
    for size in (3, 4, 3, 5, 3):
        torch.fft.fft(torch.ones(size, dtype=torch.complex64, device="cuda"))
    assert len(libraries["cufft"].objects) == 2
    assert [call[1] for call in libraries["cufft"].calls if call[0] == "plan"] == [(3,), (4,), (5,)]
