"""Reductions of tensors that are not dense: rows and columns that lie apart, and what is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.common.reduction_plan import Strided, plan_strided
from torchgen_out._runtime.backends.cpu.conversions import Operand
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.reduction import over_dims
from torchgen_out._runtime.kernels.cpu.loops.index_launches import Call
from torchgen_out._runtime.kernels.plan import TensorSpec

DATA = np.random.default_rng(3).standard_normal((5, 4, 40, 72)).astype(np.float32)

VIEWS = {
    "columns": np.s_[0, 0, :, :70],
    "rows": np.s_[0, 0, ::3],
    "channels": np.s_[:, 1:],
    "border": np.s_[:, :, 1:-1, 1:-1],
    "gaps": np.s_[0, :, :, ::2],
    "one": np.s_[:, :1, :, :7],
}


@pytest.fixture(params=[1, 2])
def threading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On one thread, and on two that share the smallest work."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    monkeypatch.setattr(threads, "GRAIN", 64)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "prod", "count_nonzero"])
@pytest.mark.parametrize("view", VIEWS)
def test_parts_of_tensors(view: str, name: str) -> None:
    x = DATA[VIEWS[view]]
    own = torch.from_numpy(DATA)[VIEWS[view]]
    theirs: Any = np.max if name == "amax" else getattr(np, name)
    last = x.ndim - 1
    turned = [(x, own), (x.swapaxes(0, last), own.transpose(0, last))]
    for dims in {(0,), (last,), (last - 1, last), (0, last), tuple(range(x.ndim))}:
        for values, tensor in turned:
            wide = values if name in ("amax", "count_nonzero") else values.astype(np.float64)
            dim = dims[0] if name == "prod" else dims
            found = getattr(tensor, name)(dim).numpy()
            np.testing.assert_allclose(found, theirs(wide, dim), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("name", ["sum", "amax", "any"])
def test_gaps_within_long_rows(name: str, dtype: Any) -> None:
    """Rows are copied side by side a part at a time; turned, they are columns."""
    data = (DATA.reshape(-1)[:57000].reshape(3, 19000) * 4).astype(dtype)
    theirs = {"sum": np.sum, "amax": np.max, "any": np.any}[name]
    for step in (2, 5):
        x, own = data[:, 1::step], torch.from_numpy(data)[:, 1::step]
        wide = x if name != "sum" or dtype is not np.float32 else x.astype(np.float64)
        for found, expected in [
            (getattr(own, name)(1), theirs(wide, 1)),
            (getattr(own, name)(0), theirs(wide, 0)),
            (getattr(own.t(), name)(0), theirs(wide, 1)),
            (getattr(own.t(), name)(1), theirs(wide, 0)),
            (getattr(own[1], name)(), theirs(wide[1])),
            (getattr(own, name)(), theirs(wide)),
        ]:
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.usefixtures("threading")
def test_dims_that_lie_anywhere() -> None:
    """Every order of dims, with gaps in some: nothing is read that is no element."""
    x = np.full((6, 9, 10, 14), np.nan, np.float32)
    x[::2, 1::3, :, ::2] = DATA.reshape(-1)[: 3 * 3 * 10 * 7].reshape(3, 3, 10, 7)
    for order in permutations(range(4)):
        values = x[::2, 1::3, :, ::2].transpose(order)
        own = torch.from_numpy(x)[::2, 1::3, :, ::2].permute(order)
        for count in range(1, 5):
            for dims in combinations(range(4), count):
                for name, theirs in (("mean", np.mean), ("amin", np.min)):
                    found = getattr(own, name)(dims).numpy()
                    expected = theirs(values.astype(np.float64), dims)
                    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("threading")
def test_results_are_folded_again_only_if_that_is_right() -> None:
    """A count of counts is none, and a sum that leaves NaN out would leave out what became NaN."""
    data = (DATA.reshape(40, 20, 72) > 0).astype(np.int64)
    data[:30, :19] += 1
    for view in (np.s_[:, :, :70], np.s_[:, 1:], np.s_[::2, ::3], np.s_[...]):
        own = torch.from_numpy(data)[view]
        for dims in ((0, 2), (1, 2), (0, 1, 2)):
            expected = np.count_nonzero(data[view], dims)
            np.testing.assert_array_equal(torch.count_nonzero(own, dims).numpy(), expected)
    x = torch.ones(40, 20, 72)
    x[0, :, 0], x[0, :, 1] = float("inf"), float("-inf")
    assert x[:, :, :70].nansum().isnan() and x.nansum((0, 2)).isnan().all()


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_expanded_tensors(dims: tuple[int, ...]) -> None:
    for shape in [(1, 60, 50), (40, 1, 50), (40, 60, 1), (1, 1, 1)]:
        x = DATA.reshape(-1)[: np.prod(shape)].reshape(shape)
        wide = np.broadcast_to(x, (40, 60, 50)).astype(np.float64)
        own = torch.from_numpy(x).expand(40, 60, 50)
        error = np.abs(own.sum(dims).numpy() - wide.sum(dims))
        assert (error <= 1e-6 * np.abs(wide).sum(dims)).all()
        np.testing.assert_allclose(own.amax(dims, True).numpy(), wide.max(dims, keepdims=True))


FOLDS: dict[str, Callable[[torch.Tensor, Any], torch.Tensor]] = {
    "norm": lambda x, dims: torch.linalg.vector_norm(x, 2, dims),
    "norm of order 1": lambda x, dims: torch.linalg.vector_norm(x, 1, dims),
    "norm of order 3": lambda x, dims: torch.linalg.vector_norm(x, 3, dims),
    "largest": lambda x, dims: torch.linalg.vector_norm(x, float("inf"), dims),
    "var": lambda x, dims: torch.var(x, dims),
    "std": lambda x, dims: torch.std(x, dims, correction=0),
    "logsumexp": lambda x, dims: torch.logsumexp(x, dims),
}
"""What folds a list of dims by a formula, whose geometry merges dims on its own."""


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1), (0, 1, 2)])
def test_expanded_tensors_by_formulas(dims: tuple[int, ...], name: str) -> None:
    """What stays may lie in one place: its stride is 0, not that of neighbours."""
    for shape in [(1, 6, 5), (4, 1, 5), (4, 6, 1), (1, 1, 5), (4, 1, 1), (1, 1, 1)]:
        x = torch.from_numpy(DATA.reshape(-1)[: np.prod(shape)].reshape(shape)).expand(4, 6, 5)
        found, expected = (FOLDS[name](each, dims) for each in (x, x.contiguous()))
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
        found, expected = (FOLDS[name](each[0], dims[-1] % 2) for each in (x, x.contiguous()))
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_what_is_folded_where_it_lies() -> None:
    sizes, strides = torch.Size((6, 30, 50)), (4000, 100, 1)
    assert plan_strided(sizes, strides, (2,)) == Strided(False, 30, 50, 100, 4000, 1)
    assert plan_strided(sizes, strides, (1,)) == Strided(True, 30, 50, 100, 4000, 1)
    assert plan_strided(sizes, strides, (0,)) == Strided(True, 6, 50, 4000, 100, 1)
    assert plan_strided(sizes, (4000, 100, 2), (2,)) == Strided(False, 30, 50, 100, 4000, 2)
    assert plan_strided(sizes, strides, (0, 1, 2)) is None
    assert plan_strided(torch.Size((6, 30)), (0, 1), (1,)) == Strided(False, 6, 30, 0, 0, 1)


ROWS: dict[str, Callable[[torch.Tensor, int], Any]] = {
    "softmax": lambda x, dim: x.softmax(dim),
    "log_softmax": lambda x, dim: x.log_softmax(dim),
    "softmax's gradient": lambda x, dim: ops._softmax_backward_data(x, x, dim, x.dtype),
    "log_softmax's gradient": lambda x, dim: ops._log_softmax_backward_data(x, x, dim, x.dtype),
    "logsumexp": lambda x, dim: x.logsumexp(dim),
    "max": lambda x, dim: x.max(dim),
    "argmin": lambda x, dim: x.argmin(dim),
    "argmax of all": lambda x, dim: x.argmax(),
    "var": lambda x, dim: x.var(dim),
    "norm of all": lambda x, dim: torch.linalg.vector_norm(x),
}
"""What reads whole rows or columns by a formula whose loops are vectors where neighbours touch."""
LAID_OUT: dict[str, Callable[[], torch.Tensor]] = {
    "crosswise": lambda: torch.from_numpy(DATA.reshape(-1, 96)).t(),
    "with gaps": lambda: torch.from_numpy(DATA.reshape(-1, 96))[:, ::2],
    "turned": lambda: torch.from_numpy(DATA[0]).permute(2, 0, 1),
    "repeated": lambda: torch.from_numpy(DATA[0, 0, 0]).reshape(72, 1).expand(72, 60),
}
LIGHT_COLUMNS = {("var", "with gaps", 0), ("softmax's gradient", "with gaps", 0)}
"""Columns in the order of memory that hardly anything is computed of are read where they lie."""


@pytest.mark.parametrize("layout", LAID_OUT)
@pytest.mark.parametrize(
    "name, dim", [(name, dim) for name in ROWS for dim in ([0] if "of all" in name else [0, -1])]
)
def test_loops_over_rows_meet_neighbours(
    name: str, layout: str, dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop with another stride inside is no vector: rows that lie apart are copied first."""
    inner: list[int] = []
    step = Call.step

    def seen(call: Call, *args: Any) -> Any:
        read = [call.specs[each] for each in call.operands]
        inner.extend(each.strides[-1] for each in read if each.sizes[-1] > 1)
        return step(call, *args)

    monkeypatch.setattr(Call, "step", seen)
    x = LAID_OUT[layout]()
    found, expected = ROWS[name](x, dim), ROWS[name](x.contiguous(), dim)
    assert inner
    assert set(inner) == {1} or (name, layout, dim) in LIGHT_COLUMNS
    several = [each if isinstance(each, tuple) else (each,) for each in (found, expected)]
    for one, other in zip(*several, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


def test_dims_are_folded_in_the_order_of_memory() -> None:
    float32 = np.dtype(np.float32)
    out, x = TensorSpec(float32, (), ()), TensorSpec(float32, (30, 20, 10), (1, 300, 30))
    assert over_dims(x, None, out=out)["self"][:2] == ((6000, 1), (1, 1))


def test_conversions_turn_nothing() -> None:
    """What is read as float32 lies as the 16-bit memory does, where kernels take that."""
    x = torch.from_numpy(DATA[0]).bfloat16().permute(2, 0, 1)[:, 1:]
    own = dtypes.bfloat16, dtypes.float32, tuple(x.shape), x.stride()
    operand = Operand(*own, keeps_order=True)
    assert operand.spec.strides == (1, 2880, 72)
    flat = operand.loader()(x._flat if x._flat is not None else x._base._flat, x._offset)
    found = np.lib.stride_tricks.as_strided(flat, x.shape, [4 * n for n in operand.spec.strides])
    np.testing.assert_array_equal(found, x.float().numpy())
    assert Operand(*own).spec.is_contiguous


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool])
@pytest.mark.parametrize("width, step", [(1, 3), (2, 5), (3, 4), (5, 16), (16, 30), (31, 63)])
def test_narrow_columns_with_gaps(dtype: Any, width: int, step: int) -> None:
    """What lies in the gaps is no part of a result, nor is anything read behind the last row."""
    rng = np.random.default_rng(3)
    for rows in (700, 2111):
        memory = torch.from_numpy(rng.integers(1, 4, (rows - 1) * step + width)).to(dtype)
        if dtype.is_floating_point:
            memory[width::step] = float("nan")
        view = memory.as_strided((rows, width), (step, 1))
        dense = view.clone(memory_format=torch.contiguous_format)
        for fold in ("sum", "amax", "amin", "any") if dtype is not torch.bool else ("sum", "any"):
            found, expected = (getattr(each, fold)(0) for each in (view, dense))
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("rows", [1, 15, 16, 17, 40, 331])
@pytest.mark.parametrize("width", [1, 5, 16, 17, 63, 64])
def test_narrow_rows_with_gaps(width: int, rows: int) -> None:
    """Rows are folded in one order, wherever they lie, and whichever thread takes them."""
    rng = np.random.default_rng(3)
    memory = torch.from_numpy(rng.standard_normal((7, rows + 2, width + 3)).astype(np.float32))
    memory[:, :, width:] = memory[:, rows:] = float("nan")
    view = memory[:, :rows, :width]
    dense = view.contiguous()
    for fold in ("sum", "amax", "amin", "count_nonzero"):
        found, expected = (getattr(each, fold)(-1).numpy() for each in (view, dense))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    turned = view.flip(1).sum(-1).flip(1)
    np.testing.assert_array_equal(turned.numpy(), dense.sum(-1).numpy())
