"""Element-wise loops: tiles, parts for threads and casts give what NumPy gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads

SHAPES = [(65, 130), (9, 8), (7, 200), (3, 70, 9), (2, 3, 64, 10)]
FLOATS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}
FLOATS["float64"] = np.float64


def permuted(array: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """The same elements, lying in memory in another order of dims."""
    back = np.argsort(order)
    return np.ascontiguousarray(array.transpose(order)).transpose(back)


def operands(shape: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of one shape whose dims lie in any two orders."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    orders = list(itertools.permutations(range(len(shape))))
    chosen = orders if len(orders) <= 6 else orders[::5]
    return [(permuted(a, first), permuted(b, second)) for first in chosen for second in chosen]


@pytest.fixture(params=["one thread", "parts for threads"])
def threading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param != "one thread":
        monkeypatch.setattr(threads, "GRAIN", 16)
        monkeypatch.setattr(threads, "_threads", 3)
    forget_calls()  # kernels know from which size on they are split
    yield
    forget_calls()


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("shape", SHAPES)
def test_any_order_of_dims(shape: tuple[int, ...]) -> None:
    for a, b in operands(shape):
        result = torch.from_numpy(a) * torch.from_numpy(b) + torch.from_numpy(a)[..., :1]
        np.testing.assert_allclose(result.numpy(), a * b + a[..., :1], rtol=1e-13)


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("shape", SHAPES)
def test_writing_in_any_order_of_dims(shape: tuple[int, ...]) -> None:
    for a, b in operands(shape):
        written = torch.from_numpy(a.copy(order="K"))
        written.add_(torch.from_numpy(b))
        np.testing.assert_array_equal(written.numpy(), a + b)
        written.copy_(torch.from_numpy(b))
        np.testing.assert_array_equal(written.numpy(), b)
        np.testing.assert_array_equal(torch.from_numpy(a).contiguous().numpy(), a)


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("shape", [(3000,), (65, 130), (7, 600), (3, 70, 9)])
def test_large_arguments_among_small_ones(shape: tuple[int, ...]) -> None:
    """Blocks of elements with a large one among them are computed by another version."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 30, shape).astype(np.float32)
    x.reshape(-1)[rng.integers(0, x.size, 5)] = [1e5, -1e9, 3e38, np.inf, np.nan]
    with np.errstate(invalid="ignore"):
        expected = np.sin(x.astype(np.float64))
    whole = torch.from_numpy(x)
    order = tuple(reversed(range(x.ndim)))
    turned = torch.from_numpy(permuted(x, order))
    wide = torch.empty((*shape, 2))
    wide[..., 0] = whole
    for result in [
        torch.sin(whole),
        whole.clone().sin_(),
        torch.sin(turned),
        torch.sin(wide[..., 0]),
        wide[..., 0].sin_(),
        torch.sin(whole, out=torch.empty(shape[::-1]).permute(*order)),
        torch.sin(whole[..., ::2]),
    ]:
        wanted = expected if result.shape == shape else expected[..., ::2]
        np.testing.assert_allclose(result.numpy(), wanted, rtol=3e-7, atol=0)


@pytest.mark.parametrize("type_name", ["bool", "float16", "float32", "float64"])
def test_long_loops_wherever_their_memory_begins(type_name: str) -> None:
    """They begin at a cache line of what they write, after what lies before it."""
    dtype = getattr(torch, type_name)
    a = torch.arange(9000) % 2
    a = a.bool() if type_name == "bool" else a.to(dtype)
    for start, stop in itertools.product((0, 1, 3, 8), (8, 8200, 9000)):
        x, own, out = a[start:stop], a.clone()[start:stop], torch.zeros(9000).to(dtype)
        expected = 1 - a.float().numpy()[start:stop]
        ones = torch.ones(stop - start).to(dtype)
        for found in [x.ne(ones), own.ne_(ones), torch.ne(x, ones, out=out[start:stop].bool())]:
            np.testing.assert_array_equal(found.float().numpy(), expected)
        out[start:stop].copy_(x).mul_(ones)
        assert out[:start].float().sum() == 0 and out[stop:].float().sum() == 0
        np.testing.assert_array_equal(out[start:stop].float().numpy(), 1 - expected)


def test_runs_that_are_not_dense_are_copied() -> None:
    """Steps of any size for any operand, in runs shorter and longer than a block."""
    rng = np.random.default_rng(0)
    for length in (3, 255, 600):
        a, b = rng.standard_normal((2, 5, 3 * length))
        for first, second in itertools.product((1, 2, 3), repeat=2):
            x, y = a[:, ::first][:, :length], b[:, ::second][:, :length]
            own = torch.from_numpy(a.copy())[:, ::first][:, :length]
            other = torch.from_numpy(b)[:, ::second][:, :length]
            np.testing.assert_array_equal((own * other).numpy(), x * y)
            own.mul_(other)
            np.testing.assert_array_equal(own.numpy(), x * y)


def test_a_crosswise_operand_is_tiled() -> None:
    plan = plans.plan_pointwise((((64, 100), (100, 1)), ((64, 100), (1, 64))))
    assert plan.tiled and plan.form == (1, 1, 2)
    narrow = plans.plan_pointwise((((64, 4), (4, 1)), ((64, 4), (1, 64))))
    assert not narrow.tiled


@pytest.mark.parametrize("type_name", ["uint8", "float16", "int32", "float64", "complex64"])
def test_tiles_are_turned(type_name: str) -> None:
    """In registers or one by one; sizes that are no multiples of anything, beside other memory."""
    count = 2 * 67 * 139
    flat = (np.arange(count) % 251).astype(type_name)
    stored = torch.from_numpy(np.concatenate([flat, flat]))[1 : count + 1]
    expected = np.roll(flat, -1).reshape(2, 67, 139).transpose(0, 2, 1)
    turned = stored.view(2, 67, 139).transpose(1, 2)
    np.testing.assert_array_equal(turned.contiguous().numpy(), expected)
    out = torch.zeros(2 * count).to(stored.dtype)
    out[count:].view(2, 67, 139).transpose(1, 2).copy_(turned.contiguous())
    np.testing.assert_array_equal(out[count:].numpy(), np.roll(flat, -1))
    assert not out[:count].any()
    np.testing.assert_array_equal((turned * turned.contiguous()).numpy(), expected * expected)


@pytest.mark.parametrize("rows", [15, 16, 31, 96, 2048, 40_000])
def test_a_long_dim_runs_instead_of_a_short_one(rows: int) -> None:
    geometry = ((rows, 3), (3, 1)), ((3,), (1,))
    plan = plans.plan_pointwise(geometry, in_runs=True)
    assert plan.sizes == (rows, 3) and plan.loop_sizes.prod() == 3 * rows
    assert (plan.loop_sizes[-1] >= 16) == (rows >= 16)
    assert plans.plan_pointwise(geometry).loop_sizes.tolist() == [rows, 3]
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(shape) for shape in ((rows, 3), 3, (rows, 1)))
    x, y, z = (torch.from_numpy(each.copy()) for each in (a, b, c))
    np.testing.assert_array_equal((x * y).numpy(), a * b)
    np.testing.assert_array_equal(x.mul_(z).numpy(), a * c)
    wide = torch.zeros(2, rows, 2, 4, dtype=torch.float64)
    wide[:, :, 1, :3] = x
    np.testing.assert_array_equal(wide.permute(0, 3, 1, 2)[1, :3, :, 1].t().numpy(), a * c)
    again = wide.permute(2, 0, 3, 1).contiguous(), wide.permute(3, 2, 0, 1).float()
    np.testing.assert_array_equal(again[0][1, 0, :3].t().numpy(), a * c)
    np.testing.assert_array_equal(again[1][:3, 1, 1].t().numpy(), (a * c).astype(np.float32))
    p, q = (each.clone().requires_grad_() for each in (x, y))
    (p * q).sum().backward()
    np.testing.assert_array_equal(p.grad.numpy(), np.broadcast_to(b, (rows, 3)))
    np.testing.assert_allclose(q.grad.numpy(), (a * c).sum(0), rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("wanted", FLOATS)
@pytest.mark.parametrize("own", FLOATS)
def test_casts_round_once_and_keep_special_values(own: str, wanted: str) -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65520, 1e6, 6e-8, 1e-8, 3.4e38, 1e-45]
    rng = np.random.default_rng(0)
    values = np.concatenate([special, rng.standard_normal(300) * 10.0 ** rng.integers(-9, 6, 300)])
    with np.errstate(all="ignore"):
        array = values.astype(np.float32).astype(FLOATS[own]).reshape(8, 39)
        expected = array.astype(np.float32).astype(FLOATS[wanted])
    tensor = torch.tensor(values, dtype=torch.float32).to(getattr(torch, own)).view(8, 39)
    for order in [(0, 1), (1, 0)]:
        cast = tensor.permute(order).to(getattr(torch, wanted))
        if own == "float64" and wanted == "float64":
            cast = cast.clone()
        given = np.asarray(cast.double().numpy())
        np.testing.assert_array_equal(given, expected.transpose(order).astype(np.float64))
        copied = torch.zeros(cast.shape, dtype=cast.dtype).copy_(tensor.permute(order))
        np.testing.assert_array_equal(copied.double().numpy(), given)


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_places_are_not_compared_by_the_formulas_own_functions(name: str) -> None:
    """`min` of two bools is `and`; of two places it must be the smaller one, also in tiles."""
    rng = np.random.default_rng(0)
    a, b = rng.random((300, 257)) > 0.5, rng.random((257, 300)) > 0.5
    x, y = torch.from_numpy(a), torch.from_numpy(b).t()
    ours, numpys = getattr(torch, name), getattr(np, name)
    for first, second in ((x, y), (x[:, ::2], y[:, ::2]), (x, x[0]), (x, x[:, :1])):
        expected = numpys(first.numpy(), second.numpy())
        np.testing.assert_array_equal(ours(first, second).numpy(), expected)


@pytest.mark.parametrize("dim", [0, 1, 2, (0, 2)])
def test_extrema_of_bools(dim: int | tuple[int, ...]) -> None:
    values = np.random.default_rng(0).random((2, 5, 3)) > 0.2
    x = torch.from_numpy(values)
    np.testing.assert_array_equal(x.amax(dim).numpy(), values.max(dim))
    np.testing.assert_array_equal(x.amin(dim).numpy(), values.min(dim))


def test_functions_of_scipy_are_shared_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.linspace(0.1, 5, 1001, dtype=torch.float64)
    whole = [torch.special.i0(x), torch.igamma(x, x.flip(0))]
    pieces: list[int] = []
    run = threads._run_in_pool
    monkeypatch.setattr(threads, "_run_in_pool", lambda *a: pieces.append(len(a[1])) or run(*a))
    monkeypatch.setattr(threads, "_threads", 3)
    monkeypatch.setattr(threads, "GRAIN", 64)
    forget_calls()  # kernels know from which size on they are split
    shared = [torch.special.i0(x), torch.igamma(x, x.flip(0))]
    forget_calls()
    assert pieces == [3, 3]
    for one, other in zip(whole, shared, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("count", [1024, 3 * 1009, 10007])
def test_narrow_rows_are_walked_along_the_long_dim(count: int) -> None:
    """Also where no equal parts of it are long; a short run takes as much as a long one."""
    out, narrow = ((count, 4), (4, 1)), ((count, 4), (11, 2))
    plan = plans.plan_pointwise((narrow,), out, in_runs=True)
    assert plan.loop_sizes[-1] >= 1000
    assert plan.loop_sizes.prod() == 4 * count
    x = np.arange(count * 11, dtype=np.float32).reshape(count, 11)
    found = -torch.from_numpy(x)[:, 3::2]
    np.testing.assert_array_equal(found.numpy(), -x[:, 3::2])
