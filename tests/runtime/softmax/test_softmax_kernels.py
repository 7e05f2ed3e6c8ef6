"""softmax, log_softmax and logsumexp against SciPy: dims, special values, rows and columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops

SHAPES = [((3, 4), 1), ((3, 4), 0), ((2, 3, 5), 1), ((2, 70), -1), ((), 0), ((0, 3), 1)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, dim", SHAPES)
def test_values(shape: tuple[int, ...], dim: int, dtype: str) -> None:
    x = np.asarray(10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    axis = dim if shape else None
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    out = torch.tensor(x).softmax(dim).numpy()
    np.testing.assert_allclose(out, scipy.special.softmax(x, axis), rtol=tolerance)
    out = torch.tensor(x).log_softmax(dim).numpy()
    expected = scipy.special.log_softmax(x, axis) if shape else np.zeros(())
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dim", [0, 1])
def test_special_values(dim: int) -> None:
    rows = np.array(
        [[1, np.nan, 2], [-np.nan, 0, 1], [np.inf, 1, 2], [-np.inf] * 3, [-np.inf, 0, 1]]
    )
    x = rows if dim == 1 else np.ascontiguousarray(rows.T)
    out = torch.from_numpy(x).softmax(dim).numpy()
    result = out if dim == 1 else out.T
    assert np.isnan(result[:4]).all()
    np.testing.assert_allclose(result[4], scipy.special.softmax(rows[4]))


def test_large_values_do_not_overflow() -> None:
    x = np.array([[1e30, 0, -1e30], [-1e30, -2e30, -3e30]], np.float32)
    out = torch.from_numpy(x).softmax(1).numpy()
    np.testing.assert_array_equal(out, [[1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("dtype", ["int64", "bool", "float64", "float16", "complex64"])
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_dtype_converts_first(dtype: str) -> None:
    plain = np.arange(12).reshape(3, 4) % 5
    x = torch.tensor(plain).to(getattr(torch, dtype))
    for given in (x, x.t(), x[:, 1:3]):
        wanted = given.to(torch.float32).softmax(1)
        found = given.softmax(1, dtype=torch.float32)
        assert found.dtype is torch.float32
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=3e-7)


@pytest.mark.parametrize("dim", [0, 1])
def test_gradients(dim: int) -> None:
    rng = np.random.default_rng(1)
    x, grad = rng.standard_normal((2, 5, 6))
    y = scipy.special.softmax(x, dim)
    slope, of, logs = (torch.tensor(each) for each in (grad, y, np.log(y)))
    out = ops._softmax_backward_data(slope, of, dim, torch.float64).numpy()
    np.testing.assert_allclose(out, y * (grad - (grad * y).sum(dim, keepdims=True)))
    out = ops._log_softmax_backward_data(slope, logs, dim, torch.float64).numpy()
    np.testing.assert_allclose(out, grad - y * grad.sum(dim, keepdims=True))


@pytest.mark.parametrize("dim", [0, (1,), (0, 2), ()])
def test_logsumexp(dim: object) -> None:
    x = np.random.default_rng(2).standard_normal((3, 4, 5))
    axis = dim if dim != () else None
    for each in (x, x + 1j * x[::-1]):
        found = torch.tensor(each).logsumexp(dim).numpy()
        np.testing.assert_allclose(found, scipy.special.logsumexp(each, axis))


def test_logsumexp_of_infinities() -> None:
    x = torch.tensor([[-np.inf, -np.inf], [np.inf, 1], [1, -np.inf]])
    np.testing.assert_array_equal(x.logsumexp(1).numpy(), [-np.inf, np.inf, 1])
    np.testing.assert_array_equal(torch.empty(3, 0).logsumexp(1).numpy(), [-np.inf] * 3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_any_length(dtype: str) -> None:
    """Vectors of elements, and what remains of a row; up to a block, and beyond."""
    generator = np.random.default_rng(0)
    for length in (*range(1, 70), 95, 127, 129, 511, 512, 513, 1000):
        x = generator.standard_normal((5, length)).astype(dtype)
        exact = x.astype(np.float64) - x.max(1, keepdims=True)
        exact = exact - np.log(np.exp(exact).sum(1, keepdims=True))
        found = torch.from_numpy(x)
        rtol = 1e-12 if dtype == "float64" else 2e-6
        assert np.allclose(found.log_softmax(1).numpy(), exact, rtol, rtol)
        assert np.allclose(found.softmax(1).numpy(), np.exp(exact), rtol, rtol)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [1, 16, 100, 400, 4096, 5000])
def test_a_row_is_the_same_among_any_number_of_rows(dtype: str, length: int) -> None:
    """Logarithms of some rows are taken together, the last ones of fewer."""
    x = np.random.default_rng(0).standard_normal((133, length)).astype(dtype)
    x[5], x[70, 0], x[131] = -np.inf, np.nan, 3
    whole = torch.from_numpy(x).log_softmax(1).numpy()
    expected = scipy.special.log_softmax(x[:5].astype(np.float64), 1)
    np.testing.assert_allclose(whole[:5], expected, 3e-6 if dtype == "float32" else 1e-12)
    assert np.isnan(whole[[5, 70]]).all()
    np.testing.assert_allclose(whole[131], -np.log(length), 1e-6, 1e-7)
    for first, last in ((0, 1), (3, 67), (60, 133), (5, 6), (130, 132)):
        found = torch.from_numpy(x)[first:last].log_softmax(1).numpy()
        np.testing.assert_array_equal(found, whole[first:last])
    wide = torch.from_numpy(np.repeat(x, 2, 1)[:, : 2 * length : 2])
    np.testing.assert_array_equal(wide.log_softmax(1).numpy(), whole)
