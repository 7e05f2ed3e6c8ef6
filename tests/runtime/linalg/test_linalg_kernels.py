"""Matrix products and norms against NumPy: layouts, scales, sizes of zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels.cpu.matmul import blas
from torchgen_out._runtime.kernels.cpu.matmul import matmul as linalg

DTYPES = ["float32", "float64", "complex64", "complex128", "int64"]
TOLERANCE = {"float32": 1e-5, "complex64": 1e-5}


def random(rng: np.random.Generator, *shape: int, dtype: str = "float64") -> np.ndarray:
    """Numbers around 0; integers from -5 to 5."""
    if dtype.startswith("int"):
        return rng.integers(-5, 6, shape).astype(dtype)
    values = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def layouts(matrix: np.ndarray) -> list[np.ndarray]:
    """The same matrix contiguous, transposed in memory, with gaps, and reversed in memory."""
    gaps = np.zeros((2 * matrix.shape[0], 3 * matrix.shape[1]), matrix.dtype)[::2, ::3]
    gaps[...] = matrix
    backwards = np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1]
    return [matrix, np.asfortranarray(matrix), gaps, backwards]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "n, m, p", [(3, 4, 5), (1, 4, 1), (1, 1, 3), (0, 3, 2), (3, 0, 2), (2, 3, 0)]
)
def test_mm_reads_any_layout(n: int, m: int, p: int, dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = random(rng, n, m, dtype=dtype), random(rng, m, p, dtype=dtype)
    for left in layouts(a):
        for right in layouts(b):
            out = np.full((n, p), 7, dtype)
            linalg.product(out, None, left, right, 0, 1, False)
            np.testing.assert_allclose(out, a @ b, rtol=TOLERANCE.get(dtype, 1e-12))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bmm_with_one_matrix_for_all(dtype: str) -> None:
    rng = np.random.default_rng(1)
    a = np.broadcast_to(random(rng, 1, 3, 4, dtype=dtype), (5, 3, 4))
    b = random(rng, 5, 2, 4, dtype=dtype).transpose(0, 2, 1)
    out = np.empty((5, 3, 2), dtype)
    linalg.product(out, None, a, b, 0, 1, False)
    np.testing.assert_allclose(out, a @ b, rtol=TOLERANCE.get(dtype, 1e-12))


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors(dtype: str) -> None:
    rng = np.random.default_rng(2)
    matrix, vector = random(rng, 3, 4, dtype=dtype), random(rng, 8, dtype=dtype)[::2]
    out = np.empty(3, dtype)
    linalg.product(out, None, matrix, vector, 0, 1, False)
    np.testing.assert_allclose(out, matrix @ vector, rtol=TOLERANCE.get(dtype, 1e-12))
    number = np.empty((), dtype)
    linalg.product(number, None, vector, matrix[0], 0, 1, False)
    np.testing.assert_allclose(number, np.dot(vector, matrix[0]), rtol=1e-5)
    linalg.product(number, None, vector, matrix[0], 0, 1, True)
    np.testing.assert_allclose(number, np.vdot(vector, matrix[0]), rtol=1e-5)


@pytest.mark.parametrize("beta, alpha", [(1, 1), (0, 1), (2, -1), (0.5, 0), (1, 3)])
def test_addmm_scales(beta: float, alpha: float) -> None:
    rng = np.random.default_rng(3)
    added, a, b = random(rng, 5), random(rng, 3, 4), random(rng, 4, 5)
    out = np.empty((3, 5))
    linalg.product(out, added, a, b, beta, alpha, False)
    np.testing.assert_allclose(out, beta * added + alpha * (a @ b))
    linalg.product(out[None], added, a[None], b[None], beta, alpha, False)
    np.testing.assert_allclose(out, beta * added + alpha * (a @ b))


def test_beta_of_zero_does_not_read() -> None:
    out = np.empty((2, 2), np.float32)
    linalg.product(
        out, np.full(2, np.nan, np.float32), *[np.eye(2, dtype=np.float32)] * 2, 0, 1, False
    )
    np.testing.assert_array_equal(out, np.eye(2))


def test_infinities_are_silent() -> None:
    a = np.array([[np.inf, -np.inf], [1, np.nan]], np.float32)
    out = np.empty((2, 2), np.float32)
    linalg.product(out, None, a, a, 0, 1, False)
    assert np.isnan(out).any()


def test_integers_are_exact() -> None:
    a = np.full((2, 2), 2**40)
    out = np.empty((2, 2), np.int64)
    linalg.product(out, None, a, np.full((2, 2), 3), 0, 1, False)
    assert (out == 6 * 2**40).all()


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 4)])
def test_linear(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    x, weight, bias = random(rng, *shape), random(rng, 5, 4), random(rng, 5)
    out = np.empty((*shape[:-1], 5))
    linalg.linear(out, x, weight, bias)
    np.testing.assert_allclose(out, x @ weight.T + bias)
    linalg.linear(out, x, weight, None)
    np.testing.assert_allclose(out, x @ weight.T)


def test_numpy_serves_where_blas_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "compiled", lambda *_: None)
    rng = np.random.default_rng(5)
    a, b, bias = random(rng, 3, 4), random(rng, 4, 5), random(rng, 5)
    out = np.empty((3, 5))
    linalg.product(out, bias, a, b, 2, 3, False)
    np.testing.assert_allclose(out, 2 * bias + 3 * (a @ b))
    linalg.linear(out, a, b.T, bias)
    np.testing.assert_allclose(out, a @ b + bias)
    linalg.product(out[None], None, a[None], b[None], 0, 1, False)
    np.testing.assert_allclose(out, a @ b)


@pytest.mark.parametrize("ord", [0, 0.5, 1, 2, 3, math.inf, -math.inf, -1])
@pytest.mark.parametrize("dim", [None, 0, (1,), (0, 2), -1])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_vector_norm(dtype: str, ord: float, dim: object) -> None:
    rng = np.random.default_rng(6)
    x = random(rng, 3, 4, 5, dtype=dtype)
    axes = tuple(range(3)) if dim is None else (dim,) if isinstance(dim, int) else dim
    kept = [d for d in range(3) if d not in {a % 3 for a in axes}]
    rows = x.transpose(*kept, *[a % 3 for a in axes]).reshape(*[x.shape[d] for d in kept], -1)
    expected = np.linalg.norm(rows, ord, axis=-1)
    out = torch.linalg.vector_norm(torch.from_numpy(x), ord, dim)
    np.testing.assert_allclose(out.numpy(), expected)


def test_long_norm_is_accurate() -> None:
    out = torch.linalg.vector_norm(torch.full((1_000_000,), 0.1), 1)
    assert abs(out.item() - 100000.0) < 0.02


# Planned products: the first call of a geometry plans, the second runs the plan.


def operands(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


PLANNED = {
    "plain": lambda a, b: (a, b),
    "transposed": lambda a, b: (a.t().contiguous().t(), b.t().contiguous().t()),
    "rows of a wider matrix": lambda a, b: (torch.cat([a, a], 1)[:, 5:], torch.cat([b, b])[5:]),
    "every other column, which BLAS cannot read": lambda a, b: (
        torch.stack([a, a], 2)[:, :, 1],
        torch.stack([b, b], 2)[:, :, 0],
    ),
    "expanded": lambda a, b: (a[:1].expand(4, 5), b),
    "a row and a column": lambda a, b: (a[:1], b[:, :1]),
    "nothing to sum": lambda a, b: (a[:, :0], b[:0]),
    "no rows": lambda a, b: (a[:0], b),
}


@pytest.mark.parametrize("name", PLANNED)
def test_planned_product(name: str) -> None:
    a, b = PLANNED[name](*operands((4, 5), (5, 3)))
    expected = a.numpy() @ b.numpy()
    for _ in range(2):
        np.testing.assert_allclose(torch.mm(a, b).numpy(), expected, atol=1e-14)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_planned_vectors(transposed: bool, step: int) -> None:
    matrix, vector = operands((4, 5), (10,))
    if transposed:
        matrix = matrix.t().contiguous().t()
    vector = vector[: 5 * step : step]
    expected = matrix.numpy() @ vector.numpy()
    for _ in range(2):
        np.testing.assert_allclose(torch.mv(matrix, vector).numpy(), expected, atol=1e-14)
        column = torch.mm(matrix, vector.unsqueeze(1)).numpy()
        np.testing.assert_allclose(column, expected[:, None], atol=1e-14)
        row = torch.mm(vector.unsqueeze(0), matrix.t()).numpy()
        np.testing.assert_allclose(row, expected[None], atol=1e-14)


@pytest.mark.parametrize("name", ["plain", "transposed", "expanded batch", "offset"])
def test_planned_batches(name: str) -> None:
    a, b = operands((3, 4, 5), (3, 5, 2))
    if name == "transposed":
        a, b = a.transpose(1, 2).contiguous().transpose(1, 2), b.transpose(0, 2).contiguous()
        b = b.transpose(0, 2)
    elif name == "expanded batch":
        b = b[1:2].expand(3, 5, 2)
    elif name == "offset":
        a, b = a[1:], b[1:]
    for _ in range(2):
        np.testing.assert_allclose(torch.bmm(a, b).numpy(), a.numpy() @ b.numpy(), atol=1e-14)


@pytest.mark.parametrize("leading", [(), (4,), (2, 3)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_planned_linear(leading: tuple[int, ...], with_bias: bool) -> None:
    input, weight, bias = operands((*leading, 5), (3, 5), (6,))
    bias = bias[3:] if with_bias else None
    expected = input.numpy() @ weight.numpy().T + (bias.numpy() if bias is not None else 0)
    for _ in range(2):
        result = torch.nn.functional.linear(input, weight, bias)
        np.testing.assert_allclose(result.numpy(), expected, atol=1e-14)
