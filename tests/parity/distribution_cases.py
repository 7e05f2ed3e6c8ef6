"""Distributions with parameters, made alike in both libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import torch

import torchgen_out as t

LOC = [[-1.5, 0.25, 2.0]]
POSITIVE = [[0.5, 1.75, 3.25], [1.25, 2.5, 4.0]]
SMALL = [0.7, 1.5, 2.25]
PROBS = [[0.1, 0.45, 0.8], [0.3, 0.65, 0.95]]
WEIGHTS = [[0.2, 0.5, 0.3], [0.6, 0.15, 0.25]]
LOGITS = [[0.5, -1.0, 1.5], [0.0, 2.0, -0.75]]
FACTOR = [[1.5, 0.0, 0.0], [0.5, 0.75, 0.0], [-1.0, 0.25, 2.0]]
COLUMNS = [[1.0, 0.5], [-0.75, 0.25], [0.5, 2.0]]

Make = Callable[[Any, Any], Any]


def gram(factor: Any) -> Any:
    """A positive definite matrix, which stays symmetric whatever is changed."""
    return factor @ factor.mT


CASES: dict[str, Make] = {
    "normal": lambda d, v: d.Normal(v(LOC), v(POSITIVE)),
    "normal_of_numbers": lambda d, v: d.Normal(v(1.5), 2.0),
    "bernoulli": lambda d, v: d.Bernoulli(v(PROBS)),
    "bernoulli_of_logits": lambda d, v: d.Bernoulli(logits=v(LOGITS)),
    "categorical": lambda d, v: d.Categorical(v(WEIGHTS)),
    "categorical_of_logits": lambda d, v: d.Categorical(logits=v(LOGITS)),
    "one_hot": lambda d, v: d.OneHotCategorical(v(WEIGHTS)),
    "one_hot_of_logits": lambda d, v: d.OneHotCategorical(logits=v(LOGITS)),
    "straight_through": lambda d, v: d.OneHotCategoricalStraightThrough(v(WEIGHTS)),
    "uniform": lambda d, v: d.Uniform(v(LOC), v([[2.5, 3.0, 4.0], [3.0, 1.0, 2.5]])),
    "unit_uniform": lambda d, v: d.Uniform(
        v([[0.0, 0.1, 0.0]]), v([[1.0, 0.9, 0.5], [0.6, 0.7, 0.8]])
    ),
    "exponential": lambda d, v: d.Exponential(v(POSITIVE)),
    "laplace": lambda d, v: d.Laplace(v(LOC), v(POSITIVE)),
    "cauchy": lambda d, v: d.Cauchy(v(LOC), v(POSITIVE)),
    "gumbel": lambda d, v: d.Gumbel(v(LOC), v(POSITIVE)),
    "half_normal": lambda d, v: d.HalfNormal(v(POSITIVE)),
    "half_cauchy": lambda d, v: d.HalfCauchy(v(POSITIVE)),
    "log_normal": lambda d, v: d.LogNormal(v(LOC), v(SMALL)),
    "logistic_normal": lambda d, v: d.LogisticNormal(v(LOC), v(POSITIVE)),
    "pareto": lambda d, v: d.Pareto(v(SMALL), v([[0.5, 1.75, 3.25], [2.5, 5.0, 4.0]])),
    "weibull": lambda d, v: d.Weibull(v(SMALL), v(POSITIVE)),
    "kumaraswamy": lambda d, v: d.Kumaraswamy(v(POSITIVE), v(SMALL)),
    "poisson": lambda d, v: d.Poisson(v(POSITIVE)),
    "geometric": lambda d, v: d.Geometric(v(PROBS)),
    "geometric_of_logits": lambda d, v: d.Geometric(logits=v(LOGITS)),
    "binomial": lambda d, v: d.Binomial(5, v(PROBS)),
    "binomial_of_logits": lambda d, v: d.Binomial(5, logits=v(LOGITS)),
    "multinomial": lambda d, v: d.Multinomial(6, v(WEIGHTS)),
    "multinomial_of_logits": lambda d, v: d.Multinomial(6, logits=v(LOGITS)),
    "gamma": lambda d, v: d.Gamma(v(POSITIVE), v(SMALL)),
    "chi2": lambda d, v: d.Chi2(v(POSITIVE)),
    "inverse_gamma": lambda d, v: d.InverseGamma(v([[0.5, 1.75, 3.25], [5.5, 6.0, 7.0]]), v(SMALL)),
    "beta": lambda d, v: d.Beta(v(POSITIVE), v(SMALL)),
    "dirichlet": lambda d, v: d.Dirichlet(v(POSITIVE)),
    "student_t": lambda d, v: d.StudentT(v([[0.5, 1.75, 3.25], [5.5, 6.0, 7.0]]), v(LOC), v(SMALL)),
    "f": lambda d, v: d.FisherSnedecor(v(POSITIVE), v([1.5, 3.0, 9.5])),
    "negative_binomial": lambda d, v: d.NegativeBinomial(v(POSITIVE), v(PROBS)),
    "negative_binomial_of_logits": lambda d, v: d.NegativeBinomial(v(POSITIVE), logits=v(LOGITS)),
    "of_covariance": lambda d, v: d.MultivariateNormal(v(LOC), gram(v(FACTOR))),
    "of_precision": lambda d, v: d.MultivariateNormal(v(LOC), precision_matrix=gram(v(FACTOR))),
    "of_factor": lambda d, v: d.MultivariateNormal(v(LOC), scale_tril=v([FACTOR] * 2).tril()),
    "wishart": lambda d, v: d.Wishart(v([4.5, 6.0]), gram(v(FACTOR))),
    "wishart_of_precision": lambda d, v: d.Wishart(v(4.5), precision_matrix=gram(v(FACTOR))),
    "wishart_of_factor": lambda d, v: d.Wishart(v([4.5, 6.0]), scale_tril=v(FACTOR).tril()),
    "low_rank": lambda d, v: d.LowRankMultivariateNormal(v(LOC), v(COLUMNS), v(SMALL)),
    "relaxed_bernoulli": lambda d, v: d.RelaxedBernoulli(v(0.75), v(PROBS)),
    "relaxed_bernoulli_of_logits": lambda d, v: d.RelaxedBernoulli(v(0.75), logits=v(LOGITS)),
    "relaxed_one_hot": lambda d, v: d.RelaxedOneHotCategorical(v(0.75), v(WEIGHTS)),
    "relaxed_one_hot_of_logits": lambda d, v: d.RelaxedOneHotCategorical(v(0.75), logits=v(LOGITS)),
    "continuous_bernoulli": lambda d, v: d.ContinuousBernoulli(
        v([[0.1, 0.5, 0.8], [0.4995, 0.65, 0.95]])
    ),
    "continuous_bernoulli_of_logits": lambda d, v: d.ContinuousBernoulli(logits=v(LOGITS)),
    "mixture": lambda d, v: d.MixtureSameFamily(
        d.Categorical(v(WEIGHTS)), d.Normal(v(LOC), v(POSITIVE))
    ),
    "mixture_of_vectors": lambda d, v: d.MixtureSameFamily(
        d.Categorical(v(WEIGHTS[0])), d.MultivariateNormal(v([LOC[0]] * 3), gram(v(FACTOR)))
    ),
    "independent": lambda d, v: d.Independent(d.Normal(v(LOC), v(POSITIVE)), 1),
    "transformed": lambda d, v: d.TransformedDistribution(
        d.Normal(v(LOC), v(POSITIVE)), [d.AffineTransform(v(0.5), v(-0.25)), d.TanhTransform()]
    ),
}
"""Name -> how it is made of a library's distributions and of a maker of parameters."""


@dataclass
class Made:
    """A distribution of one library, and the tensors that it was made of."""

    name: str
    library: Any
    parameters: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.distribution = CASES[self.name](self.library.distributions, self._parameter)

    def _parameter(self, values: Any) -> Any:
        leaf = self.library.tensor(values, dtype=self.library.float64, requires_grad=True)
        self.parameters.append(leaf)
        return leaf

    def tensor(self, array: np.ndarray) -> Any:
        """An array as a tensor of the library."""
        return self.library.tensor(array)


@cache
def made_once(name: str, library: Any) -> Any:
    """A distribution that no test changes."""
    return Made(name, library).distribution


def both(name: str) -> tuple[Made, Made]:
    """The distribution in this library and in PyTorch."""
    return Made(name, t), Made(name, torch)
