"""Special functions of our own on an emulated device, over wide ranges, against the CPU's."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch

special = torch.special
INF, NAN = float("inf"), float("nan")
WIDE = np.concatenate([[0.0, -0.0, 19.99, 20.0, 88.0, 600.0, INF, -INF, NAN], np.r_[-30:30:0.77]])
MODIFIED = {"i0": special.i0, "i0e": special.i0e, "i1": special.i1, "i1e": special.i1e}
BOUND = {"float32": 1e-6, "float64": 3e-15}

pytestmark = pytest.mark.usefixtures("emulated")


def _check(function, *arguments, relative):
    """The device's values are the CPU's, special ones too."""
    got = function(*[each.cuda() for each in arguments]).cpu().numpy()
    np.testing.assert_allclose(got, function(*arguments).numpy(), relative, 0)


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("name", MODIFIED)
def test_modified_bessel_functions(name, dtype):
    _check(MODIFIED[name], torch.tensor(WIDE.astype(dtype)), relative=BOUND[dtype])


def _pairs(seed: int, low: float, high: float) -> list[np.ndarray]:
    """Shapes between powers of ten, and places around each."""
    draw = np.random.default_rng(seed)
    a = 10 ** draw.uniform(low, high, 60)
    return [a, a * draw.uniform(0.4, 1.8, 60)]


@pytest.mark.parametrize("function", [special.gammainc, special.gammaincc])
@pytest.mark.parametrize(
    ("low", "high", "relative"),
    # Far out, values are exponentials of hundreds, which magnify roundings by as much.
    [(-1, 1, 1e-13), (1, 2.3, 1e-12), (2.3, 3.3, 3e-12)],
)
def test_incomplete_gamma_functions(function, low, high, relative):
    _check(function, *map(torch.tensor, _pairs(7, low, high)), relative=relative)


def test_incomplete_gamma_functions_of_large_shapes():
    """Within some deviations of the shape, where a series would take thousands of terms."""
    a = torch.tensor(10 ** np.linspace(2.31, 8, 50))
    x = a + torch.tensor(np.linspace(-4, 4, 50)) * a.sqrt()
    _check(special.gammainc, a, x, relative=1e-10)
    _check(special.gammaincc, a, x, relative=1e-10)


EDGES = [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -1.5, INF, NAN]


@pytest.mark.parametrize("function", [special.gammainc, special.gammaincc, special.zeta])
def test_edges(function):
    """Zeros, poles, infinities: every pair of them."""
    grid = torch.tensor(EDGES, dtype=torch.float64)
    _check(function, grid[:, None].expand(9, 9), grid.expand(9, 9), relative=3e-14)


def test_zeta_and_derivatives_of_digamma():
    draw = np.random.default_rng(5)
    s, q = draw.uniform(1.01, 40, 200), 10 ** draw.uniform(-3, 10, 200)
    _check(special.zeta, torch.tensor(s), torch.tensor(q), relative=1e-14)
    for n in (2, 3, 40):
        x = torch.tensor(draw.uniform(-6, 20, 50))
        _check(lambda x, n=n: special.polygamma(n, x), x, relative=1e-13)


SECOND_KIND = ("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0",
               "scaled_modified_bessel_k1")  # fmt: skip


@pytest.mark.parametrize("name", SECOND_KIND)
def test_modified_bessel_functions_of_the_second_kind(name):
    x = np.concatenate([[-1.0, 0.0, INF, NAN], 10 ** np.linspace(-8, 2.5, 60)])
    _check(getattr(special, name), torch.tensor(x), relative=2e-13)


def test_airy_function():
    """Relative to the waves' height, where there are waves."""
    x = np.concatenate([[-INF, NAN], np.linspace(-40, 8, 60)])
    x = torch.tensor(x)
    got, expected = special.airy_ai(x.cuda()).cpu().numpy(), special.airy_ai(x).numpy()
    np.testing.assert_allclose(got[x.numpy() <= 0], expected[x.numpy() <= 0], 0, 1e-13)
    np.testing.assert_allclose(got[x.numpy() > 0], expected[x.numpy() > 0], 1e-13, 0)
    assert np.isnan(got[1])
