"""Products of few rows by a matrix in any order, of batches too, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.matmul import few_rows

MOST = max(few_rows.MOST_ALONG_SUMS, few_rows.MOST_ALONG_RESULTS) + 1
TOLERANCE = {"float32": 1e-5, "float64": 1e-13}


def both_ways(matrix: np.ndarray) -> list[torch.Tensor]:
    """Matrices whose rows, and whose columns, are runs in memory; each with a gap behind a run."""
    found = []
    for is_turned in (False, True):
        own = matrix.swapaxes(-1, -2) if is_turned else matrix
        gap = np.full((*own.shape[:-1], 3), np.nan, own.dtype)
        wide = torch.tensor(np.concatenate([own, gap], -1))[..., :-3]
        found.append(wide.mT if is_turned else wide)
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", range(1, MOST + 1))
def test_products_and_what_they_are_added_to(rows: int, dtype: str) -> None:
    draws = np.random.default_rng(rows)
    for k, n in ((1, 64), (70, 100), (16 * rows + 3, 1), (200, 7), (130, 301)):
        a, b, c, bias = (
            draws.standard_normal(sizes).astype(dtype)
            for sizes in ((rows, k), (k, n), (rows, n), (n,))
        )
        x = torch.tensor(a)
        for y in both_ways(b):
            for made, expected in (
                (x @ y, a @ b),
                (torch.nn.functional.linear(x, y.t(), torch.tensor(bias)), a @ b + bias),
                (torch.addmm(torch.tensor(bias), x, y), a @ b + bias),
                (torch.addmm(torch.tensor(c), x, y), a @ b + c),
            ):
                assert made.is_contiguous()
                scale = TOLERANCE[dtype] * k**0.5
                np.testing.assert_allclose(made.numpy(), expected, atol=scale, rtol=scale)


@pytest.mark.parametrize("sizes", [(1, 64, 70), (70, 64, 1), (3, 50, 129), (1, 20, 1)])
def test_batches(sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """One row and one column are few, too; threads share what is long enough."""
    m, k, n = sizes
    draws = np.random.default_rng(0)
    a, b, c = (draws.standard_normal((90, *each)) for each in ((m, k), (k, n), (m, n)))
    monkeypatch.setattr(threads, "GRAIN", 1 << 8)
    for count in (1, 3):
        monkeypatch.setattr(threads, "_threads", count)
        for x in both_ways(a):
            for y in both_ways(b):
                np.testing.assert_allclose((x @ y).numpy(), a @ b, atol=1e-12)
                made = torch.baddbmm(torch.tensor(c), x, y)
                np.testing.assert_allclose(made.numpy(), a @ b + c, atol=1e-12)
