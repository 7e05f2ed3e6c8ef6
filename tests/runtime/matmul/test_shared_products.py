"""Products shared among threads: the same numbers whatever the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn.functional as F
from torchgen_out._runtime.kernels import openblas, threads

SIZES = [(1, 50, 90, 37), (1, 90, 50, 37), (1, 70, 9, 200), (12, 20, 33, 41), (3, 65, 12, 90)]
"""Matrices, m, n, k."""


@pytest.fixture(autouse=True)
def low_grain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "GRAIN", 256)


def on_threads(call: Callable[[], Any]) -> list[np.ndarray]:
    """The results on one, two and three threads."""
    before, results = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(call().numpy().copy())
            assert set(openblas.get_num_threads()) <= {count}  # what was taken is given back
    finally:
        torch.set_num_threads(before)
    return results


def check(call: Callable[[], Any], wanted: np.ndarray) -> None:
    first, *others = on_threads(call)
    tolerance = 1e-12 if first.dtype == np.float64 else 3e-5
    np.testing.assert_allclose(first, wanted, rtol=tolerance, atol=tolerance)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=tolerance, atol=tolerance)


def matrices(*shape: int, turned: bool, dtype: Any) -> tuple[Any, np.ndarray]:
    """A tensor whose last two dims may be exchanged in memory, and its numbers in float64."""
    given = shape if not turned else (*shape[:-2], shape[-1], shape[-2])
    tensor = torch.randn(*given, dtype=dtype)
    tensor = tensor.transpose(-2, -1) if turned else tensor
    return tensor, tensor.numpy().astype(np.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_items_rows_and_columns(
    sizes: tuple[int, int, int, int], turned: tuple[bool, bool], dtype: Any
) -> None:
    batch, m, n, k = sizes
    a, left = matrices(batch, m, k, turned=turned[0], dtype=dtype)
    b, right = matrices(batch, k, n, turned=turned[1], dtype=dtype)
    c, added = matrices(batch, m, n, turned=turned[1], dtype=dtype)
    products = left @ right
    row = c[0, 0].clone()
    check(lambda: torch.bmm(a, b), products)
    check(lambda: torch.baddbmm(c, a, b, beta=0.5, alpha=2), 0.5 * added + 2 * products)
    check(lambda: torch.addbmm(row, a, b, beta=3), 3 * added[0, 0] + products.sum(0))
    check(lambda: torch.mm(a[0], b[0]), products[0])
    check(lambda: torch.addmm(c[0], a[0], b[0], beta=2), 2 * added[0] + products[0])
    check(lambda: F.linear(a[0], b[0].t(), row), products[0] + added[0, 0])
    out = torch.empty(m, n, dtype=dtype).t().contiguous().t()
    check(lambda: torch.mm(a[0], b[0], out=out), products[0])


@pytest.mark.parametrize("turned", [False, True])
def test_a_matrix_and_a_vector(turned: bool) -> None:
    matrix, numbers = matrices(150, 130, turned=turned, dtype=torch.float32)
    right, left = torch.randn(130), torch.randn(150)
    check(lambda: torch.mv(matrix, right), numbers @ right.numpy())
    check(lambda: torch.mv(matrix[:, ::1].t(), left), left.numpy() @ numbers)
    check(lambda: torch.mm(left[None], matrix), left.numpy()[None] @ numbers)


def test_large_products_on_their_own_tiles() -> None:
    for m, n, k in ((64, 300, 90), (300, 64, 90)):
        a, left = matrices(m, k, turned=False, dtype=torch.float32)
        b, right = matrices(k, n, turned=False, dtype=torch.float32)
        bias = torch.randn(n)
        check(lambda a=a, b=b, bias=bias: torch.addmm(bias, a, b), left @ right + bias.numpy())


@pytest.mark.parametrize("n", [20, 100, 200])
def test_factorisations_give_openblas_its_threads_back(n: int) -> None:
    matrix = torch.randn(n, n, dtype=torch.float64)
    exact = np.linalg.svd(matrix.numpy(), compute_uv=False)
    check(lambda: torch.linalg.svdvals(matrix), exact)
    check(lambda: torch.linalg.qr(matrix)[1].abs(), abs(np.linalg.qr(matrix.numpy())[1]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 4, 7, 8, 9])
def test_few_columns(dtype: str, columns: int) -> None:
    """Vectors and what is added lie apart, or are one number; with beta 0 that is not read."""
    source = np.random.default_rng(columns)
    a = source.standard_normal((500, columns)).astype(dtype)
    c = source.standard_normal((500, 2)).astype(dtype)
    x = source.standard_normal((columns, 3)).astype(dtype)
    matrix, added, vector = torch.tensor(a), torch.tensor(c)[:, 1], torch.tensor(x)[:, 1]
    expected = a @ x[:, 1]
    check(lambda: matrix @ vector, expected)
    check(lambda: torch.mm(vector.contiguous()[None], matrix.t()), expected[None])
    for given in (added, added.contiguous(), added[:1]):
        wanted = 2 * given.numpy() - expected
        check(lambda given=given: torch.addmv(given, matrix, vector, beta=2, alpha=-1), wanted)
    nothing = added * float("nan")
    check(lambda: torch.addmv(nothing, matrix, vector, beta=0), expected)
