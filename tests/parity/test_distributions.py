"""Distributions against PyTorch's: formulas in float64, gradients, samples, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from scipy import special, stats

import torchgen_out as t
from tests.parity.distribution_cases import CASES, Made, both, made_once

PROPERTIES = ("mean", "mode", "variance", "stddev")
METHODS = ("entropy", "perplexity")
WRONG_MODES = ("kumaraswamy", "weibull")
"""Families whose mode PyTorch gives wrongly."""
SAMPLES = 7
TOLERANCE = {"rtol": 1e-9, "atol": 1e-10}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:torch")


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns as an array, or `NotImplementedError`."""
    try:
        result = call()
    except NotImplementedError:
        return NotImplementedError
    return result.detach().numpy()


def agree(ours: Any, theirs: Any, what: str) -> None:
    """Equal up to rounding, or both without a formula."""
    if ours is NotImplementedError or theirs is NotImplementedError:
        assert ours is theirs, f"{what}: {ours} here, {theirs} in PyTorch"
        return
    assert ours.shape == theirs.shape, what
    assert ours.dtype == theirs.dtype, what
    np.testing.assert_allclose(ours, theirs, **TOLERANCE, err_msg=what)


def events(made: Made) -> np.ndarray:
    """Some of PyTorch's samples."""
    torch.manual_seed(5)
    return made.distribution.sample((SAMPLES,)).numpy()


@pytest.mark.parametrize("name", CASES)
def test_moments(name: str) -> None:
    ours, theirs = (made.distribution for made in both(name))
    assert tuple(ours.batch_shape) == tuple(theirs.batch_shape)
    assert tuple(ours.event_shape) == tuple(theirs.event_shape)
    for each in PROPERTIES:
        if each == "mode" and name in WRONG_MODES:
            continue
        agree(*(outcome(partial(getattr, d, each)) for d in (ours, theirs)), each)
    for each in METHODS:
        agree(outcome(getattr(ours, each)), outcome(getattr(theirs, each)), each)


@pytest.mark.parametrize("name", WRONG_MODES)
def test_nothing_near_the_mode_is_likelier(name: str) -> None:
    distribution = made_once(name, t)
    mode = distribution.mode[..., 1:].detach()
    assert (mode > 0).all()
    wide = t.cat([t.ones_like(distribution.mode[..., :1]) / 2, mode], -1)
    for near in (wide * 0.999, wide * 1.001):
        assert (distribution.log_prob(near) < distribution.log_prob(wide))[..., 1:].all()


@pytest.mark.parametrize("name", CASES)
def test_probabilities_and_their_gradients(name: str) -> None:
    ours, theirs = both(name)
    values = events(theirs)
    share = np.linspace(0.05, 0.95, SAMPLES).reshape((-1,) + (1,) * (values.ndim - 1))
    for method, given in (("log_prob", values), ("cdf", values), ("icdf", share)):
        results = [
            outcome(partial(getattr(made.distribution, method), made.tensor(given)))
            for made in (ours, theirs)
        ]
        agree(*results, method)
    slopes = [slopes_of_log_prob(made, values) for made in (ours, theirs)]
    for mine, other in zip(*slopes, strict=True):
        agree(mine, other, "gradient of log_prob")


def slopes_of_log_prob(made: Made, values: np.ndarray) -> list[np.ndarray]:
    """The gradient of the summed log_prob by each parameter."""
    total = made.distribution.log_prob(made.tensor(values)).sum()
    slopes = made.library.autograd.grad(total, made.parameters, allow_unused=True)
    zero = np.zeros(())
    return [zero if slope is None else slope.numpy() for slope in slopes]


@pytest.mark.parametrize("name", CASES)
def test_expand(name: str) -> None:
    ours, theirs = both(name)
    batch = (2, *theirs.distribution.batch_shape)
    wide, expected = (made.distribution.expand(batch) for made in (ours, theirs))
    assert tuple(wide.batch_shape) == batch
    assert tuple(wide.sample((3,)).shape) == tuple(expected.sample((3,)).shape)
    values = expected.sample().numpy()
    agree(
        outcome(lambda: wide.log_prob(t.tensor(values))),
        outcome(lambda: expected.log_prob(torch.tensor(values))),
        "log_prob",
    )
    agree(outcome(lambda: wide.mean), outcome(lambda: expected.mean), "mean")


@pytest.mark.parametrize("name", CASES)
def test_support(name: str) -> None:
    ours, theirs = (made.distribution for made in both(name))
    assert ours.has_rsample == theirs.has_rsample
    assert ours.has_enumerate_support == theirs.has_enumerate_support
    assert repr(ours.support).partition("(")[0] == repr(theirs.support).partition("(")[0]
    assert ours.support.event_dim == theirs.support.event_dim
    for expand in (True, False):
        agree(*(outcome(partial(d.enumerate_support, expand)) for d in (ours, theirs)), "support")


@pytest.mark.parametrize("name", CASES)
def test_divergences(name: str) -> None:
    """From one to every other: the same numbers, or no formula in either library.

    PyTorch's infinities have p's shape alone, ours that of both.
    """
    for other in CASES:
        if {name, other} & UNIFORM and {name, other} & CONTINUOUS_BERNOULLI:
            continue
        if name.startswith("wishart") and other.startswith("wishart"):
            continue
        results = []
        for library in (t, torch):
            p, q = made_once(name, library), made_once(other, library)
            results.append(outcome(partial(library.distributions.kl_divergence, p, q)))
        if results[1] is not NotImplementedError and np.isinf(results[1]).all():
            results[1] = np.broadcast_to(results[1], results[0].shape)
        agree(*results, f"kl({name}, {other})")


UNIFORM = {"uniform", "unit_uniform"}
CONTINUOUS_BERNOULLI = {"continuous_bernoulli", "continuous_bernoulli_of_logits"}


def test_divergences_of_distributions_on_one_interval() -> None:
    """Where PyTorch returns infinity: against the integral."""
    d = t.distributions
    grid = (t.arange(4000, dtype=t.float64) + 0.5) / 4000
    unit, coin = (
        d.Uniform(t.zeros(1).double(), 1.0),
        d.ContinuousBernoulli(t.tensor([0.8]).double()),
    )
    for p, q in ((unit, coin), (coin, unit)):
        log_p, log_q = p.log_prob(grid), q.log_prob(grid)
        integral = (log_p.exp() * (log_p - log_q)).mean().item()
        assert d.kl_divergence(p, q).item() == pytest.approx(integral, rel=1e-5)
    assert d.kl_divergence(coin, d.Uniform(0.1, 1.0)).item() == float("inf")
    assert d.kl_divergence(d.Uniform(-0.1, 1.0), coin).item() == float("inf")


def test_divergence_of_wishart_distributions() -> None:
    """PyTorch's sums over the batch: against -H(p) - E[log q], which is linear in X and log|X|."""
    p, q = made_once("wishart", t), made_once("wishart_of_precision", t)
    found = t.distributions.kl_divergence(p, q).detach().numpy()
    scale, other = (each.covariance_matrix.detach().numpy() for each in (p, q))
    for i, df in enumerate((4.5, 6.0)):
        own = stats.wishart(df, scale[i])
        log_det = special.digamma((df - np.arange(3)) / 2).sum() + 3 * np.log(2)
        log_det += np.linalg.slogdet(scale[i])[1]
        at_unit = stats.wishart(4.5, other).logpdf(np.eye(3)) + 0.5 * np.trace(np.linalg.inv(other))
        slope = np.trace(np.linalg.solve(other, df * scale[i]))
        expected = -own.entropy() - (at_unit + 0.5 * (4.5 - 4) * log_det - 0.5 * slope)
        assert found[i] == pytest.approx(expected, rel=1e-8)


REFERENCES: dict[str, Callable[[list[Any]], Any]] = {
    "normal": lambda p: stats.norm(p[0], p[1]),
    "uniform": lambda p: stats.uniform(p[0], p[1] - p[0]),
    "exponential": lambda p: stats.expon(scale=1 / p[0]),
    "laplace": lambda p: stats.laplace(p[0], p[1]),
    "cauchy": lambda p: stats.cauchy(p[0], p[1]),
    "gumbel": lambda p: stats.gumbel_r(p[0], p[1]),
    "half_normal": lambda p: stats.halfnorm(scale=p[0]),
    "half_cauchy": lambda p: stats.halfcauchy(scale=p[0]),
    "log_normal": lambda p: stats.lognorm(p[1], scale=np.exp(p[0])),
    "pareto": lambda p: stats.pareto(p[1], scale=p[0]),
    "gamma": lambda p: stats.gamma(p[0], scale=1 / p[1]),
    "chi2": lambda p: stats.chi2(p[0]),
    "inverse_gamma": lambda p: stats.invgamma(p[0], scale=p[1]),
    "beta": lambda p: stats.beta(p[0], p[1]),
    "student_t": lambda p: stats.t(p[0], p[1], p[2]),
    "f": lambda p: stats.f(p[0], p[1]),
    "weibull": lambda p: stats.weibull_min(p[1], scale=p[0]),
}
"""SciPy's distribution of the parameters."""


@pytest.mark.parametrize("name", REFERENCES)
def test_samples_follow_the_distribution(name: str) -> None:
    made = Made(name, t)
    t.manual_seed(11)
    drawn = made.distribution.sample((5000,)).numpy()
    parameters = [p.detach().numpy() for p in made.parameters]
    for i in np.ndindex(drawn.shape[1:]):
        own = [np.broadcast_to(p, drawn.shape[1:])[i] for p in parameters]
        worst = stats.kstest(drawn[(slice(None), *i)], REFERENCES[name](own).cdf)
        assert worst.pvalue > 1e-4, (name, i)


DRAWN_WITHOUT_DENSITY = sorted(set(CASES) - set(REFERENCES))


@pytest.mark.parametrize("name", DRAWN_WITHOUT_DENSITY)
def test_samples_have_the_mean_and_variance(name: str) -> None:
    """Within 6 standard errors of PyTorch's mean; of PyTorch's samples' where it has none."""
    ours, theirs = (made.distribution for made in both(name))
    t.manual_seed(3)
    torch.manual_seed(4)
    mine, other = (d.sample((4000,)).double().numpy() for d in (ours, theirs))
    error = np.sqrt((mine.var(0) + other.var(0)) / 4000)
    assert np.all(np.abs(mine.mean(0) - other.mean(0)) <= 6 * error + 1e-12)
    squares = np.sqrt((((mine - mine.mean(0)) ** 2).var(0) + other.var(0) ** 2) / 4000)
    assert np.all(np.abs(mine.var(0) - other.var(0)) <= 12 * squares + 1e-12)


REPARAMETRIZED = [
    name
    for name in CASES
    if Made(name, torch).distribution.has_rsample and name != "straight_through"
]
IMPLICIT = (
    "gamma", "chi2", "inverse_gamma", "beta", "dirichlet", "student_t", "f", "wishart",
    "wishart_of_precision", "wishart_of_factor",
)  # fmt: skip
"""Those whose sampler rejects: a step of a parameter may change what is drawn."""


@pytest.mark.parametrize("name", sorted(set(REPARAMETRIZED) - set(IMPLICIT)))
def test_gradients_of_samples(name: str) -> None:
    """From one seed, against central differences of every parameter."""
    made = Made(name, t)
    weights: Any = None

    def total() -> Any:
        nonlocal weights
        t.manual_seed(8)
        drawn = CASES[name](t.distributions, lambda _: next(leaves)).rsample((3,))
        if weights is None:
            weights = t.linspace(0.5, 1.5, drawn.numel(), dtype=t.float64).reshape(drawn.shape)
        return (drawn * weights).sum()

    leaves = iter(made.parameters)
    slopes = t.autograd.grad(total(), made.parameters)
    for parameter, slope in zip(made.parameters, slopes, strict=True):
        flat = parameter.detach().reshape(-1)
        for i in range(flat.numel()):
            ends = []
            for step in (1e-6, -1e-6):
                flat[i] += step
                leaves = iter(made.parameters)
                ends.append(total().item())
                flat[i] -= step
            numerical = (ends[0] - ends[1]) / 2e-6
            assert slope.reshape(-1)[i].item() == pytest.approx(numerical, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("concentration", [0.05, 0.7, 1.0, 3.5, 40.0, 2000.0])
def test_gradients_of_gamma_samples(concentration: float) -> None:
    """A step of the concentration moves a sample along SciPy's quantiles."""
    t.manual_seed(2)
    a = t.full((50,), concentration, dtype=t.float64, requires_grad=True)
    drawn = t.distributions.Gamma(a, t.ones((), dtype=t.float64)).rsample()
    drawn.sum().backward()
    x, h = drawn.detach().numpy(), 1e-5 * concentration
    is_low = x < concentration
    low, high = stats.gamma(concentration - h), stats.gamma(concentration + h)
    place = np.where(is_low, stats.gamma.cdf(x, concentration), stats.gamma.sf(x, concentration))
    ends = [np.where(is_low, each.ppf(place), each.isf(place)) for each in (low, high)]
    np.testing.assert_allclose(a.grad.numpy(), (ends[1] - ends[0]) / (2 * h), rtol=1e-4)


def test_straight_through_gradient_is_that_of_the_probabilities() -> None:
    made = Made("straight_through", t)
    weights = t.tensor([1.0, 2.0, 4.0], dtype=t.float64)
    drawn = (made.distribution.rsample() * weights).sum()
    (slope,) = t.autograd.grad(drawn, made.parameters, retain_graph=True)
    probs = made.distribution.probs
    (expected,) = t.autograd.grad((probs * weights).sum(), made.parameters)
    assert t.equal(slope, expected)


MISTAKES: dict[str, Callable[[Any, Any], Any]] = {
    "scale": lambda d, v: d.Normal(v(0.0), v(-1.0)),
    "nan": lambda d, v: d.Normal(v(float("nan")), v(1.0)),
    "probability": lambda d, v: d.Bernoulli(v(1.5)),
    "neither": lambda d, v: d.Bernoulli(),
    "both": lambda d, v: d.Categorical(v([0.5]), v([0.5])),
    "scalar": lambda d, v: d.Categorical(v(0.5)),
    "bounds": lambda d, v: d.Uniform(v(1.0), v(0.0)),
    "support": lambda d, v: d.Exponential(v(1.0)).log_prob(v(-1.0)),
    "event": lambda d, v: d.OneHotCategorical(v([0.5, 0.5])).log_prob(v([1.0, 0.0, 0.0])),
    "batch": lambda d, v: d.Normal(v([0.0, 1.0]), 1.0).log_prob(v([0.0, 1.0, 2.0])),
    "no tensor": lambda d, v: d.Normal(0.0, 1.0).log_prob(0.5),
    "too many dims": lambda d, v: d.Independent(d.Normal(v([0.0]), 1.0), 2),
    "no transform": lambda d, v: d.TransformedDistribution(d.Normal(0.0, 1.0), [1]),
    "text": lambda d, v: d.Normal("0", v(1.0)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    """Both raise ValueError; messages begin alike."""
    found = []
    for library in (t, torch):
        with pytest.raises(ValueError) as caught:
            MISTAKES[name](library.distributions, library.tensor)
        found.append(str(caught.value)[:24])
    assert found[0] == found[1]


def test_arguments_are_not_checked_when_told_so() -> None:
    d = t.distributions
    assert d.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale.item() == -1
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="set_default_validate_args"):
        d.Distribution.set_default_validate_args(None)


def test_distributions_and_constraints_as_text() -> None:
    found = []
    for library in (t, torch):
        d, of = library.distributions, library.distributions.constraints
        one = library.tensor([0.25])
        mixed = d.MixtureSameFamily(d.Categorical(one.expand(2)), d.Normal(one.expand(2), 1.0))
        made = [d.Bernoulli(logits=one), d.Bernoulli(0.25), d.Normal(one, 2.0), d.Gamma(1.0, 2.0)]
        sets = [of.real_vector, of.multinomial(3), of.independent(of.positive, 2), mixed.support]
        found.append([repr(each) for each in (*made, *sets)])
    assert found[0] == found[1]
