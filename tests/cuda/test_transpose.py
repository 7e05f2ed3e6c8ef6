"""Copies of transposed memory through tiles: compiled, and run as text against the CPU."""

from __future__ import annotations

import pytest

import torchgen_out as torch
from tests.cuda.compiling import check, needs_extra
from torchgen_out._runtime.backends.cuda import launching
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.copy import copy
from torchgen_out._runtime.kernels.cuda.loops import transpose

CASES = {
    "two dims": ((40, 50), lambda x: x.t()),
    "just a tile": ((32, 32), lambda x: x.t()),
    "a narrow one": ((9, 70), lambda x: x.t()),
    "a batch": ((2, 20, 35), lambda x: x.transpose(1, 2)),
    "outer dims": ((3, 12, 2, 33), lambda x: x[:, :, 1:].permute(2, 0, 3, 1)),
    "a slice": ((40, 50), lambda x: x[3:, 1:48].t()),
}


def _kernels(emulated) -> list[str]:
    return [name for _, name, *_ in emulated.named("launch")]


@pytest.mark.parametrize("case", CASES)
def test_copies(emulated, case):
    sizes, make = CASES[case]
    x = torch.arange(float(torch.Size(sizes).numel())).view(sizes)
    got = make(x.cuda()).contiguous()
    assert got.is_contiguous() and torch.equal(got.cpu(), make(x))
    assert _kernels(emulated) == ["element_transposing"]


def test_casts_and_formulas(emulated):
    x = torch.arange(1200.0).view(30, 40) / 7
    target = torch.empty(40, 30, dtype=torch.float16, device="cuda")
    assert torch.equal(target.copy_(x.cuda().t()).cpu(), x.t().half())
    out = torch.empty(40, 30, device="cuda")
    assert torch.equal(torch.sqrt(x.cuda().t(), out=out).cpu(), x.t().sqrt())
    assert _kernels(emulated) == ["element_transposing", "sqrt__transposing"]
    added = torch.empty(40, 30, device="cuda")
    torch.add(x.cuda().t(), x.cuda().t(), alpha=2, out=added)
    assert torch.allclose(added.cpu(), 3 * x.t())


def test_several_tiles_for_a_block(emulated, monkeypatch):
    monkeypatch.setattr(launching, "processors", lambda index: 1)
    monkeypatch.setattr(launching, "BLOCKS_PER_PROCESSOR", 2)
    x = torch.arange(4400.0).view(40, 110)
    assert torch.equal(x.cuda().t().contiguous().cpu(), x.t())
    assert emulated.named("launch")[0][2] == (2, 1)


@needs_extra
@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("outer", [0, 1, 3])
def test_kernels_compile(dtype, outer):
    own = dtypes.by_name(dtype)
    source = transpose.transposing_kernel(copy.copy_spec(own, own), outer, outer == 3)
    code = check(source, own.itemsize > 8)
    assert "st.shared" in code and "bar.sync" in code
