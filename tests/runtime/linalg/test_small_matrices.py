"""Batches of small matrices: nothing is done in Python for each of them, and all are right."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.runtime.linalg.test_factorisations import random_matrices, results
from torchgen_out._runtime.kernels.cpu.linalg import (
    factorisations,
    least_squares,
    matrix_exp,
    solvers,
    spectra,
    symmetric_factors,
)


def test_symmetric_systems_in_batches() -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2, 3, 5, 5))
    a += a.swapaxes(-1, -2)
    sides = torch.from_numpy(rng.standard_normal((2, 3, 5, 2)))
    for matrices in (torch.from_numpy(a), torch.from_numpy(a.swapaxes(-1, -2))):
        factors, pivots = torch.linalg.ldl_factor(matrices)
        found = torch.linalg.ldl_solve(factors, pivots, sides)
        torch.testing.assert_close(matrices @ found, sides)
    with pytest.raises(RuntimeError, match="pivots"):
        torch.linalg.ldl_solve(factors, pivots * 0 + 9, sides)


MANY = 2100  # of 3 x 3 more than the elements that plans for few of them take

IN_BATCHES = {
    "cholesky": (torch.linalg.cholesky, "a"),
    "cholesky upper": (lambda a: torch.linalg.cholesky(a, upper=True), "a"),
    "cholesky_inverse": (torch.cholesky_inverse, "l"),
    "cholesky_solve": (torch.cholesky_solve, "bl"),
    "cholesky_solve upper": (lambda b, a: torch.cholesky_solve(b, a.mH, upper=True), "bl"),
    "ldl_factor": (torch.linalg.ldl_factor, "a"),
    "ldl_factor hermitian": (lambda a: torch.linalg.ldl_factor(a, hermitian=True), "a"),
    "ldl_solve": (lambda a, b: torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a), b), "ab"),
    "qr": (torch.linalg.qr, "a"),
    "qr r": (lambda a: torch.linalg.qr(a, mode="r"), "a"),
    "geqrf": (torch.geqrf, "a"),
    "householder_product": (lambda a: torch.linalg.householder_product(*torch.geqrf(a)), "a"),
    "inv": (torch.linalg.inv, "a"),
    "solve": (torch.linalg.solve, "ab"),
    "solve right": (lambda a, b: torch.linalg.solve(a, b.mT, left=False), "ab"),
    "solve_triangular": (lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), "lb"),
    "solve_triangular right": (
        lambda a, b: torch.linalg.solve_triangular(a, b.mT, upper=False, left=False),
        "lb",
    ),
    "solve_triangular by columns": (
        lambda a, b: torch.linalg.solve_triangular(a.mT, b, upper=True),
        "lb",
    ),
    "lu_factor": (torch.linalg.lu_factor, "a"),
    "lu_factor wide": (lambda a: torch.linalg.lu_factor(a[..., :2, :]), "a"),
    "lu_factor tall": (lambda a: torch.linalg.lu_factor(a[..., :2]), "a"),
    "lu_solve": (lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), "ab"),
    "det": (torch.linalg.det, "a"),
    "slogdet": (torch.linalg.slogdet, "a"),
    "svdvals": (torch.linalg.svdvals, "a"),
    "svd": (torch.linalg.svd, "a"),
    "eigvalsh": (torch.linalg.eigvalsh, "a"),
    "eigh": (lambda a: torch.linalg.eigh(a, UPLO="U"), "a"),
    **{
        f"lstsq by {driver}": (partial(torch.linalg.lstsq, driver=driver), "ab")
        for driver in ("gels", "gelsy", "gelsd", "gelss")
    },
    "matrix_exp": (lambda a: torch.linalg.matrix_exp(a * 0.02), "a"),
    "pinv": (torch.linalg.pinv, "a"),
    "pinv hermitian": (lambda a: torch.linalg.pinv(a, hermitian=True), "a"),
}
"""Operators, and what they take: matrices, their Cholesky factors, right-hand sides."""


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("rows", [3, 9])
@pytest.mark.parametrize("name", IN_BATCHES)
def test_no_batch_of_small_matrices_is_a_loop_in_python(
    name: str, rows: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, letters = IN_BATCHES[name]
    operands = operands_of(rows, dtype)
    given = [operands[letter] for letter in letters]
    wanted = results(function(*[each[:4] for each in given]))

    def no_routine(*args: Any) -> Any:
        raise AssertionError(f"{name} is called matrix by matrix")

    for module in (factorisations, symmetric_factors.lapack, solvers, spectra, least_squares):
        monkeypatch.setattr(module, "routine", no_routine)
    monkeypatch.setattr(least_squares, "numpy_threads", no_routine)
    monkeypatch.setattr(matrix_exp, "scipy_linalg", no_routine)
    for several in (given, [each.reshape(2, -1, *each.shape[1:]) for each in given]):
        found = results(function(*several))
        for whole, part in zip(found, wanted, strict=True):
            first = whole.reshape(-1, *part.shape[1:])[:4]
            torch.testing.assert_close(first, part, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(4, 3), (3, 4), (8, 8), (9, 9), (40, 3), (1, 3), (3, 1)])
def test_reflections_of_any_matrix(sizes: tuple[int, int], dtype: str, count: int) -> None:
    a = random_matrices((count + 5, *sizes), dtype)
    limits = np.finfo(dtype)
    a[0], a[1], a[2] = 0, 1, np.eye(*sizes)
    a[3] *= limits.max / 1e3
    a[4] *= limits.tiny * 1e3
    for mode in ("reduced", "complete"):
        q, r = (each.numpy() for each in torch.linalg.qr(torch.from_numpy(a), mode))
        scale = np.abs(a).max((1, 2), keepdims=True) + (a == 0).all((1, 2))[:, None, None]
        rounding = 50 * limits.eps
        np.testing.assert_allclose(q @ (r / scale), a / scale, atol=rounding)
        one = np.broadcast_to(np.eye(q.shape[-1]), (len(a), *[q.shape[-1]] * 2))
        np.testing.assert_allclose(q.conj().swapaxes(1, 2) @ q, one, atol=rounding)
        assert not np.tril(r, -1).any()
    alone = torch.linalg.qr(torch.from_numpy(a), "r").R.numpy()
    kept = min(sizes)
    np.testing.assert_allclose(alone / scale, r[:, :kept] / scale, atol=rounding)
    reflectors, tau = torch.geqrf(torch.from_numpy(a))
    upper = np.triu(reflectors.numpy())[:, :kept]
    np.testing.assert_allclose(upper / scale, alone / scale, atol=rounding)
    if sizes[0] >= sizes[1]:
        product = torch.linalg.householder_product(reflectors, tau).numpy()
        np.testing.assert_allclose(product, q[..., : sizes[1]], atol=rounding)


SIZED = ("cholesky", "cholesky upper", "cholesky_solve", "inv", "solve", "solve right", "lu_solve")
SIZED += ("solve_triangular", "solve_triangular right", "lu_factor wide", "det", "slogdet", "qr")


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("rows", [2, 5, 8])
@pytest.mark.parametrize("name", SIZED)
def test_sizes_in_the_code_change_nothing(name: str, rows: int, dtype: str) -> None:
    function, letters = IN_BATCHES[name]
    operands = operands_of(rows, dtype)
    found = results(function(*[operands[letter][:20] for letter in letters]))
    wanted = results(function(*[operands[letter][:2] for letter in letters]))
    for many, few in zip(found, wanted, strict=True):
        torch.testing.assert_close(many[:2], few, rtol=1e-4, atol=1e-4)


def operands_of(rows: int, dtype: str) -> dict[str, Any]:
    """`MANY` definite matrices, their factors, and two right-hand sides for each."""
    values = random_matrices((MANY, rows, rows), dtype)
    a = values @ values.conj().swapaxes(1, 2) + rows * np.eye(rows, dtype=dtype)
    operands = {"a": a, "l": np.linalg.cholesky(a), "b": values[..., :2].copy()}
    return {name: torch.from_numpy(each) for name, each in operands.items()}


@pytest.mark.parametrize("alone", ["factor", "sides"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_one_factor_for_all_sides_and_the_other_way_round(alone: str, dtype: str) -> None:
    operands = {name: each[:5] for name, each in operands_of(4, dtype).items()}
    narrow = "l" if alone == "factor" else "b"
    wide = {**operands, narrow: operands[narrow][:1].repeat(5, 1, 1)}
    operands[narrow] = operands[narrow][0]
    for function in (
        lambda a: torch.cholesky_solve(a["b"], a["l"]),
        lambda a: torch.linalg.solve_triangular(a["l"], a["b"], upper=False),
        lambda a: torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a["l"] + a["l"].mT), a["b"]),
    ):
        torch.testing.assert_close(function(operands), function(wide))


@pytest.mark.parametrize("rows", [3, 20, 600])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_nan_is_not_positive(rows: int, dtype: str) -> None:
    matrix = torch.eye(rows, dtype=getattr(torch, dtype))
    matrix[2, 1] = matrix[1, 2] = float("nan")
    for upper in (False, True):
        with pytest.raises(torch.linalg.LinAlgError, match="minor of order 3"):
            torch.linalg.cholesky(matrix, upper=upper)
