"""What NVIDIA's libraries are particular about: alignment, many matrices, layouts, first calls."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests.gpu.conftest import is_emulated
from torchgen_out import nn

F = nn.functional


def compare(got: Any, expected: Any, tolerance: float = 1e-3) -> None:
    """Equal numbers."""
    assert got.is_cuda and torch.allclose(got.cpu(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("start", [0, 1, 2, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_bias_that_lies_anyhow(device, dtype, start):
    x, w, b = (torch.randn(*sizes).to(dtype) for sizes in ((64, 48), (40, 48), (48,)))
    got = F.linear(x.to(device), w.to(device), b.to(device)[start : start + 40])
    expected = F.linear(x.float(), w.float(), b.float()[start : start + 40])
    compare(got.float(), expected, 1e-3 if dtype.itemsize > 2 else 0.2)


@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_real_numbers_between_complex_ones(device, start):
    x = torch.randn(3, 35)
    there, rows = x.to(device).flatten(), slice(start, start + 70)
    compare(torch.fft.rfft(there[rows]), torch.fft.rfft(x.flatten()[rows]))
    out, half = torch.zeros(80, device=device), torch.fft.rfft(x.flatten()[:70])
    torch.fft.irfft(half.to(device), out=out[rows])
    compare(out[rows], x.flatten()[:70])


@pytest.fixture
def many(request) -> int:
    """More matrices than libraries take at once; on the emulated driver some."""
    return 30 if is_emulated(request.config) else 70000


def test_many_matrices(device, many):
    a = torch.randn(many, 3, 3)
    there = a.to(device)
    compare(there @ there, a @ a)
    compare(torch.baddbmm(there, there, there), torch.baddbmm(a, a, a))
    compare(torch.linalg.eigvalsh(there + there.mT), torch.linalg.eigvalsh(a + a.mT))
    compare(torch.linalg.svdvals(there), torch.linalg.svdvals(a))


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
@pytest.mark.parametrize("UPLO", ["L", "U"])
def test_eigenvectors_of_many_matrices(device, dtype, UPLO):
    a = torch.randn(50, 12, 12, dtype=dtype)
    a = a + a.mH
    values, vectors = torch.linalg.eigh(a.to(device), UPLO=UPLO)
    compare(values, torch.linalg.eigvalsh(a))
    product = (vectors * values.unsqueeze(-2).to(dtype)) @ vectors.mH
    compare(product, a)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("taps", [1, 2])
def test_channels_that_come_last_and_a_bias(device, dims, taps):
    x, w = torch.randn(2, *[3] * dims, 4), torch.randn(8, *[taps] * dims, 4)
    leaves = [each.movedim(-1, 1).requires_grad_() for each in (x, w)]
    leaves.append(torch.randn(8).requires_grad_())
    twins = [each.to(device).movedim(-1, 1).requires_grad_() for each in (x, w)]
    twins.append(leaves[-1].detach().to(device).requires_grad_())
    function = getattr(F, f"conv{dims}d")
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        got, expected = function(*twins), function(*leaves)
        compare(got, expected)
        weights = torch.randn(*expected.shape)
        ours = torch.autograd.grad(got, twins, weights.to(device))
    for mine, theirs in zip(ours, torch.autograd.grad(expected, leaves, weights), strict=True):
        compare(mine, theirs, 3e-3)


FIRST_CALLS = {
    "product": lambda x: x @ x,
    "dot": lambda x: torch.dot(x[0], x[1]),
    "transform": lambda x: torch.fft.fft(x),
    "convolution": lambda x: F.conv2d(x[None, None], torch.ones_like(x)[None, None, :3, :3]),
}


@pytest.mark.parametrize("name", FIRST_CALLS)
def test_first_calls_may_be_captured(device, name):
    """No handle, plan or algorithm need be there before."""
    function, size = FIRST_CALLS[name], 5 + len(name)
    x = torch.randn(size, size)
    there, graph = x.to(device), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function(there)
    for _ in range(2):
        x = torch.randn(size, size)
        there.copy_(x)
        graph.replay()
        compare(result, function(x), 2e-2)
