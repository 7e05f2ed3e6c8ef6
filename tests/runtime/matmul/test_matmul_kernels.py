"""Our own products of matrices against NumPy in float64: sizes, layouts, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn.functional as F
from torchgen_out._runtime.kernels.cpu.matmul import tiled as tiled_products

TOLERANCE = {"float32": 1e-5, "float64": 1e-13}
SIZES = [
    (12, 32, 4),
    (1, 1, 1),
    (3, 33, 2),
    (5, 31, 257),
    (25, 70, 300),
    (300, 40, 3),
    (47, 130, 600),
    (29, 2, 5),
    (26, 3, 300),
    (25, 8, 4),
    (12, 16, 9),
    (4, 5, 0),
    (0, 5, 3),
    (5, 0, 3),
]
"""m, n, k."""


def place(shape: tuple[int, ...], layout: str, dtype: str, seed: int) -> tuple[Any, Any, int]:
    """(matrices, the flat array that they lie in, where they begin there)."""
    numbers = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    batch, rows, columns = shape
    if layout == "turned":
        matrices = np.ascontiguousarray(numbers.swapaxes(1, 2)).swapaxes(1, 2)
    elif layout == "gaps":
        matrices = np.zeros((batch, 2 * rows, 3 * columns + 5), dtype)[:, ::2, 2:-2:3][:, :rows]
        matrices = matrices[:, :, :columns]
        matrices[...] = numbers
    elif layout == "repeated":
        matrices = np.broadcast_to(numbers[:, :1], shape)
    else:
        matrices = numbers
    base = matrices
    while base.base is not None:
        base = base.base
    base = np.lib.stride_tricks.as_strided(base, (base.size,), (base.itemsize,))
    start = (matrices.ctypes.data - base.ctypes.data) // base.itemsize
    return matrices, base, start


def multiply(a: Any, b: Any, bias: Any = None) -> np.ndarray:
    """The product by a plan, of what `place` gave."""
    (left, flat_a, at_a), (right, flat_b, at_b) = a, b
    batch, m, k = left.shape
    n = right.shape[2]
    layouts = [
        tiled_products.Layout(*[x.strides[dim] // x.itemsize for dim in (1, 2, 0)])
        for x in (left, right)
    ]
    task = tiled_products.Task(batch, (m, n, k), *layouts, tiled_products.Layout(n, 1, m * n))
    plan = tiled_products.plan_tiles(left.dtype, task, bias is not None)
    out = np.full(batch * m * n, 7, left.dtype)
    if bias is None:
        plan.run(out, flat_a, flat_b, at_a, at_b, plan.params)
    else:
        plan.run(out, flat_a, flat_b, bias, at_a, at_b, 1, plan.params)
    return out.reshape(batch, m, n)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("right", ["plain", "turned", "gaps", "repeated"])
@pytest.mark.parametrize("left", ["plain", "turned", "gaps", "repeated"])
def test_layouts_and_sizes(sizes: tuple[int, int, int], left: str, right: str, dtype: str) -> None:
    m, n, k = sizes
    a, b = place((2, m, k), left, dtype, 0), place((2, k, n), right, dtype, 1)
    bias = np.random.default_rng(2).standard_normal(n + 1).astype(dtype)
    wanted = a[0].astype(np.float64) @ b[0].astype(np.float64)
    tolerance = TOLERANCE[dtype] * max(k, 1) ** 0.5
    for added, result in ((0, multiply(a, b)), (bias[1:], multiply(a, b, bias))):
        np.testing.assert_allclose(result, wanted + added, rtol=tolerance, atol=tolerance)


def test_values_that_are_not_finite_stay_in_their_rows_and_columns() -> None:
    a, b = place((1, 26, 9), "plain", "float32", 0), place((1, 9, 35), "plain", "float32", 1)
    a[0][0, 25, 3], b[0][0, 4, 34], b[0][0, 3, 0] = np.inf, np.nan, 0
    with np.errstate(invalid="ignore"):
        wanted = a[0].astype(np.float64) @ b[0].astype(np.float64)
    assert np.isnan(wanted[0, 25, 0])
    np.testing.assert_allclose(multiply(a, b), wanted, rtol=1e-5, atol=1e-5)


def test_equal_calls_give_equal_bits_on_any_number_of_threads() -> None:
    a, b = place((3, 130, 90), "turned", "float32", 0), place((3, 90, 150), "plain", "float32", 1)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        wanted = multiply(a, b)
        torch.set_num_threads(3)
        with ThreadPoolExecutor(3) as pool:
            runs = [multiply(a, b), *pool.map(multiply, [a] * 4, [b] * 4)]
    finally:
        torch.set_num_threads(threads)
    for run in runs:
        np.testing.assert_array_equal(run, wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_operators_use_them(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[Any] = []
    plan_tiles = tiled_products.plan_tiles
    monkeypatch.setattr(
        tiled_products, "plan_tiles", lambda *args: planned.append(args) or plan_tiles(*args)
    )
    a, b = torch.randn(2, 113, 131, dtype=dtype), torch.randn(2, 131, 127, dtype=dtype)
    bias = torch.randn(127, dtype=dtype)
    wanted = a.numpy().astype(np.float64) @ b.numpy().astype(np.float64)
    turned = b[0].t().contiguous()
    results = {
        "mm": (a[0] @ b[0], wanted[0]),
        "turned": (a[0] @ turned.t(), wanted[0]),
        "bmm": (a @ b, wanted),
        "row": (torch.addmm(bias, a[0], b[0]), wanted[0] + bias.numpy()),
        "matrix": (torch.addmm(b[0, :113], a[0], b[0]), wanted[0] + b[0, :113].numpy()),
        "linear": (F.linear(a[0], turned, bias), wanted[0] + bias.numpy()),
    }
    for name, (result, reference) in results.items():
        np.testing.assert_allclose(result.numpy(), reference, rtol=1e-5, atol=1e-4, err_msg=name)
    assert len(planned) == len(results)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("rows", [1, 255, 301])
def test_many_rows_and_few_columns(rows: int, columns: int, dtype: Any) -> None:
    rng = np.random.default_rng(rows)
    for features in (1, 5, 300):
        wide = torch.tensor(rng.standard_normal((2, rows, 2 * features)), dtype=dtype)
        weight = torch.tensor(rng.standard_normal((columns, features)), dtype=dtype)
        bias = torch.tensor(rng.standard_normal(columns), dtype=dtype)
        for given in (wide[0, :, ::2], wide[1, :, features:], wide[:, :, :features].contiguous()):
            wanted = given.double().numpy() @ weight.double().numpy().T
            found = {
                "mm": torch.matmul(given, weight.t()),
                "linear": F.linear(given, weight),
                "biased": F.linear(given, weight, bias) - bias,
            }
            for name, each in found.items():
                tolerance = {"rtol": 1e-4, "atol": 1e-3, "err_msg": name}
                np.testing.assert_allclose(each.numpy(), wanted, **tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (2, 3, 4), (4, 4, 1), (1, 4, 4), (7, 5, 6), (8, 8, 8), (12, 11, 10)]
)
def test_batches_of_small_matrices(
    sizes: tuple[int, int, int], turned: tuple[bool, bool], dtype: str
) -> None:
    m, n, k = sizes
    rng = np.random.default_rng(0)

    def draw(rows: int, columns: int, is_turned: bool, count: int) -> Any:
        shape = (count, columns, rows) if is_turned else (count, rows, columns)
        values = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        found = (values if dtype.startswith("complex") else values.real).astype(dtype)
        return torch.from_numpy(found).mT if is_turned else torch.from_numpy(found)

    tolerance = {"rtol": 1e-4, "atol": 1e-4}
    for count in (1, 15, 40):
        a, b = draw(m, k, turned[0], count), draw(k, n, turned[1], count)
        np.testing.assert_allclose(torch.bmm(a, b).numpy(), a.numpy() @ b.numpy(), **tolerance)
        alone = a[:1].expand(count, m, k)
        wanted = a[:1].numpy() @ b.numpy()
        np.testing.assert_allclose(torch.bmm(alone, b).numpy(), wanted, **tolerance)
        before = draw(m, n, False, 1)[0]
        found = torch.baddbmm(before, a, b, beta=0.5, alpha=2)
        wanted = 0.5 * before.numpy() + 2 * (a.numpy() @ b.numpy())
        np.testing.assert_allclose(found.numpy(), wanted, **tolerance)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(3, 4, 5), (1, 6, 7), (40, 1, 9), (33, 65, 70)])
def test_complex_products(sizes: tuple[int, int, int], dtype: str) -> None:
    m, n, k = sizes
    rng = np.random.default_rng(0)
    a, b, c = (
        torch.from_numpy((rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype))
        for s in ((m, k), (k, n), (n,))
    )
    product = a.numpy() @ b.numpy()
    for found, wanted in (
        (a @ b, product),
        (b.mH @ a.mH, product.conj().T),
        (F.linear(a, b.mT.contiguous(), c), product + c.numpy()),
        (torch.addmm(c, a, b, beta=2, alpha=0.5), 2 * c.numpy() + 0.5 * product),
        (torch.addmm(c, a, b, beta=1j, alpha=1 + 2j), 1j * c.numpy() + (1 + 2j) * product),
    ):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-3, atol=1e-3)


def test_small_products_and_single_columns_are_left_to_blas() -> None:
    float32 = np.dtype("float32")
    assert tiled_products.suits(float32, 128, 128, 128, False)
    assert tiled_products.suits(float32, 64, 64, 64, True)
    assert tiled_products.suits(float32, 8, 512, 512, True)
    assert tiled_products.suits(float32, 1024, 10, 128, False)
    assert tiled_products.suits(float32, 300, 2, 4, False)
    assert tiled_products.suits(float32, 4, 2, 5000, False)
    for m, n, k, is_turned in (
        (64, 64, 64, False),
        (8, 512, 512, False),
        (3, 512, 512, True),
        (9, 64, 12, True),
        (512, 1, 512, True),
        (200, 2, 4, False),
        (3, 2, 5000, False),
    ):
        assert not tiled_products.suits(float32, m, n, k, is_turned)
    assert not tiled_products.suits(np.dtype("complex64"), 128, 128, 128, False)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_matrix_in_panels_serves_many_products(sizes: tuple[int, int, int], dtype: str) -> None:
    m, n, k = sizes
    a, before = place((1, m, k), "plain", dtype, 0)[0][0], place((1, m, n), "plain", dtype, 2)[0][0]
    tolerance = TOLERANCE[dtype] * max(k, 1) ** 0.5
    for layout in ("plain", "turned", "gaps"):
        matrix = place((1, k, n), layout, dtype, 1)[0][0]
        packed = tiled_products.Packed(matrix)
        wanted = a.astype(np.float64) @ matrix.astype(np.float64)
        for old, added in ((None, 0), (before, before)):
            out = np.full((m, n), 7, dtype)
            packed.multiply(out, a, old)
            np.testing.assert_allclose(out, wanted + added, rtol=tolerance, atol=tolerance)
    sums = before.copy()
    packed.multiply(sums, a, sums)
    np.testing.assert_allclose(sums, wanted + before, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("size", [1, 7, 1500])
def test_complex_vectors(size: int, dtype: str) -> None:
    """Dense, from a place within memory on, or with gaps; one of them conjugated, or none."""
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((2, 2 * size + 1)) + 1j * rng.standard_normal((2, 2 * size + 1))
    for part in (np.s_[:size], np.s_[1 : size + 1], np.s_[::2]):
        given = [torch.tensor(each.astype(dtype))[part] for each in (a, b)]
        x, y = (each[part] for each in (a, b))
        scale = np.abs(x) @ np.abs(y) * (1e-6 if dtype == "complex64" else 1e-14)
        np.testing.assert_allclose(torch.dot(*given).item(), x @ y, atol=scale)
        np.testing.assert_allclose(torch.vdot(*given).item(), np.vdot(x, y), atol=scale)
