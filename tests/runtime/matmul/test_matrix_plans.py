"""Planned factorisations and solvers of small matrices, by what they have to satisfy.

The kernels themselves call another build of the same library, whose last bits may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.runtime.planned_ways import without_plans
from torchgen_out._runtime.kernels.cpu.linalg import lapack_plans
from torchgen_out._runtime.kernels.plan import TensorSpec

DTYPES = [torch.float32, torch.float64]
BATCHES = [(), (2,), (2, 3)]
SIZES = [(1, 1), (3, 3), (4, 3), (3, 4), (19, 17)]
SQUARES = [1, 3, 18]


def draw(*sizes: int, dtype: Any, turned: bool = False) -> Any:
    """Normal numbers, as they are or with matrices stored by columns."""
    rng = np.random.default_rng(sum(sizes))
    if turned:
        return torch.tensor(rng.standard_normal((*sizes[:-2], *sizes[:-3:-1]))).to(dtype).mT
    return torch.tensor(rng.standard_normal(sizes)).to(dtype)


def close(result: Any, wanted: Any) -> None:
    """Equal shapes, and numbers but for rounding."""
    assert result.shape == wanted.shape
    eps = np.finfo(result.numpy().dtype).eps
    scale = max(float(wanted.abs().max()), 1.0)
    assert float((result - wanted).abs().max()) <= 500 * eps * scale


def identity_like(product: Any) -> Any:
    """Ones on the diagonal of each matrix."""
    return torch.eye(product.shape[-1], dtype=product.dtype).expand(product.shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_orthogonal_factors(size: Any, batch: Any, turned: bool, dtype: Any) -> None:
    a = draw(*batch, *size, dtype=dtype, turned=turned)
    for mode in ("reduced", "complete"):
        q, r = torch.linalg.qr(a, mode)
        close(q @ r, a)
        close(q.mT @ q, identity_like(q.mT @ q))
        close(r.triu(), r)
    reflectors, tau = torch.geqrf(a)
    close(reflectors.triu()[..., : r.shape[-2], :], r[..., : reflectors.shape[-2], :])
    if size[0] >= size[1]:
        close(torch.linalg.householder_product(reflectors, tau), torch.linalg.qr(a)[0])
    for full in (False, True):
        u, s, vh = torch.linalg.svd(a, full)
        count = s.shape[-1]
        close(u[..., :count] * s.unsqueeze(-2) @ vh[..., :count, :], a)
        close(u.mT @ u, identity_like(u.mT @ u))
        close(vh @ vh.mT, identity_like(vh @ vh.mT))
    close(torch.linalg.svdvals(a), s)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("n", SQUARES)
def test_symmetric_matrices(n: int, batch: Any, turned: bool, dtype: Any) -> None:
    a = draw(*batch, n, n, dtype=dtype, turned=turned)
    positive = a @ a.mT + 2 * torch.eye(n, dtype=dtype)
    b = draw(*batch, n, 2, dtype=dtype, turned=turned)
    for upper in (False, True):
        half = (positive.triu() if upper else positive.tril()) + a * 0
        factor, info = torch.linalg.cholesky_ex(half, upper=upper)
        close(factor.mT @ factor if upper else factor @ factor.mT, positive)
        assert not info.any()
        close(positive @ torch.cholesky_solve(b, factor, upper), b)
        inverse = torch.cholesky_inverse(factor, upper)
        close(positive @ inverse, identity_like(positive))
        assert torch.equal(inverse, inverse.mT)
        values, vectors = torch.linalg.eigh(half, "U" if upper else "L")
        close(vectors * values.unsqueeze(-2) @ vectors.mT, positive)
        close(torch.linalg.eigvalsh(half, "U" if upper else "L"), values)


def test_a_matrix_that_is_not_positive_is_numbered() -> None:
    a = torch.tensor([[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    assert torch.linalg.cholesky_ex(a).info.tolist() == [2, 0]
    with pytest.raises(RuntimeError, match="not positive-definite"):
        torch.linalg.cholesky(a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("n", SQUARES)
def test_linear_systems(n: int, batch: Any, turned: bool, dtype: Any) -> None:
    a = draw(*batch, n, n, dtype=dtype, turned=turned) + 3 * torch.eye(n, dtype=dtype)
    for sides in ((), (2,)):
        b = draw(*batch, n, *sides, dtype=dtype, turned=turned and bool(sides))
        x = torch.linalg.solve(a, b)
        close((a @ x.reshape(*batch, n, -1)).reshape(b.shape), b)
    close(a @ torch.linalg.inv(a), identity_like(a))
    P, L, U = torch.linalg.lu(a)
    close(P @ L @ U, a)
    triangle = a.tril() + 3 * torch.eye(n, dtype=dtype)
    for given in (triangle, triangle.mT):
        upper = given is not triangle
        x = torch.linalg.solve_triangular(given, b, upper=upper)
        close(given @ x, b)
    unit = triangle / 20 - (triangle / 20).diagonal(0, -2, -1).diag_embed()
    x = torch.linalg.solve_triangular(triangle / 20, b, upper=False, unitriangular=True)
    close((unit + torch.eye(n, dtype=dtype)) @ x, b)


OF_FACTORS: dict[str, Callable[[Any], Any]] = {
    "lu": lambda a: torch.linalg.lu_factor_ex(a),
    "det": lambda a: [torch.linalg.det(a)],
    "inverse": lambda a: torch.linalg.inv_ex(a),
    "solve": lambda a: torch.linalg.solve_ex(a, a + 1),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", OF_FACTORS)
def test_our_own_factors(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    matrices = [draw(*sizes, dtype=dtype) for sizes in ((3, 3), (18, 18), (2, 4, 4))]
    matrices += [matrices[0].T, torch.ones(3, 3, dtype=dtype)]

    def work_out() -> list[Any]:
        return [each.tolist() for a in matrices for each in OF_FACTORS[name](a)]

    planned = work_out()
    with without_plans(monkeypatch):
        assert repr(planned) == repr(work_out())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_logarithms_of_determinants(dtype: Any) -> None:
    a = draw(2, 5, 5, dtype=dtype)
    sign, logarithm = torch.linalg.slogdet(a)
    close(sign * logarithm.exp(), torch.linalg.det(a))
    sign, logarithm = torch.linalg.slogdet(torch.zeros(2, 2, dtype=dtype))
    assert (sign.item(), logarithm.item()) == (0, -np.inf)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_pseudo_inverses(size: Any, turned: bool, dtype: Any) -> None:
    a = draw(*size, dtype=dtype, turned=turned)
    a[-1] = a[0]
    inverse = torch.linalg.pinv(a)
    close(a @ inverse @ a, a)
    close((a @ inverse).mT, a @ inverse)
    close((inverse @ a).mT, inverse @ a)
    assert not torch.linalg.pinv(a, atol=1000.0).any()


def test_errors_are_raised_when_asked_for() -> None:
    a = torch.zeros(2, 2)
    for function in (torch.linalg.cholesky_ex, torch.linalg.inv_ex, torch.linalg.lu_factor_ex):
        assert function(a)[-1].item() == 1
        with pytest.raises(torch.linalg.LinAlgError):
            function(a, check_errors=True)


def test_which_matrices_have_plans() -> None:
    def stack(sizes: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        return lapack_plans.stack_of(TensorSpec(np.dtype(np.float32), sizes, strides))

    assert stack((3, 4), (1, 7)) == (1, 3, 4, 0, 1, 7)
    assert stack((2, 3, 4), (50, 1, 7)) == (2, 3, 4, 50, 1, 7)
    assert stack((2, 2, 3, 4), (24, 12, 4, 1)) == (4, 3, 4, 12, 4, 1)
    assert stack((2, 2, 3, 4), (24, 12, 1, 3)) == (4, 3, 4, 12, 1, 3)
    assert stack((2, 2, 3, 4), (25, 12, 1, 3)) is None
    assert stack((5000, 3, 4), (12, 4, 1)) == (5000, 3, 4, 12, 4, 1)
    assert stack((0, 4), (4, 1)) is None
    assert stack((600, 600), (600, 1)) is None
