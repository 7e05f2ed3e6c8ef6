"""What follows from sorted rows, on an emulated device against the CPU: runs, ranks, NaN."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.cuda.compiling import check
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.cuda import rows
from torchgen_out._runtime.kernels.cuda.compiling import compiler

pytestmark = pytest.mark.usefixtures("emulated")
NAN = float("nan")
ROWS = [[2.0, NAN, 1.0, 2.0, NAN, 1.0], [3.0, 3.0, -0.0, 0.0, 3.0, 0.0], [NAN] * 6]


def compare(function: Any, x: Any) -> None:
    got, expected = function(x.cuda()), function(x)
    pairs = [(got, expected)] if isinstance(got, torch.Tensor) else zip(got, expected, strict=True)
    for ours, theirs in pairs:
        assert ours.dtype is theirs.dtype and ours.stride() == theirs.stride()
        assert torch.equal(ours.cpu().nan_to_num(9.0), theirs.nan_to_num(9.0)), (ours, theirs)


def values(dtype: Any) -> Any:
    x = torch.tensor(ROWS)
    return (x if dtype.is_floating_point else x.nan_to_num(4.0)).to(dtype)


DTYPES = [dtypes.float32, dtypes.float16, dtypes.int32, dtypes.uint8, dtypes.bool]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_modes(dtype, dim):
    compare(lambda x: torch.mode(x, dim), values(dtype))
    compare(lambda x: torch.mode(x.mT, dim, True), values(dtype))
    compare(lambda x: torch.mode(x[0, 0], dim if dim < 1 else 0), values(dtype))


@pytest.mark.parametrize("dtype", DTYPES[:4], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_ranks(dtype, dim):
    for function in (torch.median, torch.nanmedian):
        compare(lambda x, f=function: f(x, dim), values(dtype))
        compare(lambda x, f=function: f(x.mT, dim, True), values(dtype))
        compare(lambda x, f=function: f(x), values(dtype))
        compare(lambda x, f=function: f(x[:0]), values(dtype))
        compare(lambda x, f=function: f(x[0, 0]), values(dtype))
    for k in (1, 3):
        compare(lambda x, k=k: torch.kthvalue(x, k, dim), values(dtype))


ASKED = {"return_inverse": True, "return_counts": True}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_distinct_values(dtype):
    for dim in (None, 0, 1):
        for function in (torch.unique, torch.unique_consecutive):
            compare(lambda x, f=function, d=dim: f(x, dim=d, **ASKED), values(dtype))
            compare(lambda x, f=function, d=dim: f(x.mT, dim=d), values(dtype))
            none = values(dtype)[:, :0] if dim == 1 else values(dtype)[:0]
            compare(lambda x, f=function, d=dim: f(x, dim=d, **ASKED), none)
    compare(lambda x: torch.unique(x[0, 0], **ASKED), values(dtype))


def test_what_no_slices_are_of():
    x = torch.ones(2, 0, 3, device="cuda")
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        torch.unique(x, dim=0)
    with pytest.raises(IndexError):
        torch.unique(x, dim=3)
    with pytest.raises(NotImplementedError, match="ComplexFloat"):
        torch.unique(torch.ones(2, dtype=torch.complex64, device="cuda"))


LINES = [
    ([0], []),
    ([0, 0, 0], []),
    ([0, 2, 2, 5], [0, 2, 0, 1, 2]),
    ([0, 2, 2, 5], [2, 2, 0, 2, 1]),
    ([0, 2, 4, 3], [2, 0, 5]),
    ([1, 2, 3], [0, -1, 1]),
]


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64], ids=str)
@pytest.mark.parametrize(("compressed", "plain"), LINES)
def test_rules_of_compressed_indices(compressed, plain, dtype):
    given = [torch.tensor(each, dtype=dtype) for each in (compressed, plain)]
    expected = ops._line_faults(*given, 3)
    assert torch.equal(ops._line_faults(*[each.cuda() for each in given], 3).cpu(), expected)
    stacked = [torch.stack([each, each]) for each in given]
    got = ops._line_faults(*[each.cuda() for each in stacked], 3)
    assert torch.equal(got.cpu(), ops._line_faults(*stacked, 3))


def test_points_on_edges():
    points = torch.tensor([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [NAN, 1.0], [0.5, 3.5], [2.0, 1.0]])
    edges = torch.tensor([0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 3.0])
    for weights in (None, torch.arange(6.0)):
        expected = ops._bin_sums(points, edges, (3, 2), weights)
        on_device = None if weights is None else weights.cuda()
        assert torch.equal(
            ops._bin_sums(points.cuda(), edges.cuda(), (3, 2), on_device).cpu(), expected
        )


WAYS = {"by warps": {}, "by blocks": {"SHORT": 0}, "in slices": {"LEAST_PER_SLICE": 2}}


@pytest.mark.parametrize("way", WAYS)
def test_running_sums(emulated, monkeypatch, way):
    """They tell where each element that is wanted goes."""
    for name, value in WAYS[way].items():
        monkeypatch.setattr(rows, name, value)
    wanted = torch.arange(300) % 7 % 3 == 1
    assert torch.equal(wanted.cuda().nonzero().cpu(), wanted.nonzero())
    weights = torch.tensor([[0.0, 0.0, 2.0], [0.0, 3.0, 0.0]]).repeat(1, 9)
    drawn = torch.multinomial(weights.cuda(), 40, replacement=True).cpu() % 3
    assert torch.equal(drawn, torch.tensor([[2], [1]]).expand(2, 40))
    sums = [each for each in emulated.sources.values() if each.name.startswith("cumsum")]
    assert {re.search(r"^T = np\.(\w+)$", each.text, re.M)[1] for each in sums} == {
        "int64", "float64",
    }  # fmt: skip
    for source in sums if compiler.is_installed() else ():
        check(source, is_double=True)


@pytest.mark.parametrize("least", [2, 1 << 20])
def test_ends_that_are_looked_for(monkeypatch, least):
    """In slices, and in one."""
    monkeypatch.setattr(rows, "LEAST_PER_SLICE", least)
    x = torch.arange(150) * 37 % 101
    assert torch.equal(torch.bincount(x.cuda()).cpu(), torch.bincount(x))
    assert torch.equal(torch.histc(x.float().cuda(), 7).cpu(), torch.histc(x.float(), 7))
    x = (x - 50).float()
    assert torch.equal(torch.histc(x.cuda(), 7).cpu(), torch.histc(x, 7))
    x[149] = NAN
    with pytest.raises(RuntimeError, match=r"range of \[nan, nan\] is not finite"):
        torch.histc(x.cuda(), 7)
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.bincount(torch.tensor([3, -(2**63), 1], device="cuda"))


MEMBERS = {
    "one dtype": ([[1, 2, 9], [3, 4, -7]], [9, 2, 2, -7]),
    "nan": ([1.0, NAN, 3.0], [NAN, 3.0]),
    "more nan": ([1.0, NAN, 3.0, 5.0], [NAN, 3.0, NAN, NAN, 1.0, NAN]),
    "two dtypes": ([[1, 2, 3]], [2.5, 3.0]),
    "no tests": ([1.0, 2.0], []),
    "a number": ([0.1, 2.0, NAN], 0.1),
    "of a number": (2.5, [0.1, 2.5]),
    "no elements": ([], [1.0]),
}


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("name", MEMBERS)
def test_members(name, invert):
    drawn = []
    for device in ("cpu", "cuda"):
        given = [
            torch.tensor(each, device=device) if isinstance(each, list) else each
            for each in MEMBERS[name]
        ]
        drawn.append(torch.isin(*given, invert=invert))
    expected, got = drawn
    assert got.dtype is dtypes.bool and torch.equal(got.cpu(), expected)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.float64], ids=str)
@pytest.mark.parametrize("right", [False, True])
def test_searches_among_nan(dtype, right):
    """It is behind all numbers, as in NumPy."""
    for count in range(5):
        sequence = np.array([1.0, 3.0, 3.0, 8.0] + [NAN] * count)
        wanted = np.array([0.0, 1.0, 3.0, 4.0, 8.0, 9.0, np.inf] + [NAN] * right)
        expected = np.searchsorted(sequence, wanted, "right" if right else "left").tolist()
        for device in ("cpu", "cuda"):
            given = [torch.tensor(each, dtype=dtype, device=device) for each in (sequence, wanted)]
            assert torch.searchsorted(*given, right=right).tolist() == expected


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.int64], ids=str)
@pytest.mark.parametrize("right, out_int32", [(False, True), (True, False)])
def test_searches(dtype, right, out_int32):
    rows = torch.tensor([[5, 1, 3, 3], [9, 7, 2, 8]], dtype=dtype)
    wanted = torch.tensor([[3, 0, 6], [9, 8, 10]], dtype=dtype)
    order = rows.argsort(-1)
    options = {"right": right, "out_int32": out_int32}
    compare(lambda x: torch.searchsorted(x, wanted.to(x.device), **options), rows.sort(-1)[0])
    compare(
        lambda x: torch.searchsorted(x, wanted.to(x.device), sorter=order.to(x.device), **options),
        rows,
    )
    compare(lambda x: torch.bucketize(x, torch.tensor([1.5, 3.0, 8.0]).to(x.device)), wanted)


def test_a_sorter_outside_is_told():
    x, order = torch.tensor([5.0, 1.0]).cuda(), torch.tensor([1, 7]).cuda()
    torch.searchsorted(x, torch.tensor([9.0]).cuda(), sorter=order)
    with pytest.raises(torch.AcceleratorError, match="searchsorted: index 7 is out of bounds"):
        torch.cuda.synchronize()
