"""The families of polynomials against SciPy, which computes them by other formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import torchgen_out as torch

DEGREES = np.arange(41)
POINTS = np.concatenate([[-1.0, 0.0, 1.0], np.linspace(-0.99, 1.7, 23)])


def _third(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """By Jacobi's polynomials, scaled to 1 at 1."""
    jacobi = scipy.special.eval_jacobi
    return jacobi(n, -0.5, 0.5, x) / jacobi(n, -0.5, 0.5, 1.0)


def _fourth(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    jacobi = scipy.special.eval_jacobi
    return (2 * n + 1) * jacobi(n, 0.5, -0.5, x) / jacobi(n, 0.5, -0.5, 1.0)


FAMILIES = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "chebyshev_polynomial_v": _third,
    "chebyshev_polynomial_w": _fourth,
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
    "shifted_chebyshev_polynomial_t": scipy.special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": scipy.special.eval_sh_chebyu,
    "shifted_chebyshev_polynomial_v": lambda n, x: _third(n, 2 * x - 1),
    "shifted_chebyshev_polynomial_w": lambda n, x: _fourth(n, 2 * x - 1),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_values(name: str) -> None:
    """Degrees to 40, inside the interval and outside; sums of n roundings are allowed."""
    function = getattr(torch.special, name)
    got = function(torch.tensor(POINTS)[:, None], torch.tensor(DEGREES)).numpy()
    expected = FAMILIES[name](DEGREES, POINTS[:, None])
    height = np.maximum(
        np.abs(expected), np.abs(expected).max(axis=0) * (np.abs(POINTS) <= 1)[:, None]
    )
    assert (np.abs(got - expected) <= 1e-12 * np.maximum(height, 1)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", FAMILIES)
def test_elements_do_not_depend_on_their_neighbours(name: str, dtype: torch.dtype) -> None:
    """Nor on their layout: a block of elements takes its steps together, as many as any needs."""
    function = getattr(torch.special, name)
    x = torch.linspace(-1.5, 1.5, 777, dtype=dtype)
    degrees = (torch.arange(777) * 7 % 31).to(dtype)
    alone = [function(point, degree) for point, degree in zip(x[::9], degrees[::9], strict=True)]
    together = function(x, degrees)
    assert torch.equal(together[::9], torch.stack(alone))
    assert torch.equal(function(x[::9], degrees[::9]), torch.stack(alone))
    assert torch.equal(function(x, degrees[5]), function(x, degrees[5].expand(777).clone()))
    degrees[300] = 1025
    assert torch.equal(function(x, degrees)[::9], torch.stack(alone))
    out = torch.empty(2, 777, dtype=dtype).t()
    function(x[:, None], torch.tensor([3, 12]), out=out)
    assert torch.equal(out[:, 1], function(x, 12))


def test_degrees() -> None:
    """Below 0 and NaN the value is 0; fractions are cut; a huge degree ends where values do."""
    degrees = torch.tensor([-1.0, -0.5, 2.9, float("nan"), 1e300])
    values = torch.special.hermite_polynomial_h(torch.tensor(3.0, dtype=torch.float64), degrees)
    assert values[:4].tolist() == [0.0, 1.0, 34.0, 0.0]
    assert values[4].isnan()


def test_numbers_take_the_place_of_one_operand() -> None:
    x = torch.tensor([0.5, 2.0])
    assert torch.special.legendre_polynomial_p(x, 2).tolist() == [-0.125, 5.5]
    assert torch.special.legendre_polynomial_p(2, torch.tensor([0, 2])).tolist() == [1.0, 5.5]
    assert torch.special.legendre_polynomial_p(torch.tensor([2]), 2).dtype == torch.float32
    with pytest.raises(TypeError, match="must be Tensor"):
        torch.special.legendre_polynomial_p(2, 2)


STARTS = {"t": (1, 0), "u": (2, 0), "v": (2, -1), "w": (2, 1)}
"""The polynomials of degree 1: factor and constant."""


def _second_kind(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """sin(nt) / sin(t) where c = cos(t) >= 0."""
    t, s = np.arccos(np.minimum(c, 1)), np.arccosh(np.maximum(c, 1))
    with np.errstate(invalid="ignore"):
        waves, growing = np.sin(n * t) / np.sin(t), np.sinh(n * s) / np.sinh(s)
    return np.where(c < 1, waves, np.where(c > 1, growing, n))


@pytest.mark.parametrize("name", STARTS)
def test_high_degrees_have_a_closed_form(name: str) -> None:
    """Where the recurrence's coefficients are constant; the angle's rounding counts n times."""
    x = np.array([-1.0, -0.75, 0.0, 0.3, 0.999, 1.0, 1 + 1e-11])
    n = np.array([1025.0, 1e4, 1e7])[:, None]
    first = STARTS[name][0] * x + STARTS[name][1]
    values = np.where(x < 0, -first, first) * _second_kind(n, abs(x)) - _second_kind(n - 1, abs(x))
    expected = np.where((x < 0) & (n % 2 == 1), -values, values)
    got = getattr(torch.special, f"chebyshev_polynomial_{name}")(torch.tensor(x), torch.tensor(n))
    allowed = 4e-16 * n * np.maximum(np.abs(expected), 1)
    assert (np.abs(got.numpy() - expected) <= allowed).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_no_degree_takes_for_ever(name: str) -> None:
    """Where values neither settle nor have a closed form they are nan."""
    x = torch.tensor([-1.0, -0.5, 0.0, 0.25, 1.0, 1 + 2**-23, 2.0])
    values = getattr(torch.special, name)(x, torch.tensor([[2.0**62], [float("inf")], [1e38]]))
    assert values[:, 6].isnan().all()
    if name in ("legendre_polynomial_p", "chebyshev_polynomial_t"):
        assert (values[:, 4] == 1).all()
    if name == "laguerre_polynomial_l":
        assert (values[:, 2] == 1).all()
