"""The generalized Pareto distribution against SciPy's: PyTorch's refuses float64."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import torchgen_out as t

SHARES = np.linspace(0.05, 0.95, 7)


@pytest.mark.parametrize("concentration", [-0.3, 0.0, 0.25, 1.5])
def test_generalized_pareto(concentration: float) -> None:
    numbers = [t.tensor(each, dtype=t.float64) for each in (0.5, 2.0, concentration)]
    made = t.distributions.GeneralizedPareto(*numbers)
    reference = stats.genpareto(concentration, 0.5, 2.0)
    values = made.icdf(t.tensor(SHARES))
    np.testing.assert_allclose(values.numpy(), reference.ppf(SHARES), rtol=1e-10)
    np.testing.assert_allclose(made.cdf(values).numpy(), SHARES, rtol=1e-10)
    log_prob = made.log_prob(values).numpy()
    np.testing.assert_allclose(log_prob, reference.logpdf(values.numpy()), rtol=1e-10)
    assert made.entropy().item() == pytest.approx(reference.entropy().item(), rel=1e-7)
    if concentration < 0.5:
        assert made.mean.item() == pytest.approx(reference.mean())
        assert made.variance.item() == pytest.approx(reference.var())
    else:
        assert made.mean.isnan() and made.variance.isnan()
    t.manual_seed(6)
    assert stats.kstest(made.sample((4000,)).numpy(), reference.cdf).pvalue > 1e-4
