"""Results, memory and streams shared with PyTorch on the same GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch

pytorch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def theirs(device):
    """PyTorch with CUDA on the same device."""
    if not pytorch.cuda.is_available():
        pytest.skip("PyTorch is installed without CUDA")
    return pytorch.device("cuda", device.index)


def test_memory_goes_both_ways(device, theirs):
    x = torch.arange(12.0, device=device).reshape(3, 4)
    seen = pytorch.from_dlpack(x)
    assert seen.data_ptr() == x.data_ptr() and seen.tolist() == x.tolist()
    seen.add_(1)
    assert x[0, 0].item() == 1.0
    back = torch.from_dlpack(pytorch.full((3,), 2.0, device=theirs))
    assert back.is_cuda and back.tolist() == [2.0] * 3
    described = torch.as_tensor(pytorch.ones(5, device=theirs)[::2])
    assert described.is_cuda and described.stride() == (2,) and described.tolist() == [1.0] * 3
    assert pytorch.as_tensor(x, device=theirs).data_ptr() == x.data_ptr()


def test_streams_of_both_libraries_wait(device, theirs):
    side = pytorch.cuda.Stream()
    with pytorch.cuda.stream(side):
        x = pytorch.full((1 << 22,), 3.0, device=theirs)
        for _ in range(50):
            x = x * 1.0
        ours = torch.from_dlpack(x)
    assert (ours == 3.0).all().item()


STATEMENTS = {
    "matrix product": ("a @ b", {"a": (64, 96), "b": (96, 48)}),
    "batched product": ("torch.bmm(a, b)", {"a": (5, 16, 24), "b": (5, 24, 8)}),
    "addmm": ("torch.addmm(c, a, b, beta=0.5)", {"a": (8, 9), "b": (9, 7), "c": (7,)}),
    "convolution": (
        "torch.nn.functional.conv2d(a, b, stride=2, padding=1)",
        {"a": (2, 8, 17, 15), "b": (12, 8, 3, 3)},
    ),
    "transposed convolution": (
        "torch.nn.functional.conv_transpose2d(a, b, stride=2, padding=1)",
        {"a": (2, 8, 7, 9), "b": (8, 6, 4, 4)},
    ),
    "transform": ("torch.fft.rfftn(a).abs()", {"a": (4, 12, 10)}),
    "solution": ("torch.linalg.solve(a + 9 * torch.eye(6, device=a.device), b)",
                 {"a": (3, 6, 6), "b": (3, 6, 2)}),
    "singular values": ("torch.linalg.svdvals(a)", {"a": (3, 7, 5)}),
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_agree(device, theirs, name, dtype):
    text, sizes = STATEMENTS[name]
    rng = np.random.default_rng(0)
    arrays = {key: rng.standard_normal(size).astype(dtype) for key, size in sizes.items()}

    def run(library: Any, on: Any) -> Any:
        made = {key: library.tensor(value, device=on) for key, value in arrays.items()}
        return eval(text, {"torch": library, **made}).cpu().numpy()

    got, expected = run(torch, device), run(pytorch, theirs)
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(got, expected, tolerance, tolerance)
