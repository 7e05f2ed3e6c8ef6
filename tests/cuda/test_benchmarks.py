"""The benchmark on a GPU: refused without one, and every case runs, on the emulated device."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import torchgen_out as torch
from benchmarks import cuda
from benchmarks.cuda import Times


@pytest.mark.parametrize("case", cuda.cases(small=True), ids=lambda c: f"{c.group}-{c.text}")
def test_every_case_runs(emulated, case):
    call = cuda.make(case, torch)
    before = len(emulated.calls)
    call()
    is_view = case.text in ("a[1:5]", "a.view(2, 4)", "a.t()", "torch.empty(8, device=a.device)")
    assert (len(emulated.calls) > before) or is_view or "@" in case.text


def test_it_says_what_is_missing(no_gpu):
    pytorch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    assert "NVIDIA driver" in cuda.refusal(pytorch, ("no NVIDIA driver",))
    assert "without CUDA" in cuda.refusal(pytorch, ())
    pytorch.cuda.is_available = lambda: True
    assert cuda.refusal(pytorch, ()) == ""
    pytest.importorskip("torch")
    with pytest.raises(SystemExit, match="Found no NVIDIA driver"):
        cuda.run(1, "")


def test_the_page():
    case = cuda.Case("Memory", "a + b", ((1000,), (1000,)), "float32", 12e9, "GB/s")
    pytorch = SimpleNamespace(
        cuda=SimpleNamespace(get_device_name=lambda index: "A card"), __version__="2.13"
    )
    page = cuda.page([(case, Times(1e-6, 0.5), Times(2e-6, 1.0))], pytorch)
    assert "A card, PyTorch 2.13" in page and "## Memory" in page
    cells = (
        "| `a + b` | 1000, 1000 float32 | 1.00 | 2.00 | 500000.00 | 1000000.00 | 0.50 | 24.0 GB/s |"
    )
    assert cells in page


def test_times_grow_with_work(emulated):
    found = cuda.measure(lambda: sum(range(2000)), torch, rounds=2)
    assert 1e-6 < found.host <= found.device < 1e-2
