"""Functions of complex numbers with infinite parts, nan, signed zeros, and far out.

The reference is NumPy, whose functions are the C library's. Annex G of the C standard leaves the
signs of some zeros and infinities open; there the sizes are compared.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import torchgen_out as torch

PARTS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, -2.5, 2e4, 709.5, -720.0, 1e-300, np.inf, -np.inf, np.nan)
NUMBERS = np.array([complex(a, b) for a, b in itertools.product(PARTS, PARTS)])
REFERENCES = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def agree(ours: np.ndarray, theirs: np.ndarray, is_open: np.ndarray) -> np.ndarray:
    """Whether real numbers agree; is_open: where their signs need not."""
    with np.errstate(invalid="ignore"):
        close = np.isclose(ours, theirs, rtol=1e-12, atol=0, equal_nan=True)
        sizes = np.isclose(np.abs(ours), np.abs(theirs), rtol=1e-12, atol=0)
    signs = np.signbit(ours) == np.signbit(theirs)
    return (close & (signs | np.isnan(ours))) | (is_open & sizes)


@pytest.mark.parametrize("name", REFERENCES)
def test_extremes_follow_the_c_standard(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](NUMBERS)
    got = getattr(torch, name)(torch.tensor(NUMBERS)).numpy()
    is_open = ~np.isfinite(NUMBERS) | (NUMBERS == 0)
    right = agree(got.real, expected.real, is_open) & agree(got.imag, expected.imag, is_open)
    wrong = [(z, g, e) for z, g, e in zip(NUMBERS, got, expected, strict=True)]
    assert right.all(), list(itertools.compress(wrong, ~right))


def test_expm1_and_log1p_are_exp_and_log_away_from_zero() -> None:
    far = NUMBERS[~(np.abs(NUMBERS) < 0.4)]
    with np.errstate(all="ignore"):
        power, logarithm = np.exp(far), np.log([complex(z.real + 1, z.imag) for z in far])
    is_open = ~np.isfinite(far)
    got = torch.tensor(far).expm1().numpy()
    assert agree(got.real, power.real - 1, is_open).all()
    assert agree(got.imag, power.imag, is_open).all()
    got = torch.tensor(far).log1p().numpy()
    assert agree(got.real, logarithm.real, is_open).all()
    assert agree(got.imag, logarithm.imag, is_open).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_expm1_and_log1p_are_exact_near_zero(sign: int) -> None:
    small = np.array([complex(sign * 1e-300, 1e-300), complex(sign * 1e-10, -1e-12)])
    second = small * small / 2
    for name, expected in (("expm1", small + second), ("log1p", small - second)):
        got = getattr(torch, name)(torch.tensor(small)).numpy()
        np.testing.assert_allclose(got.real, expected.real, rtol=1e-14)
        np.testing.assert_allclose(got.imag, expected.imag, rtol=1e-14)


@pytest.mark.parametrize("value", [-720.0, -1e30, -np.inf])
def test_the_sigmoid_far_left_is_zero(value: float) -> None:
    numbers = torch.tensor([complex(value, part) for part in (0.0, 1.0, -2.5)])
    assert torch.equal(numbers.sigmoid(), torch.zeros_like(numbers))


def test_signs_and_powers_of_two_at_infinity() -> None:
    infinite = torch.tensor([complex(np.inf, 0.0), complex(-np.inf, 0.0)])
    assert infinite.exp2().tolist() == [complex(np.inf, 0.0), 0j]
    assert infinite.sgn().imag.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_sizes_and_angles_anywhere(dtype: type) -> None:
    with np.errstate(all="ignore"):
        numbers = NUMBERS.astype(dtype)
        found = torch.tensor(numbers)
        sizes, angles = np.abs(numbers.astype(np.complex128)), np.angle(numbers)
        sizes = sizes.astype(numbers.real.dtype)
    np.testing.assert_allclose(
        found.abs().numpy(), sizes, rtol=1e-15 if dtype is np.complex128 else 1e-7
    )
    np.testing.assert_allclose(
        found.angle().numpy(), angles, rtol=1e-6 if dtype is np.complex64 else 1e-15
    )
    assert (np.signbit(found.angle().numpy()) == np.signbit(angles))[~np.isnan(angles)].all()


@pytest.mark.parametrize("exponent", [-2, -1, 1, 2, 3])
def test_small_powers_are_products(exponent: int) -> None:
    rng = np.random.default_rng(5)
    numbers = rng.standard_normal(100) + 1j * rng.standard_normal(100)
    for given in (exponent, float(exponent), complex(exponent)):
        found = (torch.tensor(numbers) ** given).numpy()
        np.testing.assert_allclose(found, numbers**exponent, rtol=1e-14)
