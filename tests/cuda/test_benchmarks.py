"""The benchmark on a GPU: refused without one, and every case runs, on the emulated device."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import torchgen_out as torch
from benchmarks import cuda, cuda_cases
from benchmarks.cuda import Row, Times
from benchmarks.cuda_cases import COPY, Case

CASES = cuda_cases.cases(small=True)
WITHOUT_A_CALL = ("a[1:5]", "a.view(2, 4)", "a.t()", "torch.empty(8, device=a.device)")
"""Of the driver: these only make tensors."""


@pytest.fixture(autouse=True)
def precision():
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def _usual(case):
    """Every kind of case in float32, all with `-m full`."""
    is_usual = case.operands.endswith("float32") or case.group == "Training steps"
    marks = () if is_usual else pytest.mark.full
    return pytest.param(case, id=f"{case.group}-{case.title}-{case.operands}", marks=marks)


@pytest.mark.parametrize("case", [_usual(case) for case in CASES])
def test_every_case_runs(emulated, case):
    call = case.make(torch)
    before = len(emulated.calls)
    call()
    is_silent = "@" in case.title or case.title.strip("`") in WITHOUT_A_CALL
    assert len(emulated.calls) > before or is_silent


def test_a_step_is_replayed(emulated):
    case = next(each for each in CASES if each.title == "tiny MLP 2-16-2, graph")
    replay = case.make(torch)
    launches = len(emulated.named("launch"))
    replay()
    assert len(emulated.named("launch_graph")) == 1
    assert len(emulated.named("launch")) == launches


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
    case = Case("Memory", "`a + b`", "1000 float32", lambda library: None, 12e9, "GB/s")
    copy = case._replace(title=f"`{COPY}`")
    pytorch = SimpleNamespace(
        cuda=SimpleNamespace(get_device_name=lambda index: "A card"), __version__="2.13"
    )
    rows = [
        Row(case, Times(1e-6, 0.5), Times(2e-6, 1.0)),
        Row(copy, Times(1e-6, 0.4), Times(2e-6, 0.1)),
    ]
    page = cuda.page(rows, pytorch)
    assert "A card, PyTorch 2.13" in page and "## Memory" in page
    assert "host 0.50, device 1.41" in page
    cells = "| 1.00 | 2.00 | 0.50 | 500000.00 | 1000000.00 | 0.50 | 24.0 GB/s, 80% |"
    assert f"| `a + b` | 1000 float32 {cells}" in page


def test_times_grow_with_work(emulated):
    found = cuda.measure(lambda: sum(range(2000)), torch, rounds=2)
    assert 1e-6 < found.host <= found.device < 1e-2
