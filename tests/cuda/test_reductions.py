"""Reductions: their kernels compiled, run as text against the CPU, and how they are cut up."""

from __future__ import annotations

import itertools

import pytest

import torchgen_out as torch
from tests import calls, harness, tolerances
from tests.cuda.compiling import check, needs_extra
from tests.cuda.test_operators import compare, on_device
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.backends.cuda import reduction as calls_of
from torchgen_out._runtime.backends.cuda.reduction import Fold, Geometry, plan_walk, slices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch.operator import Reduction, operators
from torchgen_out._runtime.kernels.cuda import rows
from torchgen_out._runtime.kernels.cuda.compiling import compiler
from torchgen_out._runtime.kernels.cuda.compiling.typed import THREADS
from torchgen_out._runtime.kernels.cuda.loops import reduction
from torchgen_out._runtime.kernels.cuda.loops.reduction import Walk
from torchgen_out._runtime.kernels.cuda.rows import Group

REDUCTIONS = [each for each in operators.values() if isinstance(each, Reduction)]
OURS = calls.Session(torch, dispatch.ops)
WALKS = (Walk(1, 1, False, False), Walk(2, 2, False, True))
WIDE = Walk(3, 1, True, False)
BLOCK, COLUMNS = Group(THREADS), Group(rows.COLUMN_ROWS, True)
UNSIGNED = ("uint32", "uint64")
SUMMED = ("bfloat16", "int32", "bool", "complex64", "float64")


def _compiled() -> list:
    """Every reduction in every dtype; most of them in the full tier."""
    made = []
    for operator, dtype in itertools.product(REDUCTIONS, dtypes.ALL):
        if dtype.name in operator.dtypes:
            is_sum = operator.name == "sum.dim_IntList" and dtype.name in SUMMED
            is_unsigned = operator.name == "amax" and dtype.name in UNSIGNED
            is_usual = dtype.name == "float32" or is_sum or is_unsigned
            marks = () if is_usual else pytest.mark.full
            made.append(pytest.param(operator.name, dtype.name, marks=marks))
    return made


@needs_extra
@pytest.mark.parametrize(("name", "dtype"), _compiled())
def test_kernels_compile(name, dtype):
    operator = operators[name]
    assert isinstance(operator, Reduction)
    spec = Fold(operator, dtypes.by_name(dtype), None).spec
    wide = bool({spec.acc.name, spec.compute.name} & {"float64", "complex128"})

    def compiled(spec, walk, group):
        source = reduction.reduction_kernel(spec, walk, group, THREADS)
        return check(source, wide, spec.acc.is_complex)

    for walk in WALKS:
        code = compiled(spec, walk, BLOCK)
        assert "shfl.sync.bfly" in code and "bar.sync" in code
        code = compiled(spec, walk, COLUMNS)
        assert "shfl.sync" not in code and "bar.sync" in code
    code = compiled(spec, WALKS[0], Group(8))
    assert "shfl.sync.bfly" in code and "bar.sync" not in code
    compiled(reduction.partial_spec(spec), WALKS[0], BLOCK)


@needs_extra
def test_wide_kernels_compile():
    operator = operators["amax"]
    assert isinstance(operator, Reduction)
    spec = Fold(operator, dtypes.float32, None).spec
    for group in (BLOCK, COLUMNS):
        source = reduction.reduction_kernel(spec, WIDE, group, THREADS)
        assert "div.u64" in check(source, False)


@pytest.fixture
def small_blocks(monkeypatch, emulated):
    """Two warps a block, and slices of a few elements, so that little work takes every path."""
    monkeypatch.setattr(calls_of, "THREADS", 64)
    monkeypatch.setattr(calls_of, "COLUMN_ROWS", 2)
    monkeypatch.setattr(calls_of, "LEAST_PER_SLICE", 70)
    monkeypatch.setattr(rows, "THREADS", 64)
    monkeypatch.setattr(rows, "LEAST_PER_COLUMN", 70)
    monkeypatch.setattr(rows, "MOST_SLICES", 3)
    monkeypatch.setattr(rows, "LEAST_PER_BLOCK", 60)
    return emulated


@pytest.mark.parametrize("name", [each.name for each in REDUCTIONS])
def test_values(small_blocks, name):
    """The samples of every operator, in three dtypes."""
    operator = harness.program().operator(name)
    for dtype in ("float32", "bfloat16", "int32"):
        if dtype not in operator.dtype_names:
            continue
        for case in [each for each in harness.cases(operator) if not each.raises][:4]:
            call = OURS.arguments(case, dtype)
            compare(on_device(call)(), call(), str(case))


SHAPES = (
    ((150,), None, "sum_rows sum_parts_groups"),
    ((40,), None, "sum_groups"),
    ((70, 5), 1, "sum_groups"),
    ((131, 21), 1, "sum_groups"),
    ((9, 55), 1, "sum_groups"),
    ((2, 130), 1, "sum_rows"),
    ((130, 2), 0, "sum_rows"),
    ((5, 33), 0, "sum_columns"),
    ((300, 33), 0, "sum_columns sum_parts_groups"),
    ((3, 5, 7), (0, 2), "sum_groups"),
    ((3, 5, 30), (0, 2), "sum_rows"),
    ((2, 3, 4, 20), (1, 3), "sum_groups"),
)


@pytest.mark.parametrize(("shape", "dim", "kernels"), SHAPES)
def test_shapes(small_blocks, shape, dim, kernels):
    x = torch.arange(float(torch.Size(shape).numel())).remainder(17).view(shape)
    got = x.cuda().sum(dim)
    assert torch.equal(got.cpu(), x.sum(dim))
    assert " ".join(name for _, name, *_ in small_blocks.named("launch")) == kernels


VIEWS = (
    lambda x: x.t(),
    lambda x: x[::2, 1:],
    lambda x: x.expand(2, 9, 80),
    lambda x: x[:, :1].expand(9, 70),
)


@pytest.mark.parametrize("make", VIEWS)
def test_strided_operands(small_blocks, make):
    x = torch.arange(720.0).remainder(13).view(9, 80)
    there, here = make(x.cuda()), make(x)
    for dim in (None, *range(here.dim())):
        assert torch.equal(there.sum(dim).cpu(), here.sum(dim))
        dims = () if dim is None else dim
        assert torch.equal(there.amax(dims).cpu(), here.amax(dims))


def test_nan_and_first_elements(small_blocks):
    x = -torch.arange(1.0, 201.0).view(2, 100)
    x[1, 77] = float("nan")
    assert torch.equal(x.cuda().amax(0).nan_to_num().cpu(), x.amax(0).nan_to_num())
    assert x.cuda().amax(1).tolist()[0] == -1.0 and x.cuda().amax(1)[1].isnan().item()
    assert x[:, :3].cuda().amin(1).tolist() == [-3.0, -103.0]


def test_nothing_to_reduce(emulated):
    empty = torch.zeros(0, 3, device="cuda")
    assert empty.sum(0).tolist() == [0.0] * 3 and empty.prod().item() == 1.0
    assert empty.mean().isnan().item() and empty.sum(1).shape == (0,)
    assert empty.all().item() is True
    with pytest.raises(RuntimeError, match="numel\\(\\) == 0"):
        empty.max()


def test_gradients_are_summed_to_their_operand(emulated):
    matrix = torch.arange(6.0, device="cuda").view(2, 3).requires_grad_()
    row = torch.ones(3, device="cuda", requires_grad=True)
    (matrix * row + 1).mean().backward()
    assert row.grad.tolist() == [0.5, pytest.approx(5 / 6), pytest.approx(7 / 6)]
    assert matrix.grad.tolist() == [[pytest.approx(1 / 6)] * 3] * 2


def test_training_step(emulated):
    """A loss, its gradients, and an optimizer, all on the device."""
    target = torch.tensor([[1.0, -2.0], [0.5, 3.0]])

    def train(device: str) -> list:
        weight = torch.zeros(2, 2, device=device, requires_grad=True)
        optimizer = torch.optim.Adam([weight], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = ((weight.tanh() - target.to(device)) ** 2).mean()
            loss.backward()
            optimizer.step()
        return [loss.detach().cpu(), weight.detach().cpu()]

    for got, expected in zip(train("cuda"), train("cpu"), strict=True):
        allowed = tolerances.GRADIENT["float32"]
        tolerances.assert_close(got.numpy(), expected.numpy(), allowed)


# -- plans --------------------------------------------------------------------------------------


def test_neighbours_are_merged():
    whole = plan_walk((4, 5, 6), (30, 6, 1), (0, 1, 2))
    assert whole.reduced == ((120,), (1,)) and whole.kept == ((1,), (0,)) and whole.by_rows
    outer = plan_walk((4, 5, 6), (30, 6, 1), (0,))
    assert (outer.kept, outer.reduced) == (((30,), (1,)), ((4,), (30,)))
    assert not outer.by_rows
    transposed = plan_walk((6, 5), (1, 6), (1,))
    assert not transposed.by_rows and transposed.reduced == ((5,), (6,))


def test_slices_fill_the_device():
    def cut(outputs: int, count: int, by_rows: bool) -> tuple[int, int]:
        return slices(Geometry(((1,), (0,)), ((1,), (0,)), outputs, count, by_rows, False), 132)

    assert cut(1, 1 << 24, True) == (528, 31776)
    assert cut(1, 1000, True) == (1, 1000)
    assert cut(100000, 1 << 20, True) == (1, 1 << 20)
    assert cut(64, 1 << 20, False)[0] == 264
    for outputs, count in itertools.product((1, 3, 500), (1, 5000, 123457)):
        splits, chunk = cut(outputs, count, True)
        assert (splits - 1) * chunk < count <= splits * chunk


def test_as_many_threads_own_a_row_as_have_elements_to_read():
    def group(pieces: int, count: int) -> int:
        return rows.group_of(132, pieces, count).threads

    assert [group(1 << 20, n) for n in (3, 8, 9, 32, 33, 1024, 1025)] == [1, 1, 8, 8, 32, 32, 256]
    assert (group(1000, 1024), group(1000, 256), group(1056, 1024)) == (256, 32, 32)


@pytest.mark.parametrize("group", [1, 8, 32])
@pytest.mark.parametrize("name", ["sum.dim_IntList", "amax", "all.dim"])
def test_groups_fold_what_rows_fold(emulated, monkeypatch, group, name):
    """However many threads own a row, also beyond the last one, and in the last warp."""
    monkeypatch.setattr(calls_of, "group_of", lambda *_: Group(group))
    x = torch.arange(21.0 * 37).remainder(19).view(21, 37)
    for count in (1, 5, 8, 37):
        rows = x[:, :count]
        got = getattr(rows.cuda(), name.partition(".")[0])(1)
        assert torch.equal(got.cpu(), getattr(rows, name.partition(".")[0])(1))


def test_large_operands_are_counted_in_64_bits():
    assert not plan_walk((1 << 20, 16), (16, 1), (1,)).wide
    assert plan_walk((1 << 20, 1 << 11), (1 << 11, 1), (1,)).wide
    assert plan_walk((2, 4), (1 << 31, 1), (1,)).wide


def test_equal_calls_are_equal(emulated):
    x = torch.rand(3, 200).cuda()
    assert x.sum().item() == x.sum().item()


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_extremes_of_bool(emulated, dim):
    """The text's own comparisons of indices are those of numbers."""
    x = torch.ones(2, 5, 3, dtype=torch.bool)
    x[0, 1, 2] = False
    for name in ("amin", "amax"):
        expected = getattr(x.int(), name)(dim).bool()
        assert torch.equal(getattr(x.cuda(), name)(dim).cpu(), expected)
    if compiler.is_installed():
        for source in emulated.sources.values():
            check(source, False)
