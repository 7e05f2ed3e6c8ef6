"""Angles and correlations: von Mises against SciPy's exact numbers, LKJ against PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import special, stats

import torchgen_out as t

ANGLES = np.linspace(-3, 3, 9)


@pytest.mark.parametrize("concentration", [1e-7, 0.3, 2.0, 60.0])
def test_von_mises(concentration: float) -> None:
    """PyTorch's Bessel functions have 7 digits; SciPy's formulas have all."""
    k = t.tensor(concentration, dtype=t.float64)
    made = t.distributions.VonMises(t.tensor(0.5, dtype=t.float64), k)
    reference = stats.vonmises(concentration, loc=0.5)
    log_prob = made.log_prob(t.tensor(ANGLES)).numpy()
    np.testing.assert_allclose(log_prob, reference.logpdf(ANGLES), rtol=1e-9)
    length = special.i1e(concentration) / special.i0e(concentration)
    assert made.variance.item() == pytest.approx(1 - length, rel=1e-9)
    theirs = torch.distributions.VonMises(torch.tensor(0.5).double(), torch.tensor(k.item()))
    np.testing.assert_allclose(log_prob, theirs.log_prob(torch.tensor(ANGLES)), rtol=1e-5)
    t.manual_seed(6)
    drawn = made.sample((4000,)).numpy()
    assert (np.abs(drawn) <= np.pi).all()
    centred = (drawn - 0.5 + np.pi) % (2 * np.pi) - np.pi
    assert stats.kstest(centred, stats.vonmises(concentration).cdf).pvalue > 1e-4


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_lkj_density(dim: int) -> None:
    concentration = [0.5, 1.0, 3.5]
    made = t.distributions.LKJCholesky(dim, t.tensor(concentration, dtype=t.float64))
    theirs = torch.distributions.LKJCholesky(dim, torch.tensor(concentration).double())
    values = theirs.sample((4,))
    log_prob = made.log_prob(t.tensor(values.numpy())).numpy()
    np.testing.assert_allclose(log_prob, theirs.log_prob(values).numpy(), rtol=1e-9)
    wide = made.expand((2, 3))
    assert tuple(wide.batch_shape) == (2, 3)
    assert tuple(wide.sample((4,)).shape) == (4, 2, 3, dim, dim)


@pytest.mark.parametrize("dim", [2, 4])
def test_lkj_correlations_have_beta_margins(dim: int) -> None:
    """Each is 2 y - 1 for a y of Beta(b, b), b = concentration - 1 + dim / 2."""
    t.manual_seed(9)
    made = t.distributions.LKJCholesky(dim, t.tensor(1.5, dtype=t.float64))
    factor = made.sample((4000,))
    assert made.support.check(factor).all()
    correlation = (factor @ factor.mT).numpy()
    b = 0.5 + dim / 2
    for i in range(dim):
        for j in range(i):
            share = (correlation[:, i, j] + 1) / 2
            assert stats.kstest(share, stats.beta(b, b).cdf).pvalue > 1e-4, (i, j)


def test_lkj_needs_two_dims() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        t.distributions.LKJCholesky(1)
